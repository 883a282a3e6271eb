"""The table for a paper."""

from __future__ import annotations

from typing import Any

from research.evaluation.latex import corpus_latex_of, latex_of
from research.evaluation.measures.scores import FIGURES


def recipe(label_accuracy: float, seconds: float) -> dict[str, Any]:
    figures: dict[str, float | None] = dict.fromkeys(FIGURES, 0.5)
    figures |= {"label_accuracy": label_accuracy, "ofever": None}
    return {"figures": figures, "seconds": {"total": {"median": seconds}}}


def results(chance: float) -> dict[str, Any]:
    return {
        "data": {
            "command": "esoteric evaluate\n--recipe combined,my_own",
            "claims": {"count": 1234, "file": "dev.jsonl"},
            "wiki_pages": {"documents": 10944},
        },
        "recipes": {"combined": recipe(0.75, 0.5), "my_own": recipe(0.8125, 0.25), "none": {}},
        "comparisons": [
            {
                "first": "combined",
                "second": "my_own",
                "p_values": {**dict.fromkeys(FIGURES, 0.5), "label_accuracy": chance},
            },
            {"first": "combined", "second": "none", "claims": 0},
        ],
    }


def test_each_recipe_is_a_line_with_a_star_where_it_differs_from_the_first() -> None:
    assert (
        latex_of(results(chance=0.049))
        == r"""% esoteric evaluate --recipe combined,my_own
% 1,234 claims of dev.jsonl over 10,944 pages; * differs from combined, p < 0.05; needs booktabs
\begin{tabular}{lrrrrrrr}
\toprule
 & Label acc. & FEVER score & Ev. prec. & Ev. recall & Ev. F1 & OFEVER & s per claim \\
\midrule
combined & 75.0 & 50.0 & 50.0 & 50.0 & 50.0 & -- & 0.50 \\
my\_own & 81.2$^{*}$ & 50.0 & 50.0 & 50.0 & 50.0 & -- & 0.25 \\
\bottomrule
\end{tabular}
"""
    )


def test_a_difference_that_may_be_chance_has_no_star() -> None:
    assert "$" not in latex_of(results(chance=0.05))


def test_figures_over_the_served_corpus_are_a_table_too() -> None:
    one = {
        "label_accuracy": 0.5,
        "evidence_recall@5": None,
        "opposite_stances": 0.1,
        "seconds": {"p50": None},
    }
    table = corpus_latex_of(
        {
            "command": "esoteric evaluate",
            "claims": 2,
            "file": "claims.jsonl",
            "corpus": {"documents": 6},
            "recipes": {"mine": one},
        }
    )
    assert "% 2 claims of claims.jsonl over 6 documents; needs booktabs\n" in table
    assert "\n & Label acc. & Ev. recall@5 & Opp. stances & s per claim \\\\\n" in table
    assert "\nmine & 50.0 & -- & 10.0 & -- \\\\\n" in table

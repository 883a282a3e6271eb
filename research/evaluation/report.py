"""The reports of an evaluation over wiki pages, or over the served corpus.

``report.md``, and ``table.tex``, a table with booktabs for a paper.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from research.evaluation.claims import NOT_SUPPORTED
from research.evaluation.measures import corpus, esoteric_table
from research.evaluation.measures.corpus import FIRST
from research.evaluation.measures.scores import FIGURES, PAGE_RANKS, SENTENCE_RANKS
from research.evaluation.tables import markdown
from retrieval.types import LABELS

FULL_RELEASE = 5_416_537  # pages in FEVER's release of June 2017
_NAMES = {
    "label_accuracy": "label accuracy",
    "fever_score": "FEVER score",
    "evidence_precision": "evidence precision",
    "evidence_recall": "evidence recall, first five",
    "evidence_f1": "evidence F1",
    "ofever": "OFEVER",
    **{f"page_recall@{k}": f"page recall@{k}" for k in PAGE_RANKS},
    **{f"sentence_recall@{k}": f"sentence recall@{k}" for k in SENTENCE_RANKS},
}
_MEANINGS = {
    "label accuracy": "claims given their gold label",
    "FEVER score": "claims given their gold label and, where that decides them, with a whole set of"
    " gold evidence among the first five sentences",
    "evidence precision": "the share of the first five sentences that are gold, averaged over"
    " decided claims; 1 where none is given",
    "evidence recall, first five": "decided claims with a whole set of gold evidence among the"
    " first five selected sentences",
    "evidence F1": "the harmonic mean of evidence precision and recall",
    "OFEVER": "claims that could be right if everything after the retrieval of pages were: a whole"
    " set is on the pages found, or the claim is undecided",
    "page recall@k": "decided claims with a whole set on the first k pages",
    "sentence recall@k": "decided claims with a whole set among the first k ranked sentences,"
    " whether or not they are selected",
}
_OF_SUBSETS = tuple(name for name in FIGURES if name != "ofever")
_COMPARED = FIGURES[:6]


def report_of(results: Mapping[str, Any], plots: Mapping[str, str]) -> str:
    """Return the report; ``plots``: file names in its folder, with what they show."""
    recipes: dict[str, Any] = results["recipes"]
    measured = {name: recipe for name, recipe in recipes.items() if recipe.get("figures")}
    parts = [_head(results["data"]), *_crashes(recipes)]
    if measured:
        parts += [
            "## Figures\n\nPer cent, with 95% bootstrap intervals over the pages that claims are"
            " about; an undecided claim has no known page, so it is its own group.\n\n"
            + _figures_table(measured, FIGURES),
            _definitions(),
            *_subsets(measured),
            *_comparisons(results["comparisons"]),
            *_hops(measured),
            _calibration(measured),
            _confusion(measured),
            *_esoteric_tables(measured),
            _seconds(measured),
        ]
    if plots:
        parts.append("## Plots")
        parts += [f"![{shows}]({name})\n\n{shows}." for name, shows in plots.items()]
    return "\n\n".join(parts) + "\n"


def corpus_report(results: Mapping[str, Any]) -> str:
    """Return the report of an evaluation against the served corpus."""
    about = (
        f"{results['claims']:,} claims of `{results['file']}` over `{results['corpus']['name']}`,"
        f" {results['corpus']['documents']:,} documents. A corpus of this size is easier to search"
        f" than all of Wikipedia. Evidence was labelled by {results['verifier']}. Shares in %,"
        " expected calibration error 0 to 1."
    )
    recipes = results["recipes"]
    if any(NOT_SUPPORTED in recipe["by_label"] for recipe in recipes.values()):
        about += (
            " NOT_SUPPORTED joins refuted claims and those without enough information, so both"
            " verdicts are right for it; the calibration error, of a verdict of three labels, is"
            " too high there."
        )
    parts = ["# Evaluation over the served corpus", f"    {results['command']}", about]
    parts += [results["choice"]] if results["choice"] else []
    for name, recipe in recipes.items():
        groups = {"all": recipe, **recipe["by_label"]}
        rows = [*groups.items(), *recipe["by_kind"].items()]
        seconds = recipe["seconds"]
        parts += [
            f"## {name}",
            markdown([_CORPUS_HEAD, *(_corpus_row(group, row) for group, row in rows)]),
            f"Evidence recall counts claims with sets of sentences: {recipe['with_evidence']}.",
            f"Seconds a claim: {seconds['p50']:.2f} at the median,"
            f" {seconds['p95']:.2f} at the 95th percentile."
            if seconds["p50"] is not None
            else "No claim was checked.",
        ]
        if recipe["proofs"]["both"]:
            parts.append(proofs_text(recipe["proofs"]))
        if "language_model" in recipe:
            parts.append(language_model_text(recipe["language_model"]))
    if differs := results["differences"]:
        first = next(iter(differs.values()))["from"]
        difference = "difference of label accuracy (95 %)"
        head = ("", difference, "only it right", f"only {first} right", "p (McNemar)")
        parts += [
            f"## Differences from {first}",
            markdown(
                [
                    head,
                    *(
                        [
                            name,
                            _with_interval(one["label_accuracy"], one["interval"]),
                            str(one["gained"]),
                            str(one["lost"]),
                            f"{one['p']:.3f}",
                        ]
                        for name, one in differs.items()
                    ),
                ]
            ),
        ]
    if groups_of_claims := corpus.groups_of(recipes):
        parts += ["## Claims that need several documents", corpus.SEVERAL_DOCUMENTS]
        parts += [corpus.as_markdown(recipes, group) for group in groups_of_claims]
    return "\n\n".join([*parts, *_esoteric_tables(recipes)])


_CORPUS_HEAD = (
    "claims",
    "number",
    "label accuracy",
    "evidence recall, first 5",
    "opposite stance among the first 3",
    "contradicted verdicts",
    "calibration error",
)


def _corpus_row(group: str, row: Mapping[str, Any]) -> list[str]:
    shares = (
        row[key] for key in ("label_accuracy", f"evidence_recall@{FIRST}", "opposite_stances")
    )
    error = row["calibration_error"]
    return [
        group,
        str(row["claims"]),
        *(_percent(share, "-") for share in shares),
        str(row["contradicted"]),
        "-" if error is None else f"{error:.3f}",
    ]


def proofs_text(proofs: Mapping[str, int]) -> str:
    """Return how often the proof and a decided verdict are opposite, and which is right."""
    return (
        f"Of {proofs['decided']} decided verdicts the proof decides {proofs['both']} too, and"
        f" {proofs['opposite']} of these as the opposite; the verdict is right on"
        f" {proofs['verdict_right']} of them, the proof on {proofs['proof_right']}."
    )


def language_model_text(results: Mapping[str, Any]) -> str:
    """Return the part of a report about ``language_model_results``."""
    decides = "gives the verdict" if results["decides"] else "adds its opinion"
    cost = (
        "" if results["cost"] is None else f", {results['cost']:.4f} by the prices of the settings"
    )
    seconds = "" if results["seconds"] is None else f"; {results['seconds']:.1f} s at the median"
    kept = f", {results['kept']} answers kept from before" if results["kept"] else ""
    rows = [
        ("label accuracy of", "%"),
        ("the language model", _percent(results["accuracy"], "-")),
        ("the verifier", _percent(results["verifier_accuracy"], "-")),
        (
            f"both, where they agree ({_percent(results['agreement'], '-')} %)",
            _percent(results["when_they_agree"], "-"),
        ),
        ("the model, where they differ", _percent(results["when_they_differ"], "-")),
    ]
    about = (
        f"The language model {results['model']} {decides}. On the {results['opinions']} claims on"
        " which both judges gave an opinion:"
    )
    asked = (
        f"{results['without_answer']} claims got no usable answer, {results['not_asked']} had no"
        " evidence to ask about."
    )
    took = (
        f"{results['calls']} calls{kept}, {results['prompt_tokens']:,} tokens read,"
        f" {results['answer_tokens']:,} written{cost}{seconds}."
    )
    return f"{about}\n\n{markdown(rows)}\n\n{asked}\n{took}"


def _head(data: Mapping[str, Any]) -> str:
    labels = ", ".join(f"{count} {label}" for label, count in data["claims"]["labels"].items())
    pages = data["wiki_pages"]["documents"]
    share = (
        f"FEVER's release has {FULL_RELEASE:,}: evidence is easier to find among fewer"
        " pages, so compare only with figures measured on the same pages."
        if pages < FULL_RELEASE
        else "That is as many as FEVER's release has."
    )
    chosen = data["claims"]["choice"]
    return f"""# Evaluation

    {data["command"]}

{data["claims"]["count"]:,} claims of `{data["claims"]["file"]}` ({labels};
{data["claims"]["multi_page"]} need more than one page) over {pages:,} wiki pages.
{f"{chosen} " if chosen else ""}{share}
Evidence was chosen and labelled by {", ".join(data["models"])}.

Baselines rank evidence themselves and use the product's verdict: their rows differ from a recipe's
only in retrieval. Thresholds and calibration were chosen for the recipes."""


def _crashes(recipes: Mapping[str, Any]) -> list[str]:
    lines = [
        f"- **{name}**, claim {crash['claim_id']}: {_cell(crash['error'])}"
        for name, recipe in recipes.items()
        for crash in recipe["crashes"]
    ]
    if not lines:
        return []
    return [
        "## Crashes\n\nThese claims have no answer. They are in none of the figures, which are"
        " therefore incomplete; run the command again to try them again.\n\n" + "\n".join(lines)
    ]


def _figures_table(recipes: Mapping[str, Any], figures: Sequence[str]) -> str:
    rows = [
        [
            _NAMES[figure],
            *(
                _with_interval(recipe["figures"].get(figure), recipe["intervals"].get(figure))
                for recipe in recipes.values()
            ),
        ]
        for figure in figures
    ]
    return markdown([["", *recipes], *rows])


def _definitions() -> str:
    return "\n".join(f"- **{name}**: {meaning}." for name, meaning in _MEANINGS.items())


def _subsets(recipes: Mapping[str, Any]) -> list[str]:
    words = {
        "single_page": "claims that one page settles",
        "multi_page": "claims that need more than one page",
    }
    parts = []
    for subset, meaning in words.items():
        own = {name: recipe["subsets"][subset] for name, recipe in recipes.items()}
        count = next(iter(own.values()))["claims"]
        if count:
            parts.append(f"### The {count} {meaning}\n\n{_figures_table(own, _OF_SUBSETS)}")
    return parts


def _comparisons(comparisons: Sequence[Mapping[str, Any]]) -> list[str]:
    rows = [
        [
            f"{one['first']} − {one['second']}",  # noqa: RUF001 - a minus sign
            *(
                f"{100 * one['differences'][figure]:+.1f} ({_p(one['p_values'][figure])})"
                if one["differences"][figure] is not None
                else "–"  # noqa: RUF001
                for figure in _COMPARED
            ),
        ]
        for one in comparisons
        if "differences" in one
    ]
    if not rows:
        return []
    return [
        "## Differences\n\nPoints, and the probability of such a difference by chance (approximate"
        " randomisation over the pages that claims are about, two-sided).\n\n"
        + markdown([["", *(_NAMES[figure] for figure in _COMPARED)], *rows])
    ]


def _hops(recipes: Mapping[str, Any]) -> list[str]:
    several = {name: r["hops"] for name, r in recipes.items() if r["hops"]["mean"] is not None}
    if not several:
        return []
    rows = []
    for name, hops in several.items():
        known = hops["insufficiency"]
        shares = (
            [
                f"{_with_interval(known[who][figure], known[who][f'{figure}_interval'])}"
                for who in ("own", "verdict")
                for figure in ("precision", "recall")
            ]
            if known
            else [""] * 4
        )
        always = _percent(known["always"]["precision"]) if known else ""
        multi = hops["mean_multi_page"]
        mean = "" if multi is None else f"{multi:.2f}"
        rows.append([name, f"{hops['mean']:.2f}", mean, *shares, always])
    head = [
        "",
        "hops, mean",
        "of multi-page claims",
        "precision",
        "recall",
        "verdict: precision",
        "verdict: recall",
        "always: precision",
    ]
    return [
        "## Hops, and whether more evidence is needed\n\nOf claims that need more than one page,"
        " after the first hop: how many of those whose evidence a recipe calls insufficient have"
        " no whole set of gold evidence among the best five sentences (precision), and how many of"
        " the claims without such a set it calls insufficient (recall). For comparison: a plain"
        " classifier, which calls evidence with the verdict NOT ENOUGH INFO insufficient; a system"
        " that always does (recall 100); one that never does has recall 0.\n\n"
        + markdown([head, *rows])
    ]


def _calibration(recipes: Mapping[str, Any]) -> str:
    rows = [
        [
            name,
            f"{recipe['calibration']['error']:.3f}",
            _percent(recipe["calibration"]["accuracy_of_the_surest"]),
            f"{100 * recipe['calibration']['gain_of_leaving_out']:+.1f}",
        ]
        for name, recipe in recipes.items()
    ]
    head = ["", "ECE (0 is best)", "accuracy without the least certain fifth", "gain, points"]
    return "## Calibration\n\n" + markdown([head, *rows])


def _confusion(recipes: Mapping[str, Any]) -> str:
    parts = ["## Confusion\n\nRows are gold labels, columns predictions."]
    for name, recipe in recipes.items():
        rows = [
            [gold, *(str(recipe["confusion"][gold][label]) for label in LABELS)] for gold in LABELS
        ]
        parts.append(markdown([[name, *LABELS], *rows]))
    return "\n\n".join(parts)


def _esoteric_tables(recipes: Mapping[str, Any]) -> list[str]:
    tables = {name: r["esoteric_table"] for name, r in recipes.items() if r["esoteric_table"]}
    if not tables:
        return []
    return [
        f"## The ESOTERIC report's table\n\n{esoteric_table.MEANING}",
        *(f"### {name}\n\n{esoteric_table.as_markdown(one)}" for name, one in tables.items()),
    ]


def _seconds(recipes: Mapping[str, Any]) -> str:
    stages = dict.fromkeys(stage for recipe in recipes.values() for stage in recipe["seconds"])
    rows = [
        [
            stage,
            *(
                f"{spent['median']:.3f} / {spent['p95']:.3f}"
                if (spent := recipe["seconds"].get(stage))
                else ""
                for recipe in recipes.values()
            ),
        ]
        for stage in stages
    ]
    return "## Seconds per claim\n\nMedian / 95th percentile.\n\n" + markdown(
        [["", *recipes], *rows]
    )


def _with_interval(value: float | None, interval: Sequence[float | None] | None) -> str:
    if value is None or interval is None or interval[0] is None or interval[1] is None:
        return "–"  # noqa: RUF001
    return f"{100 * value:.1f} ({100 * interval[0]:.1f} to {100 * interval[1]:.1f})"


def _percent(value: float | None, missing: str = "–") -> str:  # noqa: RUF001
    return missing if value is None else f"{100 * value:.1f}"


def _p(value: float) -> str:
    return "p < 0.001" if value < 0.001 else f"p = {value:.3f}"


def _cell(text: str) -> str:
    """Return the text on one line, without markup."""
    return _line(text).replace("|", "\\|").replace("<", "&lt;")


_HEADS = ("Label acc.", "FEVER score", "Ev. prec.", "Ev. recall", "Ev. F1", "OFEVER")
_CORPUS_FIGURES = ("label_accuracy", f"evidence_recall@{FIRST}", "opposite_stances")
_CORPUS_HEADS = ("Label acc.", f"Ev. recall@{FIRST}", "Opp. stances")
_CHANCE = 0.05


def latex_of(results: Mapping[str, Any]) -> str:
    """Return the table of an evaluation over wiki pages.

    A star marks figures that differ from those of the first recipe by more than chance.
    """
    recipes = {name: one for name, one in results["recipes"].items() if one.get("figures")}
    first = next(iter(recipes), "")
    differ = {
        (one["second"], figure)
        for one in results["comparisons"]
        if one["first"] == first
        for figure, chance in one.get("p_values", {}).items()
        if chance is not None and chance < _CHANCE
    }
    rows = [
        [
            name,
            *(
                _percent(one["figures"][figure], "--")
                + ("$^{*}$" if (name, figure) in differ else "")
                for figure in _COMPARED
            ),
            f"{one['seconds']['total']['median']:.2f}",
        ]
        for name, one in recipes.items()
    ]
    data = results["data"]
    about = (
        f"{data['claims']['count']:,} claims of {data['claims']['file']} over"
        f" {data['wiki_pages']['documents']:,} pages; * differs from {first}, p < {_CHANCE}"
    )
    return _table(data["command"], about, _HEADS, rows)


def corpus_latex_of(results: Mapping[str, Any]) -> str:
    """Return the table of an evaluation over the served corpus."""
    rows = [
        [
            name,
            *(_percent(one[figure], "--") for figure in _CORPUS_FIGURES),
            "--" if one["seconds"]["p50"] is None else f"{one['seconds']['p50']:.2f}",
        ]
        for name, one in results["recipes"].items()
    ]
    about = (
        f"{results['claims']:,} claims of {results['file']} over"
        f" {results['corpus']['documents']:,} documents"
    )
    return _table(results["command"], about, _CORPUS_HEADS, rows)


def _table(command: str, about: str, heads: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    """Return the table; shares are per cent, seconds are the median of a claim."""
    lines = [("", *heads, "s per claim"), *rows]
    head, *body = (
        " & ".join([name.replace("_", r"\_"), *cells]) + r" \\" for name, *cells in lines
    )
    return "\n".join(
        [
            f"% {_line(command)}",
            f"% {_line(about)}; needs booktabs",
            rf"\begin{{tabular}}{{l{'r' * (len(heads) + 1)}}}",
            r"\toprule",
            head,
            r"\midrule",
            *body,
            r"\bottomrule",
            r"\end{tabular}",
            "",
        ]
    )


def _line(text: str) -> str:
    return " ".join(text.split())

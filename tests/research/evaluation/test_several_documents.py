"""The measures of claims that need several documents, on examples worked out by hand."""

from __future__ import annotations

from collections.abc import Sequence

import pytest

from research.evaluation.corpus_claims import CorpusClaim
from research.evaluation.measures.several_documents import (
    MEASURES,
    Found,
    as_markdown,
    as_text,
    documents_needed,
    groups_of,
    scores_of,
    several_documents,
)
from retrieval.result import Document
from retrieval.types import SUPPORTS, Retrieved, SentenceKey
from tests.research.evaluation.test_over_corpus import answer, item, selected


def claim(*sets: tuple[tuple[str, int], ...], kind: str = "two-hop") -> CorpusClaim:
    return CorpusClaim("A claim.", "SUPPORTS", sets, kind, (), None)


BRIDGE = claim((("Bridge", 0), ("River", 2)))
EITHER = claim((("A", 0), ("B", 0)), (("C", 0), ("D", 0)))
DAMS = ["Bridge", "Ferry", "Dam", "Weir", "Lock", "River"]
LATE = [("Bridge", 0), *(("Ferry", n) for n in range(20)), ("River", 2)]


def found(
    documents: Sequence[str] = (),
    sentences: Sequence[tuple[str, int]] = (),
    chosen: Sequence[tuple[str, int]] = (),
) -> Found:
    return Found(tuple(documents), tuple(sentences), frozenset(chosen))


@pytest.mark.parametrize(
    ("asked", "what", "expected"),
    [
        (BRIDGE, found(), dict.fromkeys(MEASURES, 0)),
        # River is the sixth document, and its sentence the twenty-second.
        (BRIDGE, found(DAMS, LATE), {"document_recall@5": 0, "document_recall@20": 1}),
        (BRIDGE, found(DAMS, LATE), {"evidence_recall@20": 0, "evidence_recall@100": 1}),
        # Half of a set counts as nothing but for F1: one of two, nothing wrong.
        (
            BRIDGE,
            found(["Bridge"], [("Bridge", 0)], [("Bridge", 0)]),
            dict.fromkeys(MEASURES, 0) | {"document_f1": 2 * 1 / (1 + 2)},
        ),
        # Documents match although another sentence of them is selected.
        (
            BRIDGE,
            found(["Bridge", "River"], [], [("Bridge", 0), ("River", 1)]),
            {"exact_match": 1, "document_f1": 1, "set_selected": 0},
        ),
        # A selected document too many is no exact match.
        (
            BRIDGE,
            found(chosen=[("Bridge", 0), ("River", 2), ("Ferry", 1)]),
            {"set_selected": 1, "exact_match": 0, "document_f1": 2 * 2 / (3 + 2)},
        ),
        # One of several sets is enough, but two halves are not.
        (EITHER, found(["C", "D"]), {"all_opened": 1}),
        (EITHER, found(["A", "C"]), {"all_opened": 0}),
    ],
)
def test_a_whole_set_is_asked_for(
    asked: CorpusClaim, what: Found, expected: dict[str, float]
) -> None:
    scores = dict(zip(MEASURES, scores_of(asked, what), strict=True))
    assert {name: scores[name] for name in expected} == pytest.approx(expected)


def test_what_a_result_shows_comes_before_what_else_was_retrieved() -> None:
    decomposed, composed = "Cafe\u0301", "Caf\u00e9"  # one id, in two forms
    dam = Document(
        id="Dam", title="Dam", url=None, score=1.0, found_by=("title",), hop=1, text="A dam."
    )
    result = answer(SUPPORTS, selected(decomposed, 1), item("Dam", 0))
    result = result.model_copy(update={"documents": (dam,)})
    retrieved = Retrieved(
        (("Weir", ("title",)), (composed, ("text",))),
        (SentenceKey("Weir", 2), SentenceKey("Dam", 0)),
    )
    assert Found.of_result(result, retrieved) == Found(
        ("Dam", "Weir", composed),
        ((composed, 1), ("Dam", 0), ("Weir", 2)),
        frozenset({(composed, 1)}),
    )


def test_claims_are_grouped_by_kind_and_by_the_smallest_set() -> None:
    three = claim((("A", 0), ("B", 0), ("C", 0)), kind="fever")
    both = claim((("A", 0), ("B", 0), ("C", 0)), (("A", 1), ("D", 0)), kind="fever")
    single = claim((("A", 0),))
    whole = found(["Bridge", "River"])
    results = several_documents(
        [BRIDGE, three, both, single], [whole, whole, found(["A", "D"]), whole]
    )
    assert {name: figures["claims"] for name, figures in results.items()} == {
        "all": 3,  # the claim that one document settles is left out
        "two-hop": 1,
        "2 documents": 2,
        "fever": 2,
        "3 or more documents": 1,
    }
    assert documents_needed(both) == 2
    assert results["all"]["all_opened"]["mean"] == pytest.approx(2 / 3)
    assert results["2 documents"]["all_opened"] == {"mean": 1.0, "interval": [1.0, 1.0]}


def test_without_such_claims_there_is_nothing_to_show() -> None:
    assert several_documents([claim((("A", 0),))], [found()]) == {}
    assert groups_of({"combined": {"several_documents": {}}}) == []


def test_the_tables_show_shares_with_intervals() -> None:
    whole = found(["Bridge", "River"], [("Bridge", 0), ("River", 2)], [])
    recipes = {"m3": {"several_documents": several_documents([BRIDGE], [whole])}}
    assert groups_of(recipes) == ["all"]
    head, _, row = as_markdown(recipes, "all").splitlines()
    assert head.startswith("| all: 1 claim | document recall@5 |")
    assert row.startswith("| m3 | 100.0 (100 to 100) |")
    assert as_text(recipes, "all").splitlines()[1].split() == [
        *("document", "recall@5", "100.0", "(100", "to", "100)")
    ]

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


def found(
    documents: Sequence[str] = (),
    sentences: Sequence[tuple[str, int]] = (),
    chosen: Sequence[tuple[str, int]] = (),
) -> Found:
    return Found(tuple(documents), tuple(sentences), frozenset(chosen))


def scored(asked: CorpusClaim, what: Found) -> dict[str, float]:
    return dict(zip(MEASURES, scores_of(asked, what), strict=True))


BRIDGE = claim((("Bridge", 0), ("River", 2)))


def test_a_set_is_found_at_the_place_of_its_last_member() -> None:
    documents = ["Bridge", "Ferry", "Dam", "Weir", "Lock", "River"]
    sentences = [("Bridge", 0), *(("Ferry", n) for n in range(20)), ("River", 2)]
    scores = scored(BRIDGE, found(documents, sentences, []))
    assert scores["document_recall@5"] == 0  # River is the sixth
    assert scores["document_recall@20"] == scores["document_recall@100"] == 1
    assert scores["evidence_recall@20"] == 0  # River's sentence is the twenty-second
    assert scores["evidence_recall@100"] == 1
    assert scores["all_opened"] == 1


def test_half_of_a_set_counts_as_nothing() -> None:
    what = found(["Bridge"], [("Bridge", 0)], [("Bridge", 0)])
    scores = scored(BRIDGE, what)
    assert [scores[f"document_recall@{k}"] for k in (5, 20, 100)] == [0, 0, 0]
    assert scores["all_opened"] == scores["set_selected"] == scores["exact_match"] == 0
    assert scores["document_f1"] == pytest.approx(2 * 1 / (1 + 2))  # one of two, nothing wrong


def test_documents_match_although_another_sentence_of_them_is_selected() -> None:
    what = found(["Bridge", "River"], [], [("Bridge", 0), ("River", 1)])
    scores = scored(BRIDGE, what)
    assert scores["exact_match"] == scores["document_f1"] == 1
    assert scores["set_selected"] == 0


def test_a_selected_document_too_many_is_no_exact_match() -> None:
    chosen = [("Bridge", 0), ("River", 2), ("Ferry", 1)]
    scores = scored(BRIDGE, found(chosen=chosen))
    assert scores["set_selected"] == 1
    assert scores["exact_match"] == 0
    assert scores["document_f1"] == pytest.approx(2 * 2 / (3 + 2))


def test_one_of_several_sets_is_enough_but_two_halves_are_not() -> None:
    either = claim((("A", 0), ("B", 0)), (("C", 0), ("D", 0)))
    assert scored(either, found(["C", "D"]))["all_opened"] == 1
    assert scored(either, found(["A", "C"]))["all_opened"] == 0


def test_nothing_found_scores_nothing() -> None:
    assert scores_of(BRIDGE, found()) == [0.0] * len(MEASURES)


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

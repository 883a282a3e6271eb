"""The report's tables on three small searches, counted by hand in each of the three ways."""

from __future__ import annotations

import pytest

from research.evaluation.claims import AnnotatedClaim, SentenceKey
from research.evaluation.measures.esoteric_table import (
    RetrievedPassage,
    Search,
    as_markdown,
    as_text,
    esoteric_table,
    searches_of,
)
from retrieval.types import REFUTES, SUPPORTS, FoundBy, Label
from tests.research.evaluation.answers import ANSWERS, CLAIMS


def search(
    label: Label,
    sets: list[list[SentenceKey]],
    documents: list[tuple[str, FoundBy | None]],
    passages: list[tuple[str, list[SentenceKey]]],
    retrieval: float,
) -> Search:
    return Search(
        AnnotatedClaim("A claim.", label, tuple(map(tuple, sets))),
        tuple(documents),
        tuple(RetrievedPassage(document, frozenset(covers)) for document, covers in passages),
        retrieval,
        retrieval + 1.0,
    )


SEARCHES = [
    # Two sets, on Lamp and on Pier, both found. Of Lamp both annotated sentences are covered, one
    # of them twice; of Pier none. Boat is a wrong document.
    search(
        SUPPORTS,
        [[("Lamp", 0)], [("Lamp", 1), ("Pier", 0)]],
        [("Lamp", "title"), ("Boat", "text"), ("Pier", "text")],
        [
            ("Lamp", [("Lamp", 0)]),
            ("Lamp", [("Lamp", 0), ("Lamp", 1)]),
            ("Pier", []),
            ("Boat", []),
        ],
        retrieval=2.0,
    ),
    # One set on two pages; only Quay is found, and its sentence.
    search(
        REFUTES,
        [[("Quay", 2), ("Harbour", 0)]],
        [("Quay", "disambiguation")],
        [("Quay", [("Quay", 2)]), ("Quay", [])],
        retrieval=1.0,
    ),
    # Nothing is found.
    search(SUPPORTS, [[("Sluice", 1)]], [("Boat", "words")], [("Boat", [])], retrieval=3.0),
]
TABLE = esoteric_table(SEARCHES)


def test_documents_are_the_same_in_all_countings_but_for_their_whole_sets() -> None:
    for counting in TABLE.values():
        assert counting["document_recall"] == 3 / 5  # Lamp, Pier, Quay of these, Harbour, Sluice
        assert counting["document_precision"] == 3 / 5  # of Lamp, Boat, Pier, Quay, Boat
        assert counting["document_f1"] == pytest.approx(3 / 5)
    assert TABLE["text"]["document_ofever"] == 1 / 3  # Lamp alone is a whole set
    assert TABLE["by_document"]["document_ofever"] == 1 / 3  # Lamp and Pier
    assert TABLE["by_passage"]["document_ofever"] == 1 / 3


def test_the_text_counts_each_annotated_sentence_once_and_asks_for_one_set() -> None:
    text = TABLE["text"]
    # Lamp 0, Lamp 1 and Quay 2; Pier 0 is on a document that was found too, two others are not.
    assert text["passage_recall"] == 3 / 4
    assert text["combined_recall"] == 3 / 6
    # Three passages hit; five are on right documents, seven are all.
    assert text["passage_precision"] == 3 / 5
    assert text["combined_precision"] == 3 / 7
    # The first claim has the whole set of Lamp 0, and is the only one with the documents of one.
    assert text["passage_ofever"] == 1.0
    assert text["combined_ofever"] == 1 / 3


def test_by_document_a_hit_is_a_document_and_is_measured_against_sentences() -> None:
    table = TABLE["by_document"]
    assert table["passage_recall"] == 2 / 4  # Lamp, Quay
    assert table["combined_recall"] == 2 / 6
    assert table["passage_precision"] == 2 / 3  # of Lamp, Pier, Quay
    assert table["combined_precision"] == 2 / 5
    # Of the second claim all sentences on its found documents are covered; of the third there are
    # none, which counts as well.
    assert table["passage_ofever"] == 2 / 3
    assert table["combined_ofever"] == 0


def test_by_passage_a_pair_is_a_hit_of_passage_recall_and_a_passage_of_the_rest() -> None:
    table = TABLE["by_passage"]
    assert table["passage_recall"] == 4 / 4  # three pairs of the first claim, one of the second
    assert table["combined_recall"] == 3 / 6
    assert table["passage_precision"] == 3 / 5
    assert table["combined_precision"] == 3 / 7
    assert table["passage_ofever"] == 1 / 2  # of the two claims with a right document
    assert table["combined_ofever"] == 0


def test_time_size_and_place_are_those_that_the_names_say_and_those_of_the_program() -> None:
    text, program = TABLE["text"], TABLE["by_passage"]
    assert (text["retrieval_seconds"], text["seconds"]) == (2.0, 3.0)
    assert program["retrieval_seconds"] == 6 / 4  # one claim too many
    assert text["documents"] == pytest.approx(5 / 3)
    assert text["passages"] == pytest.approx(7 / 3)
    # Lamp, Lamp, Pier, Quay, Harbour, Sluice: characters for each annotated sentence.
    assert program["id_length"] == pytest.approx((4 + 4 + 4 + 4 + 7 + 6) / 6)
    assert text["place"] == pytest.approx((1 + 3 + 1) / 3)
    assert text["place_by_text"] == 2  # Pier, after Boat
    assert program["place_by_text"] == 3  # Pier, after Lamp and Boat


def test_hits_are_shared_out_among_the_ways_in_which_right_documents_were_found() -> None:
    shares = {row: value for row, value in TABLE["text"].items() if row.startswith("hits_by")}
    # Boat, found by words, is a right document of no claim.
    assert shares == {
        "hits_by_title": 1 / 3,
        "hits_by_disambiguation": 1 / 3,
        "hits_by_text": 1 / 3,
    }


def test_undecided_claims_are_no_searches_and_time_ends_before_the_verifier() -> None:
    answers = [ANSWERS[0], ANSWERS[2]]
    (found,) = searches_of([CLAIMS[0], CLAIMS[2]], answers)
    assert found.found == {"X", "A", "B"}
    assert found.covered == {("A", 0), ("B", 0)}
    assert (found.retrieval, found.total) == (0.5, 0.5)
    seconds = {"total": 0.5, "ranking": 0.2, "verification": 0.2, "verdict": 0.1}
    timed = Search.of(CLAIMS[0], ANSWERS[0].retrieved, seconds, lambda key: frozenset())
    assert timed.retrieval == pytest.approx(0.2)


def test_without_decided_claims_there_is_no_table() -> None:
    assert esoteric_table(searches_of(CLAIMS[2:3], ANSWERS[2:3])) == {}


def test_the_table_is_shown_with_the_figures_of_the_report() -> None:
    shown = as_markdown(TABLE).splitlines()
    assert shown[0] == "|  | report | text | program, by document | program, by passage |"
    assert "| combined recall | 69.3 | 50.0 | 33.3 | 50.0 |" in shown
    assert "| seconds a claim, retrieval | 31.75 | 2.00 | 1.50 | 1.50 |" in shown
    assert "| documents a claim | – | 1.67 | – | – |" in shown  # noqa: RUF001
    lines = as_text("esoteric", TABLE).splitlines()
    assert lines[0].split()[:3] == ["esoteric", "report", "text"]
    assert len({len(line) for line in lines}) == 1

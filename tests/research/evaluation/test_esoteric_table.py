"""The report's tables on three small searches, counted by hand in each of the three ways."""

from __future__ import annotations

import pytest

from research.evaluation.claims import AnnotatedClaim, SentenceKey
from research.evaluation.measures.esoteric_table import (
    COUNTINGS,
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


# What is found, as the text of the report counts, and its program by document and by passage.
@pytest.mark.parametrize(
    ("row", "text", "by_document", "by_passage"),
    [
        # Lamp, Pier, Quay of these, Harbour, Sluice; and of Lamp, Boat, Pier, Quay, Boat.
        ("document_recall", 3 / 5, 3 / 5, 3 / 5),
        ("document_precision", 3 / 5, 3 / 5, 3 / 5),
        ("document_f1", 3 / 5, 3 / 5, 3 / 5),
        ("document_ofever", 1 / 3, 1 / 3, 1 / 3),  # Lamp alone is a whole set; Lamp and Pier
        # Lamp 0, Lamp 1, Quay 2 of these and Pier 0, two others are not on documents found; of four
        # sentences two documents, Lamp and Quay; three pairs of the first claim, one of the second.
        ("passage_recall", 3 / 4, 2 / 4, 4 / 4),
        ("combined_recall", 3 / 6, 2 / 6, 3 / 6),
        # Three passages hit of five on right documents, of seven in all; two documents of Lamp,
        # Pier, Quay, of five in all.
        ("passage_precision", 3 / 5, 2 / 3, 3 / 5),
        ("combined_precision", 3 / 7, 2 / 5, 3 / 7),
        # The first claim has the whole set of Lamp 0, and is the only one with the documents of
        # one. Of the second all sentences on its found documents are covered; of the third there
        # are none, which counts as well, unless only claims with a right document do.
        ("passage_ofever", 1, 2 / 3, 1 / 2),
        ("combined_ofever", 1 / 3, 0, 0),
        ("retrieval_seconds", 6 / 3, 6 / 4, 6 / 4),  # the program counts one claim too many
        ("seconds", 9 / 3, None, None),
        ("documents", 5 / 3, None, None),
        ("passages", 7 / 3, None, None),
        # Lamp, Lamp, Pier, Quay, Harbour, Sluice: characters for each annotated sentence.
        ("id_length", None, (4 + 4 + 4 + 4 + 7 + 6) / 6, (4 + 4 + 4 + 4 + 7 + 6) / 6),
        ("place", (1 + 3 + 1) / 3, None, None),
        ("place_by_text", 2, 3, 3),  # Pier, after Boat; after Lamp and Boat
        ("hits_by_title", 1 / 3, 1 / 3, 1 / 3),
        ("hits_by_disambiguation", 1 / 3, 1 / 3, 1 / 3),
        ("hits_by_text", 1 / 3, 1 / 3, 1 / 3),
        ("hits_by_words", None, None, None),  # Boat is a right document of no claim
    ],
)
def test_a_row_is_counted_in_three_ways(
    row: str, text: float | None, by_document: float | None, by_passage: float | None
) -> None:
    assert [TABLE[counting].get(row) for counting in COUNTINGS] == [
        None if value is None else pytest.approx(value) for value in (text, by_document, by_passage)
    ]


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

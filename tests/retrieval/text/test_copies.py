"""Which sentences are copies of each other."""

from __future__ import annotations

from dataclasses import replace

from retrieval.text.context import CopiedSentences
from retrieval.types import Document, SentenceKey
from tests.support.cases import cases
from tests.support.evidence import document


def copies(*documents: Document) -> int:
    """Return how many documents have the last sentence of the first document."""
    first = documents[0].sentences[-1]
    return CopiedSentences(documents).documents_with(
        SentenceKey(first.document_id, first.sentence_id)
    )


def test_case_spacing_punctuation_and_quotes_make_no_difference() -> None:
    printed = [
        document("Morning", "“The pier is old”, he said."),
        document("Noon", "The  pier is old, he said"),
        document("Evening", "THE PIER IS OLD - HE SAID!"),
        document("Night", "The pier is new, he said."),
    ]
    assert copies(*printed) == 3
    folded = CopiedSentences(printed)
    texts = [folded.text(SentenceKey(one.id, 0)) for one in printed]
    assert texts[0] == texts[1] == texts[2] != texts[3]


@cases("copies", "one", "other")
def test_signs_of_numbers_make_a_difference(one: str, other: str) -> None:
    assert copies(document("Paper", one), document("Paper", other)) == 1


def test_a_sentence_that_refers_to_another_is_a_copy_only_after_the_same_one() -> None:
    holm = document("Ida Holm", "Ida Holm was born in Varnby.", "She kept bees.")
    again = document("Copy", "Ida Holm was born in Varnby.", "She kept bees.")
    berg = document("Eva Berg", "Eva Berg was born in Varnby.", "She kept bees.")
    assert copies(holm, again, berg) == 2


def test_a_first_sentence_that_refers_to_its_title_is_a_copy_only_below_that_title() -> None:
    holm, berg = document("Ida Holm", "She kept bees."), document("Eva Berg", "She kept bees.")
    assert copies(holm, berg) == 1


def test_passages_of_one_document_are_one_document() -> None:
    first = document("Report", "All rights are reserved.")
    second = document("Report", "All rights are reserved.")
    passages = [
        replace(
            one,
            id=f"report.pdf#{n}",
            sentences=(replace(one.sentences[0], document_id=f"report.pdf#{n}"),),
        )
        for n, one in enumerate((first, second), 1)
    ]
    assert copies(*passages) == 1

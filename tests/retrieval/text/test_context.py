"""What a sentence stands with: its neighbours, and its copies."""

from __future__ import annotations

from dataclasses import replace
from itertools import pairwise

from retrieval.text.context import LONGEST, CopiedSentences, context_of
from retrieval.types import Document, Sentence
from tests.support.cases import cases
from tests.support.evidence import document


@cases("contexts", "title", "text", "sentences", "contexts")
def test_a_sentence_is_read_with_the_neighbours_that_it_needs(
    title: str, text: str, sentences: list[str], contexts: list[list[str | None]]
) -> None:
    starts = [text.index(sentence) for sentence in sentences]
    made = tuple(
        Sentence(title, number, sentence, start, start + len(sentence))
        for number, (start, sentence) in enumerate(zip(starts, sentences, strict=True))
    )
    read = Document(title, title, None, text, made)
    assert [list(context_of(read, sentence)) for sentence in made] == contexts


def test_of_a_long_neighbour_only_the_nearer_words_are_read() -> None:
    long = " ".join(f"word{number}" for number in range(100)) + "?"  # 690 characters
    first, second = document("Varn", long, "No."), document("Varn", "Is it so?", long)
    before = context_of(first, first.sentences[1]).before
    after = context_of(second, second.sentences[0]).after
    assert before is not None
    assert after is not None
    assert before.endswith("word98 word99?")
    assert before.startswith("word")
    assert after.startswith("word0 word1")
    assert f" {after.split()[-1]} " in long
    assert LONGEST - 10 < len(before) <= LONGEST
    assert LONGEST - 10 < len(after) <= LONGEST


def test_long_texts_take_no_long_time() -> None:
    read = document("Varn", *("No, " * 5_000 + "." for _ in range(20)), "(" * 50_000)
    for one, other in pairwise(read.sentences):
        assert context_of(read, one)
        assert context_of(read, other)


def copies(*documents: Document) -> int:
    """Return how many documents have the last sentence of the first document."""
    first = documents[0].sentences[-1]
    return CopiedSentences(documents).documents_with(first.key)


def test_case_spacing_punctuation_and_quotes_make_no_difference() -> None:
    printed = [
        document("Morning", "“The pier is old”, he said."),
        document("Noon", "The  pier is old, he said"),
        document("Evening", "THE PIER IS OLD - HE SAID!"),
        document("Night", "The pier is new, he said."),
    ]
    assert copies(*printed) == 3
    folded = CopiedSentences(printed)
    texts = [folded.text(one.sentences[0].key) for one in printed]
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

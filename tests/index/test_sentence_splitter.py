from __future__ import annotations

import pytest

from retrieval.index.sentence_splitter import SentenceSplitter, bounds_of


@pytest.fixture(scope="module")
def splitter() -> SentenceSplitter:
    return SentenceSplitter()


@pytest.mark.parametrize(
    "sentences",
    [
        ["J. R. R. Tolkien was born in Bloemfontein.", "He wrote The Hobbit."],
        ["Dr. No is a film.", "It stars Mr. Bond of the U.S. Navy.", "St. Petersburg is large."],
        ["It was painted (c. 1503) in Florence.", "It hangs in Paris."],
        ['"Why?" asked the king.', "Nobody knew."],
        ["The firm made cars (and ships).", "In 1999 it closed."],
        ["One sentence without an end"],
    ],
)
def test_sentences_end_where_a_reader_says(
    splitter: SentenceSplitter, sentences: list[str]
) -> None:
    text = " ".join(sentences)
    (bounds,) = splitter.split([text])
    assert [text[start:end] for start, end in bounds] == sentences


def test_white_space_belongs_to_no_sentence(splitter: SentenceSplitter) -> None:
    text = "  It is old.   It is red. "
    (bounds,) = splitter.split([text])
    assert [text[start:end] for start, end in bounds] == ["It is old.", "It is red."]


def test_nothing_has_no_sentences(splitter: SentenceSplitter) -> None:
    assert list(splitter.split(["", "   "])) == [[], []]


def test_a_text_of_very_many_sentences_is_looked_through_once() -> None:
    # Looking back to the beginning for each of them would take many minutes.
    sentence = "It is red. "
    starts = [len(sentence) * number for number in range(100_000)]
    bounds = bounds_of(sentence * 100_000, starts)
    assert bounds[:2] == [(0, 10), (11, 21)]
    assert len(bounds) == 100_000


def test_texts_longer_than_what_is_read_together_are_split_as_short_ones_are(
    splitter: SentenceSplitter,
) -> None:
    # Of 46 characters: what is read together ends within a sentence.
    sentence = "The harbour of Esk is deep, and so is its sea. "[:-1]
    long = " ".join([sentence] * 9000)
    unbroken = "a" * 500_000
    short, first, second, last = splitter.split([sentence, long, unbroken, sentence])
    assert short == last == [(0, len(sentence))]
    assert first == [(47 * n, 47 * n + 46) for n in range(9000)]
    assert second == [(0, 500_000)]


def test_a_sentence_ends_before_the_quotes_that_close_it() -> None:
    text = 'He said: "It is red." It is.'
    # As if a sentence began with the mark of quotation, and one behind it.
    assert bounds_of(text, [0, 20, 22]) == [(0, 20), (20, 21), (22, 28)]

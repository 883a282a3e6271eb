"""Where sentences end, and what a sentence stands with: its neighbours, and its copies."""

from __future__ import annotations

from dataclasses import replace
from itertools import islice, pairwise, repeat

import pytest

from retrieval.text import sentence_splitter
from retrieval.text.context import LONGEST, CopiedSentences, context_of
from retrieval.text.sentence_splitter import SentenceSplitter, bounds_of
from tests.support.cases import cases
from tests.support.evidence import document


@pytest.fixture(scope="module")
def splitter() -> SentenceSplitter:
    return SentenceSplitter()


@pytest.fixture
def without_spacy(monkeypatch: pytest.MonkeyPatch) -> SentenceSplitter:
    def load() -> None:
        pytest.fail("spaCy is loaded for clear boundaries")

    monkeypatch.setattr(sentence_splitter, "load_senter", load)
    return SentenceSplitter()


def sentences_of(splitter: SentenceSplitter, text: str) -> list[str]:
    (bounds,) = splitter.split([text])
    return [text[start:end] for start, end in bounds]


@cases("sentences", "text", "sentences", "by_rules")
def test_sentences_end_where_a_human_reader_ends_them(
    request: pytest.FixtureRequest, text: str, sentences: list[str], by_rules: bool
) -> None:
    chosen = request.getfixturevalue("without_spacy" if by_rules else "splitter")
    assert sentences_of(chosen, text) == sentences


def test_a_text_of_very_many_sentences_is_looked_through_once(splitter: SentenceSplitter) -> None:
    # Looking back to the beginning for each of them would take many minutes.
    starts = [11 * number for number in range(100_000)]
    bounds = bounds_of("It is red. " * 100_000, starts)
    assert bounds[:2] == [(0, 10), (11, 21)]
    assert len(bounds) == 100_000
    # A sentence ends before the quotes that close it: as if one began with these, and behind them.
    text = 'He said: "It is red." It is.'
    assert bounds_of(text, [0, 20, 22]) == [(0, 20), (20, 21), (22, 28)]
    # Of 46 characters: what is read together ends within a sentence.
    sentence = "The harbour of Esk is deep, and so is its sea."
    long = " ".join([sentence] * 9000)
    unbroken = "a" * 500_000
    short, first, second, last = splitter.split([sentence, long, unbroken, sentence])
    assert short == last == [(0, len(sentence))]
    assert first == [(47 * n, 47 * n + 46) for n in range(9000)]
    assert second == [(0, 500_000)]
    # One stretch of unclear boundaries that is cut many times is decided as in the whole text.
    text = "It is by " + "J. D. " * 2000 + "Salinger. He wrote it."
    assert sentences_of(splitter, text) == [text[: -len(" He wrote it.")], "He wrote it."]


@pytest.mark.parametrize("gap", [". " * 20_000, "." * 400_000, "." + " " * 1_200_000])
def test_any_number_of_marks_and_white_space_is_read(splitter: SentenceSplitter, gap: str) -> None:
    (bounds,) = splitter.split([f"Contents{gap}Page"])
    assert bounds[0][0] == 0
    assert bounds[-1][1] == len(gap) + 12


def test_texts_without_an_end_are_read_a_few_at_a_time(splitter: SentenceSplitter) -> None:
    assert list(splitter.split(["", "   "])) == [[], []]
    for text in ("It is red. It is.", "By J. D. Salinger. It is.", ""):
        expected = next(splitter.split([text]))
        assert list(islice(splitter.split(repeat(text)), 3)) == [expected] * 3


def test_no_gap_is_too_wide_and_the_full_stops_of_chinese_end_no_sentence(
    without_spacy: SentenceSplitter,
) -> None:
    clear = "The sea is deep." + " " * 2000 + "It is cold."
    assert sentences_of(without_spacy, clear) == ["The sea is deep.", "It is cold."]
    dots = "The harbour " + "." * 2000 + " 5"
    assert sentences_of(without_spacy, dots) == [dots]
    chinese = "北京是中国的首都。人口为2154.2万。" * 50_000
    assert sentences_of(without_spacy, chinese) == [chinese]


def test_of_a_long_neighbour_only_the_nearer_words_are_read() -> None:
    long = " ".join(f"word{number}" for number in range(100)) + "?"  # 690 characters
    first, second = document("Varn", long, "No."), document("Varn", "Is it so?", long)
    before = context_of(first, first.sentences[1]).before
    after = context_of(second, second.sentences[0]).after
    assert before.endswith("word98 word99?")
    assert before.startswith("word")
    assert after.startswith("word0 word1")
    assert f" {after.split()[-1]} " in long
    assert LONGEST - 10 < len(before) <= LONGEST
    assert LONGEST - 10 < len(after) <= LONGEST
    # Long texts take no long time.
    read = document("Varn", *("No, " * 5_000 + "." for _ in range(20)), "(" * 50_000)
    for one, other in pairwise(read.sentences):
        assert context_of(read, one)
        assert context_of(read, other)


def test_passages_of_one_document_are_one_document() -> None:
    made = document("Report", "All rights are reserved.")
    passages = [
        replace(made, id=name, sentences=(replace(made.sentences[0], document_id=name),))
        for name in ("report.pdf#1", "report.pdf#2")
    ]
    assert CopiedSentences(passages).documents_with(passages[0].sentences[0].key) == 1

"""What is read of claims, texts and sentences, what is refused, and the statements of a claim."""

import time
import unicodedata
from contextlib import suppress
from dataclasses import replace
from itertools import islice, pairwise, repeat
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from retrieval.checkable import given_text
from retrieval.checkable.kind_rules import WEIGHTS, KindModel, read_model
from retrieval.checkable.text_reader import TextReader
from retrieval.claim import LONGEST, read_claim
from retrieval.corpora.cleaning import clean
from retrieval.errors import InvalidClaim, InvalidText, ModelUnavailable
from retrieval.pipeline.claim_parser import ClaimParser, ParsedClaim
from retrieval.text import context, sentence_splitter
from retrieval.text.context import CopiedSentences, context_of
from retrieval.text.english import EnglishParser
from retrieval.text.notices import SEVERAL, sentences_in
from retrieval.text.sentence_splitter import SentenceSplitter, bounds_of
from retrieval.text.subject import subject_of
from retrieval.text.word_forms import MOST_MARKS, nfc, nfkd
from tests.support.cases import cases, rules
from tests.support.evidence import document, evidence

MILL = "The mill of Birchwick burned down in 1931."


def test_a_claim_is_a_text_of_a_bounded_length_that_keeps_its_form_if_it_needs_no_change() -> None:
    for value in (None, 7, ["a claim"], b"a claim"):
        with pytest.raises(InvalidClaim, match="not text"):
            read_claim(value)
    assert len(read_claim("a" * LONGEST).text) == LONGEST
    read = read_claim(f"  {MILL} ")
    assert (read.text, read.rewritten) == (MILL, None)
    read = read_claim("Is it true that the mill burned down?")
    assert read.notices == ("Checked as the statement “The mill burned down.”.",)


def test_texts_without_end_are_read_once_from_begin_to_end() -> None:
    for text in ("a" * 1_000_000, "7" * 1_000_000, "#a " * 300_000):
        with pytest.raises(InvalidClaim) as refused:
            read_claim(text)
        assert refused.value.code == "claim_too_long"
        assert sentences_in(text) == [text.strip()]


# --- normal forms of Unicode: what is written stays, and no text takes long

_ACUTE, _CEDILLA = "\N{COMBINING ACUTE ACCENT}", "\N{COMBINING CEDILLA}"
_KATAKANA_MARKS = "\N{HALFWIDTH KATAKANA VOICED SOUND MARK}" + _ACUTE
_TIBETAN_MARKS = "\N{TIBETAN VOWEL SIGN II}" + _ACUTE  # the first becomes two


def test_what_somebody_may_write_is_normalized_as_unicode_says_without_endless_marks() -> None:
    for text in ("Ko\u0308ln", "ﬁn", "ガ", "Việt Nam" + _ACUTE * MOST_MARKS, "—" * 99, "🏳️‍🌈" * 40):
        assert nfc(text) == unicodedata.normalize("NFC", text)
        assert nfkd(text) == unicodedata.normalize("NFKD", text)
    assert nfkd("a" + _ACUTE * 90 + "b" + _ACUTE) == "a" + _ACUTE * MOST_MARKS + "b" + _ACUTE


@pytest.mark.parametrize("marks", [_ACUTE + _CEDILLA, _KATAKANA_MARKS, _TIBETAN_MARKS])
def test_a_text_of_marks_takes_no_longer_than_any_other(marks: str) -> None:
    text = "a" + marks * 200_000
    began = time.monotonic()
    assert len(nfc(text)) < 100
    assert len(nfkd(text)) < 100
    clean("\N{ZERO WIDTH SPACE}".join(text))
    with pytest.raises(InvalidClaim) as claim:
        read_claim(text)
    assert claim.value.code == "claim_too_long"
    with pytest.raises(InvalidText) as given:
        given_text.read_text(text)
    assert given.value.code == "text_too_long"
    assert time.monotonic() - began < 20  # sorting them would take minutes


def parsed(parser: EnglishParser, claim: str) -> ParsedClaim:
    return ClaimParser(parser).parse(claim)


def test_a_notice_names_the_statement_that_is_checked(parser: EnglishParser) -> None:
    read = parsed(parser, "Fact check: was the mill built in nineteen thirty-one?").read
    assert read.text == "The mill was built in 1931."
    assert read.notices == ("Checked as the statement “The mill was built in 1931.”.",)
    read = parsed(parser, "Isn't Paris in France?").read
    assert read.text == "Isn't Paris in France?"
    assert "checked as it is" in read.notices[0]


# --- several statements


def test_offsets_lead_back_into_the_claim(parser: EnglishParser) -> None:
    claim = "The mill stands in Birchwick and was built in 1801."
    first, second = (one.statement for one in parsed(parser, claim).statements)
    assert (first.start, first.end) == (0, 28)
    assert claim[second.start : second.end] == "was built in 1801"
    # "The mill was built in 1801.": its own words have a place, its subject has none.
    start = second.text.index("1801")
    place = second.in_claim(start, start + 4)
    assert place is not None
    assert claim[slice(*place)] == "1801"
    assert second.in_claim(0, 8) is None
    assert second.in_claim(4, 12) is None


@cases("statements", "claim", "last", "read_as")
def test_whose_something_is_gets_its_name_only_where_nothing_else_can_be_meant(
    parser: EnglishParser, claim: str, last: str, read_as: str
) -> None:
    found = parsed(parser, claim)
    if not last:
        assert len(found.statements) == 1
        assert found.read.notices == (SEVERAL,)
        return
    first, second = (one.statement for one in found.statements)
    assert claim[first.start : first.end] == first.text.removesuffix(".")
    assert second.text == last
    # The words that the claim does not have there are in no place of it.
    at = second.text.index(read_as)
    assert second.in_claim(at, at + len(read_as)) is None
    assert any(read_as in notice for notice in found.read.notices)


def test_the_sentences_of_a_path_are_about_the_subject_together(parser: EnglishParser) -> None:
    subject = subject_of(parser.parse("The author of Frankenstein was born in London."))
    novel = ("Frankenstein", "It is a novel by Mary Shelley.")
    author = ("Mary Shelley", "She was born in London.")
    assert subject.is_in([author, novel])
    assert not subject.is_in([author])


def test_all_of_a_paper_is_about_what_it_names_but_an_article_about_its_title(
    parser: EnglishParser,
) -> None:
    subject = subject_of(parser.parse("The Alder trust spent 900 pounds."))
    accounts = evidence("Minutes of 3 May#2", "Spent: 900 pounds.")
    assert not subject.is_of([accounts])
    head = document("Minutes of 3 May#1", "The Alder trust met at noon.")
    paper = [head, document("Minutes of 3 May#2", "Spent: 900 pounds.")]
    assert subject.in_documents(paper).is_of([accounts])
    other = evidence("Birch fund", "It spent 900 pounds.", sentence_id=1)
    text = document("Birch fund", "The Birch fund is older than the Alder trust.", "It spent.")
    assert subject.in_documents([*paper, text]).is_of([other])
    article = replace(text, url="https://example.org/wiki/Birch_fund")
    assert not subject.in_documents([*paper, article]).is_of([other])


# --- texts as they are given, and their sentences: with the real parser and the shipped model


def test_a_text_of_the_most_characters_is_read_and_tidied_and_no_longer_one() -> None:
    text = ("word " * 4000)[: given_text.LONGEST_TEXT - 1] + "."
    assert given_text.read_text(text) == text
    with pytest.raises(InvalidText, match="20,001 characters long"):
        given_text.read_text("word " * 4000 + "a")
    assert given_text.read_text(" A\N{ZERO WIDTH SPACE} bridge\r\nfell.\r") == "A bridge\nfell."
    # A line that was full goes on, and others end.
    text = "A bridge\n\nThe bridge across the river Tarn was built by French engineers in\n"
    text += "1931. It fell.\n- It was rebuilt\n2. It is open"
    assert [" ".join(text[a:b].split()) for a, b in given_text.blocks_of(text)] == [
        "A bridge",
        "The bridge across the river Tarn was built by French engineers in 1931. It fell.",
        "It was rebuilt",
        "It is open",
    ]


@cases("given_text", "by_rules", "likely", "kind")
def test_a_model_corrects_the_rules(
    by_rules: given_text.Kind, likely: tuple[float, ...], kind: str
) -> None:
    kinds: tuple[given_text.Kind, ...] = ("fact", "opinion", "question")
    model = KindModel(kinds, np.eye(3, dtype=np.float32), np.zeros(3, np.float32))
    assert model.corrected(by_rules, np.array(likely, np.float32)) == kind
    shares = model.probabilities(np.array([[np.log(2), 0, 0]], np.float32))
    assert shares[0] == pytest.approx([0.5, 0.25, 0.25])


def test_a_missing_and_a_damaged_file_say_how_to_restore_it(tmp_path: Path) -> None:
    with pytest.raises(ModelUnavailable, match="missing"):
        read_model(tmp_path)
    (tmp_path / WEIGHTS).write_text("{}")
    with pytest.raises(ModelUnavailable, match="damaged"):
        read_model(tmp_path)


@pytest.fixture(scope="module")
def reader() -> TextReader:
    return TextReader()


def read(reader: TextReader, text: str) -> list[given_text.TextSentence]:
    return list(reader.statements_of(given_text.read_text(text)))


@pytest.mark.models
def test_a_sentence_with_two_statements_makes_two_claims(reader: TextReader) -> None:
    (sentence,) = read(
        reader, "Since 1990, Germany has been reunited, and Berlin is once more its capital."
    )
    assert sentence.checkable
    first, second = sentence.claims
    assert (first.text, first.replaced) == ("Since 1990, Germany has been reunited.", ())
    assert second.text == "Berlin is once more Germany's capital."
    assert second.replaced == (given_text.Replaced("its", "Germany"),)


def halves(reader: TextReader, text: str) -> list[str]:
    sentence = read(reader, text)[-1]
    assert sentence.checkable
    return [claim.text for claim in sentence.claims if not claim.unclear]


def unclear(reader: TextReader, text: str) -> list[str]:
    """What the text does not say, which is left as it is and asked for."""
    claim = read(reader, text)[-1].claims[0]
    assert claim.text == text.split(". ")[-1]
    return list(claim.unclear)


def said(reader: TextReader, listed: str) -> list[str]:
    """The sentences by their offsets in the text."""
    return [listed[one.start : one.end] for one in read(reader, listed)]


@pytest.mark.models
@rules(
    ("given_text", "halves", "claims", halves),
    ("given_text", "text", "unclear", unclear),
    ("given_text", "listed", "sentences", said),
    ("given_text", "text", "kinds", lambda reader, text: [one.kind for one in read(reader, text)]),
    (*("given_text", "names", "claim"), lambda reader, text: read(reader, text)[-1].claims[0].text),
)
def test_a_text_is_read(reader: TextReader, rule: Any, given: Any, expected: Any) -> None:
    assert rule(reader, *given) == expected


@pytest.mark.models
def test_a_hostile_text_is_read_or_refused_in_a_few_seconds(reader: TextReader) -> None:
    with pytest.raises(InvalidText, match="at most 500"):
        read(reader, "It fell. " * (given_text.MOST_SENTENCES + 1))
    for text in ("a " * 9_000 + "is.", "(" * 9_000 + " it is", '"a. ' * 5_000, "A.B. " * 4_000):
        with suppress(InvalidText):
            assert all(sentence.claims for sentence in read(reader, text))


# --- where sentences end, and what a sentence stands with: its neighbours, and its copies


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
    # A sentence ends before the quotes that close it: as if one began with these, and after them.
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


@pytest.mark.parametrize("gap", [". " * 5_000, "." * 100_000, "." + " " * 300_000])
def test_any_number_of_marks_and_white_space_is_read(splitter: SentenceSplitter, gap: str) -> None:
    (bounds,) = splitter.split([f"Contents{gap}Page"])
    assert bounds[0][0] == 0
    assert bounds[-1][1] == len(gap) + 12


def test_texts_without_an_end_are_read_a_few_at_a_time(splitter: SentenceSplitter) -> None:
    assert list(splitter.split(["", "   "])) == [[], []]
    for text in ("It is red. It is.", "By J. D. Salinger. It is.", ""):
        expected = next(splitter.split([text]))
        assert list(islice(splitter.split(repeat(text)), 3)) == [expected] * 3


def test_no_gap_is_too_wide_and_chinese_stays_whole(without_spacy: SentenceSplitter) -> None:
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
    assert context.LONGEST - 10 < len(before) <= context.LONGEST
    assert context.LONGEST - 10 < len(after) <= context.LONGEST
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

from __future__ import annotations

import pytest

from retrieval.stages.find.spans import MOST, SpacySpanExtractor
from retrieval.text.english import EnglishParser
from retrieval.types import Span


def spans(parser: EnglishParser, claim: str) -> list[Span]:
    return SpacySpanExtractor().extract(parser.parse(claim))


def texts(parser: EnglishParser, claim: str) -> list[str]:
    return [span.text for span in spans(parser, claim)]


def test_names_and_the_shorter_names_inside_them_are_found(parser: EnglishParser) -> None:
    found = texts(parser, "Mary Shelley's Frankenstein was filmed.")
    assert {"Mary Shelley", "Frankenstein"} <= set(found)


def test_small_words_inside_a_name_belong_to_it(parser: EnglishParser) -> None:
    assert "Lord of the Rings" in texts(parser, "He read the Lord of the Rings as a boy.")


def test_a_quotation_is_a_span_without_its_marks(parser: EnglishParser) -> None:
    found = spans(parser, 'The song "under the old bridge" was a hit.')
    assert ("under the old bridge", "quotation") in [(s.text, s.kind) for s in found]


def test_numbers_and_dates_are_spans(parser: EnglishParser) -> None:
    kinds = {s.text: s.kind for s in spans(parser, "The tower was opened in 1889 with 3 floors.")}
    assert kinds["1889"] == "date"
    assert kinds["3"] == "number"


def test_a_common_noun_may_be_a_title(parser: EnglishParser) -> None:
    assert "novelist" in texts(parser, "The author was an English novelist.")


@pytest.mark.parametrize(
    "claim",
    ["frankenstein was written by mary shelley", "FRANKENSTEIN WAS WRITTEN BY MARY SHELLEY"],
)
def test_a_claim_in_one_case_still_names_its_pages(parser: EnglishParser, claim: str) -> None:
    found = {text.casefold() for text in texts(parser, claim)}
    assert {"frankenstein", "mary shelley"} <= found


@pytest.mark.parametrize(
    "claim",
    [
        "Paris is large.",
        "Ärger um “Öl” in Århus.",
        "Why",
        "A b c",
        "It is so.",
        "Of " * 160,
        "Ab " * 160,
    ],
)
def test_spans_are_cut_from_the_claim_in_order_and_bounded(
    parser: EnglishParser, claim: str
) -> None:
    found = spans(parser, claim)
    assert 1 <= len(found) <= MOST
    assert all(claim[s.start : s.end] == s.text for s in found)
    assert found == sorted(found, key=lambda s: (s.start, -s.end))
    assert len({(s.start, s.end) for s in found}) == len(found)


def test_words_that_mean_nothing_alone_are_no_spans(parser: EnglishParser) -> None:
    assert not {"the", "The", "of", "It", "was"} & set(texts(parser, "It was the end of The Road."))

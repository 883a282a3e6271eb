"""Misspelt names, compared with a small corpus."""

from __future__ import annotations

import pytest

from retrieval.corpora.corpus import Page
from retrieval.pipeline.claim_parser import ClaimParser, Spelling
from retrieval.text.english import EnglishParser
from retrieval.text.word_forms import edit_distance, is_near
from tests.retrieval.index.in_memory_store import InMemoryStore
from tests.support.cases import cases

TEXTS = {
    "Mill": "The watermill of Birchwick burned down in 1931.",
    "Ann": "Ann Lindqvist lived in Skarnholm. She was painted by Lindqvast.",
    "Skarnhelm": "Skarnhelm is a town. Skarnholm is another town.",
    "Orra": "Orva, Orla and Orna are three islands. A scove is a bird.",
    "Brodick Bay": "It lies in the north, where people call it Brodric.",
    "Mona Lisa": "Mona Lisa is a painting.",
    **{f"President {n}": "A president is elected and honest." for n in range(20)},
}


@pytest.fixture(scope="module")
def claims(parser: EnglishParser) -> ClaimParser:
    pages = [Page(title, title, None, text) for title, text in TEXTS.items()]
    return ClaimParser(parser, Spelling(InMemoryStore(pages, None)))


@cases("spelling", "claim", "read")
def test_a_misspelt_name_is_read_as_the_nearest_name(
    claims: ClaimParser, claim: str, read: str
) -> None:
    parsed = claims.parse(claim).read
    assert parsed.text == read
    assert parsed.original == claim
    assert any("was read as “" in one for one in parsed.notices)


@cases("spelling", "claim")
def test_other_words_stay_as_they_are(claims: ClaimParser, claim: str) -> None:
    parsed = claims.parse(claim).read
    assert (parsed.text, parsed.notices) == (claim, ())


@cases("spelling", "claim", "suggestion")
def test_a_word_that_may_be_misspelt_is_suggested_and_stays(
    claims: ClaimParser, claim: str, suggestion: str
) -> None:
    parsed = claims.parse(claim)
    assert (parsed.suggestion, parsed.read.text) == (suggestion, claim)


def test_the_notice_names_both_spellings(claims: ClaimParser) -> None:
    read = claims.parse("Birchwik is old.").read
    assert read.notices == ("“Birchwik” is not in the corpus; it was read as “Birchwick”.",)


@cases("spelling", "one", "other", "edits")
def test_edits_insert_remove_replace_or_swap_letters(one: str, other: str, edits: int) -> None:
    assert edit_distance(one, other) == edit_distance(other, one) == edits


def test_a_word_is_near_others_with_its_first_letter() -> None:
    assert is_near("mill", "mall", 1)
    assert not is_near("mill", "mill", 1)
    assert not is_near("mill", "hill", 1)
    assert not is_near("mill", "malls", 1)

from __future__ import annotations

import pytest

from retrieval.models.papers.title_generator import (
    IDENTIFIERS,
    MARKUP,
    identifiers_in,
    input_tokens,
)
from retrieval.models.title_trie import TitleTokenizer

pytestmark = pytest.mark.models

LAMP = ("Lamp", "It was made in Oslo.")
PIER = ("Pier (band)", "It is a band.")
CLS, SEP = 101, 102


@pytest.fixture(scope="module")
def tokenizer() -> TitleTokenizer:
    return TitleTokenizer()


def test_each_sentence_follows_its_identifier_and_its_title(
    tokenizer: TitleTokenizer,
) -> None:
    claim, lamp, pier = tokenizer.tokens(
        ["The lamp is red.", "Lamp : It was made in Oslo.", "Pier (band) : It is a band."]
    )
    tokens = input_tokens(tokenizer, "The lamp is red.", [LAMP, PIER], 64)
    assert tokens == [CLS, *claim, SEP, IDENTIFIERS[0], *lamp, IDENTIFIERS[1], *pier, SEP]
    assert identifiers_in(tokens) == list(IDENTIFIERS[:2])


def test_a_claim_of_one_word_without_sentences_is_an_input(tokenizer: TitleTokenizer) -> None:
    tokens = input_tokens(tokenizer, "Oslo", [], 64)
    assert (tokens[0], len(tokens), identifiers_in(tokens)) == (CLS, 4, [])


def test_what_does_not_fit_is_cut_at_the_end_and_is_not_named(tokenizer: TitleTokenizer) -> None:
    long = ("Pier", "The pier is long. " * 20)
    tokens = input_tokens(tokenizer, "The lamp is red.", [LAMP, long, PIER], 40)
    assert len(tokens) == 40
    assert tokens[-1] == SEP
    assert identifiers_in(tokens) == list(IDENTIFIERS[:2])


def test_a_claim_longer_than_the_window_leaves_half_of_it_to_the_sentences(
    tokenizer: TitleTokenizer,
) -> None:
    tokens = input_tokens(tokenizer, "red " * 100, [LAMP, PIER], 40)
    assert tokens.index(IDENTIFIERS[0]) == 22  # [CLS], twenty tokens, [SEP]
    assert identifiers_in(tokens)[0] == IDENTIFIERS[0]


def test_there_are_no_more_sentences_than_identifiers(tokenizer: TitleTokenizer) -> None:
    tokens = input_tokens(tokenizer, "The lamp is red.", [LAMP] * 12, 256)
    assert identifiers_in(tokens) == list(IDENTIFIERS)


def test_no_text_is_taken_for_markup(tokenizer: TitleTokenizer) -> None:
    written = "[unused1] [unused9] [unused10]"
    (tokens,) = tokenizer.tokens([written])
    assert {*IDENTIFIERS, MARKUP.title_begin, MARKUP.title_end}.isdisjoint(tokens)

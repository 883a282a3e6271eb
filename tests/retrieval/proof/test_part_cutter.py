from __future__ import annotations

import re
from itertools import pairwise

import pytest

from retrieval.proof import cut
from retrieval.text.english import EnglishParser

pytestmark = pytest.mark.models

# Claims of our own, each as its phrases should be.
CUT = [
    "The harbour map | was painted | by Marta Lindqvist",
    "Marta Lindqvist | was born | in Oslo | and died | in Lima",
    "The painter | of Guernica | helped to found | the Cubist movement",
    "Firas Hadad | is | an Iraqi comedian | born in 1973",
    "The Keeper of Runde | was not released | in 1939",
    "Gone with the Tide | is | a novel | written by Liv Holm | in 1936",
    '"The Silent Harbour" | is | the third album | of the Danish band Nordlys',
    "Sand and Silence | was published | in 1811",
    "Norway | and Sweden | are | kingdoms",
    "Anna's best-selling book | about whales | was translated | into 12 languages",
    "Harald | wanted to become | an actor | but became | a politician",
    "The lighthouse | that Ole Berg | built | doesn't stand | any more",
    "The boat | sank | on July 20, 1969",
    "More than 50% | of the island's 2,300 inhabitants | speak | Danish",
    "Heat (1931 film) | was directed | by Ole Berg",
    "henrik ibsen | was | a norwegian playwright | who wrote | a doll's house",
    "The Eiffel Tower | Is | In Paris",
    "The office | lies | in Bergen, Norway",
    "The CEO | of Nordlys | is | a singer",
    "There is | a bridge | between Denmark | and Sweden",
    "U(1) | is | a group",
    "Lighthouse",
]
SIXTY_WORDS = (
    "Marta Lindqvist wrote the first Norwegian novel that was translated into Japanese, Korean and"
    " Greek, she was a teacher at a small school near Runde from 1921 to 1934, she married the"
    " painter Jon Aas in 1925, and after his death in a storm she moved with her daughters to an"
    " island, where she kept the lighthouse until 1960 and finally died."
)
# Claims whose phrases nobody would name, only to be covered.
ODD = [
    "!!! ok !!!",
    'She "sings',
    "(the) and",
    "A/B tests and/or 10km runs cost $5 & more — or 3.5% less...",
    "国家 is 国家国家",
    "the of and not",
    "Liv plays, sings, paints, writes, swims, runs, cooks, sails, rows, skates, skis, and rests.",
    SIXTY_WORDS,
]


def plain(line: str) -> str:
    return line.replace(" | ", " ")


def pieces(parser: EnglishParser, claim: str) -> list[str]:
    return [claim[start:end] for start, end in cut(parser.parse(claim))]


@pytest.mark.parametrize("line", CUT)
def test_a_claim_is_cut_into_the_phrases_a_reader_would_name(
    parser: EnglishParser, line: str
) -> None:
    assert pieces(parser, f"{plain(line)}.") == line.split(" | ")


def test_commas_between_phrases_belong_to_none(parser: EnglishParser) -> None:
    assert pieces(parser, "In 1905, Ole Berg, a clerk who was never married, sang.") == [
        "In 1905",
        "Ole Berg",
        "a clerk",
        "who was never married",
        "sang",
    ]


def test_a_verb_that_the_parser_takes_for_a_plural_is_still_a_phrase(
    parser: EnglishParser,
) -> None:
    assert pieces(parser, "Melancholia stars Liv Holm.") == ["Melancholia", "stars", "Liv Holm"]


@pytest.mark.parametrize("claim", [*map(plain, CUT), *ODD])
def test_every_word_is_in_exactly_one_of_at_most_twelve_spans(
    parser: EnglishParser, claim: str
) -> None:
    spans = cut(parser.parse(claim))
    assert 1 <= len(spans) <= 12
    assert all(start < end for start, end in spans)
    assert all(end <= start for (_, end), (start, _) in pairwise(spans))
    for word in re.finditer(r"\w+", claim):
        holding = [span for span in spans if span[0] <= word.start() and word.end() <= span[1]]
        assert len(holding) == 1, word[0]


def test_beyond_twelve_the_shortest_neighbours_are_joined(parser: EnglishParser) -> None:
    claim = (
        "He sings and she rows and he swims and she paints and he writes and she dances and he"
        " rests."
    )
    # Fourteen phrases. "He sings" has 8 characters, "rows and he" 11, all other neighbours more.
    assert pieces(parser, claim) == [
        "He sings",
        "and she",
        "rows and he",
        "swims",
        "and she",
        "paints",
        "and he",
        "writes",
        "and she",
        "dances",
        "and he",
        "rests",
    ]

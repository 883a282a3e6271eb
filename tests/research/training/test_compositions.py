"""Claims that are made of others: compositions of two pages, and contrasts."""

from __future__ import annotations

import random
from collections.abc import Sequence

import numpy as np
import pytest
from numpy.typing import NDArray

from research.evaluation.claims import AnnotatedClaim
from research.training.compositions import Composition, compositions
from research.training.compositions.phrases import BridgeFinder, PageWords
from research.training.compositions.statements import OpenStatement, statements
from research.training.contrast import contrast_claims, refuting, symmetric
from research.training.figures import contrast_figures
from research.training.sentence_pool import SentencePool
from retrieval.models.encoders import MiniLMEncoder
from retrieval.text.english import EnglishParser
from retrieval.types import REFUTES, SUPPORTS
from tests.research.training.pages import data_of, pool_of
from tests.support.cases import cases, rows
from tests.support.encoders import WordEncoder

PAGES = {
    "Quiet_Harbour": [
        "Quiet Harbour is a 1987 drama film directed by Ingrid Solheim .",
        "It was shown in Brightwater .",
    ],
    "Ingrid_Solheim": [
        "Ingrid Solheim ( born 4 May 1941 ) is a Norwegian photographer and screenwriter .",
        "She studied chemistry in Prague .",
    ],
    "The_Last_Lantern": ["The Last Lantern is a 1990 film directed by Ingrid Solheim ."],
    "Night_Ferry": ["Night Ferry is a 1994 thriller film directed by Pavel Drozd ."],
    "Pavel_Drozd": ["Pavel Drozd ( 3 March 1922 - 9 June 1999 ) was a Czech novelist ."],
    "Copper_Moon": ["Copper Moon is a song by Los Faroles ."],
    "Los_Faroles": ["Los Faroles are a Mexican rock band formed in Oaxaca ."],
    "Garden_of_Tin": ["Garden of Tin is a 1999 film directed by Sofia Marchetti and Pavel Drozd ."],
    "Sofia_Marchetti": [
        "Sofia Marchetti ( born 1960 ) is an Italian dancer .",
        "She directed Garden of Tin in 1999 .",
    ],
}


@pytest.fixture(scope="module")
def pool(tmp_path_factory: pytest.TempPathFactory) -> SentencePool:
    return pool_of(PAGES, WordEncoder(), tmp_path_factory.mktemp("pages"))


@pytest.fixture(scope="module")
def many(pool: SentencePool) -> list[Composition]:
    """What six seeds make."""
    made = AnnotatedClaim(
        "Quiet Harbour was made by Ingrid Solheim.", SUPPORTS, ((("Quiet_Harbour", 0),),)
    )
    studied = AnnotatedClaim(
        "Ingrid Solheim never studied chemistry.", REFUTES, ((("Ingrid_Solheim", 1),),)
    )
    data = data_of(pool, made, studied)
    return [one for seed in range(6) for one in compositions(data, seed, 1000)]


def cut(one: Composition, spans: tuple[tuple[int, int], ...]) -> list[str]:
    return [one.claim.text[start:end] for start, end in spans]


def test_a_name_is_replaced_by_the_definition_of_its_page(many: list[Composition]) -> None:
    supported = {one.claim.text: one for one in many if one.claim.label == SUPPORTS}
    one = supported["Night Ferry was directed by a Czech novelist."]
    assert one.kind == "description"
    assert one.bridge == "Pavel Drozd"
    assert one.claim.evidence == ((("Night_Ferry", 0), ("Pavel_Drozd", 0)),)
    assert cut(one, one.parts[0]) == ["Night Ferry", "directed"]
    assert cut(one, one.parts[1]) == ["Czech novelist"]
    assert one.flipped is None


def test_a_false_description_exchanges_one_fact(many: list[Composition]) -> None:
    false = [one for one in many if one.kind == "description" and one.claim.label == REFUTES]
    assert false
    for one in false:
        assert one.flipped is not None
        start, end = one.flipped
        assert one.claim.text[start:end] != one.in_evidence
        second = one.claim.evidence[0][1]
        told = PAGES[second[0]][second[1]]
        assert one.in_evidence in told
        assert one.claim.text[start:end] not in told
        assert any(first <= start and end <= last for first, last in one.parts[1])


def test_two_pages_share_their_maker_or_do_not(many: list[Composition]) -> None:
    shared = {one.claim.text: one.claim.label for one in many if one.kind == "shared"}
    together = "Quiet Harbour and The Last Lantern were directed by the same person."
    apart = "Quiet Harbour and Night Ferry were directed by the same person."
    assert shared == {together: SUPPORTS, apart: REFUTES}


def test_no_page_alone_suffices_or_names_the_other_and_a_role_has_one_holder(
    many: list[Composition], pool: SentencePool
) -> None:
    said = PageWords(pool)
    for one in many:
        (keys,) = one.claim.evidence
        assert keys[0][0] != keys[1][0] != "Sofia_Marchetti"  # whose page names the first one
        for spans, (other, _) in zip(one.parts, reversed(keys), strict=True):
            assert spans
            for words in cut(one, spans):
                assert words.casefold() not in said.text(other).casefold()
    roles = [one.claim.text for one in many if one.kind == "role"]
    assert roles
    assert not any("Garden of Tin" in text for text in roles)  # by two directors


def said_of(
    text: str, about: str, pool: SentencePool, parser: EnglishParser
) -> list[OpenStatement]:
    """Return the statements of a sentence, none of them shortened."""
    mentions = BridgeFinder(pool).named(text, "Elsewhere", about)
    long = random.Random(1)  # its first draws are above the share that is shortened
    doc = parser.parse(text)
    return list(statements(doc, ("Elsewhere", 0), about, mentions, frozenset({"it", "he"}), long))


@cases("page_statements", "text", "statement")
def test_a_statement_is_what_a_sentence_plainly_says_of_its_page(
    text: str, statement: list[str], pool: SentencePool, parser: EnglishParser
) -> None:
    (made,) = said_of(text, "Amber Hall", pool, parser)
    assert [made.before, made.name, made.after] == statement


def test_only_one_has_some_roles_and_what_is_not_plainly_said_makes_no_statement(
    pool: SentencePool, parser: EnglishParser
) -> None:
    for _, (text,), role in rows("page_statements", ["text"], "single role"):
        (made,) = said_of(text, "Amber Hall", pool, parser)
        assert [made.single, made.role] == role
    for why, (text,), _ in rows("page_statements", ["text"]):
        assert said_of(text, "Amber Hall", pool, parser) == [], why


BRIDGES = {
    "Cecilia_Bridge": [
        "The Cecilia Bridge crosses a fjord in Norway .",
        "It was opened in 1931 and has four arches .",
    ],
    "Holm_Bridge": ["The Holm Bridge stands in Denmark .", "It was planned by Ida Holm ."],
    "Anders_Bridge": ["The Anders Bridge stands in Sweden ."],
}


@pytest.fixture(scope="module")
def bridges(tmp_path_factory: pytest.TempPathFactory) -> SentencePool:
    return pool_of(BRIDGES, MiniLMEncoder(), tmp_path_factory.mktemp("pages"))


def supported(text: str, page: str, sentence: int) -> AnnotatedClaim:
    return AnnotatedClaim(text, SUPPORTS, (((page, sentence),),))


# A name is used for an exchange once two claims hold it.
OTHERS = [
    supported("The Holm Bridge stands in Denmark.", "Holm_Bridge", 0),
    supported("Denmark has the Holm Bridge.", "Holm_Bridge", 0),
]


@pytest.mark.models
def test_a_country_or_year_is_exchanged_where_that_is_safe(bridges: SentencePool) -> None:
    def made(text: str, sentence: int, seed: int = 0) -> list[AnnotatedClaim]:
        claim = supported(text, "Cecilia_Bridge", sentence)
        found = contrast_claims([claim, *OTHERS], bridges, seed)
        return [one.claim for one in found if one.original == text]

    countries = made("The Cecilia Bridge is in Norway.", 0)
    assert {one.text for one in countries} == {"The Cecilia Bridge is in Denmark."}
    assert {one.label for one in countries} == {REFUTES}
    for seed in range(5):
        (contrast,) = made("The Cecilia Bridge opened in 1931.", 1, seed)
        before, year = contrast.text.rstrip(".").rsplit(" ", 1)
        assert before == "The Cecilia Bridge opened in"
        assert 1 <= abs(int(year) - 1931) <= 30
    for text in (
        "The Cecilia Bridge crosses a fjord.",  # nothing to exchange
        "The Cecilia Bridge is not outside Norway.",  # its opposite is not what it would be
        "The Cecilia Bridge is near Iceland.",  # the evidence does not name it
    ):
        assert made(text, 0) == []


@pytest.mark.models
def test_a_contrast_and_its_original_are_each_true_and_false_once(bridges: SentencePool) -> None:
    claim = supported("The Cecilia Bridge is in Norway.", "Cecilia_Bridge", 0)
    made = contrast_claims([claim, *OTHERS], bridges, 0)
    (contrast,) = {one for one in made if one.old == "Norway"}
    (sentence,) = refuting(contrast, bridges)
    assert "Norway" in sentence.text
    as_it_is = f"Cecilia Bridge : {sentence.text}"
    changed = as_it_is.replace("Norway", "Denmark")
    assert symmetric(contrast, sentence) == [
        ("The Cecilia Bridge is in Norway.", as_it_is, SUPPORTS),
        ("The Cecilia Bridge is in Denmark.", as_it_is, REFUTES),
        ("The Cecilia Bridge is in Denmark.", changed, SUPPORTS),
        ("The Cecilia Bridge is in Norway.", changed, REFUTES),
    ]

    def opinions(supported: list[bool]) -> NDArray[np.float32]:
        return np.array([(0.9, 0.1, 0.0) if yes else (0.1, 0.9, 0.0) for yes in supported], "f4")

    def by_evidence(pairs: Sequence[tuple[str, str]]) -> NDArray[np.float32]:
        return opinions([claim.rstrip(".").split()[-1] in evidence for claim, evidence in pairs])

    def by_claim(pairs: Sequence[tuple[str, str]]) -> NDArray[np.float32]:
        return opinions(["Norway" in claim for claim, _ in pairs])

    # Who reads the claim alone gets half of them right.
    assert contrast_figures(by_evidence, [contrast], bridges) == {"exchanges_right": 100.0}
    assert contrast_figures(by_claim, [contrast], bridges) == {"exchanges_right": 50.0}

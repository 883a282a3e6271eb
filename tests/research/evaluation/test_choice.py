"""Which claims of a file are asked."""

from __future__ import annotations

from pathlib import Path

import pytest

from research.evaluation.choice import Choice, half_of
from research.evaluation.claims import FeverClaim
from retrieval.errors import BadSource
from retrieval.types import NOT_ENOUGH_INFO, SUPPORTS
from tests.research.evaluation.answers import claim

# 40 claims, of which every fourth is undecided and one needs two pages.
CLAIMS = [
    claim(n, NOT_ENOUGH_INFO) if n % 4 == 0 else claim(n, SUPPORTS, [("A", n)]) for n in range(39)
]
CLAIMS.append(claim(39, SUPPORTS, [("A", 0), ("B", 0)]))
FILE = Path("claims.jsonl")


def chosen(choice: Choice, claims: list[FeverClaim] = CLAIMS) -> list[int]:
    return [one.id for one in choice.of(claims, FILE)]


def test_without_a_choice_every_claim_is_asked_and_a_limit_counts_from_the_first() -> None:
    assert chosen(Choice()) == list(range(40))
    assert chosen(Choice(limit=3)) == [0, 1, 2]


def test_a_sample_has_so_many_decided_claims_in_their_order_and_is_the_same_again() -> None:
    sample = chosen(Choice(sample=10, seed=1))
    assert len(sample) == 10
    assert sample == sorted(sample)
    assert all(number % 4 for number in sample)
    assert chosen(Choice(sample=10, seed=1)) == sample
    assert chosen(Choice(sample=10, seed=2)) != sample


def test_a_sample_of_more_than_there_are_has_all_decided_claims() -> None:
    assert chosen(Choice(sample=200, seed=1)) == [n for n in range(40) if n % 4]


def test_every_claim_is_in_one_of_two_halves_whatever_its_file_and_place() -> None:
    fitted, published = chosen(Choice(half="fitted")), chosen(Choice(half="published"))
    assert sorted([*fitted, *published]) == list(range(40))
    assert 10 < len(fitted) < 30
    assert chosen(Choice(half="fitted"), CLAIMS[::-1]) == fitted[::-1]


def test_the_halves_stay_what_they_are() -> None:
    # The first bytes of their SHA-256 are 0x66 and 0x6f: even and odd.
    assert half_of("Claim 1.") == "fitted"
    assert half_of("Claim 2.") == "published"


def test_a_sample_is_of_the_half() -> None:
    sample = chosen(Choice(half="published", sample=5, seed=1))
    assert set(sample) <= set(chosen(Choice(half="published")))


@pytest.mark.parametrize(
    ("choice", "claims", "said"),
    [
        (Choice(several_pages=True), CLAIMS[:4], "needs several pages"),
        (Choice(sample=5), CLAIMS[:1], "is decided"),
        (Choice(half="fitted"), CLAIMS[2:3], "is in the fitted half"),
    ],
)
def test_a_choice_without_claims_is_refused(
    choice: Choice, claims: list[FeverClaim], said: str
) -> None:
    with pytest.raises(BadSource, match=said) as caught:
        chosen(choice, claims)
    assert caught.value.hint.startswith("Leave out --")

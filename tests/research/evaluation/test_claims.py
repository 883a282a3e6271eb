"""Files of annotated claims: how they are read, and which claims of them are asked."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

import pytest

from research.evaluation.choice import Choice, half_of
from research.evaluation.claims import FeverClaim, read_corpus_claims, read_fever_claims, read_pairs
from retrieval.errors import BadSource
from retrieval.types import NOT_ENOUGH_INFO, SUPPORTS
from tests.research.cases import cases
from tests.research.evaluation.answers import claim
from tests.support.json_lines import write_json_lines

LAMP = {
    "id": 7,
    "label": "SUPPORTS",
    "claim": "The lamp is red.",
    "evidence": [[[1, 2, "Lamp", 0]], [[1, 3, "Lamp", 1], [1, 4, "Cafe\u0301", 2]]],
}


def read_claims(tmp_path: Path, *lines: dict[str, Any] | str) -> Any:
    return read_fever_claims(write_json_lines(tmp_path / "claims.jsonl", *lines))


def test_a_claim_keeps_its_sets_and_its_line(tmp_path: Path) -> None:
    undecided = {"id": 8, "label": NOT_ENOUGH_INFO, "claim": "It hums.", "evidence": []}
    lamp, hum = read_claims(tmp_path, LAMP, "", undecided)
    assert (lamp.id, lamp.text, lamp.label) == (7, "The lamp is red.", SUPPORTS)
    assert lamp.evidence == ((("Lamp", 0),), (("Lamp", 1), ("Caf\u00e9", 2)))
    assert lamp.pages == {"Lamp", "Caf\u00e9"}
    assert not lamp.needs_several_pages
    assert (hum.evidence, hum.needs_several_pages) == ((), False)
    assert hum.where.endswith("claims.jsonl, line 3")


def test_a_claim_needs_several_pages_if_no_set_is_on_one_page(tmp_path: Path) -> None:
    (claim,) = read_claims(tmp_path, LAMP | {"evidence": LAMP["evidence"][1:]})
    assert claim.needs_several_pages


def test_claims_are_grouped_by_the_page_that_they_were_made_from(tmp_path: Path) -> None:
    undecided = {"id": 8, "label": NOT_ENOUGH_INFO, "claim": "It hums.", "evidence": []}
    again = LAMP | {"id": 9}
    assert [one.group for one in read_claims(tmp_path, LAMP, undecided, again)] == [
        "Lamp",
        8,
        "Lamp",
    ]


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


def test_every_claim_is_in_one_of_two_halves_whatever_its_file_and_place() -> None:
    fitted, published = chosen(Choice(half="fitted")), chosen(Choice(half="published"))
    assert sorted([*fitted, *published]) == list(range(40))
    assert 10 < len(fitted) < 30
    assert chosen(Choice(half="fitted"), CLAIMS[::-1]) == fitted[::-1]


def test_the_halves_stay_what_they_are() -> None:
    # The first bytes of their SHA-256 are 0x66 and 0x6f: even and odd.
    assert half_of("Claim 1.") == "fitted"
    assert half_of("Claim 2.") == "published"


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


READERS: dict[str, Callable[[Path], Iterable[object]]] = {
    "fever": read_fever_claims,
    "corpus": read_corpus_claims,
    "pairs": read_pairs,
}


GOOD = {case["reader"]: case["line"] for case in cases("annotations") if case["said"] is None}


@pytest.mark.parametrize("case", [case for case in cases("annotations") if case["said"]])
def test_a_line_that_is_no_annotation_is_named_by_file_and_line(
    tmp_path: Path, case: dict[str, Any]
) -> None:
    good = GOOD[case["reader"]]
    path = write_json_lines(tmp_path / "lines.jsonl", good, case["line"])
    with pytest.raises(BadSource, match=r"lines\.jsonl, line 2") as caught:
        list(READERS[case["reader"]](path))
    assert case["said"] in caught.value.message
    path = write_json_lines(tmp_path / "lines.jsonl", good)
    assert len(list(READERS[case["reader"]](path))) == 1


@pytest.mark.parametrize("reader", ["fever", "corpus"])
def test_a_file_without_lines_is_refused(tmp_path: Path, reader: str) -> None:
    with pytest.raises(BadSource, match="contains no"):
        list(READERS[reader](write_json_lines(tmp_path / "lines.jsonl")))

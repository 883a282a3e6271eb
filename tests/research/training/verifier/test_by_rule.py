"""Readings made by rule: each has the label that its frame, unit or place gives it."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import pytest

from research.evaluation.corpus_claims import CorpusClaim
from research.evaluation.pairs import Pair
from research.training.everyday import EverydayData
from research.training.loop import Example
from research.training.verifier.by_rule import framed, made_by_rule
from retrieval.types import LABELS, NOT_ENOUGH_INFO, REFUTES, SUPPORTS, Label
from tests.research.training.pages import pool_of
from tests.support.encoders import WordEncoder
from tests.support.json_lines import write_json_lines

PAGES = {
    "Marrick": ["Marrick is the capital of Ostland, on the river Ense."],
    "Tolm": ["Tolm is the capital and largest city of Vestland."],
    "Ida Holm": ["Ida Holm was mayor of Tolm from 1901 to 1909."],
    "Eva Berg": ["Eva Berg was mayor of Marrick from 1911 to 1919."],
}
FRAMES = [
    Pair("{Claim}.", "It is true that {claim}.", SUPPORTS, None, None, None),
    Pair("{Claim}.", "{Claim}? Wrong : We measured it.", REFUTES, "{Claim}? Wrong", None, None),
    Pair("{Claim}.", "Suppose that {claim}.", NOT_ENOUGH_INFO, None, None, None),
]
LONG = CorpusClaim("The Ense is long.", SUPPORTS, ((("Marrick", 0),),), "number", (), None)


def label_of(example: Example) -> Label:
    return LABELS[example.target.index(1.0)]


MEASURED = CorpusClaim("A claim.", SUPPORTS, ((("Eva Berg", 0),),), "date", (), None)


@pytest.fixture
def readings(tmp_path: Path) -> list[Example]:
    pairs = {
        "vitaminc": [("The wall is 3 kilometres long.", "The wall has 3 kilometres left.")],
        "infotabs": [],
        "fever": [("The wall is 5 miles long.", "The wall is eight kilometres long.")],
        "feverous": [],
    }
    for source, rows in pairs.items():
        lines = [{"claim": c, "evidence": e, "label": SUPPORTS} for c, e in rows]
        write_json_lines(tmp_path / f"{source}.jsonl", *lines)
    pool = pool_of(PAGES, WordEncoder(), tmp_path)
    return made_by_rule(EverydayData([LONG], [], [MEASURED], pool, {}), FRAMES, tmp_path, 0, 100)


def of_claim(readings: Sequence[Example], claim: str) -> set[tuple[str, Label]]:
    return {(r.evidence.split(" : ")[0], label_of(r)) for r in readings if r.claim == claim}


def test_a_claim_is_read_in_a_frame_of_each_label(readings: list[Example]) -> None:
    read = {label_of(r): r.evidence for r in readings if r.claim == LONG.text}
    assert set(read) == set(LABELS)
    assert read[REFUTES] == "The Ense is long? Wrong : We measured it."
    # Without a title of its own, a frame stands on some page.
    assert read[SUPPORTS].split(" : ")[1] == "It is true that the Ense is long."
    assert read[NOT_ENOUGH_INFO].split(" : ")[0] in PAGES


def test_a_frame_keeps_the_capital_of_a_name_and_drops_that_of_a_small_word() -> None:
    frame = "It is untrue that {claim}."
    assert framed("The pier sank.", frame) == "It is untrue that the pier sank."
    assert framed("Marrick is a port.", frame) == "It is untrue that Marrick is a port."


def test_an_exchanged_unit_is_refuted_and_a_converted_one_supported(
    readings: list[Example],
) -> None:
    labels = {r.claim: label_of(r) for r in readings if "wall" in r.claim}
    assert labels.pop("The wall is 3 kilometres long.") == SUPPORTS
    assert labels.pop("The wall is 3,000 metres long.") == SUPPORTS
    ((other, label),) = labels.items()  # the claim in miles has no evidence in miles
    assert other in {"The wall is 3 miles long.", "The wall is 3 metres long."}
    assert label == REFUTES


def test_a_capital_is_that_of_its_own_place_only(readings: list[Example]) -> None:
    own = of_claim(readings, "Marrick is the capital of Ostland.")
    assert own == {("Marrick", SUPPORTS), ("Tolm", NOT_ENOUGH_INFO)}
    other = of_claim(readings, "Tolm is the capital of Ostland.")
    assert other == {("Marrick", REFUTES), ("Tolm", NOT_ENOUGH_INFO)}


def test_a_term_is_claimed_of_years_inside_and_outside_it(readings: list[Example]) -> None:
    told = [r for r in readings if r.claim.startswith("Ida Holm was mayor of Tolm in ")]
    inside = {int(r.claim[-5:-1]) for r in told if label_of(r) == SUPPORTS}
    outside = {int(r.claim[-5:-1]) for r in told if label_of(r) == REFUTES}
    assert len(inside) == len(outside) == 2
    assert inside < set(range(1902, 1909))
    assert not outside & set(range(1901, 1910))


def test_no_term_of_a_page_that_is_measured_on_is_read(readings: list[Example]) -> None:
    assert not [r for r in readings if r.claim.startswith("Eva Berg was mayor")]

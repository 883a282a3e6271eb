from __future__ import annotations

from pathlib import Path
from typing import Any

from research.evaluation.claims import read_fever_claims
from retrieval.types import NOT_ENOUGH_INFO, SUPPORTS
from tests.support.json_lines import write_json_lines

LAMP = {
    "id": 7,
    "label": "SUPPORTS",
    "claim": "The lamp is red.",
    "evidence": [[[1, 2, "Lamp", 0]], [[1, 3, "Lamp", 1], [1, 4, "Cafe\u0301", 2]]],
}


def read(tmp_path: Path, *lines: dict[str, Any] | str) -> Any:
    return read_fever_claims(write_json_lines(tmp_path / "claims.jsonl", *lines))


def test_a_claim_keeps_its_sets_and_its_line(tmp_path: Path) -> None:
    undecided = {"id": 8, "label": NOT_ENOUGH_INFO, "claim": "It hums.", "evidence": []}
    lamp, hum = read(tmp_path, LAMP, "", undecided)
    assert (lamp.id, lamp.text, lamp.label) == (7, "The lamp is red.", SUPPORTS)
    assert lamp.evidence == ((("Lamp", 0),), (("Lamp", 1), ("Caf\u00e9", 2)))
    assert lamp.pages == {"Lamp", "Caf\u00e9"}
    assert not lamp.needs_several_pages
    assert (hum.evidence, hum.needs_several_pages) == ((), False)
    assert hum.where.endswith("claims.jsonl, line 3")


def test_a_claim_needs_several_pages_if_no_set_is_on_one_page(tmp_path: Path) -> None:
    (claim,) = read(tmp_path, LAMP | {"evidence": LAMP["evidence"][1:]})
    assert claim.needs_several_pages


def test_claims_are_grouped_by_the_page_that_they_were_made_from(tmp_path: Path) -> None:
    undecided = {"id": 8, "label": NOT_ENOUGH_INFO, "claim": "It hums.", "evidence": []}
    again = LAMP | {"id": 9}
    assert [one.group for one in read(tmp_path, LAMP, undecided, again)] == ["Lamp", 8, "Lamp"]

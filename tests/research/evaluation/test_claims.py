from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from research.evaluation.claims import read_fever_claims
from retrieval.errors import BadSource
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


@pytest.mark.parametrize(
    ("line", "said"),
    [
        ("{", "not JSON"),
        ("[]", "not a JSON object"),
        (LAMP | {"label": "MAYBE"}, "the label is not one of"),
        ({k: v for k, v in LAMP.items() if k != "claim"}, "no text under 'claim'"),
        (LAMP | {"claim": " \t"}, "the claim is empty"),
        (LAMP | {"id": "7"}, "no whole number under 'id'"),
        (LAMP | {"id": True}, "no whole number under 'id'"),
        (LAMP | {"evidence": []}, "SUPPORTS without evidence"),
        (LAMP | {"evidence": [[]]}, "SUPPORTS without evidence"),
        (LAMP | {"evidence": [[["Lamp", 0]]]}, "no evidence in FEVER's form"),
        (LAMP | {"evidence": None}, "no evidence in FEVER's form"),
        (LAMP | {"evidence": [[[1, 2, None, None]]]}, "is not a page with a sentence number"),
        (LAMP | {"evidence": [[[1, 2, "Lamp", -1]]]}, "is not a page with a sentence number"),
        (LAMP | {"id": 6}, "the id 6 is in"),
    ],
)
def test_what_is_no_claim_is_named_by_file_and_line(tmp_path: Path, line: Any, said: str) -> None:
    with pytest.raises(BadSource, match=r"claims\.jsonl, line 2") as caught:
        read(tmp_path, LAMP | {"id": 6}, line)
    assert said in caught.value.message


def test_a_file_that_is_cut_off_says_so(tmp_path: Path) -> None:
    path = tmp_path / "claims.jsonl"
    path.write_text(json.dumps(LAMP) + "\n" + json.dumps(LAMP)[:30], encoding="utf-8")
    with pytest.raises(BadSource, match="line 2: cut off"):
        read_fever_claims(path)


def test_a_file_without_claims_is_refused(tmp_path: Path) -> None:
    with pytest.raises(BadSource, match="contains no claims"):
        read(tmp_path)

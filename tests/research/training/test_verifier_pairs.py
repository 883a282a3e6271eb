"""The verifier's examples with given evidence: written by hand, made by rule, in many forms."""

from __future__ import annotations

import json
import random
from collections import defaultdict
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from research.evaluation.claims import CorpusClaim, Pair, read_pairs
from research.training.data import EverydayData
from research.training.loop import Example, labelled
from research.training.verifier import pairs as pairs_module
from research.training.verifier.by_rule import made_by_rule
from research.training.verifier.pairs import (
    ASSERTIONS,
    MEANING,
    contracted,
    load_meaning,
    quoted,
    resurfaced,
    with_stop,
)
from retrieval.errors import BadSource
from retrieval.types import LABELS, NOT_ENOUGH_INFO, REFUTES, SUPPORTS, Label
from tests.research.training.pages import pool_of
from tests.support.encoders import WordEncoder
from tests.support.json_lines import write_json_lines

PARTS = ("train", "held-out")


def lines(part: str) -> list[dict[str, Any]]:
    text = (ASSERTIONS / f"{part}.jsonl").read_text(encoding="utf-8")
    return [json.loads(line) for line in text.splitlines()]


def test_no_wording_and_no_text_that_is_measured_is_trained_on() -> None:
    trained, held_out = ({(p["kind"], p["wording"]) for p in lines(part)} for part in PARTS)
    assert not trained & held_out
    texts = [{json.dumps(p["evidence"]) for p in lines(part)} for part in PARTS]
    assert not texts[0] & texts[1]


def test_no_kind_has_a_label_that_most_of_its_pairs_have() -> None:
    labels: dict[str, list[str]] = defaultdict(list)
    for part in PARTS:
        for pair in lines(part):
            labels[pair["kind"]].append(pair["label"])
    for kind, given in labels.items():
        for label in LABELS:
            assert 0.2 < given.count(label) / len(given) < 0.5, (kind, label)


WHALE = labelled("A whale is not a fish.", "Whale : It is a mammal.", REFUTES)


def test_a_claim_is_read_in_many_forms_and_its_evidence_and_label_in_one() -> None:
    read = resurfaced([WHALE] * 300, random.Random(1))
    assert {
        "A whale is not a fish.",
        "A whale is not a fish",
        "a whale isn't a fish",
        "A whale isn't a fish.",
        "“A whale is not a fish.”",
    } <= {one.claim for one in read}
    assert {(one.evidence, one.target) for one in read} == {(WHALE.evidence, WHALE.target)}


def test_forms_change_no_word_of_another_kind() -> None:
    assert contracted("It cannot be, nor notable.") == "It can't be, nor notable."
    assert with_stop("Is it?") == "Is it?"
    assert quoted("Yes.") == "“Yes.”"


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


PIER = {"Pier": ["The pier is long.", "It had no roof until 1931."]}


def test_sentences_of_the_corpus_are_named_and_read_with_their_title(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    line = {"claim": "It had a roof in 1920.", "label": REFUTES}
    write_json_lines(tmp_path / "train.jsonl", {**line, "title": "Inn", "evidence": "No roof."})
    write_json_lines(tmp_path / "held-out.jsonl", {**line, "evidence": "Nothing."})
    write_json_lines(tmp_path / "documents.jsonl", {**line, "sentences": [["Pier", 1]]})
    given = {"claim": "A hat.", "label": SUPPORTS, "title": "Hat", "evidence": "It is one."}
    write_json_lines(tmp_path / "meaning" / "train-a.jsonl", given)
    monkeypatch.setattr(pairs_module, "MEANING", tmp_path)
    data = load_meaning(tmp_path, pool_of(PIER, WordEncoder(), tmp_path))
    assert {one.evidence for one in data.examples} == {
        "Inn : No roof.",
        "Hat : It is one.",
        "Pier : It had no roof until 1931.",
    }
    assert [one.evidence for one in data.held_out] == ["Nothing."]
    assert len(data.digests) == 3


def test_a_folder_without_the_pairs_is_refused(tmp_path: Path) -> None:
    with pytest.raises(BadSource, match=r"meaning/train"):
        load_meaning(tmp_path, pool_of(PIER, WordEncoder(), tmp_path))


def test_the_own_pairs_name_sentences_that_the_corpus_has_and_hold_other_texts_out() -> None:
    read = {name: list(read_pairs(MEANING / f"{name}.jsonl")) for name in PARTS}
    assert not {p.evidence for p in read["train"]} & {p.evidence for p in read["held-out"]}

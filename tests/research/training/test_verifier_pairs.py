"""The verifier's examples with given evidence: written by hand, made by rule, in many forms."""

from __future__ import annotations

import json
import random
from collections import defaultdict
from pathlib import Path
from typing import Any

import pytest

from research.evaluation.claims import read_pairs
from research.training.loop import labelled
from research.training.verifier import pairs as pairs_module
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
from retrieval.types import LABELS, REFUTES, SUPPORTS
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

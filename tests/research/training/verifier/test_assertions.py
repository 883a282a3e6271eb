"""The project's own texts that assert a claim or only mention it."""

from __future__ import annotations

import json
from collections import defaultdict
from typing import Any

import pytest

from research.evaluation.pairs import read_pairs
from research.training.verifier.assertions import OWN
from retrieval.types import LABELS

PARTS = ("train", "held-out")


def lines(part: str) -> list[dict[str, Any]]:
    text = (OWN / f"{part}.jsonl").read_text(encoding="utf-8")
    return [json.loads(line) for line in text.splitlines()]


@pytest.mark.parametrize("part", PARTS)
def test_every_line_is_a_pair_with_its_kind(part: str) -> None:
    pairs = list(read_pairs(OWN / f"{part}.jsonl"))
    assert all(pair.kind for pair in pairs)


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


def test_no_pair_stands_twice() -> None:
    pairs = [(p["claim"], json.dumps(p["evidence"])) for part in PARTS for p in lines(part)]
    assert len(pairs) == len(set(pairs))

"""Claims with their evidence, and the counts of the verifier's labels."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from research.evaluation.claims import Pair, read_pairs
from research.evaluation.verifier_alone import (
    pair_results,
    quantity_results,
    with_arithmetic,
)
from retrieval.text.context import evidence_text
from retrieval.types import LABELS, NOT_ENOUGH_INFO, REFUTES, SUPPORTS, Label, Opinion
from tests.support.json_lines import write_json_lines
from tests.support.opinions import Says

LAMP = {"claim": "The lamp is red.", "label": "SUPPORTS", "evidence": "It is painted red."}
PIER = {"title": "Pier", "sentence": "It was built by Ida Holm."}
HOLM = {"title": "Ida Holm", "sentence": "She kept bees."}


def read(tmp_path: Path, *lines: dict[str, Any] | str) -> list[Pair]:
    return list(read_pairs(write_json_lines(tmp_path / "pairs.jsonl", *lines)))


def test_the_title_of_a_text_is_written_before_it(tmp_path: Path) -> None:
    named = LAMP | {"title": "Lamp", "source": "mine", "kind": "colour"}
    assert read(tmp_path, "", named, LAMP | {"title": ""}) == [
        Pair("The lamp is red.", "Lamp : It is painted red.", SUPPORTS, "Lamp", "mine", "colour"),
        Pair("The lamp is red.", "It is painted red.", SUPPORTS, None, None, None),
    ]


def test_sentences_with_their_titles_are_read_as_one_text(tmp_path: Path) -> None:
    line = {
        "claim": "The builder of the pier kept no bees.",
        "label": "REFUTES",
        "evidence": [PIER, HOLM],
    }
    (pair,) = read(tmp_path, line)
    assert pair.label == REFUTES
    assert pair.evidence == ("Pier : It was built by Ida Holm. [SEP] Ida Holm : She kept bees.")
    # Each sentence has a title already; that of the pair only groups it with others.
    (grouped,) = read(tmp_path, line | {"title": "Ida Holm"})
    assert (grouped.title, grouped.evidence) == ("Ida Holm", pair.evidence)


def pair(label: Label, source: str | None = None, kind: str | None = None, n: int = 0) -> Pair:
    return Pair(f"Claim {n}.", f"Evidence {n}.", label, None, source, kind)


PAIRS = [
    pair(SUPPORTS, "sea", "number", 1),
    pair(REFUTES, "sea", "name", 2),
    pair(NOT_ENOUGH_INFO, "land", None, 3),
    pair(SUPPORTS, None, "number", 4),
]


SAID = np.array(
    [
        (0.75, 0.25, 0.0),  # right
        (0.75, 0.25, 0.0),  # wrong
        (0.0, 0.0, 1.0),  # right
        (0.25, 0.25, 0.5),  # wrong
    ],
    dtype=np.float32,
)


def test_results_are_counted_over_all_pairs_and_by_what_groups_them() -> None:
    results = pair_results(PAIRS, SAID)
    assert (results["pairs"], results["accuracy"]) == (4, 0.5)
    # Two of confidence 0.75, one of them right: off by 0.25. One of 0.5, wrong: off by 0.5. One
    # of 1, right. 0.25 * 2 / 4 + 0.5 * 1 / 4 = 0.25.
    assert results["calibration_error"] == pytest.approx(0.25)
    assert results["by_label"] == {
        SUPPORTS: {"pairs": 2, "accuracy": 0.5},
        REFUTES: {"pairs": 1, "accuracy": 0.0},
        NOT_ENOUGH_INFO: {"pairs": 1, "accuracy": 1.0},
    }
    assert results["by_source"] == {
        "sea": {"pairs": 2, "accuracy": 0.5},
        "land": {"pairs": 1, "accuracy": 1.0},
    }
    assert results["by_kind"] == {
        "number": {"pairs": 2, "accuracy": 0.5},
        "name": {"pairs": 1, "accuracy": 0.0},
    }


def test_wrong_labels_are_listed_the_most_confident_first() -> None:
    assert pair_results(PAIRS, SAID)["worst"] == [
        {
            "claim": "Claim 2.",
            "evidence": "Evidence 2.",
            "label": REFUTES,
            "predicted_label": SUPPORTS,
            "confidence": 0.75,
        },
        {
            "claim": "Claim 4.",
            "evidence": "Evidence 4.",
            "label": SUPPORTS,
            "predicted_label": NOT_ENOUGH_INFO,
            "confidence": 0.5,
        },
    ]


def supports_filled_halves(claim: str, _: str) -> Opinion:
    """Support three claims, whatever is read."""
    filled = claim in (
        "The mill opened in 1901.",
        "the bridge fell in 1903.",
        "The road from Arl to Benn is 80 kilometres long.",
    )
    return (0.9, 0.0, 0.1) if filled else (0.1, 0.0, 0.9)


def test_arithmetic_changes_the_labels_that_it_decides_and_no_others() -> None:
    road = ("Road", "The road from Arl to Benn is 80 kilometres long.")
    mill = ("Mill", "The mill opened in 1901; the bridge fell in 1903.")
    claims = [
        ("The road from Arl to Benn is 80 miles long.", road),
        ("The road is old.", road),
        ("The mill opened after the bridge fell.", mill),
    ]
    pairs = [Pair(claim, evidence_text(*text), REFUTES, None, None, None) for claim, text in claims]
    before = np.array([(0.75, 0.25, 0.0)] * 3, dtype=np.float32)
    after, ruled = with_arithmetic(pairs, before, Says(supports_filled_halves).model)
    assert ruled == [0, 2]
    assert after.argmax(axis=1).tolist() == [LABELS.index(x) for x in (REFUTES, SUPPORTS, REFUTES)]
    assert quantity_results(pairs, before, after, ruled) == {
        "decided": 2,
        "right": 2,
        "turned_right": 2,
        "turned_wrong": 0,
        "accuracy_without": 0.0,
    }

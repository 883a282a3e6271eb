"""What models are measured by: counted by hand, and apart from what they learn from."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast

import numpy as np
import pytest
from numpy.typing import NDArray

from research.evaluation.claims import AnnotatedClaim, CorpusClaim, Pair
from research.training.figures import (
    DevClaims,
    read_claims,
    reading_figures,
    spread,
    temperature_of,
)
from research.training.sentence_pool import PoolSentence, SentencePool
from research.training.verifier.figures import DEV_PAIRS, DevReadings, dev_pairs
from retrieval.types import NOT_ENOUGH_INFO, REFUTES, SUPPORTS, Label
from tests.support.json_lines import write_json_lines

OPINIONS: Mapping[str, tuple[float, float, float]] = {
    "yes": (1.0, 0.0, 0.0),
    "no": (0.0, 1.0, 0.0),
    "open": (0.0, 0.0, 1.0),
}


def classify(pairs: Sequence[tuple[str, str]]) -> NDArray[np.float32]:
    """Give the opinion that the evidence ends with."""
    return np.array([OPINIONS[evidence.split()[-1]] for _, evidence in pairs], dtype=np.float32)


def pair(evidence: str, label: Label, source: str) -> Pair:
    return Pair("A claim.", evidence, label, title=None, source=source, kind=None)


def claim(label: Label, *texts: str) -> CorpusClaim:
    keys = tuple((f"Page {n}", 0) for n, _ in enumerate(texts))
    kind = "two-hop" if len(texts) > 1 else "date"
    return CorpusClaim("A claim.", label, (keys,), kind=kind, texts=(texts,), tempting=None)


def test_the_figures_are_those_counted_by_hand() -> None:
    dev = DevReadings(
        measured=[
            pair("yes", SUPPORTS, "vitaminc"),
            pair("no", SUPPORTS, "vitaminc"),
            pair("open", NOT_ENOUGH_INFO, "wiki-nli"),
        ],
        fitted=[],
        decided=[
            claim(SUPPORTS, "yes"),
            claim(REFUTES, "open"),
            claim(REFUTES, "yes", "no"),
            claim(SUPPORTS, "yes", "open"),
            claim(SUPPORTS, "no", "yes"),
        ],
        undecided=[("A claim.", word) for word in ("open", "open", "open", "no")],
        assertions=[
            pair("Claim: … Rating: no", REFUTES, "own"),
            pair("They say yes", NOT_ENOUGH_INFO, "own"),
        ],
        meaning=[pair("yes", SUPPORTS, "own"), pair("yes", REFUTES, "own")],
        decided_2=[claim(REFUTES, "no")],
        digests={},
    )
    assert dev.figures(classify) == pytest.approx(
        {
            "everyday": 60.0,
            "one_sentence": 50.0,
            "two_hop": 200 / 3,
            "undecided": 75.0,
            "everyday_2": 100.0,
            "assertion": 50.0,
            "meaning": 50.0,
            "vitaminc": 50.0,
            "wiki-nli": 100.0,
            "calibration_error": 1 / 3,  # always sure, and right two times of three
        }
    )


def test_no_evidence_is_trained_on_or_fitted_to_and_measured(tmp_path: Path) -> None:
    def line(source: str, evidence: str) -> dict[str, Any]:
        return {"claim": "C.", "label": SUPPORTS, "evidence": evidence, "source": source}

    for source in DEV_PAIRS:
        write_json_lines(tmp_path / "train" / f"{source}.jsonl", line(source, "Known."))
        # Two claims about each of many sentences, and one about a sentence that is trained on.
        texts = [f"Sentence {n}." for n in range(60) for _ in range(2)]
        dev = (line(source, text) for text in [*texts, "Known."])
        write_json_lines(tmp_path / "dev" / f"{source}.jsonl", *dev)
    measured, fitted = dev_pairs(tmp_path)
    assert {pair.source for pair in measured} == {pair.source for pair in fitted} == set(DEV_PAIRS)
    for source in DEV_PAIRS:
        of_source = [
            {p.evidence for p in part if p.source == source} for part in (measured, fitted)
        ]
        assert not of_source[0] & of_source[1]
        assert "Known." not in of_source[0] | of_source[1]
    assert len(measured) == 2 * len({(p.source, p.evidence) for p in measured})


SENTENCES = [
    PoolSentence("Pier", 0, "Pier", "It is long."),
    PoolSentence("Pier", 1, "Pier", "It is made of wood."),
    PoolSentence("Lamp", 0, "Lamp", "It is red."),
]


THREE = [
    AnnotatedClaim("The pier is long.", SUPPORTS, ((("Pier", 0),),)),
    AnnotatedClaim("The pier is made of iron.", REFUTES, ((("Pier", 1),),)),
    AnnotatedClaim("The lamp is bright.", NOT_ENOUGH_INFO, ()),
]


DEV = DevClaims(
    THREE,
    [[0, 1], [0, 1], [2]],
    cast(SentencePool, SimpleNamespace(sentences=SENTENCES)),
)


# What a model might say: SUPPORTS, REFUTES, NOT ENOUGH INFO.
SAID = {
    ("The pier is long.", "Pier : It is long."): (0.9, 0.0, 0.1),
    ("The pier is long.", "Pier : It is made of wood."): (0.1, 0.0, 0.9),
    ("The pier is made of iron.", "Pier : It is long."): (0.0, 0.1, 0.9),
    ("The pier is made of iron.", "Pier : It is made of wood."): (0.5, 0.3, 0.2),
    ("The lamp is bright.", "Lamp : It is red."): (0.35, 0.0, 0.65),
}


def read(pairs: Sequence[tuple[str, str]]) -> NDArray[np.float32]:
    return np.array([SAID[pair] for pair in pairs], dtype=np.float32)


def test_a_model_that_is_right_half_as_often_as_it_thinks_is_cooled_down() -> None:
    sure = np.array([[0.98, 0.01, 0.01]] * 4, dtype=np.float32)
    assert temperature_of(sure, [0, 0, 1, 2]) > 1.5
    assert temperature_of(sure, [0, 0, 0, 0]) == 0.5


def test_figures_of_three_claims() -> None:
    readings = read_claims(read, DEV)
    best = [items[0].sentence.text for items in readings.ranked]
    assert best == ["It is long.", "It is made of wood.", "It is red."]
    # In each claim one sentence stands out, so it is all that is read together.
    assert np.array_equal(readings.together, readings.alone)
    figures = reading_figures(readings, THREE)
    assert figures["gold_in_first_five"] == 100.0
    assert figures["stance_right"] == 50.0  # the wooden pier leans to SUPPORTS
    assert figures["alone"] == figures["pooled"] == pytest.approx(200 / 3)
    # Confidences 0.9 right, 0.5 wrong, 0.65 right: a third each of 0.1, 0.5 and 0.35. A probability
    # of 0 counts as 0.0001.
    assert figures["calibration_error"] == pytest.approx((0.1 + 0.5 + 0.35) / 3, abs=1e-3)


def test_the_spread_of_several_seeds_is_that_counted_by_hand() -> None:
    found = {0: {"right": 70.0, "error": 0.1}, 4: {"right": 71.0, "error": 0.1}}
    found[7] = {"right": 75.0, "error": 0.1}
    head, right, error = (line.split() for line in spread(found).splitlines())
    assert head == ["seeds", "0,", "4,", "7", "mean", "deviation", "least", "most"]
    # Off the mean 72 by 2, 1 and 3: the root of (4 + 1 + 9) / 2.
    assert right == ["right", "72", "2.65", "70", "75"]
    assert error == ["error", "0.1", "0", "0.1", "0.1"]

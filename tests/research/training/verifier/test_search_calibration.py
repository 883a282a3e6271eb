"""How sure the verifier is: what a scale and a bias do, and which of them are fitted."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from research.training.verifier.search_calibration import (
    Calibration,
    Search,
    claims_to_fit,
    crossed_figures,
    fitted,
    recalibrated,
)
from retrieval.types import NOT_ENOUGH_INFO, REFUTES, SUPPORTS, Label, Opinion
from tests.support.evidence import evidence
from tests.support.json_lines import write_json_lines


def search(label: Label, opinion: Opinion) -> Search:
    """A search that selected one sentence."""
    item = replace(evidence("Pier", "It is old.", 0.5, SUPPORTS), opinion=opinion)
    return Search((item,), opinion, label)


def test_claims_of_the_published_half_are_not_fitted_to(tmp_path: Path) -> None:
    # By the digests of their texts, 1 and 5 are in the fitted half and 2 and 3 in the other.
    for part in ("vital", "fever-dev"):
        lines = (
            {"id": n, "claim": f"Claim {n}.", "label": NOT_ENOUGH_INFO, "evidence": []}
            for n in (1, 2, 3, 5)
        )
        write_json_lines(tmp_path / part / "dev.jsonl", *lines)
    everyday, fever = claims_to_fit(tmp_path)
    assert [claim.text for claim in everyday] == ["Claim 1.", "Claim 5."]
    assert [claim.text for claim in fever] == ["Claim 1.", "Claim 5."]


def test_a_bias_moves_the_odds_of_undecided() -> None:
    # The odds of the last are halved: 0.4, 0.4 and 0.1 of 0.9.
    halved = Calibration(-0.6931).of((0.4, 0.4, 0.2), several=False)
    assert halved == pytest.approx((0.444, 0.444, 0.111), abs=1e-3)


@pytest.mark.parametrize("several", [False, True])
def test_a_recalibrated_model_gives_the_opinions_that_the_fit_makes(several: bool) -> None:
    fit, logits = Calibration(-0.4, 1.5, 0.8), np.array([2.0, -1.0, 0.5])
    config = {
        "name": "Verifier",
        "temperature": 1.6,
        "bias": [0.1, 0.0, -0.3],
        "bias_of_several": [0.0, 0.0, 0.5],
    }
    changed = recalibrated(config, fit)
    assert {**changed, **config} == changed  # what it says of given evidence stays
    assert changed["in_search"]["verdict_scale"] == 0.8
    supports, refutes, undecided = opinion(logits, config, several).tolist()
    once = fit.of((supports, refutes, undecided), several)
    assert opinion(logits, changed["in_search"], several) == pytest.approx(once)
    again = recalibrated(changed, fit)["in_search"]
    assert opinion(logits, again, several) == pytest.approx(fit.of(once, several))
    assert again["verdict_scale"] == 0.8  # it is fitted to readings, which no scale has changed


def opinion(
    logits: NDArray[np.float64], config: dict[str, Any], several: bool
) -> NDArray[np.float64]:
    """What a model says, as ``CrossEncoder.probabilities`` tells it."""
    bias = np.array(config["bias"]) + several * np.array(config["bias_of_several"])
    odds = np.exp(logits / config["temperature"] + bias)
    return odds / odds.sum()


def test_opinions_as_sure_as_they_are_right_stay_as_they_are() -> None:
    searches = [
        search(label, opinion)
        for opinion in ((0.8, 0.0, 0.2), (0.0, 0.8, 0.2), (0.1, 0.1, 0.8))
        for label, times in zip((SUPPORTS, REFUTES, NOT_ENOUGH_INFO), opinion, strict=True)
        for _ in range(round(10 * times))
    ]
    found = fitted([searches])
    assert (found.scale, found.bias) == (pytest.approx(1.0), pytest.approx(0.0))


def test_a_verifier_that_leaves_too_much_undecided_is_biased_against_it() -> None:
    # Of ten such opinions three are undecided, though each says that half of them are.
    searches = [search(SUPPORTS, (0.5, 0.0, 0.5))] * 7
    searches += [search(NOT_ENOUGH_INFO, (0.5, 0.0, 0.5))] * 3
    found = fitted([searches])
    # The scale multiplies what the bias adds: log(3 / 7) is -0.85.
    assert found.scale * found.bias == pytest.approx(-0.85, abs=0.03)


def test_each_collection_of_claims_counts_the_same_however_many_there_are() -> None:
    # Half of the one collection are undecided and none of the other, so a quarter of what counts:
    # log(1 / 3) is -1.1.
    half = [search(label, (0.5, 0.0, 0.5)) for label in (SUPPORTS, NOT_ENOUGH_INFO)]
    decided = [search(SUPPORTS, (0.5, 0.0, 0.5))] * 10
    found = fitted([half, decided])
    assert found.scale * found.bias == pytest.approx(-1.1, abs=0.03)


def test_a_verifier_that_is_too_sure_is_scaled_down() -> None:
    sure = {SUPPORTS: (0.96, 0.0, 0.04), REFUTES: (0.0, 0.96, 0.04)}
    searches = [search(label, opinion) for label, opinion in sure.items() for _ in range(7)]
    searches += [search(NOT_ENOUGH_INFO, opinion) for opinion in sure.values() for _ in range(3)]
    labels: list[Label] = [SUPPORTS, REFUTES, NOT_ENOUGH_INFO, NOT_ENOUGH_INFO, NOT_ENOUGH_INFO]
    searches += [search(label, (0.02, 0.02, 0.96)) for label in labels]
    assert fitted([searches]).scale < 0.6


def test_a_search_that_found_nothing_is_left_out() -> None:
    decided = [search(SUPPORTS, (0.8, 0.1, 0.1))] * 8 + [search(REFUTES, (0.8, 0.1, 0.1))]
    nothing = Search((), (0.0, 0.0, 1.0), NOT_ENOUGH_INFO)
    assert fitted([[*decided, nothing]]) == fitted([decided])
    assert fitted([decided, [nothing]]) == fitted([decided])


def test_the_verdicts_of_each_half_are_those_that_the_other_half_gives() -> None:
    # All opinions are the same. Of one half nearly all are undecided, of the other none, so each
    # half is given the label that is right for the other.
    opinion = (0.5, 0.0, 0.5)
    decided, undecided = search(SUPPORTS, opinion), search(NOT_ENOUGH_INFO, opinion)
    halves = zip([undecided] * 9 + [decided], [decided] * 10, strict=True)
    figures = crossed_figures({"claims": [item for pair in halves for item in pair]})
    assert figures["claims: label accuracy"] == pytest.approx(100 * 1 / 20)


def test_sentences_that_settle_less_together_than_they_seem_to_get_a_bias_of_their_own() -> None:
    alone, other = (
        [search(SUPPORTS, (0.9, 0.0, 0.1))] * 9,
        [search(NOT_ENOUGH_INFO, (0.9, 0.0, 0.1))],
    )
    item = replace(evidence("Pier", "It is old.", 0.5, SUPPORTS), opinion=(0.9, 0.0, 0.1))
    behind = replace(item, path=(evidence("Quay", "It is new.", 0.5, SUPPORTS).key,))
    pairs = [
        Search((behind, item), (0.9, 0.0, 0.1), label)
        for label in [SUPPORTS] * 5 + [NOT_ENOUGH_INFO] * 5
    ]
    found = fitted([[*alone, *other, *pairs]])
    # Alone they are as right as they are sure; of those read together half are wrong, and to make
    # 0.5 of 0.9 takes the logarithm of 9, which is 2.2. The scale multiplies it.
    assert found.scale * found.of_several == pytest.approx(2.2, abs=0.1)

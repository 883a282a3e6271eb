"""How the readings of claims that were searched for are fitted to their labels."""

from __future__ import annotations

import math
from pathlib import Path

import pytest

from research.training.verifier.search_calibration import (
    Search,
    claims_to_fit,
    crossed_figures,
    fitted,
    recalibrated,
)
from retrieval.models.cross_encoders import VerdictFit
from retrieval.types import (
    LABELS,
    NOT_ENOUGH_INFO,
    REFUTES,
    SUPPORTS,
    Label,
    Opinion,
    VerdictReadings,
)
from tests.support.json_lines import write_json_lines


def search(label: Label, opinion: Opinion, path: bool = False) -> Search:
    """A search whose selected evidence says the same alone and together."""
    return Search(VerdictReadings(opinion, opinion, path=path), label)


def verdict(fit: VerdictFit, one: Search) -> Opinion:
    """The probabilities that a fit gives a search."""
    assert one.readings is not None
    supports, refutes, undecided = fit.probabilities([one.readings])[0].tolist()
    return supports, refutes, undecided


def test_claims_of_the_published_half_are_not_fitted_to(tmp_path: Path) -> None:
    # By the digests of their texts, 1 and 5 are in the fitted half and 2 and 3 in the other.
    for name in ("vital/dev.jsonl", "vital/dev-2.jsonl", "fever-dev/dev.jsonl"):
        lines = (
            {"id": n, "claim": f"Claim {n}.", "label": NOT_ENOUGH_INFO, "evidence": []}
            for n in (1, 2, 3, 5)
        )
        write_json_lines(tmp_path / name, *lines)
    everyday, fever = claims_to_fit(tmp_path)
    assert [claim.text for claim in everyday] == ["Claim 1.", "Claim 5."] * 2
    assert [claim.text for claim in fever] == ["Claim 1.", "Claim 5."]


def test_a_recalibrated_model_reads_as_before_and_has_the_fit() -> None:
    config = {"name": "Verifier", "temperature": 1.6, "bias": [0.1, 0.0, -0.3]}
    changed = recalibrated(config, VerdictFit(0.3, 0.9, -0.4444))
    assert {**changed, **config} == changed  # what it says of given evidence stays
    assert changed["in_search"] == {
        "temperature": 1.6,
        "bias": [0.1, 0.0, -0.3],
        "verdict": {
            "together": 0.3,
            "alone": 0.9,
            "undecided": -0.444,
            "undecided_of_several": 0.0,
            "undecided_of_path": 0.0,
            "undecided_of_value": 0.0,
        },
    }


def test_opinions_as_sure_as_they_are_right_stay_as_they_are() -> None:
    opinions: list[Opinion] = [(0.8, 0.1, 0.1), (0.1, 0.8, 0.1), (0.1, 0.1, 0.8)]
    searches = [
        search(label, opinion)
        for opinion in opinions
        for label, times in zip(LABELS, opinion, strict=True)
        for _ in range(round(10 * times))
    ]
    found = fitted([searches])
    for opinion in opinions:
        assert verdict(found, search(SUPPORTS, opinion)) == pytest.approx(opinion, abs=0.02)


def test_each_collection_of_claims_counts_the_same_however_many_there_are() -> None:
    # Half of the one collection are undecided and none of the other, so a quarter of what counts.
    half = [search(label, (0.5, 0.0, 0.5)) for label in (SUPPORTS, NOT_ENOUGH_INFO)]
    decided = [search(SUPPORTS, (0.5, 0.0, 0.5))] * 10
    assert verdict(fitted([half, decided]), half[0])[0] == pytest.approx(0.75, abs=0.02)


def test_a_search_that_found_nothing_is_left_out() -> None:
    decided = [search(SUPPORTS, (0.8, 0.1, 0.1))] * 8 + [search(REFUTES, (0.8, 0.1, 0.1))]
    nothing = Search(None, NOT_ENOUGH_INFO)
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


def test_paths_that_settle_less_than_they_seem_to_get_a_bias_of_their_own() -> None:
    opinion: Opinion = (0.9, 0.0, 0.1)
    alone = [search(SUPPORTS, opinion)] * 9 + [search(NOT_ENOUGH_INFO, opinion)]
    pairs = [search(label, opinion, path=True) for label in (SUPPORTS, NOT_ENOUGH_INFO)] * 5
    found = fitted([[*alone, *pairs]])
    # Alone they are as right as they are sure; of those read together half are wrong, and to make
    # 0.5 of 0.9 takes the logarithm of 9.
    assert found.undecided_of_path == pytest.approx(math.log(9), abs=0.4)

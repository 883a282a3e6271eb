"""Pairs are read in batches; what each comes to does not depend on the others."""

from __future__ import annotations

import json
import shutil
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pytest

from retrieval.errors import ModelUnavailable
from retrieval.models.cross_encoders import OF_FIRST, CrossEncoder, VerdictFit
from retrieval.models.networks import Network, Row, States
from retrieval.models.packaged import MiniLM
from retrieval.models.shipped import RELEVANCE_MODEL, minilm_classifier, relevance_model

pytestmark = pytest.mark.models

CLAIM = "Skerrow Light was designed by Ann Lee."
PAIRS = [(CLAIM, "Skerrow Light: It was " + "very " * n + "tall.") for n in range(45)]


@pytest.fixture(scope="module")
def model() -> CrossEncoder:
    return relevance_model()


@pytest.mark.parametrize("count", [0, 1, 7, 8, 9, 33, 45])
def test_each_pair_is_read_as_if_it_were_alone(model: CrossEncoder, count: int) -> None:
    together = model.probabilities(PAIRS[:count])
    alone = [model.probabilities([pair])[0] for pair in PAIRS[:count:11]]
    assert together.shape == (count, 3)
    assert np.allclose(together[::11], np.reshape(alone, (-1, 3)), atol=1e-4)


class Watched:
    """A network that remembers how long the rows were that it read together."""

    def __init__(self, network: Network) -> None:
        self.lengths: list[list[int]] = []
        self._network = network

    def states(self, rows: Sequence[Row]) -> States:
        self.lengths.append([len(row) for row in rows])
        return self._network.states(rows)


def test_pairs_of_like_length_are_read_together_eight_at_most(
    model: CrossEncoder, monkeypatch: pytest.MonkeyPatch
) -> None:
    model.warm_up()
    watched = Watched(model._network)
    monkeypatch.setitem(vars(model), "_network", watched)
    model.probabilities(PAIRS[::-1])
    assert [len(lengths) for lengths in watched.lengths] == [8, 8, 8, 8, 8, 5]
    read = [length for lengths in watched.lengths for length in lengths]
    assert read == sorted(read)
    assert len(set(read)) == 45


def test_a_pair_longer_than_the_window_does_not_fit(model: CrossEncoder) -> None:
    assert model.fits(CLAIM, PAIRS[-1][1])
    assert not model.fits(CLAIM, PAIRS[-1][1] * 20)


def test_in_a_search_undecided_is_biased_and_a_verdict_has_a_fit_of_its_own(
    model: CrossEncoder, tmp_path: Path
) -> None:
    folder = tmp_path / "relevance"
    shutil.copytree(RELEVANCE_MODEL, folder)
    config = json.loads((folder / "config.json").read_text(encoding="utf-8"))
    before = config.get("bias", [0.0, 0.0, 0.0])
    config["in_search"] = {
        "temperature": config["temperature"],
        "bias": [before[0], before[1], before[2] + 0.5],
        "verdict": {"together": 0.25, "undecided": -0.5},
    }
    (folder / "config.json").write_text(json.dumps(config), encoding="utf-8")
    pairs = [(CLAIM, "Skerrow Light : It is tall.")]
    plain = model.probabilities(pairs)
    searching = CrossEncoder(folder, MiniLM(), OF_FIRST, in_search=True)
    biased = searching.probabilities(pairs)
    assert searching.verdict_fit == VerdictFit(together=0.25, undecided=-0.5)
    moved = np.log(biased[:, 2] / biased[:, 0]) - np.log(plain[:, 2] / plain[:, 0])
    assert moved == pytest.approx([0.5], abs=0.02)
    given = minilm_classifier(folder)
    assert given.verdict_fit == VerdictFit()
    assert np.allclose(given.probabilities(pairs), plain, atol=1e-6)


def test_a_model_with_its_labels_in_another_order_is_refused(tmp_path: Path) -> None:
    folder = tmp_path / "relevance"
    shutil.copytree(RELEVANCE_MODEL, folder)
    config = json.loads((folder / "config.json").read_text(encoding="utf-8"))
    config["labels"].reverse()
    (folder / "config.json").write_text(json.dumps(config), encoding="utf-8")
    with pytest.raises(ModelUnavailable) as refused:
        minilm_classifier(folder)
    assert refused.value.code == "model_damaged"

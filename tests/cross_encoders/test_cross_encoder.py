"""Pairs are read in batches; what each comes to does not depend on the others."""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from retrieval.cross_encoders.cross_encoder import CrossEncoder
from retrieval.cross_encoders.folded_minilm import FoldedMiniLM
from retrieval.models import READER, reader

pytestmark = pytest.mark.models

CLAIM = "Skerrow Light was designed by Ann Lee."
PAIRS = [(CLAIM, "Skerrow Light: It was " + "very " * n + "tall.") for n in range(45)]


@pytest.fixture(scope="module")
def model() -> CrossEncoder:
    return reader()


@pytest.mark.parametrize("count", [0, 1, 7, 8, 9, 33, 45])
def test_each_pair_is_read_as_if_it_were_alone(model: CrossEncoder, count: int) -> None:
    together = model.probabilities(PAIRS[:count])
    alone = [model.probabilities([pair])[0] for pair in PAIRS[:count:11]]
    assert together.shape == (count, 3)
    # bfloat16 rounds differently where the same stands in a batch of another shape.
    assert np.allclose(together[::11], np.reshape(alone, (-1, 3)), atol=0.03)


def test_batches_are_of_few_shapes(model: CrossEncoder) -> None:
    shapes: set[tuple[int, ...]] = set()

    def look(network: Any, args: Any, inputs: dict[str, Any]) -> None:
        shapes.add(tuple(inputs["input_ids"].shape))

    network, _ = model._loaded()
    with network.register_forward_pre_hook(look, with_kwargs=True):
        for count in range(1, 46):
            model.probabilities(PAIRS[:count])
    assert {rows for rows, _ in shapes} == {1, 2, 4, 8}
    assert all(width % 8 == 0 for _, width in shapes)


def test_in_a_search_undecided_is_biased_and_more_where_several_sentences_are_read(
    model: CrossEncoder, tmp_path: Path
) -> None:
    folder = tmp_path / "reader"
    shutil.copytree(READER, folder)
    config = json.loads((folder / "config.json").read_text(encoding="utf-8"))
    before = config.get("bias", [0.0, 0.0, 0.0])
    config["in_search"] = {
        "temperature": config["temperature"],
        "bias": [before[0], before[1], before[2] + 0.5],
        "bias_of_several": [0.0, 0.0, 1.25],
        "verdict_scale": 0.5,
    }
    (folder / "config.json").write_text(json.dumps(config), encoding="utf-8")
    one, several = "Skerrow Light : It is tall.", "Skerrow Light : It is tall. [SEP] Ann Lee : Hm."
    pairs = [(CLAIM, one), (CLAIM, several)]
    plain = model.probabilities(pairs)
    searching = CrossEncoder(folder, FoldedMiniLM(), in_search=True)
    biased = searching.probabilities(pairs)
    assert searching.verdict_scale == 0.5  # and no reading is scaled
    moved = np.log(biased[:, 2] / biased[:, 0]) - np.log(plain[:, 2] / plain[:, 0])
    assert moved == pytest.approx([0.5, 0.5 + 1.25], abs=0.02)
    given = CrossEncoder(folder, FoldedMiniLM())
    assert given.verdict_scale == 1.0
    assert np.allclose(given.probabilities(pairs), plain, atol=1e-6)

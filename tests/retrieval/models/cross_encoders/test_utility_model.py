from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest
import torch
from tokenizers import Tokenizer as Rust

from research.training.networks.delta import save_delta
from research.training.networks.joint import JointReader
from research.training.networks.minilm import trained_classifier
from retrieval.errors import ModelUnavailable
from retrieval.models.networks import Tokenizer
from retrieval.models.packaged import MiniLM
from retrieval.models.papers.selector import (
    UtilityModel,
    joint_row,
    log_odds,
    longest_that_fits,
    pieces,
)
from retrieval.models.shipped import RELEVANCE_MODEL
from retrieval.models.trained_model import read_config

CLAIM = "The Skerrow Light was designed by Ann Lee."
DESIGNED = ("Skerrow Light", "It was designed by Ann Lee.")
TALL = ("Skerrow Light", "It is tall.")
CITY = ("Dundee", "It is a city in Scotland.")


def write_model(folder: Path, network: JointReader, relevance_model: str) -> Path:
    """Write what training ships."""
    begun = JointReader(trained_classifier(RELEVANCE_MODEL))
    digest = save_delta(network, begun, folder / "delta.safetensors", 4)
    config = {
        "name": "Selector",
        "version": "1",
        "max_tokens": 512,
        "relevance_model": relevance_model,
    }
    (folder / "config.json").write_text(json.dumps(config | {"sha256": digest}))
    return folder


@pytest.mark.models
def test_untrained_it_adds_nothing_to_the_relevance(tmp_path: Path) -> None:
    network = JointReader(trained_classifier(RELEVANCE_MODEL))
    folder = write_model(tmp_path, network, read_config(RELEVANCE_MODEL)["sha256"])
    useful = UtilityModel(folder, RELEVANCE_MODEL).usefulness(CLAIM, [DESIGNED, CITY], [0.8, 0.25])
    assert np.allclose(useful, [0.8, 0.25], atol=1e-3)


@pytest.mark.models
def test_a_sentence_is_judged_in_sight_of_the_others(tmp_path: Path) -> None:
    network = JointReader(trained_classifier(RELEVANCE_MODEL))
    with torch.no_grad():
        network.classifier.weight[1] = torch.linspace(-1, 1, 384)
    folder = write_model(tmp_path, network, read_config(RELEVANCE_MODEL)["sha256"])
    model = UtilityModel(folder, RELEVANCE_MODEL)
    assert model.version == "Selector 1"
    beside_one = model.usefulness(CLAIM, [TALL, DESIGNED], [0.5, 0.5])
    beside_other = model.usefulness(CLAIM, [TALL, CITY], [0.5, 0.5])
    assert beside_one.shape == (2,)
    assert abs(beside_one[0] - beside_other[0]) > 0.01


def test_a_model_of_another_relevance_model_is_refused(tmp_path: Path) -> None:
    config = {"name": "Selector", "version": "1", "relevance_model": "0", "sha256": "0"}
    (tmp_path / "config.json").write_text(json.dumps(config))
    with pytest.raises(ModelUnavailable, match="belongs to another relevance model"):
        UtilityModel(tmp_path, RELEVANCE_MODEL)


@pytest.mark.models
def test_every_sentence_has_a_cls_before_it() -> None:
    file = MiniLM().tokenizer_file()
    row = joint_row(Tokenizer(file, 512), CLAIM, [TALL, CITY], 512)
    rust = Rust.from_file(str(file))
    read = rust.decode(row.ids, skip_special_tokens=False).replace(" ", "")
    # [CLS] claim [SEP] [CLS] sentence [CLS] sentence
    assert read == (
        "[CLS]theskerrowlightwasdesignedbyannlee.[SEP]"
        "[CLS]skerrowlight:itistall.[CLS]dundee:itisacityinscotland."
    )
    assert [rust.id_to_token(row.ids[head]) for head in row.heads] == ["[CLS]", "[CLS]"]
    assert row.heads[0] > 0


def test_relevance_is_known_as_log_odds() -> None:
    # log(0.5 / 0.5), log(0.9 / 0.1); 0 counts as 0.005: log(0.005 / 0.995)
    assert log_odds([0.5, 0.9, 0.0]) == pytest.approx([0.0, 2.1972, -5.2933], abs=1e-4)


@pytest.mark.parametrize(
    ("lengths", "room", "longest"),
    [
        ([3, 5, 4], 12, 5),  # all fit
        ([2, 9, 9], 12, 5),  # 2 + 5 + 5: what the short one leaves goes to the others
        ([8, 8, 8], 12, 4),
    ],
)
def test_the_longest_sentences_are_cut_first(lengths: list[int], room: int, longest: int) -> None:
    assert longest_that_fits(lengths, room) == longest


@pytest.mark.models
def test_ten_long_sentences_fit_after_a_long_claim() -> None:
    tokenizer = Tokenizer(MiniLM().tokenizer_file(), 512)
    claim, rest = pieces(tokenizer, "pier " * 400, [("Pier", "oak " * 300)] * 10, 512)
    # Half of the window for the claim; of the other 256 ten are for [CLS], so 24 for each.
    assert len(claim) == 256
    assert [len(ids) for ids in rest] == [24] * 10

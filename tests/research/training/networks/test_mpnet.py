from __future__ import annotations

import copy
from pathlib import Path

import pytest
import torch
from safetensors.torch import load_file
from transformers import MPNetConfig, MPNetModel

from research.training.networks.delta import add_delta, save_delta
from research.training.networks.mpnet import MPNetClassifier

IDS = torch.tensor([[0, 5, 6, 2], [0, 7, 2, 1]])
MASK = torch.tensor([[1, 1, 1, 1], [1, 1, 1, 0]])


@pytest.fixture
def network() -> MPNetClassifier:
    """A small network with weights of its own, always the same."""
    torch.manual_seed(3)
    config = MPNetConfig(
        vocab_size=16,
        hidden_size=8,
        num_hidden_layers=2,
        num_attention_heads=2,
        intermediate_size=16,
        max_position_embeddings=16,
    )
    return MPNetClassifier(MPNetModel(config, add_pooling_layer=False), labels=3).eval()


def test_padding_does_not_change_what_is_read(network: MPNetClassifier) -> None:
    with torch.inference_mode():
        padded = network(IDS, MASK).logits[1]
        alone = network(IDS[1:, :3], MASK[1:, :3]).logits[0]
    assert padded.tolist() == pytest.approx(alone.tolist(), abs=1e-5)


def test_a_network_that_was_trained_whole_is_restored_but_for_its_embeddings(
    network: MPNetClassifier, tmp_path: Path
) -> None:
    base = copy.deepcopy(network)
    with torch.no_grad():
        for name, weight in network.named_parameters():
            if ".embeddings." not in name:
                weight += 0.1 * torch.randn_like(weight)
    path = tmp_path / "delta.safetensors"
    digest = save_delta(network, base, path, rank=16)  # no matrix here has a higher one
    assert not any(".embeddings." in name for name in load_file(path))
    trained = network(IDS, MASK).logits
    assert not torch.allclose(base(IDS, MASK).logits, trained, atol=0.1)
    add_delta(base, tmp_path, digest)
    assert torch.allclose(base(IDS, MASK).logits, trained, atol=0.02)  # kept in 8 bits

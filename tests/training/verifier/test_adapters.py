from __future__ import annotations

import copy
from pathlib import Path

import pytest
import torch
from safetensors.torch import load_file
from transformers import MPNetConfig, MPNetModel

from retrieval.cross_encoders.mpnet import MPNetClassifier
from retrieval.trained.delta import add_delta, save_delta
from training.verifier.adapters import LowRankAdapter, adapt, save_adapters

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
    return MPNetClassifier(MPNetModel(config), labels=3).eval()


def test_an_adapter_starts_as_the_layer_that_it_adapts() -> None:
    frozen = torch.nn.Linear(4, 3)
    hidden = torch.randn(2, 4)
    assert torch.equal(LowRankAdapter(frozen)(hidden), frozen(hidden))


def test_an_adapter_adds_the_product_of_its_two_thin_layers() -> None:
    frozen = torch.nn.Linear(2, 1, bias=False)
    adapter = LowRankAdapter(frozen)
    with torch.no_grad():
        frozen.weight.copy_(torch.tensor([[1.0, 1.0]]))
        adapter.down.zero_()[0] = torch.tensor([3.0, 0.0])
        adapter.up.zero_()[0, 0] = 5.0
    # 1 * 2 + 1 * 7 from the frozen layer, and twice (the scale) 5 * 3 * 2.
    assert adapter(torch.tensor([2.0, 7.0])).item() == 9 + 2 * 30


def test_only_adapters_and_head_are_trained(network: MPNetClassifier) -> None:
    adapt(network)
    trained = {name for name, weight in network.named_parameters() if weight.requires_grad}
    assert {name.rpartition(".")[2] for name in trained if name.startswith("mpnet")} == {
        "down",
        "up",
    }
    # Two layers with six linear layers each, two thin matrices each; and a head of two layers.
    assert len(trained) == 2 * 6 * 2 + 2 * 2


def test_padding_does_not_change_what_is_read(network: MPNetClassifier) -> None:
    with torch.inference_mode():
        padded = network(IDS, MASK).logits[1]
        alone = network(IDS[1:, :3], MASK[1:, :3]).logits[0]
    assert padded.tolist() == pytest.approx(alone.tolist(), abs=1e-5)


def test_saved_adapters_make_the_trained_network_of_the_packaged_one(
    network: MPNetClassifier, tmp_path: Path
) -> None:
    before = {name: weight.clone() for name, weight in network.state_dict().items()}
    adapt(network)
    with torch.no_grad():
        for name, weight in network.named_parameters():
            if name.endswith(".up"):
                weight += 0.1
        network.classifier.weight += 1.0
    digest = save_adapters(network, tmp_path / "delta.safetensors")
    restored = MPNetClassifier(MPNetModel(network.mpnet.config), labels=3).eval()
    restored.load_state_dict(before)
    untrained = restored(IDS, MASK).logits
    add_delta(restored, tmp_path / "delta.safetensors", digest)
    with torch.inference_mode():
        trained, again = network(IDS, MASK).logits, restored(IDS, MASK).logits
    assert torch.allclose(trained, again, atol=0.05)  # one computes in bfloat16
    assert not torch.allclose(untrained, again, atol=0.5)


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
    add_delta(base, path, digest)
    assert torch.allclose(base(IDS, MASK).logits, trained, atol=0.02)  # kept in float16

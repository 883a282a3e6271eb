from __future__ import annotations

import pytest
import torch
from transformers import MPNetConfig, MPNetModel

from training.teacher.network import LowRankAdapter, TeacherNetwork

IDS = torch.tensor([[0, 5, 6, 2], [0, 7, 2, 1]])
MASK = torch.tensor([[1, 1, 1, 1], [1, 1, 1, 0]])


@pytest.fixture
def network() -> TeacherNetwork:
    torch.manual_seed(3)
    config = MPNetConfig(
        vocab_size=16,
        hidden_size=8,
        num_hidden_layers=2,
        num_attention_heads=2,
        intermediate_size=16,
        max_position_embeddings=16,
    )
    return TeacherNetwork(MPNetModel(config)).eval()


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


def test_only_adapters_and_head_are_trained(network: TeacherNetwork) -> None:
    trained = {name for name, weight in network.named_parameters() if weight.requires_grad}
    assert {name.rpartition(".")[2] for name in trained if name.startswith("mpnet")} == {
        "down",
        "up",
    }
    # Two layers with six linear layers each, two thin matrices each; and a head of two layers.
    assert len(trained) == 2 * 6 * 2 + 2 * 2


def test_padding_does_not_change_what_is_read(network: TeacherNetwork) -> None:
    with torch.inference_mode():
        padded = network(IDS, MASK).logits[1]
        alone = network(IDS[1:, :3], MASK[1:, :3]).logits[0]
    assert padded.tolist() == pytest.approx(alone.tolist(), abs=0.02)  # bfloat16

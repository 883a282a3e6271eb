"""The networks: packaged weights, and the difference that training makes."""

from __future__ import annotations

import copy
from pathlib import Path

import pytest
import torch
from safetensors.torch import load_file
from transformers import (
    BertModel,
    DistilBertConfig,
    DistilBertForSequenceClassification,
    MPNetConfig,
    MPNetModel,
)

from research.training.networks.encoders import (
    MPNetClassifier,
    add_delta,
    packaged_body,
    packaged_classifier,
    pair_tokenizer,
    save_delta,
)
from retrieval.errors import ModelUnavailable
from retrieval.models.packaged import minilm_folder


def small_model(seed: int) -> DistilBertForSequenceClassification:
    torch.manual_seed(seed)
    config = DistilBertConfig(vocab_size=50, dim=16, hidden_dim=32, n_layers=1, n_heads=2)
    return DistilBertForSequenceClassification(config).eval()


def test_a_difference_from_other_base_weights_is_refused(tmp_path: Path) -> None:
    deeper = DistilBertConfig(vocab_size=50, dim=16, hidden_dim=32, n_layers=2, n_heads=2)
    base = DistilBertForSequenceClassification(deeper)
    digest = save_delta(base, base, tmp_path / "delta.safetensors", rank=1)
    with pytest.raises(ModelUnavailable, match="belongs to other base weights"):
        add_delta(small_model(0), tmp_path, digest)


@pytest.mark.models
def test_folded_into_a_distilbert_the_weights_compute_the_same() -> None:
    folded = packaged_body().eval()
    bert = BertModel.from_pretrained(minilm_folder(), local_files_only=True).eval()
    inputs = pair_tokenizer()(
        ["The lighthouse was painted red.", "Short."],
        padding=True,
        return_tensors="pt",
        return_token_type_ids=False,
    )
    with torch.inference_mode():
        ours = folded(**inputs).last_hidden_state
        theirs = bert(**inputs).last_hidden_state
    read = inputs["attention_mask"].bool()
    assert torch.allclose(ours[read], theirs[read], atol=1e-4)


@pytest.mark.models
def test_a_fresh_head_is_always_the_same_and_leaves_the_random_numbers_as_they_were() -> None:
    torch.manual_seed(7)
    expected = torch.rand(3)
    torch.manual_seed(7)
    first, second = (packaged_classifier(("a", "b")) for _ in range(2))
    assert torch.equal(torch.rand(3), expected)
    assert first.config.num_labels == 2
    for name, weight in first.named_parameters():
        assert torch.equal(weight, second.get_parameter(name))


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

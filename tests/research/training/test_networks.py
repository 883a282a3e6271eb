"""The networks: packaged weights, and the difference that training makes."""

from __future__ import annotations

import copy
from pathlib import Path

import numpy as np
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

from research.training.networks.delta import add_delta, save_delta
from research.training.networks.minilm import (
    packaged_body,
    packaged_classifier,
    pair_tokenizer,
    row_tokenizer,
)
from research.training.networks.mpnet import MPNetClassifier
from research.training.networks.query import encoded, packaged_query_network
from retrieval.errors import ModelUnavailable
from retrieval.models.packaged import minilm_folder
from tests.support.untrained_query_encoder import untrained_query_encoder


def small_model(seed: int) -> DistilBertForSequenceClassification:
    torch.manual_seed(seed)
    config = DistilBertConfig(vocab_size=50, dim=16, hidden_dim=32, n_layers=1, n_heads=2)
    return DistilBertForSequenceClassification(config).eval()


def changed(model: DistilBertForSequenceClassification) -> DistilBertForSequenceClassification:
    """The same model with another head and a rank-one change to one matrix, as training makes."""
    other = small_model(0)
    other.load_state_dict(model.state_dict())
    with torch.no_grad():
        other.distilbert.transformer.layer[0].ffn.lin1.weight += torch.outer(
            torch.linspace(-1, 1, 32), torch.linspace(0, 1, 16)
        )
        other.distilbert.transformer.layer[0].sa_layer_norm.bias += 0.5
        other.classifier.weight += 1.0
    return other


def test_a_model_comes_back_from_its_base_and_its_difference(tmp_path: Path) -> None:
    base = small_model(0)
    trained = changed(base)
    digest = save_delta(trained, base, tmp_path / "delta.safetensors", rank=1)
    restored = small_model(0)
    add_delta(restored, tmp_path, digest)
    ids = torch.tensor([[1, 2, 3, 4]])
    with torch.inference_mode():
        assert torch.allclose(restored(ids).logits, trained(ids).logits, atol=5e-3)
        assert not torch.allclose(base(ids).logits, trained(ids).logits, atol=5e-2)


def test_a_damaged_difference_is_refused_with_the_mend(tmp_path: Path) -> None:
    path = tmp_path / "relevance" / "delta.safetensors"
    digest = save_delta(changed(small_model(0)), small_model(0), path, rank=1)
    path.write_bytes(path.read_bytes()[:-1])
    with pytest.raises(ModelUnavailable, match="see: esoteric train"):
        add_delta(small_model(0), path.parent, digest)


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


@pytest.mark.models
def test_a_network_in_training_encodes_as_the_shipped_model_does(tmp_path: Path) -> None:
    step = ("Pier", "It is long and made of oak.")
    queries = [("The pier is lit.", [step] * n) for n in (3, 0, 1, 2)] * 10
    network = packaged_query_network().train(False)
    vectors = encoded(network, row_tokenizer(256), queries, 256)
    assert vectors.shape == (40, 384)
    assert np.allclose(vectors[:4], vectors[-4:], atol=1e-5)
    shipped = untrained_query_encoder(tmp_path).encode(queries)
    assert (vectors * shipped).sum(axis=1).min() > 0.99

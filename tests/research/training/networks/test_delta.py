from __future__ import annotations

from pathlib import Path

import pytest
import torch
from safetensors.torch import load_file
from transformers import DistilBertConfig, DistilBertForSequenceClassification

from research.training.networks.delta import add_delta, save_delta
from retrieval.errors import ModelUnavailable


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


class Pointed(torch.nn.Module):
    """A body with a head of another name, which training starts afresh."""

    def __init__(self, seed: int) -> None:
        super().__init__()
        self.distilbert = small_model(0).distilbert
        torch.manual_seed(seed)
        self.pointer = torch.nn.Linear(16, 2)


def test_a_head_of_any_name_is_kept_whole_and_the_embeddings_never(tmp_path: Path) -> None:
    trained = Pointed(seed=1)
    digest = save_delta(trained, small_model(0), tmp_path / "delta.safetensors", rank=1)
    names = set(load_file(tmp_path / "delta.safetensors"))
    assert {name for name in names if not name.startswith("distilbert.")} == {
        "pointer.weight",
        "pointer.bias",
    }
    assert not any(name.startswith("distilbert.embeddings.") for name in names)
    restored = Pointed(seed=2)
    add_delta(restored, tmp_path, digest)
    assert torch.allclose(restored.pointer.weight, trained.pointer.weight, atol=1e-3)


def test_a_damaged_difference_is_refused_with_the_mend(tmp_path: Path) -> None:
    path = tmp_path / "relevance" / "delta.safetensors"
    digest = save_delta(changed(small_model(0)), small_model(0), path, rank=1)
    path.write_bytes(path.read_bytes()[:-1])
    with pytest.raises(ModelUnavailable, match="see: esoteric train"):
        add_delta(small_model(0), path.parent, digest)


def test_a_missing_difference_is_refused_with_the_mend(tmp_path: Path) -> None:
    with pytest.raises(ModelUnavailable, match="is missing"):
        add_delta(small_model(0), tmp_path / "relevance", "0")


def test_a_difference_from_other_base_weights_is_refused(tmp_path: Path) -> None:
    deeper = DistilBertConfig(vocab_size=50, dim=16, hidden_dim=32, n_layers=2, n_heads=2)
    base = DistilBertForSequenceClassification(deeper)
    digest = save_delta(base, base, tmp_path / "delta.safetensors", rank=1)
    with pytest.raises(ModelUnavailable, match="belongs to other base weights"):
        add_delta(small_model(0), tmp_path, digest)


def test_a_difference_with_a_head_that_the_model_lacks_is_refused(tmp_path: Path) -> None:
    trained = Pointed(seed=1)
    digest = save_delta(trained, small_model(0), tmp_path / "delta.safetensors", rank=1)
    with pytest.raises(ModelUnavailable, match="belongs to other base weights"):
        add_delta(small_model(0), tmp_path, digest)

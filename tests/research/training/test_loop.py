"""The training loop and the networks: the same weights after a stop, kept as a difference."""

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
import torch
import transformers
from safetensors.torch import load_file
from torch import nn

from research.training import loop
from research.training.networks import encoders
from retrieval.errors import ModelUnavailable
from retrieval.models.packaged import minilm_folder
from retrieval.types import LABELS, NOT_ENOUGH_INFO, REFUTES, SUPPORTS

RECIPE = loop.Hyperparameters(
    epochs=2, batch_size=2, learning_rate=1e-4, warmup=0.1, max_tokens=32, seed=7
)
EXAMPLES = [
    loop.labelled("The pier is long.", "Pier : The pier is long.", SUPPORTS),
    loop.labelled("The pier is short.", "Pier : The pier is long.", REFUTES),
    loop.labelled("The pier is old.", "Pier : The pier is long.", NOT_ENOUGH_INFO),
    loop.Example("The lamp is red.", "Lamp : The lamp is reddish.", (0.6, 0.3, 0.1)),
]


def untrained_classifier() -> transformers.DistilBertForSequenceClassification:
    """A small model, from a fixed seed; its dropout draws random numbers in each step."""
    config = transformers.DistilBertConfig(
        vocab_size=30522, dim=16, hidden_dim=32, n_layers=1, n_heads=2, num_labels=len(LABELS)
    )
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(0)
        return transformers.DistilBertForSequenceClassification(config)


def run(folder: Path, recipe: Any = RECIPE, stop_at: int = 0) -> tuple[torch.Tensor, int]:
    """Train, and return a weight of the result and the steps that it took."""
    model, tokenizer = untrained_classifier(), encoders.pair_tokenizer()
    steps = 0

    def counted(*texts: Any, **settings: Any) -> Any:
        nonlocal steps
        steps += 1
        if steps == stop_at:
            raise InterruptedError
        return tokenizer(*texts, **settings)

    loss_of = loop.classification_loss(model, counted, recipe.max_tokens)
    loop.train(model, EXAMPLES, loss_of, recipe, folder, dict, checkpoint_every=1)
    return model.distilbert.transformer.layer[0].ffn.lin1.weight.detach().clone(), steps


def test_a_run_that_was_stopped_ends_as_one_that_was_not(tmp_path: Path) -> None:
    undisturbed, steps = run(tmp_path / "undisturbed")
    assert steps == 4  # two epochs of two batches
    with pytest.raises(InterruptedError):
        run(tmp_path / "stopped", stop_at=4)
    resumed, steps = run(tmp_path / "stopped")
    assert steps == 1
    assert torch.equal(resumed, undisturbed)
    # A checkpoint of another recipe is not continued; with averaging the result lies between.
    averaging = replace(RECIPE, averaging=0.9)
    averaged, steps = run(tmp_path / "stopped", averaging)
    assert steps == 4
    start = untrained_classifier().distilbert.transformer.layer[0].ffn.lin1.weight.detach()
    assert 0 < (averaged - start).norm() < (undisturbed - start).norm()
    again, steps = run(tmp_path / "stopped", averaging)
    assert steps == 0
    assert torch.equal(again, averaged)
    # A phase that ends early has the last rate there.
    recipe = replace(RECIPE, learning_rate=4e-4, last_rate=1e-4, warmup=0.0, steps=3)
    _, steps = run(tmp_path, recipe)
    assert steps == 3  # of four
    kept = torch.load(tmp_path / "checkpoint.pt", weights_only=True)
    assert kept["schedule"]["_last_lr"] == pytest.approx([1e-4] * 4)
    _, steps = run(tmp_path, recipe)
    assert steps == 0


def test_a_model_takes_the_mean_of_weights_without_what_is_frozen() -> None:
    def layer() -> nn.Linear:
        made = nn.Linear(2, 1)
        with torch.no_grad():
            made.weight.copy_(torch.tensor([[1.0, 3.0]]))
            made.bias.fill_(7.0)
        made.bias.requires_grad_(False)
        return made

    one, other = layer(), layer()
    assert loop.weights_digest(one) == loop.weights_digest(other)
    other.bias.fill_(9.0)  # frozen
    assert loop.weights_digest(one) == loop.weights_digest(other)
    loop.load_mean(one, [{"weight": torch.tensor([[1.0, b]])} for b in (3.0, 5.0)])
    assert (one.weight.tolist(), one.bias.tolist()) == ([[1.0, 4.0]], [7.0])
    assert loop.weights_digest(one) != loop.weights_digest(other)
    # Rows are padded to one width, and ones stand where tokens do.
    ids, mask = encoders.padded([torch.tensor([5, 6, 7]), torch.arange(1, 10)], 99)
    assert ids.tolist() == [[5, 6, 7] + [99] * 13, [*range(1, 10)] + [99] * 7]
    assert mask.tolist() == [[1] * 3 + [0] * 13, [1] * 9 + [0] * 7]
    assert mask.dtype == torch.long


@pytest.mark.models
def test_folded_into_a_distilbert_the_weights_compute_the_same() -> None:
    folded = encoders.packaged_body().eval()
    bert = transformers.BertModel.from_pretrained(minilm_folder(), local_files_only=True).eval()
    texts = ["The lighthouse was painted red.", "Short."]
    inputs = encoders.pair_tokenizer()(
        texts, padding=True, return_tensors="pt", return_token_type_ids=False
    )
    with torch.inference_mode():
        ours, theirs = (model(**inputs).last_hidden_state for model in (folded, bert))
    read = inputs["attention_mask"].bool()
    assert torch.allclose(ours[read], theirs[read], atol=1e-4)

    torch.manual_seed(7)
    expected = torch.rand(3)
    torch.manual_seed(7)
    first, second = (encoders.packaged_classifier(("a", "b")) for _ in range(2))
    assert torch.equal(torch.rand(3), expected)  # random numbers are as they were
    assert first.config.num_labels == 2
    for name, weight in first.named_parameters():
        assert torch.equal(weight, second.get_parameter(name))


def test_a_network_that_was_trained_is_restored_but_its_embeddings(tmp_path: Path) -> None:
    ids = torch.tensor([[0, 5, 6, 2], [0, 7, 2, 1]])
    mask = torch.tensor([[1, 1, 1, 1], [1, 1, 1, 0]])

    def network(layers: int) -> encoders.MPNetClassifier:
        """A small network with weights of its own, always the same."""
        torch.manual_seed(3)
        sizes = {"vocab_size": 16, "intermediate_size": 16, "max_position_embeddings": 16}
        config = transformers.MPNetConfig(
            hidden_size=8, num_hidden_layers=layers, num_attention_heads=2, **sizes
        )
        return encoders.MPNetClassifier(
            transformers.MPNetModel(config, add_pooling_layer=False), labels=3
        ).eval()

    base, trained = network(2), network(2)
    with torch.no_grad():
        for name, weight in trained.named_parameters():
            if ".embeddings." not in name:
                weight += 0.1 * torch.randn_like(weight)
    path = tmp_path / "delta.safetensors"
    digest = encoders.save_delta(trained, base, path, rank=16)  # no matrix here has a higher one
    assert not any(".embeddings." in name for name in load_file(path))
    wanted = trained(ids, mask).logits
    assert not torch.allclose(base(ids, mask).logits, wanted, atol=0.1)
    encoders.add_delta(base, tmp_path, digest)
    assert torch.allclose(base(ids, mask).logits, wanted, atol=0.02)  # kept in 8 bits
    with pytest.raises(ModelUnavailable, match="belongs to other base weights"):
        encoders.add_delta(network(1), tmp_path, digest)

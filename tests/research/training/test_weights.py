from __future__ import annotations

import torch
from torch import nn

from research.training.weights import load_mean, trained_weights, weights_digest


def layer() -> nn.Linear:
    """A layer whose bias is frozen."""
    made = nn.Linear(2, 1)
    with torch.no_grad():
        made.weight.copy_(torch.tensor([[1.0, 3.0]]))
        made.bias.fill_(7.0)
    made.bias.requires_grad_(False)
    return made


def test_kept_weights_do_not_change_when_training_continues() -> None:
    model = layer()
    kept = trained_weights(model)
    with torch.no_grad():
        model.weight.add_(10.0)
    assert kept["weight"].tolist() == [[1.0, 3.0]]


def test_a_model_takes_the_mean_of_weights_and_keeps_what_is_frozen() -> None:
    model = layer()
    load_mean(
        model, [{"weight": torch.tensor([[1.0, 3.0]])}, {"weight": torch.tensor([[3.0, 5.0]])}]
    )
    assert model.weight.tolist() == [[2.0, 4.0]]
    assert model.bias.tolist() == [7.0]


def test_the_digest_of_weights_depends_only_on_what_is_trained() -> None:
    one, other = layer(), layer()
    assert weights_digest(one) == weights_digest(other)
    with torch.no_grad():
        other.bias.fill_(9.0)  # frozen
    assert weights_digest(one) == weights_digest(other)
    with torch.no_grad():
        other.weight[0, 0] = 1.5
    assert weights_digest(one) != weights_digest(other)

"""Copies and averages the trained weights of a model.

The mean of the weights at the end of several rounds of training is more accurate than any of them
(Izmailov et al. 2018, "Averaging Weights Leads to Wider Optima and Better Generalization"; Wortsman
et al. 2022, "Model soups").
"""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from typing import TypeAlias

import torch
from torch import Tensor, nn

Weights: TypeAlias = dict[str, Tensor]


def trained_weights(model: nn.Module) -> Weights:
    """Return a copy of the weights that are not frozen, by name."""
    return {name: weight.clone() for name, weight in _trained(model).items()}


def load_mean(model: nn.Module, ends: Sequence[Weights]) -> None:
    """Set the model's weights to the mean of these, which all have the same names."""
    for name, weight in _trained(model).items():
        weight.copy_(torch.stack([end[name] for end in ends]).mean(dim=0))


class MovingAverage:
    """The moving average of a model's trained weights over the steps of its training."""

    def __init__(self, model: nn.Module, kept: float) -> None:
        """Begin with the weights of now; ``kept`` is the weight of the average in each step."""
        self.weights = trained_weights(model)
        self._kept = kept

    def add(self, model: nn.Module) -> None:
        """Add the weights after a step."""
        for name, weight in _trained(model).items():
            self.weights[name].lerp_(weight, 1 - self._kept)

    def load_into(self, model: nn.Module) -> None:
        """Set the model's weights to the average."""
        load_mean(model, [self.weights])


def weights_digest(model: nn.Module) -> str:
    """Return a digest of the weights that are not frozen, SHA-256."""
    digest = hashlib.sha256()
    for name, weight in _trained(model).items():
        digest.update(name.encode())
        digest.update(weight.contiguous().cpu().numpy().tobytes())
    return digest.hexdigest()


def _trained(model: nn.Module) -> dict[str, Tensor]:
    return {n: weight.detach() for n, weight in model.named_parameters() if weight.requires_grad}

"""Trains a body as it will compute: with its layers' weights and inputs rounded to 8 bits.

The shipped networks compute so (``retrieval.models.networks.graph``). Weights that were trained
without the rounding lose a point or two of accuracy by it; with it in training they adapt (Jacob
et al. 2018, section 3).
"""

from __future__ import annotations

from typing import Any

import torch
from torch import nn
from torch.nn.functional import linear

from retrieval.models.networks.graph import LARGEST_INPUT, LARGEST_WEIGHT, TINY


class _Rounded(torch.autograd.Function):
    """Rounds each row to multiples of its largest number / ``largest``; the gradient passes."""

    @staticmethod
    def forward(_: Any, rows: torch.Tensor, largest: int) -> torch.Tensor:
        scale = rows.abs().amax(-1, keepdim=True).float().div_(largest).add_(TINY)
        return (rows / scale).round_().mul_(scale).to(rows.dtype)

    @staticmethod
    def backward(_: Any, *gradients: torch.Tensor) -> tuple[torch.Tensor, None]:
        return gradients[0], None


class RoundedLinear(nn.Linear):
    """A linear part with one scale for each output's weights and for each token's input."""

    def forward(self, inputs: torch.Tensor) -> torch.Tensor:
        """Return the product of the rounded inputs and weights."""
        weight = _rounded(self.weight, LARGEST_WEIGHT)
        return linear(_rounded(inputs, LARGEST_INPUT), weight, self.bias)


def _rounded(rows: torch.Tensor, largest: int) -> torch.Tensor:
    result: torch.Tensor = _Rounded.apply(rows, largest)  # type: ignore[no-untyped-call]
    return result


def round_layers(body: nn.Module) -> None:
    """Turn every linear part of ``body``, in place, into a ``RoundedLinear``.

    The names and values of the weights stay.
    """
    for module in body.modules():
        if type(module) is nn.Linear:
            module.__class__ = RoundedLinear

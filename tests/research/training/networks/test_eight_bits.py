from __future__ import annotations

import pytest
import torch
from torch import nn

from research.training.networks.eight_bits import RoundedLinear, round_layers


@pytest.fixture
def rounded() -> RoundedLinear:
    body = nn.Sequential(nn.Linear(3, 2))
    with torch.no_grad():
        body[0].weight.copy_(torch.tensor([[6.3, 0.32, -0.04], [1.0, 2.1, 4.0]]))
        body[0].bias.copy_(torch.tensor([1.0, 0.0]))
    round_layers(body)
    assert isinstance(body[0], RoundedLinear)
    return body[0]


def test_weights_and_inputs_are_rounded_with_a_scale_for_each_output_and_token(
    rounded: RoundedLinear,
) -> None:
    # The first output's scale is 6.3 / 63 = 0.1: 6.3, 0.3, 0. The second's is 4 / 63: 15.75 and
    # 33.075 steps are rounded to 16 and 33.
    # The first token's scale is 127 / 127 = 1: 127, 10, 0. The second's is 1.27 / 127 = 0.01.
    inputs = torch.tensor([[127.0, 10.4, 0.3], [0.0, 1.27, 0.0]])
    step = 4 / 63
    expected = [
        [127 * 6.3 + 10 * 0.3 + 1, 127 * 16 * step + 10 * 33 * step],
        [1.27 * 0.3 + 1, 1.27 * 33 * step],
    ]
    found = rounded(inputs)
    assert found.tolist() == [pytest.approx(row, rel=1e-4) for row in expected]


def test_the_gradient_passes_through_the_rounding(rounded: RoundedLinear) -> None:
    inputs = torch.tensor([[1.27, 0.504, 0.0]], requires_grad=True)
    rounded(inputs).sum().backward()
    # Of the weights: the rounded inputs. Of the inputs: the sums of the rounded weights.
    assert rounded.weight.grad is not None
    assert inputs.grad is not None
    assert rounded.weight.grad.tolist() == [pytest.approx([1.27, 0.5, 0.0], rel=1e-4)] * 2
    step = 4 / 63
    sums = [6.3 + 16 * step, 0.3 + 33 * step, 63 * step]
    assert inputs.grad[0].tolist() == pytest.approx(sums, rel=1e-4)


def test_a_token_of_zeros_stays_zero(rounded: RoundedLinear) -> None:
    assert rounded(torch.zeros(1, 3)).tolist() == [[1.0, 0.0]]

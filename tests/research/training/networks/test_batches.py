from __future__ import annotations

import pytest
import torch

from research.training.networks.batches import padded, width_for


@pytest.mark.parametrize(("tokens", "width"), [(0, 0), (1, 8), (8, 8), (9, 16), (256, 256)])
def test_widths_are_multiples_of_eight(tokens: int, width: int) -> None:
    assert width_for(tokens) == width


def test_rows_are_padded_to_one_width_and_ones_stand_where_tokens_do() -> None:
    ids, mask = padded([torch.tensor([5, 6, 7]), torch.arange(1, 10)], 99)
    assert ids.tolist() == [[5, 6, 7] + [99] * 13, [*range(1, 10)] + [99] * 7]
    assert mask.tolist() == [[1] * 3 + [0] * 13, [1] * 9 + [0] * 7]
    assert mask.dtype == torch.long

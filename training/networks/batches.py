"""Rows of tokens of different lengths as one batch.

What multiplies matrices on a processor (oneDNN) compiles and keeps something for every shape it
meets. So widths are multiples of ``STEP``, for a little more to multiply.
"""

from __future__ import annotations

from collections.abc import Sequence

import torch
from torch.nn.functional import pad
from torch.nn.utils.rnn import pad_sequence

STEP = 8


def width_for(tokens: int) -> int:
    """Return the width of a batch whose longest row has so many tokens."""
    return -(-tokens // STEP) * STEP


def padded(rows: Sequence[torch.Tensor], padding: int) -> tuple[torch.Tensor, torch.Tensor]:
    """Return the rows with ``padding`` after the shorter ones, and ones where tokens stand.

    Both of shape ``(rows, width)``.
    """
    ids = pad_sequence(list(rows), batch_first=True, padding_value=padding)
    ids = pad(ids, (0, width_for(ids.shape[1]) - ids.shape[1]), value=padding)
    lengths = torch.tensor([len(row) for row in rows])
    return ids, (torch.arange(ids.shape[1]) < lengths[:, None]).long()

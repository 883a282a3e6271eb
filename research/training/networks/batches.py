"""Rows of tokens of different lengths as one batch.

oneDNN, which multiplies matrices on a processor, compiles and caches code for every new shape. So
widths are multiples of ``STEP``, at the cost of some more padding.
"""

from __future__ import annotations

from collections.abc import Sequence

import torch
from torch.nn.functional import pad
from torch.nn.utils.rnn import pad_sequence

STEP = 8


def width_for(tokens: int) -> int:
    """Return the width of a batch whose longest row has this many tokens."""
    return -(-tokens // STEP) * STEP


def padded(rows: Sequence[torch.Tensor], padding: int) -> tuple[torch.Tensor, torch.Tensor]:
    """Return the rows with ``padding`` after the shorter ones, and a mask with 1 for tokens.

    Both of shape ``(rows, width)``.
    """
    ids = pad_sequence(list(rows), batch_first=True, padding_value=padding)
    ids = pad(ids, (0, width_for(ids.shape[1]) - ids.shape[1]), value=padding)
    lengths = torch.tensor([len(row) for row in rows])
    return ids, (torch.arange(ids.shape[1]) < lengths[:, None]).long()

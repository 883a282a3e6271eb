"""A transformer's body in PyTorch, float32, which networks in 8 bits are compared with."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import torch
from torch import nn

from retrieval.models import runtime
from retrieval.models.networks import Row, States, batch


class TorchNetwork:
    """Computes the last layer's states of rows of tokens."""

    def __init__(self, module: nn.Module, padding: int) -> None:
        """Compute with ``module``, on the threads set in ``runtime``."""
        runtime.limit_torch()
        self._module = module.train(False)
        self._padding = padding

    def states(self, rows: Sequence[Row]) -> States:
        """See ``Network``."""
        ids, mask = batch(rows, self._padding)
        with torch.inference_mode():
            vectors = self._module(
                input_ids=torch.from_numpy(ids), attention_mask=torch.from_numpy(mask)
            )[0]
        return States(vectors.numpy(), mask.astype(np.float32))

"""A body in PyTorch, float32: used if ONNX Runtime does not load, and for comparison."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
import torch
from torch import nn

from retrieval.models.networks import runtime
from retrieval.models.networks.arrays import Array
from retrieval.models.networks.interface import States, batch
from retrieval.models.networks.tokenizer import Row


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


def filled(module: nn.Module, weights: Mapping[str, Array], prefix: str) -> nn.Module:
    """Return the module with the weights whose names begin with ``prefix``, which is cut off."""
    state = {
        name.removeprefix(prefix): torch.from_numpy(np.array(array))
        for name, array in weights.items()
        if name.startswith(prefix)
    }
    missing, unexpected = module.load_state_dict(state, strict=False)
    if missing or unexpected:
        raise RuntimeError(f"The weights leave {missing} unset and {unexpected} unused.")
    return module

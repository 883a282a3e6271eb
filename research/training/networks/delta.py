"""Writes the difference that training made, and adds it to PyTorch's modules.

``retrieval.models.trained_model`` describes the format.
"""

from __future__ import annotations

import hashlib
from pathlib import Path

import torch
from safetensors.torch import save_file
from torch import nn

from retrieval.errors import ModelUnavailable
from retrieval.models.trained_model import (
    BODIES,
    LEFT,
    RIGHT,
    SCALE,
    heads,
    read_difference,
    trained_body,
)
from retrieval.system.fixes import restore_model

_EMBEDDINGS = tuple(f"{body}embeddings." for body in BODIES)


def save_delta(trained: nn.Module, base: nn.Module, path: Path, rank: int) -> str:
    """Write ``trained - base`` and return the file's SHA-256.

    Matrices of the layers are cut to ``rank``; the heads, which have no base, and
    the vectors are kept whole.
    """
    before = dict(base.named_parameters())
    tensors: dict[str, torch.Tensor] = {}
    for name, parameter in trained.named_parameters():
        weight = parameter.detach().cpu()
        if name.startswith(_EMBEDDINGS):
            continue
        if not name.startswith(BODIES):
            tensors[name] = weight.half()
            continue
        difference = weight.float() - before[name].detach().float()
        if difference.ndim == 2:
            left, singular, right = torch.linalg.svd(difference, full_matrices=False)
            tensors[name + LEFT], left_scale = _in_8_bits(left[:, :rank], 0)
            tensors[name + RIGHT], right_scale = _in_8_bits(right[:rank], 1)
            tensors[name + SCALE] = left_scale * singular[:rank] * right_scale
        else:
            tensors[name] = difference.half()
    path.parent.mkdir(parents=True, exist_ok=True)
    save_file(tensors, path)
    return hashlib.sha256(path.read_bytes()).hexdigest()


def _in_8_bits(vectors: torch.Tensor, along: int) -> tuple[torch.Tensor, torch.Tensor]:
    """Return integers from -127 to 127, and the scale of each vector of this dimension."""
    scale = vectors.abs().amax(along) / 127
    rounded = (vectors / scale.unsqueeze(along)).round()
    return rounded.to(torch.int8).contiguous(), scale


def add_delta(base: nn.Module, folder: Path, sha256: str) -> None:
    """Turn the base model, in place, into the trained one whose difference is in ``folder``.

    Raises:
        ModelUnavailable: the file is missing, or its digest is not the expected one.
    """
    difference = read_difference(folder, sha256)
    before = {
        name: parameter.detach().numpy()
        for name, parameter in base.named_parameters()
        if name.startswith(BODIES)
    }
    trained = trained_body(before, difference, folder) | heads(difference)
    state = {name: torch.from_numpy(array) for name, array in trained.items()}
    if base.load_state_dict(state, strict=False).unexpected_keys:
        raise ModelUnavailable(
            "model_damaged",
            f"The model in {folder} belongs to other base weights.",
            restore_model(folder),
        )

"""What training changed, kept apart from the packaged weights that it changed.

A fine-tuned model is the base weights plus a small difference. The embeddings
were frozen, so only the transformer layers and the heads differ. Each matrix of
the difference is cut to a low rank (a truncated singular value decomposition) and
kept as the product of two thin ones in 8 bits, with a scale for each column of
the first. Everything else is kept as it is, in float16. Files that were written
before hold the thin matrices in float16, without scales.
"""

from __future__ import annotations

import hashlib
from pathlib import Path

import torch
from safetensors.torch import load, save_file
from torch import nn

from retrieval.errors import ModelUnavailable
from retrieval.mends import restore_model

LEFT, RIGHT, SCALE = "@left", "@right", "@scale"
_BODIES = ("distilbert.", "mpnet.")  # what has base weights; all else is a head, kept whole
_EMBEDDINGS = tuple(f"{body}embeddings." for body in _BODIES)


def save_delta(trained: nn.Module, base: nn.Module, path: Path, rank: int) -> str:
    """Write ``trained - base`` and return the file's SHA-256.

    Matrices of the layers are cut to ``rank``; the heads, which have no base, and
    the vectors are kept whole.
    """
    before = dict(base.named_parameters())
    tensors: dict[str, torch.Tensor] = {}
    for name, parameter in trained.named_parameters():
        weight = parameter.detach()
        if name.startswith(_EMBEDDINGS):
            continue
        if not name.startswith(_BODIES):
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
    """Return whole numbers from -127 to 127, and the scale of each vector of this dimension."""
    scale = vectors.abs().amax(along) / 127
    rounded = (vectors / scale.unsqueeze(along)).round()
    return rounded.to(torch.int8).contiguous(), scale


def add_delta(base: nn.Module, path: Path, sha256: str) -> None:
    """Turn the base model into the trained one, in place.

    Raises:
        ModelUnavailable: the file is missing or is not the one that was trained.
    """
    mend = restore_model(path.parent)
    try:
        content = path.read_bytes()
    except OSError as error:
        raise ModelUnavailable(
            "model_missing", f"The model file {path} is missing.", mend
        ) from error
    if hashlib.sha256(content).hexdigest() != sha256:
        raise ModelUnavailable(
            "model_damaged", f"The model file {path} is not the expected one.", mend
        )
    tensors = load(content)
    weights = dict(base.named_parameters())
    unknown = {name.partition("@")[0] for name in tensors} - set(weights)
    if unknown:
        raise ModelUnavailable(
            "model_damaged", f"The model file {path} belongs to other base weights.", mend
        )
    with torch.no_grad():
        for name, tensor in tensors.items():
            plain = name.partition("@")[0]
            if name.endswith((RIGHT, SCALE)):
                continue
            if name.endswith(LEFT):
                scaled = tensor.float() * tensors.get(plain + SCALE, torch.ones(()))
                weights[plain].add_(scaled @ tensors[plain + RIGHT].float())
            elif not plain.startswith(_BODIES):
                weights[plain].copy_(tensor)
            else:
                weights[plain].add_(tensor.float())

"""What training changed, kept apart from the packaged weights that it changed.

A fine-tuned model is the base weights plus a small difference. The embeddings
were frozen, so only the transformer layers and the heads differ; each matrix of
the difference is kept as the product of two thin ones, everything else as it
is, all in float16. A model that was trained whole has its difference cut to a low
rank (a truncated singular value decomposition); adapters are trained in that
form from the start (LoRA, Hu et al. 2021; ``training/verifier/adapters.py``).
"""

from __future__ import annotations

import hashlib
from pathlib import Path

import torch
from safetensors.torch import load, save_file
from torch import nn

from retrieval.errors import ModelUnavailable
from retrieval.mends import restore_model

LEFT, RIGHT = "@left", "@right"
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
            root = singular[:rank].sqrt()
            tensors[name + LEFT] = (left[:, :rank] * root).half().contiguous()
            tensors[name + RIGHT] = (root[:, None] * right[:rank]).half().contiguous()
        else:
            tensors[name] = difference.half()
    path.parent.mkdir(parents=True, exist_ok=True)
    save_file(tensors, path)
    return hashlib.sha256(path.read_bytes()).hexdigest()


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
    unknown = {name.removesuffix(LEFT).removesuffix(RIGHT) for name in tensors} - set(weights)
    if unknown:
        raise ModelUnavailable(
            "model_damaged", f"The model file {path} belongs to other base weights.", mend
        )
    with torch.no_grad():
        for name, tensor in tensors.items():
            if name.endswith(RIGHT):
                continue
            plain = name.removesuffix(LEFT)
            if name.endswith(LEFT):
                weights[plain].add_(tensor.float() @ tensors[plain + RIGHT].float())
            elif not plain.startswith(_BODIES):
                weights[plain].copy_(tensor)
            else:
                weights[plain].add_(tensor.float())

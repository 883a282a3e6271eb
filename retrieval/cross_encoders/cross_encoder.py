"""A model that reads a claim beside evidence: packaged base weights and a trained difference."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from hashlib import sha256
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol

import numpy as np
from numpy.typing import NDArray

from retrieval.errors import ModelUnavailable
from retrieval.mends import restore_model

if TYPE_CHECKING:
    from torch import nn
    from transformers import PreTrainedTokenizerBase

_BATCH = 32


class Base(Protocol):
    """What a cross-encoder was trained from."""

    def model(self, labels: tuple[str, ...]) -> nn.Module:
        """Return the base weights with a fresh head over ``labels``.

        Called with the tokenizer's tensors, it returns an object with
        ``logits``, shape ``(examples, labels)``.

        Raises:
            ModelUnavailable: the packaged weights are missing or damaged.
        """
        ...

    def tokenizer(self) -> PreTrainedTokenizerBase:
        """Return the tokenizer that belongs to the weights."""
        ...


class CrossEncoder:
    """Scores (claim, evidence) pairs over the labels in the model's ``config.json``."""

    def __init__(self, folder: Path, base: Base) -> None:
        """Read ``folder``, where the trained difference lies; no weights are loaded yet.

        Raises:
            ModelUnavailable: its ``config.json`` is missing or damaged.
        """
        self._folder = folder
        self._base = base
        self._config = read_config(folder)
        self._model: nn.Module | None = None
        self._tokenizer: PreTrainedTokenizerBase | None = None

    @property
    def version(self) -> str:
        """The model's name and version, for results to carry."""
        return version_of(self._config)

    @property
    def digest(self) -> str:
        """SHA-256 of all that was trained: the difference and how its opinions are scaled."""
        return sha256(json.dumps(self._config, sort_keys=True).encode()).hexdigest()

    @property
    def precision(self) -> str:
        """What the model computes in, ``float32`` or ``bfloat16``."""
        assert self._model is not None
        return str(next(self._model.parameters()).dtype).removeprefix("torch.")

    def warm_up(self) -> None:
        """Load base weights and difference, in the precision that is fastest here.

        Raises:
            ModelUnavailable: either is missing or damaged.
        """
        if self._model is not None:
            return
        from retrieval.cross_encoders.delta import add_delta
        from retrieval.precision import fastest_precision

        model = self._base.model(tuple(self._config["labels"]))
        add_delta(model, self._folder / "delta.safetensors", self._config["sha256"])
        self._tokenizer = self._base.tokenizer()
        self._model = model.train(False).to(fastest_precision())

    def probabilities(self, pairs: Sequence[tuple[str, str]]) -> NDArray[np.float32]:
        """Return calibrated class probabilities of (claim, evidence) pairs.

        Shape ``(len(pairs), labels)``, in the order of the pairs. Of what does not fit
        the model's window the longer one is cut at its end. Pairs are batched by length, so
        that little is padded.
        """
        self.warm_up()
        assert self._model is not None
        assert self._tokenizer is not None
        import torch

        result = np.zeros((len(pairs), len(self._config["labels"])), dtype=np.float32)
        order = sorted(range(len(pairs)), key=lambda i: len(pairs[i][0]) + len(pairs[i][1]))
        for start in range(0, len(order), _BATCH):
            part = order[start : start + _BATCH]
            inputs = self._tokenizer(
                [pairs[i][0] for i in part],
                [pairs[i][1] for i in part],
                # A claim of up to half the window is never cut; 500 Chinese signs are more.
                truncation="longest_first",
                max_length=self._config["max_tokens"],
                padding=True,
                return_tensors="pt",
                return_token_type_ids=False,
            )
            with torch.inference_mode():
                logits = self._model(**inputs).logits.float()
            scaled = logits / self._config["temperature"]
            result[part] = torch.softmax(scaled, dim=-1).numpy()
        return result


def version_of(config: Mapping[str, Any]) -> str:
    """Return the name and version in a shipped model's configuration."""
    return f"{config['name']} {config['version']}"


def read_config(folder: Path) -> dict[str, Any]:
    """Return a shipped model's ``config.json``.

    Raises:
        ModelUnavailable: it is missing or damaged.
    """
    try:
        config: dict[str, Any] = json.loads((folder / "config.json").read_text(encoding="utf-8"))
    except (OSError, ValueError) as error:
        raise ModelUnavailable(
            "model_missing",
            f"The model in {folder} is missing or damaged.",
            restore_model(folder),
        ) from error
    return config

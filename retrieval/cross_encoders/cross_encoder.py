"""A model that reads a claim beside evidence: packaged base weights and a trained difference."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Protocol

import numpy as np
from numpy.typing import NDArray

from retrieval.cross_encoders.inputs import SEPARATOR
from retrieval.trained.trained_model import TrainedModel

if TYPE_CHECKING:
    from torch import nn
    from transformers import PreTrainedTokenizerBase


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


class CrossEncoder(TrainedModel["nn.Module", "PreTrainedTokenizerBase"]):
    """Scores (claim, evidence) pairs over the labels in the model's ``config.json``."""

    def __init__(self, folder: Path, base: Base, in_search: bool = False) -> None:
        """Read ``folder``, whose model was trained from ``base``; no weights are loaded yet.

        ``in_search``: use the configuration's calibration ``in_search``, where it has one.

        Raises:
            ModelUnavailable: its ``config.json`` is missing or damaged.
        """
        super().__init__(folder)
        self._untrained = base
        config = self._config
        self._calibration = config.get("in_search", config) if in_search else config

    def _base(self) -> tuple[nn.Module, PreTrainedTokenizerBase]:
        return self._untrained.model(tuple(self._config["labels"])), self._untrained.tokenizer()

    @property
    def verdict_scale(self) -> float:
        """The power that the calibration raises a verdict's probabilities to."""
        return float(self._calibration.get("verdict_scale", 1.0))

    @property
    def precision(self) -> str:
        """What the model computes in, ``float32`` or ``bfloat16``."""
        network, _ = self._loaded()
        return str(next(network.parameters()).dtype).removeprefix("torch.")

    def probabilities(self, pairs: Sequence[tuple[str, str]]) -> NDArray[np.float32]:
        """Return calibrated class probabilities of (claim, evidence) pairs.

        Logits are divided by the calibration's ``temperature``, and its ``bias``, one number for
        each label, is added (vector scaling with one scale, Guo et al. 2017, 4.2). Where the
        evidence is several sentences, ``bias_of_several`` is added too.

        Shape ``(len(pairs), labels)``, in the order of the pairs. Of what does not fit
        the model's window the longer one is cut at its end. Pairs are batched by length, so
        that little is padded.
        """
        import torch

        from retrieval.token_batches import STEP, rows_for

        network, tokenizer = self._loaded()
        labels = self._config["labels"]
        bias = torch.tensor(self._calibration.get("bias", [0.0] * len(labels)))
        of_several = torch.tensor(self._calibration.get("bias_of_several", [0.0] * len(labels)))
        result = np.zeros((len(pairs), len(labels)), dtype=np.float32)
        order = sorted(range(len(pairs)), key=lambda i: len(pairs[i][0]) + len(pairs[i][1]))
        # Batches are of few shapes (``token_batches``), so the shortest pair is read again and
        # again until their number is right. Of more than so many the longest pads too many.
        order = order[:1] * (rows_for(len(order)) - len(order)) + order
        for start in range(0, len(order), STEP):
            part = order[start : start + STEP]
            inputs = tokenizer(
                [pairs[i][0] for i in part],
                [pairs[i][1] for i in part],
                # A claim of up to half the window is never cut; 500 Chinese signs are more.
                truncation="longest_first",
                max_length=self._config["max_tokens"],
                padding=True,
                pad_to_multiple_of=STEP,
                return_tensors="pt",
                return_token_type_ids=False,
            )
            with torch.inference_mode():
                logits = network(**inputs).logits.float()
            several = torch.tensor([[float(SEPARATOR in pairs[i][1])] for i in part])
            scaled = logits / self._calibration["temperature"] + bias + several * of_several
            result[part] = torch.softmax(scaled, dim=-1).numpy()
        return result

    def fits(self, claim: str, evidence: str) -> bool:
        """Return whether the pair is read whole."""
        _, tokenizer = self._loaded()
        # Not to be told that it may be too long, since that is what is asked.
        tokens = tokenizer(claim, evidence, verbose=False)["input_ids"]
        return len(tokens) <= int(self._config["max_tokens"])

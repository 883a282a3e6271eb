"""Models that read a claim with evidence, and how their outputs become probabilities."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol, TypeAlias

import numpy as np
from numpy.typing import NDArray

from retrieval.models.arrays import Array, linear, softmax
from retrieval.models.networks import Row, in_batches
from retrieval.models.packaged import PackagedBody
from retrieval.models.trained_model import TrainedModel
from retrieval.models.weights import damaged
from retrieval.quantities.amounts import load_units
from retrieval.quantities.computed import excerpts, with_computed
from retrieval.text.figures import grouped, written_alike
from retrieval.types import LABELS, NOT_ENOUGH_INFO, VerdictReadings

Reads: TypeAlias = Callable[[str, str], tuple[str, str]]
"""What a model reads of a claim and its evidence."""


def alike_and_computed(claim: str, evidence: str) -> tuple[str, str]:
    """Return what the verifier reads: numbers in one writing, and what follows from them."""
    return written_alike(claim, with_computed(grouped(claim), grouped(evidence)))


_LEAST = 1e-4  # probability, so that one sure reading cannot outvote all others


@dataclass(frozen=True, slots=True)
class VerdictFit:
    """How the probabilities of a claim's readings make those of its verdict.

    A logarithmic pool (Genest and Zidek 1986) of three readings: ``together``, the weight of all
    selected sentences read as one text, ``alone``, that of the best reading, and ``passage``, that
    of its sentence between its neighbours. The numbers ``undecided…`` are added to the log odds of
    NOT ENOUGH INFO: always, if several sentences are selected, if the best reading is of several,
    and if arithmetic takes part in it. ``esoteric train calibration`` fits them to the labels of
    claims that were searched for.
    """

    together: float = 0.5
    alone: float = 0.25
    passage: float = 0.25
    undecided: float = 0.0
    undecided_of_several: float = 0.0
    undecided_of_path: float = 0.0
    undecided_of_value: float = 0.0

    def probabilities(self, readings: Sequence[VerdictReadings]) -> Array:
        """Return the probabilities of ``LABELS`` for each claim, shape ``(claims, 3)``."""
        read = [(one.together, one.alone, one.passage) for one in readings]
        logs = np.log(np.maximum(np.array(read).reshape(-1, 3, len(LABELS)), _LEAST))
        weights = np.array([self.together, self.alone, self.passage], np.float32)
        logits: Array = np.einsum("r,crl->cl", weights, logs.astype(np.float32))
        biases = [
            self.undecided
            + self.undecided_of_several * one.several
            + self.undecided_of_path * one.path
            + self.undecided_of_value * one.value
            for one in readings
        ]
        logits[:, LABELS.index(NOT_ENOUGH_INFO)] += np.array(biases, np.float32)
        return softmax(logits)


@dataclass(frozen=True, slots=True)
class Scaling:
    """Logits are divided by ``temperature``, and ``bias`` is added.

    ``bias`` is one number for each label, or 0 (vector scaling with one scale, Guo et al. 2017,
    4.2). ``verdict`` makes a verdict of the readings.
    """

    temperature: float
    bias: Array
    verdict: VerdictFit

    @classmethod
    def of(cls, calibration: Mapping[str, Any], in_search: bool) -> Scaling:
        """Return the scaling of a model's calibration.

        ``in_search``: use the one for evidence that a search found, if there is one.

        Raises:
            KeyError, TypeError, ValueError: it is no calibration.
        """
        chosen = calibration.get("in_search", calibration) if in_search else calibration
        fit = chosen.get("verdict", {})
        return cls(
            temperature=float(chosen["temperature"]),
            bias=np.array(chosen.get("bias", 0.0), np.float32),
            verdict=VerdictFit(**{name: float(number) for name, number in fit.items()}),
        )

    def probabilities(self, logits: Array) -> Array:
        """Return the probabilities, of the shape of the logits, ``(rows, labels)``."""
        return softmax(logits / np.float32(self.temperature) + self.bias)


class EvidenceModel(Protocol):
    """Labels a claim with evidence: the shipped verifier, or a model of the user."""

    @property
    def version(self) -> str:
        """The model's name and version, which verdicts contain. Loads no model."""
        ...

    @property
    def verdict_fit(self) -> VerdictFit:
        """How its readings of a claim make a verdict."""
        ...

    def warm_up(self) -> None:
        """Load the model.

        Raises:
            ModelUnavailable: it is missing or damaged.
        """
        ...

    def probabilities(self, pairs: Sequence[tuple[str, str]]) -> NDArray[np.float32]:
        """Return calibrated probabilities of ``LABELS`` for (claim, evidence) pairs.

        Shape ``(len(pairs), 3)``, in the order of the pairs.
        """
        ...

    def fits(self, claim: str, evidence: str) -> bool:
        """Return whether the whole pair fits the model's window."""
        ...

    def computed(self, claim: str, evidence: str) -> tuple[str, ...]:
        """Return what arithmetic adds to the evidence before the model reads it, for people."""
        ...


class CrossEncoder(TrainedModel):
    """Scores (claim, evidence) pairs over ``LABELS``, the outputs of every model of ours."""

    def __init__(
        self,
        folder: Path,
        base: PackagedBody,
        in_search: bool = False,
        reads_all: bool = False,
        reads: Reads = written_alike,
    ) -> None:
        """Read ``folder``, whose model was trained from ``base``; no weights are loaded yet.

        ``in_search``: use the calibration ``in_search`` of the configuration if it has one.
        ``reads_all``: the head reads the mean of the states too, as the verifier's; those of the
        small models read that of the first token, as DistilBERT's classifiers. ``reads``: what is
        read of a claim and its evidence.

        Raises:
            ModelUnavailable: its ``config.json`` is missing or damaged, or names other labels.
        """
        super().__init__(folder, base)
        if self._config["labels"] != list(LABELS):
            raise damaged(
                f"The labels of the model in {folder} are not {', '.join(LABELS)}, in this order.",
                "Restore its config.json, or train it again.",
            )
        self.first_only = not reads_all
        self._reads = reads
        self._computes = reads is alike_and_computed
        self._scaling = Scaling.of(self._config, in_search)

    @property
    def verdict_fit(self) -> VerdictFit:
        """How its readings of a claim make a verdict."""
        return self._scaling.verdict

    def warm_up(self) -> None:
        """Load the weights, and the units if it reads what is computed.

        Raises:
            ModelUnavailable: the weights are missing or damaged.
        """
        super().warm_up()
        if self._computes:
            load_units()

    def probabilities(self, pairs: Sequence[tuple[str, str]]) -> NDArray[np.float32]:
        """Return calibrated class probabilities of (claim, evidence) pairs (``Scaling``).

        Shape ``(len(pairs), len(LABELS))``, in the order of the pairs. If a pair does not fit the
        model's window, the end of its longer text is cut.
        """
        read = [self._reads(claim, evidence) for claim, evidence in pairs]

        def opinions(rows: list[Row]) -> Array:
            states, weights = self._network.states(rows), self._heads
            if self.first_only:
                hidden = np.maximum(linear(states.first, weights, "pre_classifier"), 0)
            else:
                pooled = np.concatenate([states.first, states.mean], axis=-1)
                hidden = np.tanh(linear(pooled, weights, "pre_classifier"))
            return self._scaling.probabilities(linear(hidden, weights, "classifier"))

        return in_batches(self._tokenizer.pairs(read), len(LABELS), opinions)

    def fits(self, claim: str, evidence: str) -> bool:
        """Return whether the whole pair fits the model's window."""
        read = self._reads(claim, evidence)
        return self._tokenizer.length(*read) <= int(self._config["max_tokens"])

    def computed(self, claim: str, evidence: str) -> tuple[str, ...]:
        """Return what arithmetic adds to the evidence before the model reads it, for people."""
        return excerpts(grouped(claim), grouped(evidence)) if self._computes else ()

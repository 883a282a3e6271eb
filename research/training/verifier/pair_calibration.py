"""``esoteric calibrate``: fits the calibration of a user's verifier to claims with evidence."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TypeVar

import numpy as np
from numpy.typing import NDArray

from research.evaluation.measures.calibration import calibration_error
from research.evaluation.pairs import Pair, read_pairs
from research.evaluation.verifier_alone import opinions_of
from research.training.verifier.figures import dev_pairs
from research.training.verifier.scaling import fitted_scaling
from retrieval.errors import BadSource, ModelUnavailable
from retrieval.models.cross_encoders import Scaling
from retrieval.models.own_verifier import (
    ClassifierFiles,
    SequenceClassifier,
    read_calibration,
    write_calibration,
)
from retrieval.types import LABELS, NOT_ENOUGH_INFO, Label

MOST = 2_000  # most pairs that are fitted to; more take longer and change little
LEAST, LEAST_OF_LABEL = 30, 5
_T = TypeVar("_T")


def pairs_to_fit(data: Path) -> list[Pair]:
    """Return the pairs in ``data`` for a calibration.

    ``data``: a file of pairs (``read_pairs``); or a folder of such files, from which ``MOST`` pairs
    are taken, the same number from each, at equal distances; or the folder of the training data,
    with ``pairs/dev``, from which the pairs are taken that the shipped verifier is fitted to.

    Raises:
        BadSource: a file cannot be read, or there are fewer than ``LEAST`` pairs.
    """
    if (data / "pairs" / "dev").is_dir():
        _, pairs = dev_pairs(data / "pairs")
    else:
        files = [data] if data.is_file() else _spread(sorted(data.glob("*.jsonl")), MOST)
        each = MOST // max(1, len(files))
        pairs = [pair for file in files for pair in _spread(list(read_pairs(file)), each)]
    if len(pairs) < LEAST:
        raise BadSource(
            "too_few_pairs",
            f"{data} contains {len(pairs)} claims with evidence, too few to fit a calibration to.",
            f"Give at least {LEAST}, as JSON lines {{claim, label, evidence}} in a file or in files"
            " *.jsonl of a folder.",
        )
    return pairs


def calibrate_to_pairs(
    files: ClassifierFiles, pairs: Sequence[Pair], on_pairs: Callable[[int, int], None]
) -> dict[str, float]:
    """Fit temperature and bias to the pairs, write them beside the model and return figures.

    An earlier calibration is replaced, except for its fit to searches. ``on_pairs`` is called with
    the number of finished pairs and of all pairs. The figures: the fitted numbers, the label
    accuracy in % and the calibration error, 0 to 1, before and after. Those after are of a fit to
    every second pair of each label, measured on the others.

    Raises:
        BadSource: a label of the model has fewer than ``LEAST_OF_LABEL`` pairs.
        ModelUnavailable: the model is damaged.
        OSError: the calibration cannot be written.
    """
    labels = [_meant(pair.label, files) for pair in pairs]
    _check_labels(labels, files)
    opinions = opinions_of(SequenceClassifier(files), pairs, on_pairs)
    temperature, bias = fitted_scaling(opinions, labels)
    after = np.zeros_like(opinions)
    first, second = _halves(labels)
    for measured, others in ((first, second), (second, first)):
        fit = fitted_scaling(opinions[others], [labels[row] for row in others])
        after[measured] = _scaled(opinions[measured], *fit)
    write_calibration(files, {**_of_searches(files), "temperature": temperature, "bias": bias})
    return {
        "temperature": temperature,
        "bias of NOT ENOUGH INFO": bias[LABELS.index(NOT_ENOUGH_INFO)],
        **_figures("before", opinions, labels),
        **_figures("after", after, labels),
    }


def _spread(items: list[_T], limit: int) -> list[_T]:
    return items[:: max(1, -(-len(items) // limit))]


def _check_labels(labels: Sequence[Label], files: ClassifierFiles) -> None:
    found = Counter(labels)
    for label in files.labels:
        if found[label] < LEAST_OF_LABEL:
            raise BadSource(
                "too_few_pairs",
                f"The data contain {found[label]} claims with evidence for the label {label}, which"
                " the verifier can give.",
                f"Give at least {LEAST_OF_LABEL} for each of {', '.join(files.labels)}.",
            )


def _halves(labels: Sequence[Label]) -> tuple[list[int], list[int]]:
    """Return the rows of two halves with the same number of each label."""
    halves: tuple[list[int], list[int]] = ([], [])
    before: Counter[Label] = Counter()
    for row, label in enumerate(labels):
        halves[before[label] % 2].append(row)
        before[label] += 1
    return halves


def _of_searches(files: ClassifierFiles) -> dict[str, object]:
    """Return the fit to searches that the model's calibration has, if it has one."""
    try:
        calibration = read_calibration(files)
    except ModelUnavailable:  # it cannot be used, so it is replaced as a whole
        return {}
    return {key: calibration[key] for key in ("in_search",) if key in calibration}


def _meant(label: Label, files: ClassifierFiles) -> Label:
    """Return the label in the form that the model can give: one with two labels never refutes."""
    return label if label in files.labels else NOT_ENOUGH_INFO


def _scaled(
    opinions: NDArray[np.float32], temperature: float, bias: Sequence[float]
) -> NDArray[np.float32]:
    """Return the probabilities that a model with this calibration would give."""
    scaling = Scaling.of({"temperature": temperature, "bias": bias}, in_search=False)
    with np.errstate(divide="ignore"):  # a label that the model lacks
        logits = np.log(opinions)
    return scaling.probabilities(logits)


def _figures(when: str, opinions: NDArray[np.float32], labels: Sequence[Label]) -> dict[str, float]:
    right = opinions.argmax(axis=1) == np.array([LABELS.index(label) for label in labels])
    error = calibration_error(opinions.max(axis=1).astype(np.float64), right)
    return {
        f"label accuracy {when}": 100 * float(right.mean()),
        f"calibration error {when}": error,
    }

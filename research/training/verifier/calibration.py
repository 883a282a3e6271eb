"""Fits the verifier's calibrations: for given evidence, and for whole searches.

``esoteric calibrate`` fits a verifier of the user to claims with evidence, ``esoteric train
calibration`` the shipped one to searches, each with a temperature and a bias of NOT ENOUGH INFO for
given evidence, or with the numbers of ``VerdictFit``.

The readings that a search chooses from many are wrong more often than their confidence says, and a
verdict is made of three of them. So the numbers are fitted that make the labels of claims most
probable. It is fitted to everyday claims, to the fresh claims that earlier versions were measured
on, and to FEVER's at once, with the same weight. Many claims that FEVER labels NOT ENOUGH INFO
would be labelled REFUTES among everyday claims, so a fit to only one collection fails on the other.
Of the first and the last only the fitted half is used (``research.evaluation.choice``), so figures
of the published half, and of the newest fresh claims, are of claims that nothing here has seen.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, astuple, dataclass
from functools import partial
from pathlib import Path
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import minimize

from research.evaluation.choice import Choice
from research.evaluation.claims import (
    AnnotatedClaim,
    CorpusClaim,
    FeverClaim,
    Pair,
    read_corpus_claims,
    read_fever_claims,
    read_pairs,
)
from research.evaluation.measures.scores import calibration_error
from research.evaluation.verifier_alone import opinions_of
from research.training.verifier.figures import dev_pairs
from retrieval.errors import BadSource, ModelUnavailable
from retrieval.index.open import IndexLocation
from retrieval.models.cross_encoders import Scaling, VerdictFit
from retrieval.models.folders import ModelFolders
from retrieval.models.own_verifier import (
    ClassifierFiles,
    SequenceClassifier,
    read_calibration,
    read_classifier,
    write_calibration,
)
from retrieval.models.shipped import VERIFIER
from retrieval.models.trained_model import read_config
from retrieval.pipeline.assembly import Retriever
from retrieval.recipes.recipes import DEFAULT_RECIPE, RECIPES
from retrieval.system.processes import in_order, processes_for
from retrieval.types import LABELS, NOT_ENOUGH_INFO, Label, VerdictReadings

TEMPERATURES = tuple(0.5 + 0.05 * step for step in range(91))
BIASES = tuple(-2 + 0.05 * step for step in range(81))
_LEAST = 1e-30  # so small that a label which a model lacks stays impossible at any temperature


def fitted_scaling(
    opinions: NDArray[np.float32], labels: Sequence[Label]
) -> tuple[float, tuple[float, ...]]:
    """Return the temperature, and the bias of each of ``LABELS``, that make the labels most likely.

    Only NOT ENOUGH INFO gets a bias (vector scaling with one scale, Guo et al. 2017, 4.2).
    ``opinions``: probabilities of ``LABELS``, shape (pairs, 3).
    """
    logits = np.log(np.maximum(opinions.astype(np.float64), _LEAST))
    truth = np.array([LABELS.index(label) for label in labels])
    undecided = np.array([label == NOT_ENOUGH_INFO for label in LABELS], dtype=np.float64)

    def log_loss(candidate: tuple[float, float]) -> float:
        temperature, bias = candidate
        scaled = logits / temperature + bias * undecided
        of_labels = scaled[np.arange(len(truth)), truth]
        return float((np.logaddexp.reduce(scaled, axis=1) - of_labels).mean())

    temperature, bias = min(((t, b) for t in TEMPERATURES for b in BIASES), key=log_loss)
    biases = tuple(round(bias, 2) if label == NOT_ENOUGH_INFO else 0.0 for label in LABELS)
    return round(temperature, 2), biases


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


FEVER_CLAIMS = 300  # of the fitted half of FEVER's development claims the first ones are searched
_EVERYDAY = ("dev.jsonl", "dev-2.jsonl")
# Claims of other authors that earlier versions were measured on.
_FRESH = Path(__file__).resolve().parents[2] / "datasets" / "fresh"
_NEWEST = "claims.jsonl"  # what this version is measured on
_LEAST_IN_LOSS = 1e-3  # least probability of a label in the loss, so that the loss stays finite
_WEIGHTS = 3  # the first numbers of a fit; the others are biases
_PULL = 0.002  # towards the numbers that fit no claims; few claims have paths or values


@dataclass(frozen=True, slots=True)
class Search:
    """What a claim's verdict was made of, ``None`` if nothing was selected, and its label."""

    readings: VerdictReadings | None
    label: Label


@dataclass(frozen=True, slots=True)
class Claims:
    """Annotated claims, and the location of the index that they are checked with."""

    asked: Sequence[AnnotatedClaim]
    index: IndexLocation


def claims_to_fit(data: Path) -> tuple[list[CorpusClaim], list[CorpusClaim], list[FeverClaim]]:
    """Return everyday claims and FEVER's of the fitted half, and all earlier fresh claims between.

    Raises:
        BadSource: a file cannot be read.
    """
    files = [data / "vital" / name for name in _EVERYDAY]
    everyday = [
        one for path in files for one in Choice("fitted").of(read_corpus_claims(path), path)
    ]
    earlier = sorted(path for path in _FRESH.glob("*.jsonl") if path.name != _NEWEST)
    fresh = [one for path in earlier for one in read_corpus_claims(path)]
    fever = data / "fever-dev" / "dev.jsonl"
    return everyday, fresh, Choice("fitted", limit=FEVER_CLAIMS).of(read_fever_claims(fever), fever)


def calibrate(
    collections: Mapping[str, Claims], snapshots: Path, threads: int, folders: ModelFolders
) -> dict[str, float]:
    """Search for every claim, fit the calibration ``in_search`` and write it beside the model.

    ``snapshots`` is an argument of ``open_index``; ``folders`` names the verifier that is fitted.
    Returns figures: the fitted numbers, and for each collection of claims the label accuracy in %
    and the calibration error, 0 to 1 (``crossed_figures``).

    Raises:
        IndexUnavailable: there is no index.
        ModelUnavailable: a model is missing.
    """
    searches = {}
    for name, claims in collections.items():
        asked = [(claim.text, claim.label) for claim in claims.asked]
        prepare = partial(_Searching, claims.index, snapshots, folders)
        searches[name] = list(in_order(prepare, asked, processes_for(len(asked), threads)))
    fit = fitted(list(searches.values()))
    _recalibrate(folders, fit)
    return {**asdict(fit), **crossed_figures(searches)}


def crossed_figures(collections: Mapping[str, Sequence[Search]]) -> dict[str, float]:
    """Return label accuracy, %, and calibration error, 0 to 1, of each collection's verdicts.

    The verdicts of each half of the searches are computed with a fit to the other half.
    """
    other_half = [fitted([found[1 - n :: 2] for found in collections.values()]) for n in (0, 1)]
    figures = {}
    for name, found in collections.items():
        crossed = [verdict for n in (0, 1) for verdict in _verdicts(found[n::2], other_half[n])]
        right = np.array([label == truth for label, _, truth in crossed])
        sure = np.array([confidence for _, confidence, _ in crossed])
        figures[f"{name}: label accuracy"] = 100 * float(right.mean())
        figures[f"{name}: calibration error"] = calibration_error(sure, right)
    return figures


def _recalibrate(folders: ModelFolders, fit: VerdictFit) -> None:
    if folders.verifier is not None:
        files = read_classifier(folders.verifier)
        write_calibration(files, recalibrated(read_calibration(files), fit))
        return
    config = recalibrated(read_config(VERIFIER), fit)
    (VERIFIER / "config.json").write_text(json.dumps(config, indent=2) + "\n", encoding="utf-8")


def recalibrated(config: Mapping[str, Any], fit: VerdictFit) -> dict[str, Any]:
    """Return the configuration with ``fit`` in its calibration ``in_search``.

    The calibration for given evidence is unchanged.
    """
    today = config.get("in_search", config)
    scaling = {key: today[key] for key in ("temperature", "bias") if key in today}
    verdict = {name: round(number, 3) for name, number in asdict(fit).items()}
    return {**config, "in_search": {**scaling, "verdict": verdict}}


def fitted(collections: Sequence[Sequence[Search]]) -> VerdictFit:
    """Return the fit with which the labels are the most probable.

    Each collection counts the same, however many searches it has. A search that selected nothing
    has no say.
    """
    known = [
        [(one.readings, LABELS.index(one.label)) for one in searches if one.readings is not None]
        for searches in collections
    ]
    some = [searches for searches in known if searches]
    start = np.array(astuple(VerdictFit()))

    def loss(numbers: NDArray[np.float64]) -> float:
        fit = VerdictFit(*numbers.tolist())
        losses = [_log_loss(fit, searches) for searches in some]
        return sum(losses) / max(1, len(losses)) + _PULL * float(((numbers - start) ** 2).sum())

    weights, biases = [(0.0, 2.0)] * _WEIGHTS, [(-3.0, 3.0)] * (len(start) - _WEIGHTS)
    found = minimize(loss, start, method="Powell", bounds=weights + biases)
    return VerdictFit(*found.x.tolist())


def _log_loss(fit: VerdictFit, searches: Sequence[tuple[VerdictReadings, int]]) -> float:
    probabilities = fit.probabilities([readings for readings, _ in searches])
    of_labels = probabilities[np.arange(len(searches)), [label for _, label in searches]]
    return -float(np.log(np.maximum(of_labels, _LEAST_IN_LOSS)).mean())


def _verdicts(searches: Sequence[Search], fit: VerdictFit) -> list[tuple[Label, float, Label]]:
    """Return label and confidence of each verdict, and the claim's label."""
    opinions = [
        [0.0, 0.0, 1.0] if one.readings is None else fit.probabilities([one.readings])[0].tolist()
        for one in searches
    ]
    return [
        (LABELS[opinion.index(max(opinion))], max(opinion), search.label)
        for opinion, search in zip(opinions, searches, strict=True)
    ]


class _Searching:
    """Searches for a claim by the default recipe, in a worker process."""

    def __init__(self, index: IndexLocation, snapshots: Path, folders: ModelFolders) -> None:
        self._retriever = Retriever(index, snapshots, 1, folders)
        self._retriever.warm_up()

    def __call__(self, asked: tuple[str, Label]) -> Search:
        claim, label = asked
        report = self._retriever.follow(RECIPES[DEFAULT_RECIPE], claim, lambda _: None)
        return Search(report.verdict.readings, label)

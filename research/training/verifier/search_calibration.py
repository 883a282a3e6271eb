"""``esoteric train calibration``: fits the verifier's calibration ``in_search`` to whole searches.

The readings that a search chooses from many are wrong more often than their confidence says, and a
verdict is made of two of them. So the numbers of ``VerdictFit`` are fitted that make the labels of
claims most probable. They are written to the verifier's ``config.json``. ``esoteric train
verifier`` fits the calibration for given evidence. ``esoteric calibrate`` fits a verifier of the
user in the same way.

It is fitted to everyday claims and FEVER's at once, with the same weight. Many claims that FEVER
labels NOT ENOUGH INFO would be labelled REFUTES among everyday claims, so a fit to only one
collection fails on the other. Of both, only the fitted half is used
(``research.evaluation.choice``), so figures of the published half are of claims that nothing here
has seen.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import asdict, astuple, dataclass
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import minimize

from research.evaluation.choice import Choice
from research.evaluation.claims import AnnotatedClaim, FeverClaim, read_fever_claims
from research.evaluation.corpus_claims import CorpusClaim, read_corpus_claims
from research.evaluation.measures.calibration import calibration_error
from retrieval.index.open import IndexLocation
from retrieval.models.cross_encoders import VerdictFit
from retrieval.models.folders import ModelFolders
from retrieval.models.own_verifier import read_calibration, read_classifier, write_calibration
from retrieval.models.shipped import VERIFIER
from retrieval.models.trained_model import read_config
from retrieval.pipeline.assembly import Retriever
from retrieval.recipes.recipes import DEFAULT_RECIPE, RECIPES
from retrieval.system.processes import in_order, processes_for
from retrieval.types import LABELS, Label, VerdictReadings

FEVER_CLAIMS = 300  # of the fitted half of FEVER's development claims the first ones are searched
_EVERYDAY = ("dev.jsonl", "dev-2.jsonl")
_LEAST = 1e-3  # least probability of a label in the loss, so that the loss stays finite
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


def claims_to_fit(data: Path) -> tuple[list[CorpusClaim], list[FeverClaim]]:
    """Return everyday claims and FEVER's of the fitted half of the development claims.

    Raises:
        BadSource: a file cannot be read.
    """
    files = [data / "vital" / name for name in _EVERYDAY]
    everyday = [
        one for path in files for one in Choice("fitted").of(read_corpus_claims(path), path)
    ]
    fever = data / "fever-dev" / "dev.jsonl"
    return everyday, Choice("fitted", limit=FEVER_CLAIMS).of(read_fever_claims(fever), fever)


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

    weights, biases = [(0.0, 2.0)] * 2, [(-3.0, 3.0)] * (len(start) - 2)
    found = minimize(loss, start, method="Powell", bounds=weights + biases)
    return VerdictFit(*found.x.tolist())


def _log_loss(fit: VerdictFit, searches: Sequence[tuple[VerdictReadings, int]]) -> float:
    probabilities = fit.probabilities([readings for readings, _ in searches])
    of_labels = probabilities[np.arange(len(searches)), [label for _, label in searches]]
    return -float(np.log(np.maximum(of_labels, _LEAST)).mean())


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

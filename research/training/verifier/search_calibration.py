"""``esoteric train calibration``: fits the verifier's calibration ``in_search`` to whole searches.

With the sentences that a search finds, a verifier leaves too many or too few claims undecided, and
the readings that a search chooses are wrong more often than their confidence says. So three numbers
are fitted together that make the labels most probable: a bias of NOT ENOUGH INFO in every reading;
a further bias for readings of several sentences together, of which a search tries many; and a scale
of the verdict's log probabilities (like temperature scaling, Guo et al. 2017, 4.2). They are
written to the verifier's ``config.json``. ``esoteric train verifier`` fits the calibration for
given evidence. ``esoteric calibrate`` fits a verifier of the user in the same way. Confidence is
taken before a proof that disagrees lowers it (``retrieval.proof.proof_adjustment``).

It is fitted to everyday claims and FEVER's at once, with the same weight. Many claims that FEVER
labels NOT ENOUGH INFO would be labelled REFUTES among everyday claims, so a fit to only one
collection fails on the other. Of both, only the fitted half is used
(``research.evaluation.choice``), so figures of the published half are of claims that nothing here
has seen.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from research.evaluation.choice import Choice
from research.evaluation.claims import AnnotatedClaim, FeverClaim, read_fever_claims
from research.evaluation.corpus_claims import CorpusClaim, read_corpus_claims
from research.evaluation.measures.calibration import calibration_error
from retrieval.index.open import IndexLocation
from retrieval.models.cross_encoders.classifier_files import (
    read_calibration,
    read_classifier,
    write_calibration,
)
from retrieval.models.folders import ModelFolders
from retrieval.models.shipped import VERIFIER, evidence_model
from retrieval.models.trained_model import read_config
from retrieval.pipeline.assembly import Retriever
from retrieval.recipes.config import RetrievalConfig
from retrieval.recipes.recipes import DEFAULT_RECIPE, RECIPES
from retrieval.stages.decide.verdict import CrossEncoderJudge, opinion_of
from retrieval.system.on_all_cores import in_order, processes_for
from retrieval.types import LABELS, NOT_ENOUGH_INFO, Evidence, Label, Opinion

SCALES = tuple(0.5 + 0.05 * step for step in range(31))
BIASES = tuple(-1.5 + 0.1 * step for step in range(31))
OF_SEVERAL = tuple(0.25 * step for step in range(13))
FEVER_CLAIMS = 300  # of the fitted half of FEVER's development claims the first ones are searched
_UNDECIDED = LABELS.index(NOT_ENOUGH_INFO)
_LEAST = 1e-3  # least probability of a label in the loss, so that the loss stays finite


@dataclass(frozen=True, slots=True)
class Search:
    """A claim's selected evidence, its probabilities read as one text, and the claim's label."""

    selected: tuple[Evidence, ...]
    together: Opinion
    label: Label


@dataclass(frozen=True, slots=True)
class Claims:
    """Annotated claims, and the location of the index that they are checked with."""

    asked: Sequence[AnnotatedClaim]
    index: IndexLocation


@dataclass(frozen=True, slots=True)
class Calibration:
    """``bias`` is added to the logit of NOT ENOUGH INFO of every reading.

    ``of_several`` is added too if several sentences were read together. The verdict's probabilities
    are raised to the power ``scale``.
    """

    bias: float
    of_several: float = 0.0
    scale: float = 1.0

    def of(self, opinion: Opinion, several: bool) -> Opinion:
        """Return the probabilities that this calibration would have given a reading."""
        supports, refutes, undecided = self._of(np.array([opinion]), np.array([several]))[0]
        return float(supports), float(refutes), float(undecided)

    def log_loss(self, searches: _Searches) -> float:
        """Return minus the mean log probability of the labels.

        Labels that the shown evidence contradicts are not removed first: their probability would be
        0 with any scale. If nothing was selected, it is 0.
        """
        if not len(searches.truth):
            return 0.0
        together = self._of(searches.together, searches.of_several)
        alone = self._of(searches.alone, searches.with_path)
        weight = RetrievalConfig().together_weight
        odds = (weight * together + (1 - weight) * alone) ** self.scale
        of_labels = odds[np.arange(len(searches.truth)), searches.truth] / odds.sum(axis=1)
        return -float(np.log(np.maximum(of_labels, _LEAST)).mean())

    def _of(self, opinions: NDArray[np.float64], several: NDArray[np.bool_]) -> NDArray[np.float64]:
        odds = np.maximum(opinions, 1e-9)
        odds[:, _UNDECIDED] *= np.exp(self.bias + self.of_several * several)
        result: NDArray[np.float64] = odds / odds.sum(axis=1, keepdims=True)
        return result


@dataclass(frozen=True, slots=True)
class _Searches:
    """The searches that selected something, as arrays with a row for each.

    ``together``: probabilities with all selected sentences; ``of_several``: whether these are
    several. ``alone``: probabilities with the best sentence; ``with_path``: whether it was read
    with its path. ``truth``: positions of the labels in ``LABELS``.
    """

    together: NDArray[np.float64]
    of_several: NDArray[np.bool_]
    alone: NDArray[np.float64]
    with_path: NDArray[np.bool_]
    truth: NDArray[np.int64]

    @classmethod
    def of(cls, searches: Sequence[Search]) -> _Searches:
        some = [search for search in searches if search.selected]
        best = [max(search.selected, key=lambda item: item.score) for search in some]
        return cls(
            together=np.array([search.together for search in some]).reshape(-1, len(LABELS)),
            of_several=np.array([len(search.selected) > 1 for search in some], dtype=bool),
            alone=np.array([item.opinion for item in best]).reshape(-1, len(LABELS)),
            with_path=np.array([bool(item.path) for item in best], dtype=bool),
            truth=np.array([LABELS.index(search.label) for search in some], dtype=np.int64),
        )


def claims_to_fit(data: Path) -> tuple[list[CorpusClaim], list[FeverClaim]]:
    """Return everyday claims and FEVER's of the fitted half of the development claims.

    Raises:
        BadSource: a file cannot be read.
    """
    everyday, fever = data / "vital" / "dev.jsonl", data / "fever-dev" / "dev.jsonl"
    return (
        Choice("fitted").of(read_corpus_claims(everyday), everyday),
        Choice("fitted", limit=FEVER_CLAIMS).of(read_fever_claims(fever), fever),
    )


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
    fit_figures = {"bias": fit.bias, "bias_of_several": fit.of_several, "scale": fit.scale}
    return {**fit_figures, **crossed_figures(searches)}


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


def _recalibrate(folders: ModelFolders, fit: Calibration) -> None:
    if folders.verifier is not None:
        files = read_classifier(folders.verifier)
        write_calibration(files, recalibrated(read_calibration(files), fit))
        return
    config = recalibrated(read_config(VERIFIER), fit)
    (VERIFIER / "config.json").write_text(json.dumps(config, indent=2) + "\n", encoding="utf-8")


def recalibrated(config: Mapping[str, Any], fit: Calibration) -> dict[str, Any]:
    """Return the configuration with ``fit`` applied to its calibration ``in_search``.

    The calibration for given evidence is unchanged.
    """
    today = config.get("in_search", config)
    in_search = {
        "temperature": today["temperature"],
        "bias": _moved(today.get("bias"), fit.bias),
        "bias_of_several": _moved(today.get("bias_of_several"), fit.of_several),
        "verdict_scale": round(fit.scale, 3),
    }
    return {**config, "in_search": in_search}


def _moved(bias: Sequence[float] | None, more: float) -> list[float]:
    before = bias or [0.0] * len(LABELS)
    return [round(old + (more if n == _UNDECIDED else 0.0), 3) for n, old in enumerate(before)]


def fitted(collections: Sequence[Sequence[Search]]) -> Calibration:
    """Return the scale and biases with which the labels are the most probable.

    Each collection counts the same, however many searches it has.
    """
    searched = [_Searches.of(searches) for searches in collections]
    candidates = [
        Calibration(bias, of_several, scale)
        for scale in SCALES
        for bias in BIASES
        for of_several in OF_SEVERAL
    ]
    return min(candidates, key=lambda fit: sum(fit.log_loss(searches) for searches in searched))


def _verdicts(
    searches: Sequence[Search], calibration: Calibration
) -> list[tuple[Label, float, Label]]:
    """Return label and confidence of each verdict, and the claim's label."""
    opinions = [_opinion(search, calibration) for search in searches]
    return [
        (LABELS[opinion.index(max(opinion))], max(opinion), search.label)
        for opinion, search in zip(opinions, searches, strict=True)
    ]


def _opinion(search: Search, calibration: Calibration) -> list[float]:
    if not search.selected:
        return [float(label == NOT_ENOUGH_INFO) for label in LABELS]
    selected = [
        replace(item, opinion=calibration.of(item.opinion, bool(item.path)))
        for item in search.selected
    ]
    together = calibration.of(search.together, len(selected) > 1)
    return opinion_of(together, selected, RetrievalConfig().together_weight, calibration.scale)


class _Searching:
    """Searches for a claim by the default recipe, in a worker process."""

    def __init__(self, index: IndexLocation, snapshots: Path, folders: ModelFolders) -> None:
        self._retriever = Retriever(index, snapshots, 1, folders)
        self._retriever.warm_up()
        model = evidence_model(folders, in_search=True)
        self._judge = CrossEncoderJudge(model, model.version, RetrievalConfig())

    def __call__(self, asked: tuple[str, Label]) -> Search:
        claim, label = asked
        report = self._retriever.follow(RECIPES[DEFAULT_RECIPE], claim, lambda _: None)
        selected = tuple(item for item in report.evidence if item.selected)
        together = self._judge.together(claim, selected) if selected else (0.0, 0.0, 1.0)
        return Search(selected, together, label)

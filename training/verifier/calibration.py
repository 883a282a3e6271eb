"""``esoteric train calibration``: how sure the verifier is, fitted to verdicts of whole searches.

With the evidence given, a verifier is surer than beside what a search brings, and leaves more
undecided than it should or less. A scale of its logits and a bias of NOT ENOUGH INFO are fitted so
that the verdicts are most probable (vector scaling with one scale, Guo et al. 2017, 4.2); and one
more bias for several sentences that are read together, of which a search tries many. They go
into the verifier's ``config.json``, so that stances and verdicts are told by the same numbers.
Confidence is taken before a proof that disagrees lowers it (``sufficiency/agreement.py``).
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from math import exp, log
from pathlib import Path
from typing import Any

import numpy as np

from evaluation.corpus_claims import read_corpus_claims
from evaluation.measures.calibration import calibration_error
from retrieval.assembly import open_retriever
from retrieval.models import VERIFIER, ModelFolders, judge_name, verifier
from retrieval.on_all_cores import in_order, processes_for
from retrieval.recipes import DEFAULT_RECIPE, RECIPES
from retrieval.trained.trained_model import read_config
from retrieval.types import LABELS, NOT_ENOUGH_INFO, Evidence, Label, Opinion
from retrieval.verdict.cross_encoder_judge import CrossEncoderJudge, opinion_of, pooled_opinion

SCALES = tuple(0.5 + 0.1 * step for step in range(16))
BIASES = tuple(-1.5 + 0.1 * step for step in range(31))
OF_SEVERAL = tuple(0.25 * step for step in range(13))
_UNDECIDED = LABELS.index(NOT_ENOUGH_INFO)
_LEAST = 1e-3  # probability that a verdict counts with; one that is sure and wrong is not endless


@dataclass(frozen=True, slots=True)
class Search:
    """What a claim's search selected, what that says as one text, and the claim's label."""

    selected: tuple[Evidence, ...]
    together: Opinion
    label: Label


@dataclass(frozen=True, slots=True)
class Calibration:
    """Each logit is multiplied by ``scale``; ``bias`` is then added to NOT ENOUGH INFO's.

    ``of_several`` is added too where several sentences were read together.
    """

    scale: float
    bias: float
    of_several: float = 0.0

    def of(self, opinion: Opinion, several: bool) -> Opinion:
        """Return the probabilities that this calibration would have given."""
        odds = [max(p, 1e-9) ** self.scale for p in opinion]
        odds[_UNDECIDED] *= exp(self.bias + self.of_several * several)
        supports, refutes, undecided = (o / sum(odds) for o in odds)
        return supports, refutes, undecided


def calibrate(claims: Path, index: Path, threads: int, folders: ModelFolders) -> dict[str, float]:
    """Search for every claim, fit the verifier's scale and bias and write them to its config.

    Returns figures: what was fitted, and the label accuracy in % and the calibration error, 0 to
    1, of each half of the claims with what was fitted to the other half.

    Raises:
        BadSource: the claims cannot be read.
        IndexUnavailable: there is no index.
        ModelUnavailable: a model is missing.
    """
    asked = [(claim.text, claim.label) for claim in read_corpus_claims(claims)]
    prepare = partial(_Searching, index, folders)
    searches = list(in_order(prepare, asked, processes_for(len(asked), threads)))
    halves = (searches[::2], searches[1::2])
    crossed = [verdict for n in (0, 1) for verdict in _verdicts(halves[n], fitted(halves[1 - n]))]
    right = np.array([label == truth for label, _, truth in crossed])
    fit = fitted(searches)
    config = recalibrated(read_config(VERIFIER), fit)
    (VERIFIER / "config.json").write_text(json.dumps(config, indent=2) + "\n", encoding="utf-8")
    return {
        "scale": fit.scale,
        "bias": fit.bias,
        "bias_of_several": fit.of_several,
        "label_accuracy": 100 * float(right.mean()),
        "calibration_error": calibration_error(np.array([p for _, p, _ in crossed]), right),
    }


def recalibrated(config: Mapping[str, Any], fit: Calibration) -> dict[str, Any]:
    """Return the configuration of a model that gives the opinions ``fit.of`` makes of today's."""
    return {
        **config,
        "temperature": round(config["temperature"] / fit.scale, 3),
        "bias": _moved(config.get("bias"), fit.scale, fit.bias),
        "bias_of_several": _moved(config.get("bias_of_several"), fit.scale, fit.of_several),
    }


def _moved(bias: Sequence[float] | None, scale: float, more: float) -> list[float]:
    before = bias or [0.0] * len(LABELS)
    return [
        round(scale * old + (more if n == _UNDECIDED else 0.0), 3) for n, old in enumerate(before)
    ]


def fitted(searches: Sequence[Search]) -> Calibration:
    """Return the scale and biases with which these labels are the most probable."""
    candidates = [
        Calibration(scale, bias, of_several)
        for scale in SCALES
        for bias in BIASES
        for of_several in OF_SEVERAL
    ]
    return min(candidates, key=lambda calibration: _surprise(searches, calibration))


def _surprise(searches: Sequence[Search], calibration: Calibration) -> float:
    """Return minus the log probability of the labels, before shown evidence rules one of them out.

    A label that is ruled out has probability 0 whatever the scale is, so it says nothing of it.
    """
    surprise = 0.0
    for search in searches:
        if search.selected:
            best = max(search.selected, key=lambda item: item.score)
            opinion = pooled_opinion(
                calibration.of(search.together, len(search.selected) > 1),
                calibration.of(best.opinion, bool(best.path)),
            )
            surprise -= log(max(opinion[LABELS.index(search.label)], _LEAST))
    return surprise


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
    return opinion_of(calibration.of(search.together, len(selected) > 1), selected)


class _Searching:
    """Searches for a claim by the default recipe, in a worker process."""

    def __init__(self, index: Path, folders: ModelFolders) -> None:
        self._retriever = open_retriever(index, 1, folders)
        self._retriever.warm_up()
        self._judge = CrossEncoderJudge(verifier(folders.unpacked), judge_name())

    def __call__(self, asked: tuple[str, Label]) -> Search:
        claim, label = asked
        report = self._retriever.follow(RECIPES[DEFAULT_RECIPE], claim, lambda _: None)
        selected = tuple(item for item in report.evidence if item.selected)
        together = self._judge.together(claim, selected) if selected else (0.0, 0.0, 1.0)
        return Search(selected, together, label)

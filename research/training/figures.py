"""The figures of models on claims that they were not trained on."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from statistics import fmean, stdev
from typing import Any, TypeAlias

import numpy as np
import torch
from numpy.typing import NDArray
from torch import nn
from transformers import PreTrainedTokenizerBase

from research.evaluation.claims import AnnotatedClaim
from research.evaluation.measures.scores import calibration_error
from research.evaluation.tables import columns
from research.training.contrast import Contrast, refuting, symmetric
from research.training.data import TrainingData
from research.training.loop import device_of, fast_products
from research.training.networks.encoders import by_length, pair_inputs
from research.training.sentence_pool import CandidateFinder, PoolSentence, SentencePool, kept_array
from retrieval.models.cross_encoders import CrossEncoder, VerdictFit
from retrieval.models.own_verifier import SequenceClassifier
from retrieval.recipes.recipes import RetrievalConfig
from retrieval.stages.decide.selection import RelativeSelector
from retrieval.text.context import evidence_set_text
from retrieval.types import (
    LABELS,
    NOT_ENOUGH_INFO,
    REFUTES,
    SUPPORTS,
    Evidence,
    Sentence,
    VerdictReadings,
)

# Parts of the dev claims: of every so many claims, those at these positions. The card is measured
# on one in three. The temperature is fitted to others, because its error cannot be measured on the
# claims that it was fitted to. For the relevance model it is fitted to all others; with a sixth it
# is wrong by a tenth. For the verifier, which is five times as slow, it is fitted to a sixth, which
# also shows the progress of training.
DEV, TUNING, OTHERS = (3, (0,)), (6, (1,)), (3, (1, 2))


def probabilities(
    model: nn.Module,
    tokenizer: PreTrainedTokenizerBase,
    pairs: Sequence[tuple[str, str]],
    max_tokens: int,
    classes: int = len(LABELS),
) -> NDArray[np.float32]:
    """Return class probabilities, shape ``(len(pairs), classes)``, in the order of the pairs."""
    result = np.zeros((len(pairs), classes), dtype=np.float32)
    for part in by_length([len(claim) + len(evidence) for claim, evidence in pairs], 64):
        inputs = pair_inputs(tokenizer, [pairs[i] for i in part], max_tokens).to(device_of(model))
        with torch.inference_mode(), fast_products(device_of(model)):
            logits = model(**inputs).logits
        result[part] = torch.softmax(logits.float(), dim=-1).cpu().numpy()
    return result


def kept_opinions(
    model: CrossEncoder | SequenceClassifier, pairs: Sequence[tuple[str, str]], run: Path
) -> NDArray[np.float32]:
    """Return a model's probabilities; they are kept in ``run`` for a run that begins again."""
    of = model.digest if isinstance(model, CrossEncoder) else model.version
    return kept_array(run, "opinions", [of, *pairs], lambda: model.probabilities(pairs))


def spread(figures: Mapping[int, Mapping[str, float]]) -> str:
    """Return a table of the figures of models that differ in their seed only.

    ``figures``: of each seed. Shown are mean, sample standard deviation, least and most.
    """
    head = ("seeds " + ", ".join(map(str, figures)), "mean", "deviation", "least", "most")
    rows: list[Sequence[str]] = [head]
    for name in next(iter(figures.values())):
        values = [of_seed[name] for of_seed in figures.values()]
        shown = (fmean(values), stdev(values), min(values), max(values))
        rows.append((name, *(f"{value:.3g}" for value in shown)))
    return columns(rows)


@dataclass(frozen=True, slots=True)
class DevClaims:
    """Claims to measure on, each with its candidate sentences as indices into the pool."""

    claims: Sequence[AnnotatedClaim]
    candidates: Sequence[Sequence[int]]
    pool: SentencePool

    @classmethod
    def of(cls, data: TrainingData, part: tuple[int, tuple[int, ...]]) -> DevClaims:
        """Return of every ``part[0]`` development claims those at the positions ``part[1]``."""
        every, places = part
        claims = [claim for number, claim in enumerate(data.dev) if number % every in places]
        found = CandidateFinder(data.dev_pool).find([claim.text for claim in claims])
        return cls(claims, found, data.dev_pool)


@dataclass(frozen=True, slots=True)
class Readings:
    """A model's probabilities for claims; ``alone`` and ``together``: shape (claims, labels).

    ``ranked``: each claim's candidates, most relevant first. ``alone``: with the first of them.
    ``together``: with the selected ones, read as one text. ``gold``: with the first gold one, for
    claims that have any.
    """

    ranked: list[list[Evidence]]
    alone: NDArray[np.float32]
    together: NDArray[np.float32]
    gold: dict[int, tuple[float, float, float]]

    @property
    def pooled(self) -> NDArray[np.float64]:
        """The pool of both with equal weights, shape ``(claims, labels)``."""
        readings = [
            VerdictReadings((a, b, c), (d, e, f), (d, e, f))
            for (a, b, c), (d, e, f) in zip(
                self.together.tolist(), self.alone.tolist(), strict=True
            )
        ]
        return VerdictFit().probabilities(readings).astype(np.float64)


Classify: TypeAlias = Callable[[Sequence[tuple[str, str]]], NDArray[np.float32]]


def read_claims(classify: Classify, dev: DevClaims) -> Readings:
    """Rank, select and read as the pipeline does.

    ``classify`` turns (claim, evidence) pairs into class probabilities.
    """
    config = RetrievalConfig()
    selector = RelativeSelector(config.selection_share, config.selection_limit)
    pairs = [
        (claim.text, dev.pool.sentences[i].written)
        for claim, indices in zip(dev.claims, dev.candidates, strict=True)
        for i in indices
    ]
    opinions = iter(classify(pairs))
    ranked = [
        sorted(
            (_evidence(dev.pool.sentences[i], next(opinions)) for i in indices),
            key=lambda item: -item.score,
        )
        for indices in dev.candidates
    ]
    sets = []
    for claim, items in zip(dev.claims, ranked, strict=True):
        selected = [item for item in selector.select(items) if item.selected]
        text = evidence_set_text([(item.title, item.sentence.text) for item in selected])
        sets.append((claim.text, text))
    gold = {}
    for number, (claim, items) in enumerate(zip(dev.claims, ranked, strict=True)):
        marked = [item.opinion for item in items if item.key in claim.gold]
        if marked:
            gold[number] = marked[0]
    alone = np.array([items[0].opinion for items in ranked], dtype=np.float32)
    return Readings(ranked, alone, classify(sets), gold)


def reading_figures(readings: Readings, claims: Sequence[AnnotatedClaim]) -> dict[str, float]:
    """Return the dev figures of a model that ranks sentences and decides claims.

    ``gold_in_first_five``: decided claims with a gold sentence among the five
    most relevant candidates, %. ``stance_right``: of those with gold among their
    candidates, whose best gold sentence has the higher probability for the right one of SUPPORTS
    and REFUTES, %. ``alone``, ``together``, ``pooled``: claims given the right one of three labels
    by the most relevant sentence, by the selected ones read together, and by both
    (``VerdictFit``, equal weights), %. ``calibration_error``: of the pooled confidence, 0..1.
    """
    truth = np.array([LABELS.index(claim.label) for claim in claims])
    decided = [n for n, claim in enumerate(claims) if claim.label != NOT_ENOUGH_INFO]
    found = sum(any(item.key in claims[n].gold for item in readings.ranked[n][:5]) for n in decided)
    leans = [
        (SUPPORTS if supports >= refutes else REFUTES) == claims[n].label
        for n, (supports, refutes, _) in readings.gold.items()
    ]
    pooled = readings.pooled
    right = pooled.argmax(axis=1) == truth
    return {
        "gold_in_first_five": 100 * found / max(1, len(decided)),
        "stance_right": 100 * sum(leans) / max(1, len(leans)),
        "alone": float(100 * (readings.alone.argmax(axis=1) == truth).mean()),
        "together": float(100 * (readings.together.argmax(axis=1) == truth).mean()),
        "pooled": float(100 * right.mean()),
        "calibration_error": calibration_error(pooled.max(axis=1), right),
    }


def contrast_figures(
    classify: Classify, contrasts: Sequence[Contrast], pool: SentencePool
) -> dict[str, float]:
    """Return how often the evidence decides and not the claim's wording.

    ``exchanges_right``: share of right labels for dev contrast claims and their originals, each
    with the gold sentence and with it after the same exchange, %. Each claim is true once and
    false once, so a model that reads only the claim gets half of them right (Schuster et al. 2019,
    section 3).
    """
    readings = [
        reading
        for contrast in contrasts
        for reading in symmetric(contrast, refuting(contrast, pool)[0])
    ]
    predicted = classify([(claim, evidence) for claim, evidence, _ in readings]).argmax(axis=1)
    truth = np.array([LABELS.index(label) for _, _, label in readings])
    return {"exchanges_right": float(100 * (predicted == truth).mean())}


def _evidence(sentence: PoolSentence, opinion: NDArray[np.float32]) -> Evidence:
    text = Sentence(sentence.page, sentence.sentence_id, sentence.text, 0, len(sentence.text))
    supports, refutes, undecided = (float(p) for p in opinion)
    return Evidence(text, sentence.title, None, (supports, refutes, undecided), hop=1)


def temperature_of(probability: NDArray[np.floating[Any]], labels: Sequence[int]) -> float:
    """Return the temperature that makes these probabilities most likely (Guo et al. 2017, 4.2)."""
    logits = np.log(np.maximum(probability.astype(np.float64), 1e-9))
    rows, truth = np.arange(len(labels)), np.asarray(labels)

    def log_loss(temperature: float) -> float:
        scaled = logits / temperature
        normaliser = np.log(np.exp(scaled - scaled.max(1, keepdims=True)).sum(1)) + scaled.max(1)
        return float((normaliser - scaled[rows, truth]).mean())

    return min((0.5 + 0.05 * step for step in range(71)), key=log_loss)

"""What the models are measured by on claims that they were not trained on."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from transformers import DistilBertForSequenceClassification, PreTrainedTokenizerBase

from evaluation.claims import AnnotatedClaim
from evaluation.measures.calibration import calibration_error
from retrieval.cross_encoders.inputs import evidence_text
from retrieval.types import LABELS, NOT_ENOUGH_INFO, REFUTES, SUPPORTS
from training.sentence_pool import SentencePool


def probabilities(
    model: DistilBertForSequenceClassification,
    tokenizer: PreTrainedTokenizerBase,
    pairs: Sequence[tuple[str, str]],
    max_tokens: int,
) -> NDArray[np.float32]:
    """Return class probabilities, shape ``(len(pairs), classes)``, in the order of the pairs."""
    order = sorted(range(len(pairs)), key=lambda i: len(pairs[i][0]) + len(pairs[i][1]))
    result = np.zeros((len(pairs), len(LABELS)), dtype=np.float32)
    for start in range(0, len(order), 64):
        part = order[start : start + 64]
        inputs = tokenizer(
            [pairs[i][0] for i in part],
            [pairs[i][1] for i in part],
            truncation="only_second",
            max_length=max_tokens,
            padding=True,
            return_tensors="pt",
            return_token_type_ids=False,
        )
        with torch.inference_mode(), torch.autocast("cpu", dtype=torch.bfloat16):
            logits = model(**inputs).logits
        result[part] = torch.softmax(logits.float(), dim=-1).numpy()
    return result


def relevance_figures(
    classify: Callable[[Sequence[tuple[str, str]]], NDArray[np.float32]],
    claims: Sequence[AnnotatedClaim],
    candidates: Sequence[Sequence[int]],
    pool: SentencePool,
) -> dict[str, float]:
    """Return the dev figures of a relevance classifier, in per cent.

    ``classify`` turns (claim, evidence) pairs into class probabilities.

    ``gold_in_first_five``: decided claims with a gold sentence among the five
    most relevant candidates. ``stance_right``: of those with gold among their
    candidates, whose best gold sentence leans to the right one of SUPPORTS and
    REFUTES. ``label_accuracy``: all claims, the label being that of the most
    relevant candidate.
    """
    pairs = [
        (claim.text, evidence_text(pool.sentences[i].title, pool.sentences[i].text))
        for claim, indices in zip(claims, candidates, strict=True)
        for i in indices
    ]
    scores = classify(pairs)
    undecided = LABELS.index(NOT_ENOUGH_INFO)
    found = right_stance = right_label = decided = with_gold = 0
    start = 0
    for claim, indices in zip(claims, candidates, strict=True):
        own = scores[start : start + len(indices)]
        start += len(indices)
        relevance = 1 - own[:, undecided]
        best = np.argsort(-relevance, kind="stable")
        right_label += LABELS[int(own[best[0]].argmax())] == claim.label
        if claim.label == NOT_ENOUGH_INFO:
            continue
        decided += 1
        gold = [n for n in best if _key(pool, indices[n]) in claim.gold]
        found += any(n in gold for n in best[:5])
        if gold:
            with_gold += 1
            supports, refutes = (own[gold[0], LABELS.index(x)] for x in (SUPPORTS, REFUTES))
            right_stance += (SUPPORTS if supports >= refutes else REFUTES) == claim.label
    return {
        "gold_in_first_five": 100 * found / max(1, decided),
        "stance_right": 100 * right_stance / max(1, with_gold),
        "label_accuracy": 100 * right_label / max(1, len(claims)),
    }


def _key(pool: SentencePool, index: int) -> tuple[str, int]:
    sentence = pool.sentences[index]
    return sentence.page, sentence.sentence_id


def temperature_of(probability: NDArray[np.float32], labels: Sequence[int]) -> float:
    """Return the temperature that makes these probabilities most likely (Guo et al. 2017, 4.2)."""
    logits = np.log(np.maximum(probability.astype(np.float64), 1e-9))
    rows, truth = np.arange(len(labels)), np.asarray(labels)

    def surprise(temperature: float) -> float:
        scaled = logits / temperature
        normaliser = np.log(np.exp(scaled - scaled.max(1, keepdims=True)).sum(1)) + scaled.max(1)
        return float((normaliser - scaled[rows, truth]).mean())

    return min((0.5 + 0.05 * step for step in range(71)), key=surprise)


def verdict_figures(
    probability: NDArray[np.floating[Any]], labels: Sequence[int], temperature: float
) -> dict[str, float]:
    """Return the dev figures of a judge: accuracies in per cent, calibration error as 0..1.

    ``label_accuracy``: the right one of three labels. ``stance_right``: decided
    claims that lean to the right one of SUPPORTS and REFUTES.
    """
    truth = np.asarray(labels)
    scaled = np.exp(np.log(np.maximum(probability.astype(np.float64), 1e-9)) / temperature)
    scaled /= scaled.sum(axis=1, keepdims=True)
    predicted = scaled.argmax(axis=1)
    decided = truth != LABELS.index(NOT_ENOUGH_INFO)
    leaning = np.where(
        scaled[:, LABELS.index(SUPPORTS)] >= scaled[:, LABELS.index(REFUTES)],
        LABELS.index(SUPPORTS),
        LABELS.index(REFUTES),
    )
    return {
        "label_accuracy": float(100 * (predicted == truth).mean()),
        "stance_right": float(100 * (leaning == truth)[decided].mean()),
        "calibration_error": calibration_error(scaled.max(axis=1), predicted == truth),
    }

"""``esoteric evaluate --pairs --llm``: both judges with the evidence given."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from research.evaluation.measures.calibration import calibration_error
from research.evaluation.measures.language_model import Judged, language_model_results
from research.evaluation.pairs import Pair
from retrieval.llm_judge.choice import LanguageModelChoice
from retrieval.llm_judge.interface import Explains
from retrieval.types import LABELS, Evidence, Judgement, Label, Opinion, Sentence, Verdict


def judged_pairs(
    pairs: Sequence[Pair],
    probabilities: NDArray[np.float32],
    verifier: str,
    stage: Explains,
    on_pairs: Callable[[int, int], None],
) -> list[Judged]:
    """Return the verdict of both judges on each pair.

    ``probabilities``: of ``LABELS``, by the verifier, shape (pairs, 3); ``verifier``: its name.
    """
    judged = []
    for number, (pair, row) in enumerate(zip(pairs, probabilities, strict=True), 1):
        supports, refutes, undecided = row.tolist()
        opinion = (supports, refutes, undecided)
        evidence = _evidence(pair, opinion)
        confidence = max(opinion)
        label = LABELS[opinion.index(confidence)]
        cites = tuple(range(1, len(evidence) + 1))
        own = Judgement(verifier, label, confidence, "", cites)
        before = Verdict(label, confidence, verifier, "", (own,), opinion)
        began = time.perf_counter()
        explained = stage.explain(pair.claim, evidence, before, lambda seconds: None)
        verdict: Verdict = explained.verdict
        judged.append(Judged(verdict, explained.usage, time.perf_counter() - began))
        on_pairs(number, len(pairs))
    return judged


def second_judge_results(
    choice: LanguageModelChoice, labels: Sequence[Label], judged: Sequence[Judged]
) -> dict[str, Any]:
    """Return ``language_model_results``, and figures of the final verdicts.

    ``verdict_accuracy`` and ``verdict_calibration_error``: 0 to 1, of all pairs; if the model
    gave no answer, the verdict is the verifier's.
    """
    right = np.array(
        [one.verdict.label == label for one, label in zip(judged, labels, strict=True)]
    )
    confidence = np.array([one.verdict.confidence for one in judged])
    return {
        **language_model_results(choice, labels, judged),
        "verdict_accuracy": float(right.mean()),
        "verdict_calibration_error": calibration_error(confidence, right),
    }


def _evidence(pair: Pair, opinion: Opinion) -> list[Evidence]:
    """Return the sentences of a pair."""
    evidence = []
    for number, (title, text) in enumerate(pair.sentences):
        sentence = Sentence(title, number, text, 0, len(text))
        evidence.append(Evidence(sentence, title, None, opinion, 1, selected=True))
    return evidence

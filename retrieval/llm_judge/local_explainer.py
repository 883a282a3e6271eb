"""The stage ``explain`` with a language model in this process, combined with the verifier."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from retrieval.errors import EsotericError
from retrieval.llm_judge.choice import LanguageModelChoice
from retrieval.llm_judge.interface import (
    Explained,
    KeptAnswers,
    LanguageModelUnavailable,
    OptionalAnswers,
    Waiting,
    answer_digest,
)
from retrieval.llm_judge.local_model import WORDINGS, LocalModel
from retrieval.llm_judge.prompt import CUT, Prompt, prompt
from retrieval.recipes.config import LANGUAGE_MODEL
from retrieval.types import (
    LABELS,
    Evidence,
    Judgement,
    Label,
    Usage,
    Verdict,
)

_LEAST = 1e-6  # probability

Opinions: TypeAlias = NDArray[np.float64]
"""Probabilities of ``LABELS``, shape (claims, 3)."""


@dataclass(frozen=True, slots=True)
class Pool:
    """A weight for the log probabilities of each model, and a bias for each of ``LABELS``.

    With one model this is vector scaling with one scale (Guo et al. 2017, 4.2), with several a
    logarithmic opinion pool (Heskes 1998) with biases.
    """

    weights: tuple[float, ...]
    biases: tuple[float, ...]

    def of(self, models: Sequence[Opinions]) -> Opinions:
        """Return the combined probabilities, shape (claims, 3), as those of each model."""
        logits = self.logits(models)
        odds = np.exp(logits - logits.max(axis=1, keepdims=True))
        result: Opinions = odds / odds.sum(axis=1, keepdims=True)
        return result

    def logits(self, models: Sequence[Opinions]) -> Opinions:
        """Return the log probabilities, each row up to a constant."""
        logs = [np.log(np.maximum(opinions, _LEAST)) for opinions in models]
        weighted = zip(self.weights, logs, strict=True)
        result: Opinions = sum(weight * log for weight, log in weighted) + np.array(self.biases)
        return result


ALONE = Pool(LANGUAGE_MODEL.alone_weights, LANGUAGE_MODEL.alone_biases)
TOGETHER = Pool(LANGUAGE_MODEL.together_weights, LANGUAGE_MODEL.together_biases)


_WORDS: dict[Label, str] = {
    "SUPPORTS": "supported",
    "REFUTES": "refuted",
    "NOT ENOUGH INFO": "not enough information",
}


class LocalExplainer:
    """Combines the probabilities of a language model for each label with those of the verifier.

    No text of the model is shown: all texts are made here from probabilities.
    """

    def __init__(
        self, choice: LanguageModelChoice, language_model: LocalModel, kept: KeptAnswers | None
    ) -> None:
        """Ask ``language_model``; its probabilities are stored in ``kept`` and read from there."""
        self._choice = choice
        self._language_model = language_model
        self._answers = OptionalAnswers(kept)

    @property
    def model(self) -> str:
        """The name of the model in verdicts."""
        return self._choice.name

    @property
    def problem(self) -> EsotericError | None:
        """Why the model gives no answer, else ``None``."""
        return self._language_model.problem

    def warm_up(self) -> None:
        """Start to load the model."""
        self._language_model.warm_up()

    def explain(
        self, claim: str, evidence: Sequence[Evidence], verdict: Verdict, on_wait: Waiting
    ) -> Explained:
        """Return the verdict of both judges, or of the verifier; see ``Explains``."""
        asked, usage = prompt(claim, evidence), Usage(self.model, 0, 0, 0)
        digest = self._digest(claim, asked)
        stored = self._answers.find(digest)
        if stored is not None:
            probabilities = np.array(json.loads(stored))  # shape (wordings, 3)
        else:
            try:
                answers = self._language_model.ask(
                    asked.claim, tuple(asked.pieces.values()), self._choice.seconds, on_wait
                )
            except LanguageModelUnavailable as error:
                notice = f"{error.message} The verdict is the verifier's."
                return Explained(verdict, usage, (notice,), "no_answer")
            probabilities = np.array([answer.probabilities for answer in answers])
            read = sum(answer.prompt_tokens for answer in answers)
            usage = Usage(self.model, len(answers), read, len(answers))
            self._answers.store(digest, json.dumps(probabilities.tolist()))
        judged = self._judged(verdict, probabilities, tuple(asked.pieces))
        return Explained(judged, usage, (CUT,) if asked.cut else ())

    def _judged(
        self, verdict: Verdict, probabilities: NDArray[np.float64], cites: tuple[int, ...]
    ) -> Verdict:
        """Return the verdict with the opinion of the model; ``probabilities``: of each wording."""
        of_wordings = [row[None] for row in probabilities]
        (alone,) = ALONE.of(of_wordings)
        label, confidence = _most_probable(alone)
        shares = ", ".join(f"{p:.0%} {_WORDS[one]}" for one, p in zip(LABELS, alone, strict=True))
        rationale = f"It was asked about the evidence in {len(probabilities)} wordings: {shares}."
        opinion = Judgement(self.model, label, confidence, rationale, cites)
        if not self._choice.decides:
            return replace(verdict, opinions=(*verdict.opinions, opinion))
        (together,) = TOGETHER.of([np.array([verdict.probabilities]), *of_wordings])
        decided, confidence = _most_probable(together)
        if decided == verdict.label != label:
            # A judge that disagrees must not raise the confidence by ruling out the third label.
            confidence = min(confidence, verdict.confidence)
        return Verdict(
            label=decided,
            confidence=confidence,
            judge=self._choice.decider(verdict.judge),
            rationale=_rationale(verdict, opinion, decided),
            opinions=(opinion, *verdict.opinions),
        )

    def _digest(self, claim: str, asked: Prompt) -> str:
        """Return a digest of the statement, the model and its prompts."""
        sentences = tuple(asked.pieces.values())
        prompts = [wording.prompt(asked.claim, sentences) for wording in WORDINGS]
        return answer_digest(claim, [self._choice.model, prompts])


def _most_probable(probabilities: Sequence[float] | NDArray[np.float64]) -> tuple[Label, float]:
    best = int(np.argmax(probabilities))
    return LABELS[best], float(probabilities[best])


def _rationale(verifier: Verdict, model: Judgement, decided: Label) -> str:
    """Return why both judges together give this label; it may include the verifier's quotations."""
    if decided == verifier.label == model.label:
        return f"{verifier.rationale} The language model agrees."
    says = f"the language model says “{_WORDS[model.label]}” ({model.confidence:.0%})"
    if decided == verifier.label:
        return f"{verifier.rationale} But {says}, which does not outweigh the verifier."
    return (
        f"The verifier says “{_WORDS[verifier.label]}” ({verifier.confidence:.0%}), {says}."
        f" Together, “{_WORDS[decided]}” is the most probable."
    )

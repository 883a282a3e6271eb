"""The stage ``explain``: a language model reads the selected evidence, after the last hop."""

from __future__ import annotations

import logging
import time
from collections.abc import Sequence
from dataclasses import asdict, replace
from typing import Any

from retrieval.errors import EsotericError
from retrieval.llm_judge.answer import AnswerInvalid, ModelAnswer, answer_schema, checked
from retrieval.llm_judge.choice import LanguageModelChoice
from retrieval.llm_judge.client import LanguageModel
from retrieval.llm_judge.interface import (
    Explained,
    KeptAnswers,
    LanguageModelUnavailable,
    Unanswered,
    Waiting,
    answer_digest,
)
from retrieval.llm_judge.prompt import CUT, Prompt, asked_again, prompt
from retrieval.recipes.recipes import LANGUAGE_MODEL
from retrieval.types import LABELS, Evidence, Judgement, Label, Usage, Verdict

ASKED = 2  # times, if an answer fails the checks

logger = logging.getLogger(__name__)


class Explainer:
    """Asks a language model and uses its answer if it passes the checks; else the verdict stays."""

    def __init__(self, choice: LanguageModelChoice, kept: KeptAnswers | None) -> None:
        """Ask this model; answers are stored in ``kept`` and read from there.

        Claims are checked all the same where nothing can be stored or read.
        """
        self.language_model = LanguageModel(choice)
        self._kept = kept

    @property
    def model(self) -> str:
        """The name of the model in verdicts."""
        return self.language_model.choice.name

    @property
    def problem(self) -> EsotericError | None:
        """Why the model gives no usable answer, else ``None``."""
        return self.language_model.problem

    def asking(self, model: str) -> Explainer:
        """See ``Explains.asking``; the price is not known."""
        choice = replace(self.language_model.choice, model=model, price=None)
        return Explainer(choice, self._kept)

    def warm_up(self) -> None:
        """Import what the first call needs."""
        self.language_model.warm_up()

    def explain(
        self, claim: str, evidence: Sequence[Evidence], verdict: Verdict, on_wait: Waiting
    ) -> Explained:
        """See ``Explains.explain``."""
        asked = prompt(claim, evidence)
        schema = answer_schema(list(asked.pieces))
        digest = self._digest(claim, asked, schema)
        answer, usage = self._stored_answer(digest, asked), Usage(self.model, 0, 0, 0)
        if answer is None:
            try:
                answer, usage = self._answer(asked, schema, on_wait)
            except _Unanswered as unanswered:
                notice = f"{unanswered.error.message} The verdict is the verifier's."
                return Explained(verdict, unanswered.usage, (notice,), unanswered.why)
            self._store(digest, answer.model_dump_json())
        return Explained(self._judged(verdict, answer), usage, (CUT,) if asked.cut else ())

    def _judged(self, verdict: Verdict, answer: ModelAnswer) -> Verdict:
        """Return the verdict with both opinions, first that of the judge that decides."""
        opinion = Judgement(
            judge=self.model,
            label=answer.label,
            confidence=confidence_of(answer.label, verdict.label, verdict.confidence),
            rationale=answer.rationale,
            cites=answer.cites,
            missing=answer.missing,
        )
        if not self.language_model.choice.decides:
            return replace(verdict, opinions=(*verdict.opinions, opinion))
        return Verdict(
            opinion.label,
            opinion.confidence,
            opinion.judge,
            opinion.rationale,
            (opinion, *verdict.opinions),
        )

    def _answer(
        self, asked: Prompt, schema: dict[str, Any], on_wait: Waiting
    ) -> tuple[ModelAnswer, Usage]:
        """Return an answer that passed the checks, and the usage.

        Raises:
            _Unanswered: there is none.
        """
        self.warm_up()
        usage, messages = Usage(self.model, 0, 0, 0), asked.messages
        begun, reason = time.monotonic(), ""
        for _ in range(ASKED):
            try:
                reply = self.language_model.ask(messages, schema, begun, on_wait)
            except LanguageModelUnavailable as error:
                raise _Unanswered(error, usage, "no_answer") from None
            usage = replace(
                usage,
                calls=usage.calls + 1,
                prompt_tokens=usage.prompt_tokens + reply.prompt_tokens,
                answer_tokens=usage.answer_tokens + reply.answer_tokens,
            )
            try:
                answer = checked(reply.text, asked)
            except AnswerInvalid as error:
                reason = str(error)
                messages = asked_again(asked.messages, reason)
            else:
                self.language_model.believed()
                return answer, usage
        raise _Unanswered(self.language_model.refused(reason), usage, "bad_answer")

    def _stored_answer(self, digest: str, asked: Prompt) -> ModelAnswer | None:
        """Return the stored answer, ``None`` if there is none or it fails the checks."""
        try:
            stored = None if self._kept is None else self._kept.kept_answer(digest)
            return None if stored is None else checked(stored, asked)
        except EsotericError as error:
            logger.warning("Stored answers cannot be read, so the model is asked: %s", error)
        except AnswerInvalid:
            pass
        return None

    def _store(self, digest: str, answer: str) -> None:
        try:
            if self._kept is not None:
                self._kept.keep_answer(digest, answer)
        except EsotericError as error:
            logger.warning("An answer cannot be stored: %s", error)

    def _digest(self, claim: str, asked: Prompt, schema: dict[str, Any]) -> str:
        choice = self.language_model.choice
        whole = [choice.url, choice.model, [asdict(m) for m in asked.messages], schema]
        return answer_digest(claim, whole)


class _Unanswered(Exception):
    """A claim without a usable answer, and the usage."""

    def __init__(self, error: LanguageModelUnavailable, usage: Usage, why: Unanswered) -> None:
        self.error = error
        self.usage = usage
        self.why = why


def confidence_of(label: Label, verifier: Label, confidence: float) -> float:
    """Return the probability of the language model's label, given the verifier's label.

    The verifier's ``confidence`` is calibrated; the rest is spread equally over the other labels.
    Raised to the power ``independence``, these are the prior probabilities. The model's label is
    evidence that is right with the probability ``reliability`` (Bayes' rule). A confidence stated
    by the model is not used.
    """
    reliability, independence = LANGUAGE_MODEL.reliability, LANGUAGE_MODEL.independence
    others = len(LABELS) - 1
    of_verifier: float = confidence**independence
    of_each_other: float = ((1 - confidence) / others) ** independence
    prior = (of_verifier if label == verifier else of_each_other) / (
        of_verifier + others * of_each_other
    )
    right = reliability * prior
    wrong = (1 - reliability) / others * (1 - prior)
    return right / (right + wrong)

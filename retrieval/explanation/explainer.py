"""The stage ``explain``: a language model reads the selected evidence, after the last hop."""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass, replace
from hashlib import sha256
from typing import Any

from haystack import component

from retrieval.explanation.agreement import confidence_of
from retrieval.explanation.answer import AnswerInvalid, ModelAnswer, answer_schema, checked
from retrieval.explanation.chat_client import chat_client
from retrieval.explanation.choice import LanguageModelChoice
from retrieval.explanation.kept_answers import KeptAnswers
from retrieval.explanation.language_model import LanguageModel, LanguageModelUnavailable, Waiting
from retrieval.explanation.prompt import Prompt, asked_again, prompt
from retrieval.types import Evidence, Judgement, Usage, Verdict

_CUT = "The language model was shown the beginning of very long sentences only."


@dataclass(frozen=True, slots=True)
class _Answered:
    answer: ModelAnswer
    usage: Usage


@component
class Explainer:
    """Asks a language model and believes an answer that was checked; else the verdict stays."""

    def __init__(self, model: LanguageModel, kept: KeptAnswers | None) -> None:
        """Ask ``model``; answers are looked for in ``kept``, and kept there."""
        self.language_model = model
        self._kept = kept

    @property
    def model(self) -> str:
        """What verdicts call the model."""
        return self.language_model.choice.name

    @component.output_types(verdict=Verdict, usage=Usage | None, notices=list[str])
    def run(
        self, claim: str, evidence: list[Evidence], verdict: Verdict, on_wait: Waiting
    ) -> dict[str, Any]:
        """Return the verdict with the model's opinion, what that cost, and notices.

        ``evidence``: all of it, best first; some of it is selected. ``verdict`` is the verifier's.
        Where the model gives no answer that can be used, the verdict stays, a notice says so and
        ``usage`` is ``None``.
        """
        asked = prompt(claim, evidence)
        try:
            answered = self._answered(asked, on_wait)
        except LanguageModelUnavailable as error:
            notice = f"{error.message} The verdict is the verifier's."
            return {"verdict": verdict, "usage": None, "notices": [notice]}
        notices = [_CUT] if asked.cut else []
        judged = self._judged(verdict, answered.answer)
        return {"verdict": judged, "usage": answered.usage, "notices": notices}

    def _judged(self, verdict: Verdict, answer: ModelAnswer) -> Verdict:
        """Return the verdict of both judges; the opinion of whoever decides comes first."""
        opinion = Judgement(
            judge=self.model,
            label=answer.label,
            confidence=confidence_of(answer.label, verdict.label, verdict.confidence),
            rationale=answer.rationale,
            cites=answer.cites,
            missing=answer.missing,
        )
        if self.language_model.choice.decides:
            return Verdict(
                opinion.label,
                opinion.confidence,
                opinion.judge,
                opinion.rationale,
                (opinion, *verdict.opinions),
            )
        if opinion.label == verdict.label:
            verdict = replace(verdict, rationale=opinion.rationale)
        return replace(verdict, opinions=(*verdict.opinions, opinion))

    def _answered(self, asked: Prompt, on_wait: Waiting) -> _Answered:
        schema = answer_schema(list(asked.pieces))
        digest = self._digest(asked, schema)
        kept = self._kept.kept_answer(digest) if self._kept else None
        if kept is not None:
            return _Answered(checked(kept, asked), Usage(self.model, 0, 0, 0))
        answered = self._asked(asked, schema, on_wait)
        if self._kept:
            self._kept.keep_answer(digest, answered.answer.model_dump_json())
        return answered

    def _asked(self, asked: Prompt, schema: dict[str, Any], on_wait: Waiting) -> _Answered:
        reply = self.language_model.ask(asked.messages, schema, on_wait)
        usage = Usage(self.model, 1, reply.prompt_tokens, reply.answer_tokens)
        try:
            answer = checked(reply.text, asked)
        except AnswerInvalid as error:
            again = asked_again(asked.messages, reply.text, str(error))
            reply = self.language_model.ask(again, schema, on_wait)
            usage = Usage(
                self.model,
                2,
                usage.prompt_tokens + reply.prompt_tokens,
                usage.answer_tokens + reply.answer_tokens,
            )
            try:
                answer = checked(reply.text, asked)
            except AnswerInvalid as twice:
                raise self.language_model.failed(str(twice)) from twice
        self.language_model.succeeded()
        return _Answered(answer, usage)

    def _digest(self, asked: Prompt, schema: dict[str, Any]) -> str:
        choice = self.language_model.choice
        whole = [choice.url, choice.model, [asdict(m) for m in asked.messages], schema]
        return sha256(json.dumps(whole).encode()).hexdigest()


def explainer(choice: LanguageModelChoice | None, kept: KeptAnswers | None) -> Explainer | None:
    """Return the stage for the language model that the settings name, if they name one."""
    if choice is None:
        return None
    return Explainer(LanguageModel(choice, chat_client(choice)), kept)

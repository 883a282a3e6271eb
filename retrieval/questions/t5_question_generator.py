"""Questions by T5, one for each span of the claim (ESOTERIC report, section 3.3.8)."""

from __future__ import annotations

from pathlib import Path

from haystack import component
from spacy.tokens import Doc
from spacy.tokens import Span as Tokens

from retrieval.questions.clause import main_clause
from retrieval.questions.rule_question_generator import MOST
from retrieval.report.models import QUESTIONS
from retrieval.report.networks import TextGenerator
from retrieval.types import Question, Span

_PREFIX = "question:"  # that the model begins its answers with


@component
class T5QuestionGenerator:
    """Asks for each span with the claim as context, and for the claim as a whole.

    The spans are those of the span stage (report, appendix C, step 6). The polar question of a
    sentence is the sentence with its auxiliary verb before the subject; for one without an
    auxiliary the model asks, with "No" for the answer (3.3.8).
    """

    def __init__(self, models: Path) -> None:
        """``models`` is the folder of the report's models."""
        self._model = TextGenerator(models, QUESTIONS)

    def warm_up(self) -> None:
        """Load the model.

        Raises:
            ModelUnavailable: it is missing or damaged.
        """
        self._model.warm_up()

    @component.output_types(questions=list[Question])
    def run(self, doc: Doc, spans: list[Span]) -> dict[str, list[Question]]:
        """Return at most 12 different questions, the polar ones last."""
        polar = [_polar(sentence) for sentence in doc.sents]
        asked_of = [span.text for span in spans[:MOST]]
        answers = [*asked_of, *("No" for question in polar if question is None)]
        texts = self._model.answers([f"answer: {a} context: {doc.text}" for a in answers])
        asked = [text.removeprefix(_PREFIX).strip() for text in texts]
        rest = iter(asked[len(asked_of) :])
        whole = [Question(text if text is not None else next(rest), "polar") for text in polar]
        about = [
            Question(text, "wh", span)
            for text, span in zip(asked[: len(asked_of)], spans[:MOST], strict=True)
        ]
        polars = _different(whole)[:MOST]
        kept = _different([*about[: MOST - len(polars)], *polars])
        return {"questions": kept}


def _different(questions: list[Question]) -> list[Question]:
    """Leave out what is empty, and all but the first of those with the same text."""
    return list({q.text: q for q in reversed(questions) if q.text}.values())[::-1]


def _polar(sentence: Tokens) -> str | None:
    """Return the sentence as a question; None without an auxiliary verb to begin it with."""
    if sentence.text.rstrip().endswith("?"):
        return sentence.text.strip()
    clause = main_clause(sentence.as_doc())
    return clause.asked("") if clause and clause.do is None else None

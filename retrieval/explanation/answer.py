"""What a language model must answer, and what is checked before it is believed."""

from __future__ import annotations

import re
from typing import Any

from pydantic import BaseModel, ConfigDict, ValidationError

from retrieval.explanation.prompt import Prompt, visible
from retrieval.types import NOT_ENOUGH_INFO, Label

MOST_SENTENCES = 3
LONGEST_RATIONALE = 700  # characters
LONGEST_MISSING = 300
# A sentence ends at a mark before white space and a capital. "U.S. Army" does too, but a mark after
# a single capital ends none.
_SENTENCE_END = re.compile(r"(?<![A-Z])[.!?][\"”’)\]]*\s+(?=[\"“‘(]?[A-Z])")  # noqa: RUF001
_QUOTED = re.compile(r"“([^“”]*)”|\"([^\"]*)\"|«([^«»]*)»|„([^„“”]*)[“”]")
_MARKS = ".,;:!?… "


class AnswerInvalid(Exception):
    """An answer that is not believed; the text says why, to the model and to people."""


class ModelAnswer(BaseModel):
    """An answer that was checked. ``cites`` are numbers of evidence, counted from 1."""

    model_config = ConfigDict(extra="forbid", frozen=True, strict=True)

    rationale: str
    cites: tuple[int, ...]
    label: Label
    missing: str


def answer_schema(numbers: list[int]) -> dict[str, Any]:
    """Return the JSON Schema of an answer that may cite these numbers.

    The rationale comes first, so that a model which writes in this order reasons before it decides.
    """
    schema = ModelAnswer.model_json_schema()
    schema["properties"]["cites"] = {
        "type": "array",
        "items": {"type": "integer", "enum": numbers},
        "maxItems": len(numbers),  # a weak model repeats one number until its tokens are used up
    }
    return schema


def checked(text: str, asked: Prompt) -> ModelAnswer:
    """Return the answer in ``text``.

    Raises:
        AnswerInvalid: it is no JSON of the schema, cites a number that there is not, decides
            without citing anything, is too long, or quotes what stands nowhere in the data.
    """
    try:
        answer = ModelAnswer.model_validate_json(text)
    except ValidationError as error:
        first = error.errors(include_url=False, include_input=False)[0]
        place = ".".join(str(part) for part in first["loc"]) or "the answer"
        raise AnswerInvalid(f"{place}: {first['msg']}") from error
    unknown = sorted(set(answer.cites) - asked.pieces.keys())
    if unknown:
        raise AnswerInvalid(f"there is no evidence with the number {unknown[0]}")
    if answer.label != NOT_ENOUGH_INFO and not answer.cites:
        raise AnswerInvalid(f'"{answer.label}" must cite the evidence that it rests on')
    rationale, missing = visible(answer.rationale), visible(answer.missing)
    if not rationale:
        raise AnswerInvalid("the rationale is empty")
    if len(_SENTENCE_END.findall(rationale)) >= MOST_SENTENCES:
        raise AnswerInvalid(f"the rationale has more than {MOST_SENTENCES} sentences")
    if len(rationale) > LONGEST_RATIONALE or len(missing) > LONGEST_MISSING:
        raise AnswerInvalid("the rationale, or what is missing, is too long")
    for quote in _quotes(f"{rationale} {missing}"):
        if not _stands_in(quote, asked):
            raise AnswerInvalid(f"the data does not hold the words “{quote[:80]}”")
    cites = tuple(sorted(set(answer.cites)))
    return answer.model_copy(update={"rationale": rationale, "missing": missing, "cites": cites})


def _quotes(text: str) -> list[str]:
    found = ("".join(groups).strip(_MARKS) for groups in _QUOTED.findall(text))
    return [quote for quote in found if quote]


def _stands_in(quote: str, asked: Prompt) -> bool:
    """Return whether the claim or a piece of evidence holds these words, letter by letter.

    Only the first letter may be of another case, as at the beginning of a sentence.
    """
    forms = (quote, quote[0].lower() + quote[1:], quote[0].upper() + quote[1:])
    sources = [asked.claim, *(text for piece in asked.pieces.values() for text in piece)]
    return any(form in _straight(source) for source in sources for form in map(_straight, forms))


def _straight(text: str) -> str:
    return text.translate({ord("’"): "'", ord("‘"): "'"})  # noqa: RUF001

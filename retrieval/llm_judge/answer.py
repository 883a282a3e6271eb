"""The form of a language model's answer, and the checks before it is used."""

from __future__ import annotations

import re
from functools import cache
from typing import Any

from pydantic import BaseModel, ConfigDict, ValidationError

from retrieval.llm_judge.prompt import Prompt, visible
from retrieval.text.sentence_splitter import SentenceSplitter
from retrieval.types import NOT_ENOUGH_INFO, Label

MOST_SENTENCES = 3
LONGEST_RATIONALE = 700  # characters
LONGEST_MISSING = 300
# Pairs of quotation marks around words. An apostrophe is inside a word.
_QUOTED = re.compile(
    r"“([^“”]*)”|\"([^\"]*)\"|«([^«»]*)»|„([^„“”]*)[“”]"
    r"|(?<!\w)[‘']([^‘’']{2,}(?:\b['’]\b[^‘’']*)*)['’](?!\w)"  # noqa: RUF001
)
_OTHER_MARKS = re.compile('[“”"„«»‹›「」『』＂]|``')  # noqa: RUF001
_AROUND = ".,;:!?… "
_MAY_END = re.compile(r"[.!?…][^\w\s]*\s")
# Some servers put the answer between these marks, although a schema was requested.
_FENCE = "```"


class AnswerInvalid(Exception):
    """An answer that failed a check.

    The text says why, for the model and for people. It repeats nothing that the model wrote, since
    that may come from hostile evidence.
    """


class ModelAnswer(BaseModel):
    """An answer that was checked. ``cites`` are numbers of evidence, counted from 1."""

    model_config = ConfigDict(extra="forbid", frozen=True, strict=True)

    rationale: str
    cites: tuple[int, ...]
    label: Label
    missing: str


def answer_schema(numbers: list[int]) -> dict[str, Any]:
    """Return the JSON Schema of an answer that may cite these numbers.

    The rationale comes first, so that a model that writes in this order reasons before it decides.
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
        AnswerInvalid: it does not match the schema, cites a number that does not exist, decides
            without a citation, is too long, or quotes words that are in no piece of evidence.
    """
    try:
        answer = ModelAnswer.model_validate_json(_unfenced(text))
    except ValidationError as error:
        raise AnswerInvalid(_wrong_form(error)) from None
    if not set(answer.cites) <= asked.pieces.keys():
        raise AnswerInvalid('"cites" holds a number that no piece of evidence has')
    if answer.label != NOT_ENOUGH_INFO and not answer.cites:
        raise AnswerInvalid(f'"{answer.label}" must cite the evidence that it rests on')
    rationale, missing = visible(answer.rationale), visible(answer.missing)
    if not rationale:
        raise AnswerInvalid('"rationale" is empty')
    if len(rationale) > LONGEST_RATIONALE or len(missing) > LONGEST_MISSING:
        raise AnswerInvalid('"rationale" or "missing" is too long')
    if _sentences(rationale) > MOST_SENTENCES:
        raise AnswerInvalid(f'"rationale" has more than {MOST_SENTENCES} sentences')
    for written in (rationale, missing):
        _check_quotes(written, asked)
    cites = tuple(sorted(set(answer.cites)))
    return answer.model_copy(update={"rationale": rationale, "missing": missing, "cites": cites})


def _unfenced(text: str) -> str:
    inner = text.strip()
    if not (inner.startswith(_FENCE) and inner.endswith(_FENCE)):
        return text
    return inner.removeprefix(_FENCE).removesuffix(_FENCE).removeprefix("json")


def _wrong_form(error: ValidationError) -> str:
    """Return what is wrong, in terms of the schema; a key that the model invented is not named."""
    place = error.errors(include_url=False, include_input=False)[0]["loc"]
    if place and place[0] in ModelAnswer.model_fields:
        return f'"{place[0]}" is missing or not as described'
    if place:
        return "it has a key that was not asked for"
    return "it is not one JSON object as described, or it was cut off"


def _sentences(text: str) -> int:
    """Return the number of sentences; the splitter is used only if there may be too many."""
    if len(_MAY_END.findall(f"{text} ")) <= MOST_SENTENCES:
        return MOST_SENTENCES
    return len(next(_splitter().split([text])))


@cache
def _splitter() -> SentenceSplitter:
    return SentenceSplitter()


def _check_quotes(text: str, asked: Prompt) -> None:
    """Check that all quoted words are in the evidence, word by word.

    Whether a quotation is out of context cannot be checked.
    """
    if _OTHER_MARKS.search(_QUOTED.sub("", text)):
        raise AnswerInvalid("put quoted words between “ and ”")
    quotes = ("".join(groups).strip(_AROUND) for groups in _QUOTED.findall(text))
    sources = [_straight(part) for piece in asked.pieces.values() for part in piece]
    for quote in map(_straight, filter(None, quotes)):
        # The case of the first letter may differ, as at the beginning of a sentence.
        first, rest = re.escape(quote[0].lower() + quote[0].upper()), re.escape(quote[1:])
        words = re.compile(rf"(?<!\w)[{first}]{rest}(?!\w)")
        if not any(words.search(source) for source in sources):
            raise AnswerInvalid("it quotes words that no piece of evidence holds")


def _straight(text: str) -> str:
    return text.translate({ord("’"): "'", ord("‘"): "'"})  # noqa: RUF001

"""Tidies sentences for claims: removes parentheses and quotation marks."""

from __future__ import annotations

import re

_PARENTHESES = re.compile(r"\s*[(\[][^()\[\]]*[)\]]")
_QUOTATION_MARK = re.compile(r"\s*[\"“”`]+\s*")  # the release has them with spaces on either side
_BEFORE_PUNCTUATION = re.compile(r"\s+([,.;:!?](?:\s|$)|['’]s\b)")  # noqa: RUF001 - curly too
_HYPHEN = re.compile(r"(?<=\w)-\s+(?!(?:and|or|to)\b)(?=\w)")
_COMMAS = re.compile(r",\s*(?=[,.])")
_SPACE = re.compile(r"\s+")
_VOWEL = re.compile(r"(?!(?:uni|use|usu|eu|ewe|one\b|u\.?[sk])\w*)(?:[aeiou]|hono|hour|heir)", re.I)


def tidied(sentence: str) -> str:
    """Return the sentence without parentheses, quotation marks and stray spaces."""
    text, before = sentence, ""
    while text != before:
        text, before = _PARENTHESES.sub("", text), text
    text = _QUOTATION_MARK.sub(" ", text)
    text = _HYPHEN.sub("-", _BEFORE_PUNCTUATION.sub(r"\1", text))
    return _COMMAS.sub("", _SPACE.sub(" ", text)).strip()


def with_pronoun(text: str, name: str, pronoun: str) -> str:
    """Return the text with a pronoun for the name at its beginning: titles confuse parsers."""
    start = text.removeprefix("The ") if not name.startswith("The ") else text
    rest = start.removeprefix(name)
    return pronoun + rest if rest != start and rest[:1] in (" ", ",") else text


def with_article(noun: str) -> str:
    """Return ``noun`` with "a" or "an" before it."""
    return f"{'an' if _VOWEL.match(noun) else 'a'} {noun}"

"""The keys by which titles are compared."""

from __future__ import annotations

import re

from retrieval.normal_form import nfkd, without_marks

_ARTICLE = re.compile(r"^(?:the|an|a)\s+(?=\S)")
_POSSESSIVE = re.compile(r"(?:['’]s|(?<=s)['’])$")  # noqa: RUF001 - the curly one is meant
_PARENTHESES = re.compile(r"^(?P<name>.+?)\s*\((?P<words>[^()]+)\)$")
_SPACE = re.compile(r"\s+")


def title_key(title: str) -> str:
    """Return the key by which titles are compared.

    Case, accents, a leading article and a possessive ending are ignored:
    ``The Beatles'`` and ``beatles`` have the same key.
    """
    plain = without_marks(nfkd(title.casefold()))
    plain = _SPACE.sub(" ", plain.replace("_", " ")).strip()
    return _ARTICLE.sub("", _POSSESSIVE.sub("", plain))


def split_disambiguation(title: str) -> tuple[str, str | None]:
    """Return a title without its words in parentheses, and those words.

    ``Savages (2012 film)`` is ``("Savages", "2012 film")`` (Nie et al. 2018, as
    in the report, 3.3.1); a title without any, or with nothing else, stays whole.
    """
    match = _PARENTHESES.match(title)
    return (match["name"], match["words"]) if match else (title, None)

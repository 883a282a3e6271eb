"""In which words a claim and its evidence are read.

The verifier reads some claims well only in the words of the evidence, and some evidence only in
few words. What is shown stays as it was written.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, TypeAlias

from retrieval.text.borders import borders_of
from retrieval.text.compared_things import compared_things
from retrieval.text.model_texts import path_text

if TYPE_CHECKING:
    from spacy.tokens import Doc

Wording: TypeAlias = Callable[[str, Sequence[tuple[str, str]]], tuple[str, str]]
"""Of a claim and the (title, sentence) texts that it is read with, the last of which is to be
labelled: the claim and the text as the verifier reads them."""


def as_written(claim: str, texts: Sequence[tuple[str, str]]) -> tuple[str, str]:
    """Return claim and texts in their own words."""
    return claim, path_text(texts[-1], texts[:-1])


def wording_of(parsed: Doc) -> Wording:
    """Return the wording for a parsed claim: of borders, of two things compared, or its own."""
    if borders := borders_of(parsed.text):
        return borders.worded
    if compared := compared_things(parsed):
        return compared.worded
    return as_written

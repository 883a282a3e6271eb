"""The sentences of a text, and what each of them claims."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, TypeAlias

Kind: TypeAlias = Literal[
    "fact", "opinion", "question", "forecast", "instruction", "quotation", "vague", "fragment"
]
"""What a sentence is; only a fact is checkable.

``instruction``: also a greeting or thanks. ``quotation``: what somebody said, without a fact in it.
``vague``: nothing that can be looked up. ``fragment``: not a sentence.
"""


@dataclass(frozen=True, slots=True)
class Replaced:
    """Words of a text that a claim has other words for: "its", which means "Germany"."""

    said: str
    meant: str


@dataclass(frozen=True, slots=True)
class TextClaim:
    """A statement of a sentence, as it is checked.

    ``replaced``: words that stand for others, which the text names before. ``unclear``: words of
    which the text does not say what they stand for; they are left as they are.
    """

    text: str
    replaced: tuple[Replaced, ...] = ()
    unclear: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class TextSentence:
    """A sentence, ``text[start:end]``, its kind and its claims, at least one, in their order."""

    start: int
    end: int
    kind: Kind
    claims: tuple[TextClaim, ...]

    @property
    def checkable(self) -> bool:
        """Whether it says something that can be true or false by evidence."""
        return self.kind == "fact"

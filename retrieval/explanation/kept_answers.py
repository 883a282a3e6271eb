"""A store for answers of language models, so that the same question is not paid for twice."""

from __future__ import annotations

from typing import Protocol


class KeptAnswers(Protocol):
    """Answers, each under a digest of everything that it depends on."""

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

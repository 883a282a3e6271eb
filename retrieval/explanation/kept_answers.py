"""Where answers of language models are kept, so that the same question is not paid for twice."""

from __future__ import annotations

from typing import Protocol


class KeptAnswers(Protocol):
    """Answers by the digest of all that they depend on."""

    def kept_answer(self, digest: str) -> str | None:
        """Return the answer that was kept under this digest, if there is one.

        Raises:
            EsotericError: it cannot be read.
        """
        ...

    def keep_answer(self, digest: str, answer: str) -> None:
        """Keep an answer instead of one that is there already.

        Raises:
            EsotericError: it cannot be kept.
        """
        ...

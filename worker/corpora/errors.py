"""What can be wrong with the corpora beside the default one."""

from __future__ import annotations

from retrieval.errors import EsotericError


class UnknownCorpus(EsotericError):
    """No corpus has this name, or it was removed."""

    def __init__(self, name: str) -> None:
        super().__init__(
            "unknown_corpus",
            f"There is no corpus named {name[:80]!r}; it may have been removed.",
            "Choose another one: the page /documents lists all.",
        )


class CorpusNotReady(EsotericError):
    """A corpus cannot be searched yet."""

    def __init__(self, title: str) -> None:
        super().__init__(
            "corpus_not_ready",
            f"“{title}” cannot be searched yet: none of its files is indexed.",
            "Wait until its page says that it is ready, or choose another corpus.",
        )


class CorpusRefused(EsotericError):
    """What was asked for cannot be done with a corpus; nothing was changed."""


class CorpusNotWritten(EsotericError):
    """The disk is full or cannot be written; nothing was changed."""

"""Opens the reader of texts when the first text comes.

It takes seconds and about 200 MB, and a service that gets claims alone needs none of it.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from functools import cache
from pathlib import Path
from threading import Lock, Semaphore
from typing import TYPE_CHECKING

from retrieval.checkable.given_text import Kind, TextSentence
from retrieval.errors import EsotericError
from retrieval.system.packages import leave_out_torch

if TYPE_CHECKING:
    from retrieval.checkable.text_reader import TextReader


_MOST_AT_ONCE = 3  # texts that are read or wait


class TextsBusy(EsotericError):
    """Other texts are being read, and more cannot wait."""

    def __init__(self) -> None:
        super().__init__(
            "texts_busy", "Other texts are being read now.", "Send it again in some seconds."
        )


class ReaderOnDemand:
    """Reads one text at a time; safe to share between threads."""

    def __init__(self, networks: Path, threads: int) -> None:
        """Load nothing yet; ``networks``: the folder of converted networks."""
        self._networks = networks
        self._threads = threads
        self._one_at_a_time = Lock()
        # Each that waits holds a thread of the server, which others need.
        self._places = Semaphore(_MOST_AT_ONCE)

    def statements_of(self, text: str) -> tuple[TextSentence, ...]:
        """See ``TextReader.statements_of``.

        Raises:
            TextsBusy: other texts wait already.
        """
        with self._reading() as reader:
            return reader.statements_of(text)

    def kinds_of(self, sentences: Sequence[str]) -> tuple[Kind, ...]:
        """See ``TextReader.kinds_of``.

        Raises:
            TextsBusy: texts wait already.
        """
        with self._reading() as reader:
            return reader.kinds_of(sentences)

    @contextmanager
    def _reading(self) -> Iterator[TextReader]:
        if not self._places.acquire(blocking=False):
            raise TextsBusy
        try:
            with self._one_at_a_time:  # so that several texts do not take memory together
                yield _opened(self._networks, self._threads)
        finally:
            self._places.release()


@cache
def _opened(networks: Path, threads: int) -> TextReader:
    with leave_out_torch():
        from retrieval.checkable.text_reader import TextReader
        from retrieval.models import runtime
    runtime.keep_in(networks)
    runtime.use_threads(threads)
    return TextReader()

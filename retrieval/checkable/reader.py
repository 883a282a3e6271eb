"""Opens the reader of texts when the first text comes.

It takes seconds and about 200 MB, and a service that gets claims alone needs none of it.
"""

from __future__ import annotations

from pathlib import Path
from threading import Lock, Semaphore
from typing import TYPE_CHECKING

from retrieval.checkable.given_text import TextSentence
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
        self._reader: TextReader | None = None
        self._one_at_a_time = Lock()
        # Each that waits holds a thread of the server, which others need.
        self._places = Semaphore(_MOST_AT_ONCE)

    def statements_of(self, text: str) -> tuple[TextSentence, ...]:
        """See ``TextReader.statements_of``.

        Raises:
            TextsBusy: other texts wait already.
        """
        if not self._places.acquire(blocking=False):
            raise TextsBusy
        try:
            with self._one_at_a_time:  # so that several texts do not take memory together
                if self._reader is None:
                    self._reader = self._opened()
                return self._reader.statements_of(text)
        finally:
            self._places.release()

    def _opened(self) -> TextReader:
        with leave_out_torch():
            from retrieval.checkable.text_reader import TextReader
            from retrieval.models import runtime
        runtime.keep_in(self._networks)
        runtime.use_threads(self._threads)
        return TextReader()

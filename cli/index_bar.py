"""The progress bar of building an index."""

from __future__ import annotations

from typing import TYPE_CHECKING

from cli.long_work import LongWork

if TYPE_CHECKING:
    from retrieval.index.interface import BuildProgress


class IndexBar:
    """Shows how much of a corpus is read, then how much is encoded."""

    def __init__(self, label: str) -> None:
        """Show nothing until the first progress is reported."""
        self._label = label
        self._step = ""
        self._work: LongWork | None = None

    def show(self, progress: BuildProgress) -> None:
        """Show the progress of the build."""
        if self._work is None or self._step != progress.step:
            self.close()
            self._step = progress.step
            what = f"{self._label}, {progress.step}"
            self._work = LongWork(what, progress.of, progress.done)
            self._before = progress.documents
        seconds = self._work.seconds
        rate = f", {(progress.documents - self._before) / seconds:,.0f}/s" if seconds >= 1 else ""
        self._work.show(progress.done, f"{progress.documents:,} documents{rate}")

    def close(self) -> None:
        """Leave the line as it is."""
        if self._work is not None:
            self._work.close()

"""The progress bar of a build."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tqdm import tqdm

if TYPE_CHECKING:
    from retrieval.index.store import BuildProgress

_FORMAT = "{desc}: {percentage:3.0f}%|{bar}| {postfix} [{elapsed}<{remaining}]"


class IndexBar:
    """Shows how much of a corpus is read, then how much encoded; nothing where nobody looks."""

    def __init__(self, label: str) -> None:
        """Show a bar on standard error when the first progress comes."""
        self._label = label
        self._step = ""
        self._bar: tqdm[None] | None = None

    def show(self, progress: BuildProgress) -> None:
        """Show how far the build is."""
        if self._bar is None or self._step != progress.step:
            self.close()
            self._step = progress.step
            self._bar = tqdm(
                desc=f"{self._label}, {progress.step}",
                total=progress.of,
                initial=progress.done,
                bar_format=_FORMAT,
                disable=None,
            )
            self._before = progress.documents
        seconds = self._bar.format_dict["elapsed"]
        rate = f", {(progress.documents - self._before) / seconds:,.0f}/s" if seconds >= 1 else ""
        self._bar.set_postfix_str(f"{progress.documents:,} documents{rate}", refresh=False)
        self._bar.update(progress.done - self._bar.n)

    def close(self) -> None:
        """Leave the line as it is."""
        if self._bar is not None:
            self._bar.close()

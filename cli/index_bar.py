"""The progress bar of a build."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tqdm import tqdm

if TYPE_CHECKING:
    from retrieval.index.builder import BuildProgress

_FORMAT = "{desc}: {percentage:3.0f}%|{bar}| {postfix} [{elapsed}<{remaining}]"


class IndexBar:
    """Shows how much of a corpus is read, with its documents; nothing where nobody looks."""

    def __init__(self, label: str) -> None:
        """Show a bar on standard error when the first progress comes."""
        self._label = label
        self._bar: tqdm[None] | None = None

    def show(self, progress: BuildProgress) -> None:
        """Show how far the build is."""
        if self._bar is None:
            self._bar = tqdm(desc=self._label, total=progress.of, bar_format=_FORMAT, disable=None)
        seconds = self._bar.format_dict["elapsed"]
        rate = f", {progress.documents / seconds:,.0f}/s" if seconds >= 1 else ""
        self._bar.set_postfix_str(f"{progress.documents:,} documents{rate}", refresh=False)
        self._bar.update(progress.done - self._bar.n)

    def close(self) -> None:
        """Leave the line as it is."""
        if self._bar is not None:
            self._bar.close()

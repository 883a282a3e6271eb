"""Building an index of a newer dump, beside building it from nothing."""

from __future__ import annotations

import subprocess
import sys
import tempfile
import time
from collections.abc import Iterable
from dataclasses import replace
from pathlib import Path

from benchmarks.newer_dump import newer, older
from benchmarks.row import Row
from retrieval.corpora.corpus import Page, readable_pages
from retrieval.corpora.json_lines import encoded_line
from retrieval.corpora.sources import open_corpus
from settings import CHECKOUT

PAGES = 5_000


def measure() -> list[Row]:
    """Build an index of pages of ``vital``, and then of a newer version of the same pages."""
    pages = list(readable_pages(open_corpus("vital")))[:PAGES]
    before = list(older(pages))
    rows = []
    with tempfile.TemporaryDirectory() as folder:
        dump = Path(folder) / "dump.jsonl"
        for vectors in ("minilm", "static"):
            index = Path(folder) / vectors
            _write(dump, before)
            first = _seconds(dump, index, vectors)
            _write(dump, newer(pages, _changed))
            second = _seconds(dump, index, vectors)
            rows.append(Row(f"first build of {len(before):,} pages, {vectors}", f"{first:.1f} s"))
            rows.append(
                Row(
                    f"build of a newer dump, 95 % unchanged, {vectors}: time saved",
                    f"{100 * (1 - second / first):.0f} %",
                    "80 %" if vectors == "minilm" else "",
                )
            )
    return rows


def _changed(page: Page) -> Page:
    return replace(page, text=f"{page.text} It was described anew.")


def _write(dump: Path, pages: Iterable[Page]) -> None:
    with dump.open("wb") as stream:
        for page in pages:
            record = {"id": page.id, "title": page.title, "url": page.url, "text": page.text}
            stream.write(encoded_line(record))


def _seconds(dump: Path, index: Path, vectors: str) -> float:
    command = [sys.executable, "-m", "cli", "index", "build", "--source", f"jsonl:{dump}"]
    started = time.perf_counter()
    subprocess.run(
        [*command, "--to", str(index), "--vectors", vectors],
        cwd=CHECKOUT,
        capture_output=True,
        check=True,
    )
    return time.perf_counter() - started

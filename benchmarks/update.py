"""Building an index of a newer dump, beside building it from nothing."""

from __future__ import annotations

import subprocess
import sys
import tempfile
import time
from pathlib import Path

from benchmarks.row import Row
from retrieval.corpora.corpus import Page, readable_pages
from retrieval.corpora.json_lines import encoded_line
from retrieval.corpora.sources import open_corpus
from settings import CHECKOUT

PAGES = 5_000
# Of 100 pages one is gone, one is new, and three have another sentence: 95 are unchanged.
GONE, NEW, CHANGED = {20}, {50}, {10, 40, 70}


def measure() -> list[Row]:
    """Build an index of pages of ``vital``, and then of a newer version of the same pages."""
    pages = list(readable_pages(open_corpus("vital")))[:PAGES]
    older = [page for number, page in enumerate(pages) if number % 100 not in NEW]
    newer = [
        f"{page.text} It was described anew." if number % 100 in CHANGED else page.text
        for number, page in enumerate(pages)
    ]
    rows = []
    with tempfile.TemporaryDirectory() as folder:
        dump = Path(folder) / "dump.jsonl"
        for vectors in ("minilm", "static"):
            index = Path(folder) / vectors
            _write(dump, older, [page.text for page in older])
            first = _seconds(dump, index, vectors)
            kept = [n for n in range(len(pages)) if n % 100 not in GONE]
            _write(dump, [pages[n] for n in kept], [newer[n] for n in kept])
            second = _seconds(dump, index, vectors)
            rows.append(Row(f"first build of {len(older):,} pages, {vectors}", f"{first:.1f} s"))
            rows.append(
                Row(
                    f"build of a newer dump, 95 % unchanged, {vectors}: time saved",
                    f"{100 * (1 - second / first):.0f} %",
                    "80 %" if vectors == "minilm" else "",
                )
            )
    return rows


def _write(dump: Path, pages: list[Page], texts: list[str]) -> None:
    with dump.open("wb") as stream:
        for page, text in zip(pages, texts, strict=True):
            record = {"id": page.id, "title": page.title, "url": page.url, "text": text}
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

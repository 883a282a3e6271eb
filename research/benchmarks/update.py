"""Building an index of a newer dump, compared with building it from nothing.

If ``ESOTERIC_STORE`` is on Elasticsearch, the same is measured there, in indexes of their own.
"""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterable
from dataclasses import replace
from pathlib import Path

from research.benchmarks.elastic.builds import remove
from research.benchmarks.newer_dump import newer, older
from research.benchmarks.row import Row
from retrieval.corpora.corpus import Page, readable_pages
from retrieval.corpora.json_lines import encoded_line
from retrieval.corpora.sources import open_corpus
from retrieval.index.elastic.location import ElasticLocation
from settings import CHECKOUT, Settings

PAGES = 5_000
VECTORS = ("minilm", "static")


def measure() -> list[Row]:
    """Build an index of pages of ``vital``, and then of a newer version of the same pages."""
    pages = list(readable_pages(open_corpus("vital")))[:PAGES]
    settings = Settings.from_environment()
    rows = []
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        for vectors in VECTORS:
            rows += _compared(pages, folder, str(folder / vectors), vectors, vectors)
            if isinstance(settings.store, ElasticLocation):
                store = f"{os.environ['ESOTERIC_STORE'].rstrip('/')}-update"
                location = ElasticLocation.read(store, settings.store_api_key, settings.store_ca)
                what = f"{vectors}, Elasticsearch"
                remove(location)
                rows += _compared(pages, folder, store, vectors, what)
                remove(location)
    return rows


def _compared(pages: list[Page], folder: Path, store: str, vectors: str, what: str) -> list[Row]:
    """Build an index of the older pages and then of the newer ones at the same store."""
    dump = folder / "dump.jsonl"
    before = list(older(pages))
    _write(dump, before)
    first = _seconds(dump, store, vectors)
    _write(dump, newer(pages, _changed))
    second = _seconds(dump, store, vectors)
    return [
        Row(f"first build of {len(before):,} pages, {what}", f"{first:.1f} s"),
        Row(
            f"build of a newer dump, 95 % unchanged, {what}: time saved",
            f"{100 * (1 - second / first):.0f} %",
            "80 %" if vectors == "minilm" else "",
        ),
    ]


def _changed(page: Page) -> Page:
    return replace(page, text=f"{page.text} It was described anew.")


def _write(dump: Path, pages: Iterable[Page]) -> None:
    with dump.open("wb") as stream:
        for page in pages:
            record = {"id": page.id, "title": page.title, "url": page.url, "text": page.text}
            stream.write(encoded_line(record))


def _seconds(dump: Path, store: str, vectors: str) -> float:
    command = [sys.executable, "-m", "cli", "index", "build", "--source", f"jsonl:{dump}"]
    started = time.perf_counter()
    subprocess.run(
        [*command, "--to", store, "--vectors", vectors],
        cwd=CHECKOUT,
        capture_output=True,
        check=True,
    )
    return time.perf_counter() - started

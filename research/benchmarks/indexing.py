"""Sentences and indexes: the splitter, a first build, and the build of a newer dump."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterable, Iterator
from dataclasses import replace
from pathlib import Path

from cli.index import build_with_progress
from research.benchmarks.row import HOME, Row
from retrieval.corpora.corpus import Page, readable_pages
from retrieval.corpora.json_lines import encoded_line
from retrieval.corpora.sources import open_corpus
from retrieval.index.elastic.cluster import Cluster
from retrieval.index.elastic.location import ElasticLocation
from retrieval.index.elastic.versions import Versions
from retrieval.text.sentence_splitter import SentenceSplitter, boundaries, bounds_of, load_senter
from settings import CHECKOUT, Settings

SPLIT_ROUNDS = 3


def splitting() -> list[Row]:
    """Split all of ``vital`` by the sentence splitter and by spaCy's ``senter`` alone.

    Times are processor times, so that other programs matter little.
    """
    texts = [page.text for page in readable_pages(open_corpus("vital"))]
    splitter = SentenceSplitter()
    split = list(splitter.split(texts))  # loads spaCy
    rates: list[float] = []
    for _ in range(SPLIT_ROUNDS):
        started = time.process_time()
        split = list(splitter.split(texts))
        rates.append(len(texts) / (time.process_time() - started))
    started = time.process_time()
    by_senter = _by_senter(texts)
    senter_rate = len(texts) / (time.process_time() - started)
    rate = sorted(rates)[SPLIT_ROUNDS // 2]
    same = sum(ours == theirs for ours, theirs in zip(split, by_senter, strict=True))
    return [
        Row("pages split a second of processor time", f"{rate:,.0f}", "3,000"),
        Row("pages split so by spaCy's `senter` alone", f"{senter_rate:,.0f}"),
        Row(
            f"pages with the same sentences as by `senter` alone, of {len(texts):,}",
            f"{100 * same / len(texts):.2f} %",
            "99.5 %",
        ),
        Row("possible boundaries left to `senter`", f"{100 * _left_over(texts):.1f} %"),
    ]


def _by_senter(texts: list[str]) -> list[list[tuple[int, int]]]:
    documents = load_senter().pipe(texts, batch_size=64)
    return [
        bounds_of(text, [sentence.start_char for sentence in document.sents])
        for text, document in zip(texts, documents, strict=True)
    ]


def _left_over(texts: list[str]) -> float:
    read = [boundaries(text) for text in texts]
    clear = sum(len(starts) for starts, _ in read)
    unclear = sum(len(stretch.unclear) for _, stretches in read for stretch in stretches)
    return unclear / (clear + unclear)


def index() -> list[Row]:
    """Build ``vital`` once into an empty folder; the other benchmarks use it."""
    shutil.rmtree(HOME / "index", ignore_errors=True)
    started = time.monotonic()
    info = build_with_progress("vital", HOME / "index")
    seconds = time.monotonic() - started
    size = f"{info.documents} documents, {info.sentences} sentences, {info.bytes / 1e6:.0f} MB"
    return [Row(f"index of `vital` ({size})", f"{seconds:.0f} s", "180 s")]


PAGES = 5_000
VECTORS = ("minilm", "static")
# Of 100 pages of the newer dump one is gone, one is new, and three have another sentence.
GONE, NEW, CHANGED = {20}, {50}, {10, 40, 70}


def update() -> list[Row]:
    """Build an index of pages of ``vital``, and then of a newer version of the same pages.

    If ``ESOTERIC_STORE`` is on Elasticsearch, the same is measured there, in indexes of their own.
    """
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
                _remove(location)
                rows += _compared(pages, folder, store, vectors, what)
                _remove(location)
    return rows


def _compared(pages: list[Page], folder: Path, store: str, vectors: str, what: str) -> list[Row]:
    """Build an index of the older pages and then of the newer ones at the same store."""
    dump = folder / "dump.jsonl"
    before = [page for number, page in enumerate(pages) if number % 100 not in NEW]
    _write(dump, before)
    first = _seconds(dump, store, vectors)
    _write(dump, _newer(pages))
    second = _seconds(dump, store, vectors)
    return [
        Row(f"first build of {len(before):,} pages, {what}", f"{first:.1f} s"),
        Row(
            f"build of a newer dump, 95 % unchanged, {what}: time saved",
            f"{100 * (1 - second / first):.0f} %",
            "80 %" if vectors == "minilm" else "",
        ),
    ]


def _newer(pages: Iterable[Page]) -> Iterator[Page]:
    for number, page in enumerate(pages):
        if number % 100 in CHANGED:
            yield replace(page, text=f"{page.text} It was described anew.")
        elif number % 100 not in GONE:
            yield page


def _remove(location: ElasticLocation) -> None:
    """Remove an index, so that the next build neither continues an earlier one nor updates it."""
    cluster = Cluster(location)
    for version in Versions(cluster, Path()).all():
        cluster.patient.indices.delete(index=version.name)


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

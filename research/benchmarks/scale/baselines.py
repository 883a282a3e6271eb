"""Other systems that find documents, with the same pages and claims."""

from __future__ import annotations

import json
import re
import signal
import sqlite3
import subprocess
import sys
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from research.benchmarks.row import percentile, resident_megabytes
from research.benchmarks.scale.serving import decided
from retrieval.corpora.corpus import readable_pages
from retrieval.corpora.wiki.fever import FeverCorpus
from settings import CHECKOUT

FOUND = 20
ASKED = 30  # claims: the slowest takes seconds for each
DIMENSIONS = 384  # of a vector, as the encoders make
_WORD = re.compile(r"\w+")


def fts5(folder: Path, claims: Path) -> dict[str, Any]:
    """SQLite's full-text search, as in the report's version 1.3: any word of the claim, by BM25."""
    path = folder / "fts5.sqlite"
    path.unlink(missing_ok=True)
    started = time.monotonic()
    with sqlite3.connect(path) as database:
        database.execute("PRAGMA journal_mode = OFF")
        database.execute("CREATE VIRTUAL TABLE pages USING fts5(title, text)")
        pages = readable_pages(FeverCorpus(folder / "pages"))
        database.executemany(
            "INSERT INTO pages VALUES (?, ?)", ((page.title, _text(page)) for page in pages)
        )
        database.commit()
        seconds = time.monotonic() - started
        asked = []
        for claim in decided(claims)[:ASKED]:
            query = " OR ".join(f'"{word}"' for word in _words(claim.text))
            begun = time.perf_counter()
            database.execute(
                "SELECT rowid FROM pages WHERE pages MATCH ? ORDER BY rank LIMIT ?", (query, FOUND)
            ).fetchall()
            asked.append(time.perf_counter() - begun)
    figures = {"seconds": seconds, "gigabytes": path.stat().st_size / 1e9, **_times(asked)}
    path.unlink()
    return figures


def bm25s(folder: Path, claims: Path) -> dict[str, Any]:
    """bm25s: all scores precomputed, in memory."""
    import bm25s

    started = time.monotonic()
    vocabulary: dict[str, int] = {}
    rows = [
        [
            vocabulary.setdefault(word, len(vocabulary))
            for word in _WORD.findall(_text(page).lower())
        ]
        for page in readable_pages(FeverCorpus(folder / "pages"))
    ]
    index = bm25s.BM25()
    index.index((rows, vocabulary), show_progress=False)
    seconds = time.monotonic() - started
    del rows
    asked = []
    for claim in decided(claims)[:ASKED]:
        words = [word for word in _words(claim.text) if word in vocabulary]
        begun = time.perf_counter()
        index.retrieve([words], k=FOUND, show_progress=False)
        asked.append(time.perf_counter() - begun)
    return {"seconds": seconds, **_times(asked)}


def exact(folder: Path, _: Path) -> dict[str, Any]:
    """A float32 vector of each document in memory, all compared with the claim's.

    The vectors are random: their values do not change the time.
    """
    documents = json.loads((folder / "lexical.json").read_text(encoding="utf-8"))["documents"]
    random = np.random.default_rng(0)
    started = time.monotonic()
    vectors = random.standard_normal((documents, DIMENSIONS), dtype=np.float32)
    seconds = time.monotonic() - started
    asked = []
    for query in random.standard_normal((ASKED, DIMENSIONS), dtype=np.float32):
        begun = time.perf_counter()
        near = vectors @ query
        np.argpartition(near, -min(FOUND, len(near)))[-FOUND:]
        asked.append(time.perf_counter() - begun)
    return {"seconds": seconds, **_times(asked)}


def _times(asked: list[float]) -> dict[str, float]:
    return {
        "p50": percentile(asked, 50),
        "p95": percentile(asked, 95),
        "megabytes": resident_megabytes("self"),
    }


def _text(page: Any) -> str:
    return " ".join(sentence for sentence in page.sentences if sentence)


def _words(text: str) -> list[str]:
    return list(dict.fromkeys(_WORD.findall(text.lower())))


_HERE: dict[str, Callable[[Path, Path], dict[str, Any]]] = {
    "fts5": fts5,
    "bm25s": bm25s,
    "exact": exact,
}


def _apart(name: str, folder: Path, claims: Path) -> dict[str, Any]:
    """Measure in a separate process, which frees its memory at the end.

    A system for which memory was too small has no figures.
    """
    command = [
        sys.executable,
        "-m",
        "research.benchmarks.scale.baselines",
        name,
        str(folder),
        str(claims),
    ]
    done = subprocess.run(command, cwd=CHECKOUT, stdout=subprocess.PIPE, check=False)
    if done.returncode == -signal.SIGKILL:
        return {}
    done.check_returncode()
    figures: dict[str, Any] = json.loads(done.stdout)
    return figures


BASELINES = {name: partial(_apart, name) for name in _HERE}


if __name__ == "__main__":
    try:
        measured = _HERE[sys.argv[1]](Path(sys.argv[2]), Path(sys.argv[3]))
    except MemoryError:
        measured = {}
    print(json.dumps(measured))

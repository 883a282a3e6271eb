"""Measures time and memory of the builds, each in a separate process."""

from __future__ import annotations

import shutil
import subprocess
import sys
import threading
import time
from pathlib import Path
from typing import Any

from retrieval.index.embedded.embedded_index import EmbeddedIndex, unfinished
from settings import CHECKOUT

_EVERY = 0.2  # seconds between two measurements of memory
_MOST_FOR_TRANSFORMER = 10_000  # pages; with more it takes hours, at the same rate


def make_pages(folder: Path, size: int, around: Path) -> dict[str, Any]:
    """Write synthetic pages, with the real ones among them."""
    pages = folder / "pages"
    pages.mkdir(exist_ok=True)
    for path in around.glob("*.jsonl"):
        shutil.copy(path, pages / path.name)
    if size == 0:
        return {"pages": "none synthetic"}
    options = ["--pages", str(size), "--out", str(pages), "--around", str(around)]
    return timed(
        [sys.executable, str(CHECKOUT / "research" / "benchmarks" / "make_corpus.py"), *options]
    )


def lexical(folder: Path) -> dict[str, Any]:
    """Build an index without vectors."""
    return _without_vectors(folder, folder / "index")


def vectors(folder: Path) -> dict[str, Any]:
    """Add the static encoder's vectors; results of an earlier try are removed first."""
    index = folder / "index"
    if EmbeddedIndex(index).open(None).info().encoder or unfinished(index):
        _without_vectors(folder, index)
    return _indexed(index, ["index", "encode", "--vectors", "static"])


def transformer(folder: Path, size: int) -> dict[str, Any]:
    """Add the transformer's vectors to another index of these pages, if it does not take hours."""
    if size > _MOST_FOR_TRANSFORMER:
        return {}
    index = folder / "transformer"
    _without_vectors(folder, index)
    figures = _indexed(index, ["index", "encode", "--vectors", "minilm"])
    shutil.rmtree(index)
    return figures


def _without_vectors(folder: Path, index: Path) -> dict[str, Any]:
    shutil.rmtree(index, ignore_errors=True)
    pages = f"fever:{folder / 'pages'}"
    return _indexed(index, ["index", "build", "--vectors", "none", "--source", pages])


def _indexed(index: Path, command: list[str]) -> dict[str, Any]:
    figures = timed([sys.executable, "-m", "cli", *command, "--to", str(index)])
    files = {p.stat().st_ino: p.stat().st_size for p in index.rglob("*") if p.is_file()}
    documents = EmbeddedIndex(index).open(None).info().documents
    return figures | {"gigabytes": sum(files.values()) / 1e9, "documents": documents}


def timed(command: list[str]) -> dict[str, Any]:
    """Run a command; return its seconds and the peak memory of it and its children together."""
    started = time.monotonic()
    with subprocess.Popen(command, cwd=CHECKOUT, stdout=subprocess.DEVNULL) as process:
        most = [0.0]
        watching = threading.Thread(target=_watch, args=(process.pid, most), daemon=True)
        watching.start()
        code = process.wait()
    if code:
        raise SystemExit(f"{' '.join(command)} failed.")
    return {"seconds": time.monotonic() - started, "megabytes": most[0]}


def _watch(pid: int, most: list[float]) -> None:
    while Path(f"/proc/{pid}").exists():
        most[0] = max(most[0], _held(pid))
        time.sleep(_EVERY)


def _held(pid: int) -> float:
    """Return the private megabytes of a process and its children (Linux only)."""
    try:
        status = Path(f"/proc/{pid}/status").read_text(encoding="ascii")
        children = Path(f"/proc/{pid}/task/{pid}/children").read_text(encoding="ascii")
    except OSError:  # it has ended
        return 0.0
    own = next((line for line in status.splitlines() if line.startswith("RssAnon:")), ": 0 kB")
    return int(own.split()[1]) / 1024 + sum(_held(int(child)) for child in children.split())

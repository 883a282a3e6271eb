"""``esoteric index``."""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING

import click
from tqdm import tqdm

from cli.errors import printable, reports_errors
from retrieval.errors import BadSource
from retrieval.index.versions import lacks_index
from settings import Settings

if TYPE_CHECKING:
    from retrieval.index.store import IndexInfo


@click.group("index", epilog="Example: esoteric index build --source folder:notes")
def command() -> None:
    """Build an index of a corpus, or describe the one there is."""


@command.command("build", epilog="Example: esoteric index build --source fever:wiki-pages")
@click.option("--source", required=True, help="vital, fever:DIR, jsonl:FILE or folder:DIR.")
@click.option(
    "--if-missing",
    is_flag=True,
    help="Only where there is none, or one of this source that another version built.",
)
@click.option("--to", "store", help="The store; the embedded one in ESOTERIC_HOME by default.")
@reports_errors
def build(source: str, store: str | None, if_missing: bool) -> None:
    """Build the index. Interrupted, it goes on where it stopped; the old one serves meanwhile."""
    folder = Settings.from_environment().index if store is None else _folder_of(store)
    if if_missing and not lacks_index(folder, source):
        click.echo(printable(f"There is an index in {folder}; nothing to do."))
        return
    started = time.monotonic()
    info = build_with_progress(source, folder)
    line = (
        f"{info.name}: {info.documents} documents, {info.sentences} sentences,"
        f" {_megabytes(info.bytes)} in {folder}, {time.monotonic() - started:.0f} s."
    )
    click.echo(printable(line))


@command.command("info", epilog="Example: esoteric index info --json")
@click.option("--json", "as_json", is_flag=True, help="Print one JSON document.")
@reports_errors
def info(as_json: bool) -> None:
    """Say what the index holds: documents, sentences, size on disk, source, when it was built."""
    from retrieval.encoders.minilm_encoder import MiniLMEncoder
    from retrieval.index.embedded_store import EmbeddedStore

    found = EmbeddedStore.open(Settings.from_environment().index, MiniLMEncoder.name).info()
    if as_json:
        click.echo(json.dumps(asdict(found)))
        return
    for label, value in (
        ("name", found.name),
        ("source", found.source),
        ("documents", str(found.documents)),
        ("sentences", str(found.sentences)),
        ("size", _megabytes(found.bytes)),
        ("built at", found.built_at),
        ("encoder", found.encoder),
        ("checksum", found.checksum),
    ):
        click.echo(f"{label:10} {printable(value)}")


def build_with_progress(source: str, folder: Path) -> IndexInfo:
    """Build an index of ``source`` below ``folder`` with a progress bar on standard error.

    Raises what ``retrieval.index.builder.build_index`` and ``open_corpus`` raise.
    """
    from retrieval.corpora.sources import open_corpus

    corpus = open_corpus(source)

    from retrieval.encoders.minilm_encoder import MiniLMEncoder
    from retrieval.index.builder import build_index

    with _progress_bar(printable(f"Indexing {corpus.name}")) as on_progress:
        return build_index(corpus, MiniLMEncoder(), folder, on_progress)


@contextmanager
def _progress_bar(label: str) -> Iterator[Callable[[int, int], None]]:
    with tqdm(desc=label, unit=" documents", total=0, disable=None) as bar:

        def on_progress(done: int, of: int) -> None:
            bar.total = of
            bar.update(done - bar.n)

        yield on_progress


def _folder_of(store: str) -> Path:
    if not store:
        raise BadSource("store_unknown", "--to names nothing.", "Name a folder, or leave it out.")
    if "://" in store:
        kind = store.partition("://")[0]
        raise BadSource(
            "store_unknown",
            f"This version has no {kind} store.",
            "Leave out --to for the embedded one, or name a folder.",
        )
    return Path(store).expanduser().resolve()


def _megabytes(size: int) -> str:
    return f"{size / 1e6:.1f} MB"

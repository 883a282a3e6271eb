"""``esoteric index``."""

from __future__ import annotations

import json
import time
from collections.abc import Callable
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING

import click

from cli.errors import printable, reports_errors
from cli.index_bar import IndexBar
from retrieval.errors import BadSource
from retrieval.index.versions import BAD_PAGES, lacks_index
from settings import Settings

if TYPE_CHECKING:
    from retrieval.corpora.corpus import Corpus
    from retrieval.index.builder import Build
    from retrieval.index.embedded_store import EmbeddedStore
    from retrieval.index.store import IndexInfo


_STORE = click.option(
    "--to", "store", help="The store; the embedded one in ESOTERIC_HOME by default."
)
_SOURCE = click.option(
    "--source", required=True, help="vital, fever:DIR (or its zip), jsonl:FILE or folder:DIR."
)


@click.group("index", epilog="Example: esoteric index build --source folder:notes")
def command() -> None:
    """Build an index of a corpus, change it, describe or verify it."""


@command.command("build", epilog="Example: esoteric index build --source fever:wiki-pages")
@_SOURCE
@click.option(
    "--if-missing",
    is_flag=True,
    help="Only where there is none, or one of this source that another version built.",
)
@_STORE
@reports_errors
def build(source: str, store: str | None, if_missing: bool) -> None:
    """Build the index. Interrupted, it goes on where it stopped; the old one serves meanwhile."""
    folder = _folder_of(store)
    if if_missing and not lacks_index(folder, source):
        click.echo(printable(f"There is an index in {folder}; nothing to do."))
        return
    started = time.monotonic()
    _tell(build_with_progress(source, folder), folder, started)


@command.command("add", epilog="Example: esoteric index add --source jsonl:more.jsonl")
@_SOURCE
@_STORE
@reports_errors
def add(source: str, store: str | None) -> None:
    """Add pages to the index; a page takes the place of the one with its id."""
    from retrieval.index.builder import add_to_index

    folder = _folder_of(store)
    started = time.monotonic()
    _tell(_with_progress(add_to_index, source, folder), folder, started)


@command.command("remove", epilog="Example: esoteric index remove Mary_Shelley Sputnik_1")
@click.argument("ids", nargs=-1, required=True, metavar="ID...")
@_STORE
@reports_errors
def remove(ids: tuple[str, ...], store: str | None) -> None:
    """Take documents out of the index: all of those named, or none if one is not there."""
    from retrieval.encoders.minilm_encoder import MiniLMEncoder
    from retrieval.index.builder import remove_from_index

    folder = _folder_of(store)
    started = time.monotonic()
    _tell(remove_from_index(ids, folder, MiniLMEncoder.name), folder, started)


@command.command("verify", epilog="Example: esoteric index verify")
@_STORE
@reports_errors
def verify(store: str | None) -> None:
    """Read all of the index and compare it with what was built."""
    found = _opened(_folder_of(store))
    found.verify()
    info = found.info()
    click.echo(printable(f"{info.name}: whole, {_megabytes(info.bytes)}, checksum {info.checksum}"))


@command.command("info", epilog="Example: esoteric index info --json")
@click.option("--json", "as_json", is_flag=True, help="Print one JSON document.")
@_STORE
@reports_errors
def info(as_json: bool, store: str | None) -> None:
    """Say what the index holds: documents, sentences, size on disk, source, when it was built."""
    found = _opened(_folder_of(store)).info()
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
        ("bad pages", str(found.bad_pages)),
    ):
        click.echo(f"{label:10} {printable(value)}")


def build_with_progress(source: str, folder: Path) -> IndexInfo:
    """Build an index of ``source`` below ``folder`` with a progress bar on standard error.

    Raises what ``retrieval.index.builder.build_index`` and ``open_corpus`` raise.
    """
    from retrieval.index.builder import build_index

    return _with_progress(build_index, source, folder)


def _with_progress(
    change: Callable[[Corpus, Build], IndexInfo], source: str, folder: Path
) -> IndexInfo:
    from retrieval.corpora.sources import open_corpus

    corpus = open_corpus(source)

    from retrieval.encoders.minilm_encoder import MiniLMEncoder
    from retrieval.index.builder import Build

    bar = IndexBar(printable(f"Indexing {corpus.name}"))
    threads = Settings.from_environment().threads
    try:
        return change(corpus, Build(folder, MiniLMEncoder(), threads, bar.show))
    finally:
        bar.close()


def _tell(info: IndexInfo, folder: Path, started: float) -> None:
    """Print what there is now, and what could not be read of the source."""
    line = (
        f"{info.name}: {info.documents} documents, {info.sentences} sentences,"
        f" {_megabytes(info.bytes)} in {folder}, {time.monotonic() - started:.0f} s."
    )
    click.echo(printable(line))
    if info.bad_pages:
        listed = folder / "current" / BAD_PAGES
        with listed.open(encoding="utf-8") as stream:
            first = stream.readline().strip()
        pages = "1 page" if info.bad_pages == 1 else f"{info.bad_pages} pages"
        click.echo(
            printable(f"{pages} could not be read and left out: {first} See {listed}."), err=True
        )


def _opened(folder: Path) -> EmbeddedStore:
    from retrieval.encoders.minilm_encoder import MiniLMEncoder
    from retrieval.index.embedded_store import EmbeddedStore

    return EmbeddedStore.open(folder, MiniLMEncoder.name)


def _folder_of(store: str | None) -> Path:
    if store is None:
        return Settings.from_environment().index
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

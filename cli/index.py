"""``esoteric index``."""

from __future__ import annotations

import json
import shlex
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import asdict
from functools import wraps
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from cli.errors import printable, reports_errors
from cli.index_bar import IndexBar
from retrieval.elastic.location import ElasticLocation
from retrieval.encoders.document_encoders import (
    DEFAULT_ENCODER,
    DOCUMENT_ENCODERS,
    NO_ENCODER,
)
from retrieval.errors import BadSource, IndexUnavailable
from retrieval.open_index import IndexLocation, open_index
from settings import Settings

if TYPE_CHECKING:
    from retrieval.encoders.encoder import DocumentEncoder
    from retrieval.index.store import Index, IndexInfo, ProgressListener

_STORE = click.option(
    "--to",
    "store",
    help="The store: a folder, or elasticsearch://HOST:PORT/INDEX; ESOTERIC_STORE by default.",
)
_SOURCE = click.option(
    "--source", required=True, help="vital, fever:DIR (or its zip), jsonl:FILE or folder:DIR."
)

_VECTORS = click.option(
    "--vectors",
    type=click.Choice([*DOCUMENT_ENCODERS, NO_ENCODER]),
    default=DEFAULT_ENCODER,
    show_default=True,
    help="What encodes the documents: minilm best, static much sooner, dpr for the recipe report"
    " alone, none not yet (see: esoteric index encode).",
)


def _at_the_store(command: Callable[..., None]) -> Callable[..., None]:
    """Give the command the location of the store that was named.

    And make the command that a hint ends with one about this store. A hint that ends with a
    full stop ends with no command.
    """

    @wraps(command)
    def wrapper(store: str | None, **arguments: Any) -> None:
        location = _location_of(store)
        try:
            command(location=location, **arguments)
        except IndexUnavailable as error:
            if store is None or error.hint.endswith("."):
                raise
            # The URL as it was written may hold a password.
            named = store if isinstance(location, Path) else str(location)
            hint = f"{error.hint} --to {shlex.quote(named)}"
            raise IndexUnavailable(error.code, error.message, hint) from error

    return wrapper


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
@_VECTORS
@_STORE
@reports_errors
@_at_the_store
def build(source: str, vectors: str, location: IndexLocation, if_missing: bool) -> None:
    """Build the index. Interrupted, it goes on where it stopped; the old one serves meanwhile."""
    from retrieval.corpora.sources import written_out

    index = _index(location)
    if if_missing and not index.lacks(written_out(source)):
        click.echo(printable(f"There is an index in {location}; nothing to do."))
        return
    started = time.monotonic()
    info = build_with_progress(source, location, vectors)
    _tell(info, location, started)
    _tell_left_out(info, index)


@command.command("add", epilog="Example: esoteric index add --source jsonl:more.jsonl")
@_SOURCE
@_STORE
@reports_errors
@_at_the_store
def add(source: str, location: IndexLocation) -> None:
    """Add pages to the index; a page takes the place of the one with its id."""
    from retrieval.corpora.sources import open_corpus
    from retrieval.encoders.document_encoders import encoder_of

    index = _index(location)
    started = time.monotonic()
    corpus = open_corpus(source)
    encoder = encoder_of(index.open(None).info().encoder, Settings.from_environment().report_models)
    with _bar(f"Indexing {corpus.name}") as on_progress:
        info = index.add(corpus, encoder, on_progress)
    _tell(info, location, started)
    _tell_left_out(info, index)


@command.command("encode", epilog="Example: esoteric index encode --vectors static")
@click.option(
    "--vectors",
    type=click.Choice([*DOCUMENT_ENCODERS]),
    default=DEFAULT_ENCODER,
    show_default=True,
    help="What encodes the documents: minilm best, static much sooner, dpr for the recipe report"
    " alone.",
)
@_STORE
@reports_errors
@_at_the_store
def encode(vectors: str, location: IndexLocation) -> None:
    """Give all documents vectors, or others; the index serves meanwhile, with what it has."""
    started = time.monotonic()
    with _bar("Vectors") as on_progress:
        info = _index(location).encode(_encoder(vectors), on_progress)
    _tell(info, location, started)


@command.command("remove", epilog="Example: esoteric index remove Mary_Shelley Sputnik_1")
@click.argument("ids", nargs=-1, required=True, metavar="ID...")
@_STORE
@reports_errors
@_at_the_store
def remove(ids: tuple[str, ...], location: IndexLocation) -> None:
    """Take documents out of the index: all of those named, or none if one is not there."""
    started = time.monotonic()
    _tell(_index(location).remove(ids), location, started)


@command.command("verify", epilog="Example: esoteric index verify")
@_STORE
@reports_errors
@_at_the_store
def verify(location: IndexLocation) -> None:
    """Read all of the index and compare it with what was built."""
    index = _index(location)
    info = index.open(None).info()
    index.verify()
    click.echo(printable(f"{info.name}: whole, {_megabytes(info.bytes)}, checksum {info.checksum}"))


@command.command("prune", epilog="Example: esoteric index prune")
@_STORE
@reports_errors
@_at_the_store
def prune(location: IndexLocation) -> None:
    """Remove older versions and unfinished work of the index."""
    removed = _index(location).prune()
    for name in removed:
        click.echo(printable(f"Removed: {name}"))
    if not removed:
        click.echo(printable(f"There was nothing to remove in {location}."))


@command.command("info", epilog="Example: esoteric index info --json")
@click.option("--json", "as_json", is_flag=True, help="Print one JSON document.")
@_STORE
@reports_errors
@_at_the_store
def info(as_json: bool, location: IndexLocation) -> None:
    """Say what the index holds: documents, sentences, size on disk, source, when it was built."""
    index = _index(location)
    try:
        found = index.open(None).info()
    except IndexUnavailable:
        _tell_begun(index)
        raise
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
        ("vectors", found.encoder or "none; index encode makes them"),
        ("checksum", found.checksum),
        ("bad pages", str(found.bad_pages)),
        ("superseded", str(found.superseded)),
    ):
        click.echo(f"{label:10} {printable(value)}")
    _tell_begun(index)


def build_with_progress(
    source: str, location: IndexLocation, vectors: str = DEFAULT_ENCODER
) -> IndexInfo:
    """Build an index of ``source`` at ``location`` with a progress bar on standard error.

    Raises what ``Index.build`` and ``open_corpus`` raise.
    """
    from retrieval.corpora.sources import open_corpus

    corpus = open_corpus(source)
    encoder = None if vectors == NO_ENCODER else _encoder(vectors)
    with _bar(f"Indexing {corpus.name}") as on_progress:
        return _index(location).build(corpus, encoder, on_progress)


@contextmanager
def _bar(label: str) -> Iterator[ProgressListener]:
    bar = IndexBar(printable(label))
    try:
        yield bar.show
    finally:
        bar.close()


def _encoder(vectors: str) -> DocumentEncoder:
    return DOCUMENT_ENCODERS[vectors](Settings.from_environment().report_models)


def _index(location: IndexLocation) -> Index:
    from retrieval.networks import runtime

    settings = Settings.from_environment()
    runtime.keep_in(settings.model_folders.networks)
    return open_index(location, settings.snapshots, settings.threads)


def _tell(info: IndexInfo, location: IndexLocation, started: float) -> None:
    """Print what there is now."""
    line = (
        f"{info.name}: {_count(info.documents, 'document')}, {_count(info.sentences, 'sentence')},"
        f" {_megabytes(info.bytes)} in {location}, {time.monotonic() - started:.0f} s."
    )
    click.echo(printable(line))


def _tell_left_out(info: IndexInfo, index: Index) -> None:
    """Print what is not found of the source that was just read."""
    if info.bad_pages:
        bad = index.bad_pages()
        pages = _count(info.bad_pages, "page")
        where = f" See {bad.listed_in}." if bad.listed_in else ""
        line = f"{pages} could not be read and left out: {bad.first}{where}"
        click.echo(printable(line), err=True)
    if info.superseded:
        pages = _count(info.superseded, "page")
        click.echo(f"{pages} had the id of a later one, which counts.", err=True)


def _tell_begun(index: Index) -> None:
    for line in index.unfinished():
        click.echo(printable(line), err=True)


def _location_of(store: str | None) -> IndexLocation:
    settings = Settings.from_environment()
    if store is None:
        return settings.store
    if not store:
        raise BadSource("store_unknown", "--to names nothing.", "Name a folder, or leave it out.")
    if "://" in store:
        try:
            return ElasticLocation.read(store, settings.store_api_key, settings.store_ca)
        except ValueError as error:
            # The URL may hold a password, so it is not shown.
            raise BadSource(
                "store_unknown",
                f"--to cannot be used: {error}.",
                "Name a folder, or elasticsearch://HOST:PORT/INDEX.",
            ) from error
    try:
        return Path(store).expanduser().resolve()
    except RuntimeError as error:
        raise BadSource("store_unknown", f"{error}.", "Write the folder out.") from error


def _count(number: int, of: str) -> str:
    return f"{number} {of}{'' if number == 1 else 's'}"


def _megabytes(size: int) -> str:
    return f"{size / 1e6:.1f} MB"

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

from cli.errors import printable, reports_errors, say
from cli.options import json_option
from cli.progress import IndexBar
from retrieval.errors import BadSource, IndexUnavailable
from retrieval.index.elastic.location import ElasticLocation
from retrieval.index.open import IndexLocation, open_index
from retrieval.models.document_encoders import (
    DEFAULT_ENCODER,
    DOCUMENT_ENCODERS,
    NO_ENCODER,
    OWN_ENCODER,
    default_choice,
)
from settings import Settings

if TYPE_CHECKING:
    from retrieval.corpora.corpus import Corpus
    from retrieval.index.interface import Index, IndexInfo, ProgressListener
    from retrieval.models.encoders import DocumentEncoder

_STORE = click.option(
    "--to",
    "store",
    help="The store: a folder, or elasticsearch://HOST:PORT/INDEX; ESOTERIC_STORE by default.",
)
_SOURCE = click.option(
    "--source",
    required=True,
    help="vital; fever:DIR (or its zip); jsonl:FILE; folder:DIR (texts, web pages, PDF, Office"
    " files, books and mails, in all subfolders); zim:FILE (of Kiwix); cirrus:PATH (a dump of"
    " Wikimedia's search index); parquet:PATH (Parquet or Arrow files).",
)
_FIELDS = click.option(
    "--fields",
    default="",
    metavar="PART=NAME,...",
    help="For jsonl and parquet: the keys or columns that hold id, title, text and url, where they"
    " have other names, as id=_id,text=contents.",
)

_DEFAULT = f"[default: {DEFAULT_ENCODER}, or {OWN_ENCODER} where ESOTERIC_ENCODER is set]"
_VECTORS = click.option(
    "--vectors",
    type=click.Choice([*DOCUMENT_ENCODERS, NO_ENCODER]),
    help="What encodes the documents: minilm (best), static (much faster), dpr (only for"
    " the recipes report and card), own (ESOTERIC_ENCODER), none (no vectors yet; see: esoteric"
    f" index encode). {_DEFAULT}",
)

_WHOLE = click.option(
    "--whole",
    is_flag=True,
    help="For zim and cirrus: read whole articles, not only their introductions.",
)
_PASSWORD = click.option(
    "--password", help="Opens the encrypted PDF files of folder:DIR. It is not stored."
)


def _at_the_store(command: Callable[..., None]) -> Callable[..., None]:
    """Pass the location of the named store to the command.

    If the hint of an error ends with a command, add the option --to with this store to it. A hint
    that ends with a full stop does not end with a command.
    """

    @wraps(command)
    def wrapper(store: str | None, **arguments: Any) -> None:
        location = _location_of(store)
        try:
            command(location=location, **arguments)
        except IndexUnavailable as error:
            if store is None or error.hint.endswith("."):
                raise
            # The URL as typed may contain a password.
            named = store if isinstance(location, Path) else str(location)
            hint = f"{error.hint} --to {shlex.quote(named)}"
            raise IndexUnavailable(error.code, error.message, hint) from error

    return wrapper


@click.group("index", epilog="Example: esoteric index build --source folder:notes")
def command() -> None:
    """Build an index of a corpus; change, describe or verify it."""


@command.command("build", epilog="Example: esoteric index build --source fever:wiki-pages")
@_SOURCE
@_WHOLE
@_FIELDS
@click.option(
    "--if-missing",
    is_flag=True,
    help="Build only if there is no index, or one of this source by another version.",
)
@_VECTORS
@_PASSWORD
@_STORE
@reports_errors
@_at_the_store
def build(
    source: str,
    whole: bool,
    fields: str,
    vectors: str | None,
    password: str | None,
    location: IndexLocation,
    if_missing: bool,
) -> None:
    """Build the index, or continue an interrupted build; the old index stays in use meanwhile."""
    from retrieval.corpora.sources import of_whole_articles, written_out

    source = of_whole_articles(source) if whole else source
    index = _index(location)
    if if_missing and not index.needs_build(written_out(source)):
        say(f"There is an index in {location} already; nothing to do.", on_output=True)
        return
    started = time.monotonic()
    info = build_with_progress(source, location, vectors, fields, password)
    _print_info(info, location, started)
    _print_left_out(info, index)


@command.command("add", epilog="Example: esoteric index add --source jsonl:more.jsonl")
@_SOURCE
@_WHOLE
@_FIELDS
@_PASSWORD
@_STORE
@reports_errors
@_at_the_store
def add(
    source: str, whole: bool, fields: str, password: str | None, location: IndexLocation
) -> None:
    """Add documents to the index; a document replaces the one with the same id."""
    from retrieval.corpora.records import Fields
    from retrieval.corpora.sources import of_whole_articles, open_corpus
    from retrieval.models.document_encoders import encoder_of

    source = of_whole_articles(source) if whole else source
    index = _index(location)
    started = time.monotonic()
    corpus = open_corpus(source, Fields.read(fields), password)
    _warn_unless_english(corpus)
    encoder = encoder_of(index.open(None).info().encoder, Settings.from_environment().model_folders)
    with _bar(f"Indexing {corpus.name}") as on_progress:
        info = index.add(corpus, encoder, on_progress)
    _print_info(info, location, started)
    _print_left_out(info, index)


@command.command("encode", epilog="Example: esoteric index encode --vectors static")
@click.option(
    "--vectors",
    type=click.Choice([*DOCUMENT_ENCODERS]),
    help="What encodes the documents: minilm (best), static (much faster), dpr (only for"
    f" the recipes report and card), own (ESOTERIC_ENCODER). {_DEFAULT}",
)
@_STORE
@reports_errors
@_at_the_store
def encode(vectors: str | None, location: IndexLocation) -> None:
    """Encode all documents, or encode them anew; the index stays in use meanwhile."""
    started = time.monotonic()
    with _bar("Vectors") as on_progress:
        info = _index(location).encode(_encoder(vectors), on_progress)
    _print_info(info, location, started)


@command.command("remove", epilog="Example: esoteric index remove Mary_Shelley Sputnik_1")
@click.argument("ids", nargs=-1, required=True, metavar="ID...")
@_STORE
@reports_errors
@_at_the_store
def remove(ids: tuple[str, ...], location: IndexLocation) -> None:
    """Remove documents from the index: all named ones, or none if one of them is missing."""
    started = time.monotonic()
    _print_info(_index(location).remove(ids), location, started)


@command.command("verify", epilog="Example: esoteric index verify")
@_STORE
@reports_errors
@_at_the_store
def verify(location: IndexLocation) -> None:
    """Read the whole index and check that it is as it was built."""
    index = _index(location)
    info = index.open(None).info()
    index.verify()
    say(f"{info.name}: whole, {_megabytes(info.bytes)}, checksum {info.checksum}", on_output=True)


@command.command("prune", epilog="Example: esoteric index prune")
@_STORE
@reports_errors
@_at_the_store
def prune(location: IndexLocation) -> None:
    """Remove older versions and unfinished work of the index."""
    removed = _index(location).prune()
    for name in removed:
        say(f"Removed: {name}", on_output=True)
    if not removed:
        say(f"There was nothing to remove in {location}.", on_output=True)


@command.command("info", epilog="Example: esoteric index info --json")
@json_option
@_STORE
@reports_errors
@_at_the_store
def info(as_json: bool, location: IndexLocation) -> None:
    """Describe the index: documents, sentences, size on disk, source, when it was built."""
    index = _index(location)
    try:
        found = index.open(None).info()
    except IndexUnavailable:
        _print_unfinished(index)
        raise
    if as_json:
        click.echo(json.dumps(asdict(found)))
        return
    for label, value in (
        ("name", found.name),
        ("source", found.source),
        ("text of", found.date or "unknown"),
        ("documents", str(found.documents)),
        ("passages", str(found.passages)),
        ("sentences", str(found.sentences)),
        ("size", _megabytes(found.bytes)),
        ("built at", found.built_at),
        ("vectors", found.encoder or "none; index encode makes them"),
        ("checksum", found.checksum),
        ("bad pages", str(found.bad_pages)),
        ("superseded", str(found.superseded)),
    ):
        click.echo(f"{label:10} {printable(value)}")
    _print_unfinished(index)


def build_with_progress(
    source: str,
    location: IndexLocation,
    vectors: str | None = None,
    fields: str = "",
    password: str | None = None,
) -> IndexInfo:
    """Build an index of ``source`` at ``location`` with a progress bar on standard error.

    ``fields``: as ``--fields`` has them.

    Raises what ``Index.build`` and ``open_corpus`` raise.
    """
    from retrieval.corpora.records import Fields
    from retrieval.corpora.sources import open_corpus

    corpus = open_corpus(source, Fields.read(fields), password)
    _warn_unless_english(corpus)
    encoder = None if vectors == NO_ENCODER else _encoder(vectors)
    with _bar(f"Indexing {corpus.name}") as on_progress:
        return _index(location).build(corpus, encoder, on_progress)


def _warn_unless_english(corpus: Corpus) -> None:
    """Warn if a corpus says that it is in another language; some name several, with commas."""
    languages = [language.strip() for language in corpus.language.lower().split(",")]
    if corpus.language and not any(one.split("-")[0] in {"en", "eng"} for one in languages):
        warning = (
            f"Warning: {corpus.name} is in the language {corpus.language!r}. The models read"
            " English, so claims about it will be checked badly."
        )
        say(warning)


@contextmanager
def _bar(label: str) -> Iterator[ProgressListener]:
    bar = IndexBar(printable(label))
    try:
        yield bar.show
    finally:
        bar.close()


def _encoder(vectors: str | None) -> DocumentEncoder:
    folders = Settings.from_environment().model_folders
    return DOCUMENT_ENCODERS[vectors or default_choice(folders)](folders)


def _index(location: IndexLocation) -> Index:
    from retrieval.models import runtime

    settings = Settings.from_environment()
    runtime.keep_in(settings.model_folders.networks)
    return open_index(location, settings.snapshots, settings.threads)


def _print_info(info: IndexInfo, location: IndexLocation, started: float) -> None:
    """Print the size of the index and the time taken."""
    line = (
        f"{info.name}: {_count(info.documents, 'document')}, {_count(info.sentences, 'sentence')},"
        f" {_megabytes(info.bytes)} in {location}, {time.monotonic() - started:.0f} s."
    )
    say(line, on_output=True)


def _print_left_out(info: IndexInfo, index: Index) -> None:
    """Print how many pages of the source were left out."""
    if info.bad_pages:
        bad = index.bad_pages()
        pages = _count(info.bad_pages, "page")
        they = "it" if info.bad_pages == 1 else "they"
        where = f" See {bad.listed_in}." if bad.listed_in else ""
        line = f"{pages} left out, because {they} could not be read: {bad.first}{where}"
        say(line)
    if info.superseded:
        pages = _count(info.superseded, "page")
        click.echo(f"{pages} had the same id as a later one, which is used.", err=True)


def _print_unfinished(index: Index) -> None:
    for line in index.unfinished():
        say(line)


def _location_of(store: str | None) -> IndexLocation:
    settings = Settings.from_environment()
    if store is None:
        return settings.store
    if not store:
        raise BadSource(
            "store_unknown", "The option --to is empty.", "Name a folder, or leave the option out."
        )
    if "://" in store:
        try:
            return ElasticLocation.read(store, settings.store_api_key, settings.store_ca)
        except ValueError as error:
            # The URL may contain a password, so it is not shown.
            raise BadSource(
                "store_unknown",
                f"--to cannot be used: {error}.",
                "Name a folder, or elasticsearch://HOST:PORT/INDEX.",
            ) from error
    try:
        return Path(store).expanduser().resolve()
    except RuntimeError as error:
        raise BadSource(
            "store_unknown", f"{error}.", "Write the full path of the folder."
        ) from error


def _count(number: int, of: str) -> str:
    return f"{number} {of}{'' if number == 1 else 's'}"


def _megabytes(size: int) -> str:
    return f"{size / 1e6:.1f} MB"

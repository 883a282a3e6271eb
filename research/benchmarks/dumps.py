"""Measures how fast an index is built from a ZIM file, a search dump and a Parquet file.

python -m research.benchmarks.dumps [--pages 300000] [--work FOLDER]

All have the same synthetic pages; the Parquet file has whole articles, but only a tenth of them.
The index gets static vectors, and is then updated from a newer dump, of whose pages 95 % are the
same. Prints a table. Needs libzim and pyarrow (requirements-zim.txt, requirements-corpora.txt), and
about 3 GB of disk for 300,000 pages.
"""

from __future__ import annotations

import gzip
import json
import os
import shutil
import sys
import tempfile
from collections.abc import Iterable, Iterator
from contextlib import contextmanager, nullcontext
from dataclasses import replace
from html import escape
from pathlib import Path
from typing import Any, TypeAlias

import click
import pyarrow
from libzim.writer import Creator, Hint, Item, StringProvider
from pyarrow.parquet import ParquetWriter

from research.benchmarks.newer_dump import newer, older
from research.benchmarks.scale.building import timed
from research.benchmarks.synthetic_pages import Encyclopaedia, SyntheticPage
from retrieval.corpora.wiki.fever import plain_text, plain_title
from retrieval.index.batches import batched
from settings import Settings

SEED = 7
SECTIONS = 4  # of an article, after its introduction
REDIRECTED = 2  # one of so many articles has a redirect
_RANGE = 1000  # pages that are made at once
_Page: TypeAlias = tuple[int, SyntheticPage]
_HEAD = [
    "| source | size | pages | words | static vectors | peak memory | a newer dump saves |",
    "|---|---|---|---|---|---|---|",
]


@click.command()
@click.option("--pages", type=click.IntRange(min=1), default=300_000, show_default=True)
@click.option(
    "--work",
    type=click.Path(file_okay=False, path_type=Path),
    help="Where to write files and indexes; a temporary folder by default.",
)
def main(pages: int, work: Path | None) -> None:
    """Write both dumps, build an index of each and print a table."""
    with nullcontext(work) if work else tempfile.TemporaryDirectory() as folder:
        place = Path(folder)
        place.mkdir(parents=True, exist_ok=True)
        print(f"{Settings.from_environment().threads} threads:\n")
        print("\n".join(_HEAD), flush=True)
        for kind, name, write, count in (
            ("zim", "wikipedia_en_synthetic_{}.zim", _write_zim, pages),
            ("cirrus", "enwiki-{}-cirrussearch-content.json.gz", _write_cirrus, pages),
            ("parquet", "articles-{}.parquet", _write_parquet, max(1, pages // 10)),
        ):
            first, second = (place / name.format(day) for day in ("20251027", "20251127"))
            versions = older(_pages(count)), newer(_pages(count), _changed)
            for path, version in zip((first, second), versions, strict=True):
                if not path.exists():
                    print(f"{path.name} ...", file=sys.stderr, flush=True)
                    partial = path.with_name(f"partial-{path.name}")
                    partial.unlink(missing_ok=True)
                    write(partial, version)
                    partial.rename(path)
            print(_row(kind, first, second, count, place / f"index-{kind}"), flush=True)


def _row(kind: str, dump: Path, newer_dump: Path, pages: int, index: Path) -> str:
    def command(action: str, vectors: str, *options: str) -> dict[str, Any]:
        program = [sys.executable, "-m", "cli", "index", action, "--vectors", vectors]
        return timed([*program, "--to", str(index), *options])

    shutil.rmtree(index, ignore_errors=True)
    words = command("build", "none", "--source", f"{kind}:{dump}")
    vectors = command("encode", "static")
    update = command("build", "static", "--source", f"{kind}:{newer_dump}")
    saved = 1 - update["seconds"] / (words["seconds"] + vectors["seconds"])
    most = max(step["megabytes"] for step in (words, vectors, update))
    return (
        f"| {kind} | {dump.stat().st_size / 1e6:.0f} MB | {pages:,}"
        f" | {pages / words['seconds']:,.0f} pages/s | {pages / vectors['seconds']:,.0f} pages/s"
        f" | {most:.0f} MB | {100 * saved:.0f} % |"
    )


def _pages(count: int) -> Iterator[_Page]:
    encyclopaedia = Encyclopaedia(count, SEED)
    for start in range(0, count, _RANGE):
        pages = encyclopaedia.pages(start, min(start + _RANGE, count))
        yield from enumerate(pages, start + 1)


def _changed(numbered: _Page) -> _Page:
    number, page = numbered
    return number, replace(page, sentences=(*page.sentences, ("It was described anew .", ())))


def _sentences(page: SyntheticPage) -> list[str]:
    return [plain_text(sentence) for sentence, _ in page.sentences]


def _write_zim(path: Path, pages: Iterable[_Page]) -> None:
    creator = Creator(path).config_indexing(False, "eng")
    with _remarks_on_standard_error(), creator:
        for number, page in pages:
            creator.add_item(_Article(page))
            if number % REDIRECTED == 0:
                title = f"The {plain_title(page.id)}"
                target = _path(page)
                creator.add_redirection(f"The_{target}", title, target, {Hint.FRONT_ARTICLE: True})
        for name, value in {
            "Name": "wikipedia_en_synthetic",
            "Title": "Synthetic pages",
            "Date": "2025-10-27",
            "Language": "eng",
            "Source": "en.wikipedia.org",
            "Scraper": "mwoffliner 1.16.0",
        }.items():
            creator.add_metadata(name, value)


@contextmanager
def _remarks_on_standard_error() -> Iterator[None]:
    """Keep libzim's own remarks out of standard output, which has the table."""
    sys.stdout.flush()
    output = os.dup(1)
    os.dup2(2, 1)
    try:
        yield
    finally:
        os.dup2(output, 1)
        os.close(output)


class _Article(Item):  # type: ignore[misc]  # the class has no types
    """A page as mwoffliner writes it."""

    def __init__(self, page: SyntheticPage) -> None:
        super().__init__()
        self._page = page

    def get_path(self) -> str:
        return _path(self._page)

    def get_title(self) -> str:
        return plain_title(self._page.id)

    def get_mimetype(self) -> str:
        return "text/html"

    def get_hints(self) -> dict[Hint, int]:
        return {Hint.FRONT_ARTICLE: True, Hint.COMPRESS: True}

    def get_contentprovider(self) -> StringProvider:
        return StringProvider(_html(self._page))


def _html(page: SyntheticPage) -> str:
    """Return a page with hatnote, infobox, introduction, sections and references."""
    title = escape(plain_title(page.id))
    sentences = [escape(sentence) for sentence in _sentences(page)]
    mark = '<sup class="mw-ref reference"><a href="#cite_note-{0}">[{0}]</a></sup>'
    marked = [sentence + mark.format(at) for at, sentence in enumerate(sentences, 1)]
    first, _, rest = marked[0].partition(" is ")
    rows = "".join(f"<tr><th>Fact {n}</th><td>{sentences[0][:40]}</td></tr>" for n in range(12))
    sections = "".join(
        f'<div class="mw-heading mw-heading2"><h2 id="s{n}">Section {n}</h2></div>'
        + 3 * f"<p>{' '.join(marked)}</p>"
        for n in range(SECTIONS)
    )
    references = "".join(
        f'<li id="cite_note-{at}"><span class="reference-text">{sentence}</span></li>'
        for at, sentence in enumerate(sentences, 1)
    )
    return (
        f'<!DOCTYPE html><html><head><meta charset="utf-8"><title>{title}</title></head><body>'
        f'<h1 class="firstHeading">{title}</h1><div id="mw-content-text">'
        '<div class="mw-content-ltr mw-parser-output" lang="en" dir="ltr">'
        f'<div role="note" class="hatnote">Not to be confused with {title}s.</div>'
        f'<table class="infobox vcard"><tbody>{rows}</tbody></table>'
        f'<p><b>{first}</b> (<span class="IPA nopopups noexcerpt">/x/</span>) is {rest}</p>'
        f"<p>{' '.join(marked[1:])}</p>{sections}"
        f'<div class="reflist"><ol class="references">{references}</ol></div></div></div>'
        "<div>This article is issued from Wikipedia.</div></body></html>"
    )


def _path(page: SyntheticPage) -> str:
    return plain_title(page.id).replace(" ", "_")


def _write_cirrus(path: Path, pages: Iterable[_Page]) -> None:
    with gzip.open(path, "wt", encoding="utf-8", compresslevel=6) as stream:
        for number, page in pages:
            title, opening = plain_title(page.id), " ".join(_sentences(page))
            redirects = [{"namespace": 0, "title": f"The {title}"}] if number % REDIRECTED else []
            document = {
                "title": title,
                "namespace": 0,
                "page_id": number,
                "timestamp": "2025-10-27T00:00:00Z",
                "wiki": "enwiki",
                "redirect": redirects,
                "opening_text": opening,
                "text": " ".join([opening] * (1 + 3 * SECTIONS)),
                "source_text": " ".join([opening] * (1 + 3 * SECTIONS)),
            }
            stream.write(json.dumps({"index": {"_type": "_doc", "_id": str(number)}}) + "\n")
            stream.write(json.dumps(document) + "\n")


def _write_parquet(path: Path, pages: Iterable[_Page]) -> None:
    columns = pyarrow.schema([(name, pyarrow.string()) for name in ("id", "title", "text")])
    with ParquetWriter(path, columns) as writer:
        for some in batched(pages, _RANGE):
            rows = [_row_of(number, page) for number, page in some]
            writer.write_table(pyarrow.Table.from_pylist(rows, columns))


def _row_of(number: int, page: SyntheticPage) -> dict[str, str]:
    opening = " ".join(_sentences(page))
    sections = (f"Section {n}\n\n" + "\n\n".join([opening] * 3) for n in range(SECTIONS))
    text = "\n\n".join([opening, *sections])
    return {"id": str(number), "title": plain_title(page.id), "text": text}


if __name__ == "__main__":
    main()

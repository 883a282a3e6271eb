"""The pages: all real ones in files that ``esoteric index`` reads, and indexes of them."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any

from research.evaluation.claims import read_fever_claims
from retrieval.corpora.json_lines import read_json_lines
from retrieval.corpora.wiki.fever import plain_title
from retrieval.corpora.wiki.vital import VitalCorpus
from retrieval.errors import IndexUnavailable
from retrieval.index.embedded.embedded_index import EmbeddedIndex
from settings import CHECKOUT

# Of the pairs, those whose evidence is a page's own text: no explanations, no altered sentences.
_PAIRS = ("vitaminc", "infotabs", "fever", "fever-adversarial")
FEVER, OTHERS, NAMES = "fever", "others.jsonl", "names"


def write_pages(data: Path, out: Path) -> None:
    """Write FEVER's pages, the other pages, and the titles and texts of all real ones.

    The id of a page is its title, as in the default corpus. Every title has one page: where FEVER
    and the default corpus both have one, it is FEVER's only if a dev claim cites it.
    """
    vital = {page.id: page.text for chunk, _ in VitalCorpus().chunks() for page in chunk}
    claims = read_fever_claims(data / "fever-dev/dev.jsonl")
    cited = {plain_title(page) for claim in claims for page in claim.pages}
    fever = {
        title: record | {"id": title}
        for title, record in _fever(data)
        if title not in vital or title in cited
    }
    others = {
        title: " ".join(texts)
        for title, texts in _others(data).items()
        if title not in vital and title not in fever
    }
    _write(out / FEVER / "pages.jsonl", fever.values())
    _write(out / OTHERS, ({"id": t, "title": t, "text": text} for t, text in others.items()))
    texts = vital | others | {title: record["text"] for title, record in fever.items()}
    names = ({"id": fever_title(title), "text": text} for title, text in texts.items())
    _write(out / NAMES / "pages.jsonl", names)


def fever_title(title: str) -> str:
    """Return a title in FEVER's spelling, as synthetic pages are made from."""
    return title.replace(" ", "_").replace("(", "-LRB-").replace(")", "-RRB-")


def build(pages: Path, index: Path, distractors: int) -> None:
    """Build an index of all real pages and so many synthetic ones, if there is none.

    With synthetic pages it has the vectors of the static encoder, otherwise the transformer's. They
    are made last, so that an index with vectors is a whole one.
    """
    if _has_vectors(index):
        return
    to = ("--to", index)
    _run("cli", "index", "build", "--source", "vital", "--vectors", "none", *to)
    _run("cli", "index", "add", "--source", f"fever:{pages / FEVER}", *to)
    _run("cli", "index", "add", "--source", f"jsonl:{pages / OTHERS}", *to)
    if distractors:
        made = index.with_name(f"{index.name}-pages")
        around = ("--around", pages / NAMES)
        _run("research.benchmarks.make_corpus", "--pages", distractors, "--out", made, *around)
        _run("cli", "index", "add", "--source", f"fever:{made}", *to)
    _run("cli", "index", "encode", "--vectors", "static" if distractors else "minilm", *to)


def _fever(data: Path) -> Iterator[tuple[str, dict[str, Any]]]:
    for path in sorted((data / "fever-dev/wiki-pages").glob("*.jsonl")):
        for _, record in read_json_lines(path, ("id", "text", "lines")):
            if title := plain_title(record["id"]):
                yield title, record


def _others(data: Path) -> dict[str, dict[str, None]]:
    """Return the texts of each other title in the data, each text once."""
    found: dict[str, dict[str, None]] = {}
    for title, texts in (*_fool_me_twice(data), *_pairs(data)):
        found.setdefault(title, {}).update(dict.fromkeys(texts))
    return found


def _fool_me_twice(data: Path) -> Iterator[tuple[str, list[str]]]:
    for _, record in read_json_lines(data / "fm2/train.jsonl", ("wikipedia_page",)):
        sentences = (*record["gold_evidence"], *record["retrieved_evidence"])
        yield record["wikipedia_page"], [sentence["text"] for sentence in sentences]


def _pairs(data: Path) -> Iterator[tuple[str, list[str]]]:
    for path in sorted(data.glob("pairs/*/*.jsonl")):
        if path.stem in _PAIRS:
            for _, record in read_json_lines(path, ("evidence",)):
                if record["title"]:
                    yield record["title"], [record["evidence"]]


def _has_vectors(index: Path) -> bool:
    try:
        return bool(EmbeddedIndex(index).open(None).info().encoder)
    except IndexUnavailable:
        return False


def _run(module: str, *arguments: object) -> None:
    subprocess.run([sys.executable, "-m", module, *map(str, arguments)], cwd=CHECKOUT, check=True)


def _write(path: Path, records: Iterable[Mapping[str, Any]]) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    lines = (json.dumps(record, ensure_ascii=False) + "\n" for record in records)
    path.write_text("".join(lines), encoding="utf-8")

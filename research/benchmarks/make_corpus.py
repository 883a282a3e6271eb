"""Writes synthetic pages in the format of FEVER's wiki-pages, only for measuring scale.

python research/benchmarks/make_corpus.py --pages 100000 --out pages [--seed 1] [--around
wiki-pages]
"""

from __future__ import annotations

import json
import os
import sys
from collections import Counter
from concurrent.futures import ProcessPoolExecutor
from itertools import repeat
from pathlib import Path

import click

CHECKOUT = Path(__file__).resolve().parents[2]
if str(CHECKOUT) not in sys.path:  # where this file is run and not imported
    sys.path.insert(0, str(CHECKOUT))

from research.benchmarks.synthetic_pages import COMMON, Encyclopaedia  # noqa: E402
from retrieval.corpora.json_lines import read_json_lines  # noqa: E402
from retrieval.errors import EsotericError  # noqa: E402

PAGES_A_FILE = 50_000  # FEVER's release: 5.4 million in 109 files


@click.command()
@click.option("--pages", type=click.IntRange(min=1), required=True, help="How many.")
@click.option(
    "--out",
    type=click.Path(file_okay=False, path_type=Path),
    required=True,
    help="Folder for synthetic-001.jsonl and so on; other files in it stay.",
)
@click.option("--seed", type=int, default=0, show_default=True, help="Another one, other pages.")
@click.option(
    "--around",
    type=click.Path(exists=True, file_okay=False, path_type=Path),
    help="Folder of FEVER's wiki-pages, whose words, names and titles the pages use.",
)
def main(pages: int, out: Path, seed: int, around: Path | None) -> None:
    """Write synthetic pages. The same options always write the same files."""
    try:
        titles, words = ([], COMMON) if around is None else _titles_and_words(around)
        out.mkdir(parents=True, exist_ok=True)
    except EsotericError as error:
        raise click.ClickException(str(error)) from error
    except OSError as error:
        raise click.ClickException(f"{out} cannot be written ({error.strerror}).") from error
    encyclopaedia = Encyclopaedia(pages, seed, titles, words)
    starts = range(0, pages, PAGES_A_FILE)
    stops = [min(start + PAGES_A_FILE, pages) for start in starts]
    files = [out / f"synthetic-{number:03}.jsonl" for number in range(1, len(stops) + 1)]
    with ProcessPoolExecutor(os.cpu_count()) as pool:
        writing = pool.map(_write, repeat(encyclopaedia), starts, stops, files)
        with click.progressbar(writing, length=len(files)) as written:
            for _ in written:
                pass


def _titles_and_words(folder: Path) -> tuple[list[str], list[str]]:
    """Return the ids of the pages in a folder, and their words, most frequent first."""
    titles: list[str] = []
    words: Counter[str] = Counter()
    for path in sorted(folder.glob("*.jsonl")):
        for _, record in read_json_lines(path, ("id", "text")):
            if record["id"]:
                titles.append(record["id"])
                words.update(word for word in record["text"].split() if word.isalpha())
    if not titles:
        raise click.UsageError(f"{folder} contains no page in FEVER's format.")
    return titles, [word for word, _ in words.most_common()]


def _write(encyclopaedia: Encyclopaedia, start: int, stop: int, path: Path) -> None:
    partial = path.with_suffix(".partial")
    with partial.open("w", encoding="utf-8") as stream:
        for page in encyclopaedia.pages(start, stop):
            stream.write(json.dumps(page.record(), ensure_ascii=False) + "\n")
    partial.rename(path)


if __name__ == "__main__":
    main()

"""Claims over corpora that are searched where they are: labels, requests, time and quotations.

python -m research.benchmarks.articles --claims FILE --corpus NAME ... [--out FILE]

Each claim is checked with no article kept, and every third again with those that were kept. Seconds
are those of the processor, also of the process that reads pages, so that neither the network nor a
busy computer counts. A quotation is looked for in the page that its link leads to; the row of a
table or an infobox is found there part by part.
"""

from __future__ import annotations

import os
import re
import tempfile
import time
from collections import defaultdict
from collections.abc import Sequence
from dataclasses import asdict, dataclass, replace
from functools import cache
from pathlib import Path
from statistics import median
from typing import Any
from urllib.request import urlopen

import click
from lxml import html

from cli.options import corpora_given
from research.evaluation.claims import labelled_records
from retrieval.corpora.cleaning import clean
from retrieval.corpora.json_lines import encoded_line
from retrieval.pipeline.assembly import OwnCorpus, Retriever
from retrieval.recipes.recipes import DEFAULT_RECIPE
from retrieval.result import ClaimResult, claim_result
from retrieval.sources.address import written_source
from retrieval.sources.kept import KeptArticles
from retrieval.sources.opening import KEPT, Sources
from retrieval.types import NOT_ENOUGH_INFO
from settings import Settings
from worker.open_retriever import own_corpora

_TWICE = 3
_TICKS = os.sysconf("SC_CLK_TCK")


@dataclass(frozen=True, slots=True)
class Checked:
    """A claim with its verdict; ``groups``: those that it counts in.

    ``requests``: to the wiki. ``seconds``: of the processor. ``again``: those of another check,
    with the articles that the first one kept; ``None`` if there was none. ``quoted``: how many of
    the sentences that the verdict rests on are in the page of their link, and how many have one.
    ``away``: whether the wiki did not answer, so that the figures are not to be used.
    """

    groups: tuple[str, ...]
    label: str
    verdict: str
    requests: int
    seconds: float
    again: float | None
    quoted: tuple[int, int]
    away: bool


def figures(checked: Sequence[Checked]) -> list[str]:
    """Return the figures, a line each."""
    lines = []
    groups: dict[str, list[Checked]] = defaultdict(list)
    for one in checked:
        for group in ("all", *one.groups):
            groups[group].append(one)
    for group, some in sorted(groups.items()):
        right = [one.label == one.verdict for one in some]
        decided = [one.label == one.verdict for one in some if one.verdict != NOT_ENOUGH_INFO]
        lines.append(f"{group}: label accuracy {_of(right)}; of the decided right {_of(decided)}")
    asked = [one.requests for one in checked]
    lines.append(f"requests a claim: median {median(asked):g}, most {max(asked)}")
    seconds = median(one.seconds for one in checked)
    again = median(one.again for one in checked if one.again is not None)
    lines.append(f"processor seconds a claim: p50 {seconds:.2f}, from kept articles {again:.2f}")
    found, linked = (sum(column) for column in zip(*(one.quoted for one in checked), strict=True))
    lines.append(f"quotations in the linked page: {found} of {linked}")
    lines.append(f"claims without an answer of the wiki: {sum(one.away for one in checked)}")
    return lines


def _of(right: Sequence[bool]) -> str:
    share = f" ({sum(right) / len(right):.1%})" if right else ""
    return f"{sum(right)} of {len(right)}{share}"


def _spent() -> float:
    """Return the processor seconds of this process and of those that it started."""
    spent = time.process_time()
    for status in Path("/proc").glob("[0-9]*/stat"):
        try:
            fields = status.read_text().rpartition(")")[2].split()
        except OSError:  # ended
            continue
        if int(fields[1]) == os.getpid():
            spent += (int(fields[11]) + int(fields[12])) / _TICKS
    return spent


@cache
def _page(url: str) -> str:
    with urlopen(url) as answer:
        return clean(html.fromstring(answer.read()).text_content())


def is_quoted(sentence: str, page: str) -> bool:
    """Return whether a page has a sentence, or each part of a row."""
    if sentence in page:
        return True
    parts = re.split(r": |[,;] ", sentence.removesuffix("."))
    return len(parts) > 1 and all(part in page for part in parts)


def _quoted(result: ClaimResult) -> tuple[int, int]:
    linked = [(one.sentence, one.url) for one in result.selected if "oldid=" in (one.url or "")]
    return sum(is_quoted(said, _page(url or "")) for said, url in linked), len(linked)


class _Bench:
    """Checks claims, each time as in a process that has read nothing before."""

    def __init__(self, corpora: tuple[str, ...], home: Path) -> None:
        settings = Settings.from_environment()
        self._corpora, self._kept = corpora, KeptArticles(home / KEPT)
        self._sources, self._own = Sources(home), own_corpora(settings)
        addresses = [place for name in corpora if (place := written_source(name)) is not None]
        self._asked = [self._sources.open(one) for one in addresses]
        self._turn = 0
        self._retriever = Retriever(
            *(settings.store, settings.snapshots, settings.threads, settings.model_folders),
            own_corpus=self._opened_anew,
            sources=self._sources,
        )

    def _opened_anew(self, name: str) -> OwnCorpus:
        """Return a corpus under another title each time, so that no vectors are there yet."""
        own = self._own(name)
        return replace(own, title=f"{own.title} {self._turn}")

    def checked(self, line: dict[str, Any], *, twice: bool) -> tuple[Checked, ClaimResult]:
        """Return what becomes of a claim, a line of the file."""
        self._kept.clear()
        before = sum(one.requests for one in self._asked)
        first, seconds = self._timed(line["claim"])
        requests = sum(one.requests for one in self._asked) - before
        again = self._timed(line["claim"])[1] if twice else None
        groups = tuple(f"{key} {line[key]}" for key in ("kind", "half") if key in line)
        away = any("could not be searched" in notice for notice in first.notices)
        figures = (requests, seconds, again, _quoted(first), away)
        return Checked(groups, line["label"], first.verdict.label, *figures), first

    def _timed(self, claim: str) -> tuple[ClaimResult, float]:
        self._turn += 1
        began = _spent()
        report = self._retriever.check(claim, DEFAULT_RECIPE, lambda _: None, self._corpora)
        return claim_result(report), _spent() - began


@click.command()
@click.option(
    "--claims", "file", type=click.Path(exists=True, dir_okay=False, path_type=Path), required=True
)
@click.option("--corpus", "names", multiple=True, required=True, help="As of esoteric check.")
@click.option("--out", type=click.Path(path_type=Path), help="Claim documents, JSON lines.")
@click.option("--half", help="Only the claims of this half.")
def main(file: Path, names: tuple[str, ...], out: Path | None, half: str | None) -> None:
    """Check the claims of FILE in the corpora, print the figures."""
    settings = Settings.from_environment()
    corpora = corpora_given(settings, names, None) or ("default",)
    lines = [line for _, line, _ in labelled_records(file) if half in (None, line.get("half"))]
    checked = []
    with tempfile.TemporaryDirectory() as home, (out or Path(os.devnull)).open("wb") as written:
        bench = _Bench(corpora, Path(home))
        bench.checked(lines[0], twice=False)  # loads the models
        for number, line in enumerate(lines):
            one, result = bench.checked(line, twice=number % _TWICE == 0)
            checked.append(one)
            written.write(encoded_line(result.document() | {"gold": line, "figures": asdict(one)}))
            written.flush()
    for text in figures(checked):
        click.echo(text)


if __name__ == "__main__":
    main()

"""What a file of Kiwix costs: searched where it is, and indexed whole.

python -m research.benchmarks.zim_file [--articles N] [--vectors none,static] [--file FILE]

Writes a file of N generated articles, always the same ones, asks claims of it with nothing built,
builds indexes of its whole articles, and estimates from these what 7 million articles cost:
everything that a build reads and writes grows with the text. The articles are about as long as the
English Wikipedia's: 690 words of prose on average (its own statistics), half of them less than 400,
with an infobox in every second one, a table in every fifth, notes, links and a box that leads to
other articles. Two redirects lead to each, nearly as there.
"""

from __future__ import annotations

import os
import random
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

import click
from libzim.writer import Creator, Hint, Item, StringProvider

from research.benchmarks.row import resident_megabytes
from settings import CHECKOUT

_WIKIPEDIA = 7_000_000  # articles
_SEED = 20
_WORDS = 60_000  # that articles are made of, beside the commonest
_MEDIAN, _SIGMA = 390, 1.07  # words of prose; the mean of such a distribution is 690
_LONGEST = 12_000
_SECTION = 150  # words
_ROUNDS = 5
_SYLLABLES = ("ba", "cor", "den", "el", "fi", "gar", "hol", "in", "ka", "lum", "mer", "no", "or")
_METADATA = {
    "Name": "wikipedia_en_generated",
    "Title": "Generated articles",
    "Date": "2026-11-01",
    "Language": "eng",
    "Scraper": "mwoffliner 1.16.0",
}


class _Article(Item):  # type: ignore[misc]  # libzim has no types for its base class
    """An article of the file."""

    def __init__(self, title: str, content: str) -> None:
        super().__init__()
        self._title, self._content = title, content

    def get_path(self) -> str:
        return self._title.replace(" ", "_")

    def get_title(self) -> str:
        return self._title

    def get_mimetype(self) -> str:
        return "text/html"

    def get_contentprovider(self) -> StringProvider:
        return StringProvider(self._content)

    def get_hints(self) -> dict[Hint, int]:
        return {Hint.FRONT_ARTICLE: True}


class _Writer:
    """Writes articles of made-up words, as often as words are in English (Zipf's law)."""

    def __init__(self, articles: int) -> None:
        self._random = random.Random(_SEED)
        common = (CHECKOUT / "research" / "benchmarks" / "common_words.txt").read_text("utf-8")
        rare = ["".join(self._random.choices(_SYLLABLES, k=2 + n % 3)) for n in range(_WORDS)]
        self._vocabulary = [*common.split(), *rare]
        total = 0.0
        self._weights = [total := total + 1 / (rank + 3) for rank in range(len(self._vocabulary))]
        self.titles = [f"{self._name()} {self._name()} {n}" for n in range(articles)]

    def _name(self) -> str:
        return "".join(self._random.choices(_SYLLABLES, k=3)).capitalize()

    def year(self, number: int) -> int:
        """Return when the subject of an article was opened."""
        return 1700 + number * 37 % 300

    def page(self, number: int) -> str:
        """Return the HTML of an article, as Parsoid and mwoffliner write it."""
        title, chance = self.titles[number], self._random
        words = min(_LONGEST, int(chance.lognormvariate(0, _SIGMA) * _MEDIAN) + 30)
        parts = [f"<html><head><title>{title}</title></head><body><h1>{title}</h1>"]
        parts.append('<div id="mw-content-text"><div class="mw-parser-output">')
        if chance.random() < 0.5:
            parts.append(self._infobox(number))
        parts.append(self._paragraphs(min(words, 90), f"{title} is a mill. "))
        for section in range(max(0, words - 90) // _SECTION + 1):
            heading = self._sentence(3).rstrip(".")
            parts.append(f'<div class="mw-heading mw-heading2"><h2 id="S{section}">{heading}</h2>')
            first = "" if section else f"{title} was opened in {self.year(number)}. "
            parts.append(f"</div>{self._paragraphs(_SECTION, first)}")
        if chance.random() < 0.2:
            parts.append(self._table(chance.randint(4, 30)))
        parts.append(self._notes(words // 40))
        return "".join((*parts, "</div></div></body></html>"))

    def _infobox(self, number: int) -> str:
        rows = [("Opened", str(self.year(number)))]
        rows += [(self._name(), self._sentence(4).rstrip(".")) for _ in range(9)]
        inside = "".join(
            f'<tr><th class="infobox-label">{name}</th><td class="infobox-data">{value}</td></tr>'
            for name, value in rows
        )
        return f'<table class="infobox"><tbody>{inside}</tbody></table>'

    def _table(self, rows: int) -> str:
        head = "".join(f"<th>{self._name()}</th>" for _ in range(4))
        body = "".join(
            "<tr>"
            + "".join(f"<td>{self._random.randint(1, 9999)}</td>" for _ in range(4))
            + "</tr>"
            for _ in range(rows)
        )
        return f'<table class="wikitable"><tbody><tr>{head}</tr>{body}</tbody></table>'

    def _notes(self, count: int) -> str:
        notes = "".join(
            f'<li id="cite_note-{n}"><span class="mw-cite-backlink"><a href="#cite_ref-{n}">^</a>'
            f'</span> <cite class="citation web">{self._sentence(14)}</cite></li>'
            for n in range(count)
        )
        return (
            f'<h2>References</h2><div class="reflist"><ol class="references">{notes}</ol></div>'
            f'<div class="navbox"><ul><li>{"</li><li>".join(self._links(40))}</li></ul></div>'
        )

    def _links(self, count: int) -> Iterator[str]:
        for title in self._random.choices(self.titles, k=count):
            yield f'<a href="{title.replace(" ", "_")}" title="{title}">{title}</a>'

    def _paragraphs(self, words: int, first: str) -> str:
        paragraphs, text = [], [first]
        for _ in range(max(1, words // 18)):
            text.append(self._sentence(18))
            if self._random.random() < 0.4:
                text.append('<sup class="reference"><a href="#cite_note-1">[1]</a></sup>')
            text += [" ", *(f"See {link}. " for link in self._links(self._random.random() < 0.3))]
            if len(text) > 12:
                paragraphs.append("".join(text))
                text = []
        return "".join(f"<p>{paragraph}</p>" for paragraph in (*paragraphs, "".join(text)))

    def _sentence(self, words: int) -> str:
        chosen = self._random.choices(self._vocabulary, cum_weights=self._weights, k=words)
        return " ".join(chosen).capitalize() + "."


@dataclass(frozen=True, slots=True)
class _Cost:
    """What a command took: seconds, seconds of the processor, and the most memory, in MB."""

    seconds: float
    processor: float
    megabytes: float
    output: str


def _cost(home: Path, *arguments: str) -> _Cost:
    """Run the command ``esoteric``; its memory is that of all its processes together."""
    started = time.perf_counter()
    with tempfile.TemporaryFile("w+") as output:
        command = subprocess.Popen(
            [sys.executable, "-m", "cli", *arguments],
            cwd=CHECKOUT,
            env={**os.environ, "ESOTERIC_HOME": str(home)},
            stdout=output,
            stderr=subprocess.DEVNULL,
        )
        ended, most = threading.Event(), [0.0]

        def watch() -> None:
            while not ended.wait(0.1):
                most[0] = max(most[0], sum(_memory(command.pid)))

        watcher = threading.Thread(target=watch)
        watcher.start()
        _, status, used = os.wait4(command.pid, 0)
        seconds = time.perf_counter() - started
        command.returncode = os.waitstatus_to_exitcode(status)
        ended.set()
        watcher.join()
        output.seek(0)
        said = output.read()
    if command.returncode:
        raise SystemExit(f"esoteric {' '.join(arguments)} failed.")
    return _Cost(seconds, used.ru_utime + used.ru_stime, most[0], said)


def _memory(pid: int) -> Iterator[float]:
    """Yield the memory of a process and of all that it has started."""
    with suppress(OSError, RuntimeError):  # it has ended
        yield resident_megabytes(pid)
        for children in Path(f"/proc/{pid}/task").glob("*/children"):
            for child in children.read_text("ascii").split():
                yield from _memory(int(child))


def _write(path: Path, writer: _Writer) -> None:
    with Creator(path).config_indexing(True, "eng") as creator:
        for number, title in enumerate(writer.titles):
            creator.add_item(_Article(title, writer.page(number)))
            for other in (f"The {title}", f"{title} mill"):
                path_of = other.replace(" ", "_")
                creator.add_redirection(path_of, other, title.replace(" ", "_"), {})
        for name, value in _METADATA.items():
            creator.add_metadata(name, value)


@click.command()
@click.option("--articles", default=20_000, show_default=True)
@click.option("--vectors", default="none,static", show_default=True)
@click.option("--file", "kept", type=click.Path(path_type=Path), help="Keeps the ZIM file here.")
def main(articles: int, vectors: str, kept: Path | None) -> None:
    """Print the table."""
    writer = _Writer(articles)
    with tempfile.TemporaryDirectory() as temporary:
        home = Path(temporary)
        path = kept or home / "generated.zim"
        if not path.exists():
            _write(path, writer)
        print(f"| {articles:,} articles, {path.stat().st_size / 1e6:,.0f} MB | seconds | MB |")
        print("|---|---|---|")
        source = f"zim-search:{path}"
        chosen = range(3, articles, articles // _ROUNDS)
        claims = [f"{writer.titles[n]} was opened in {writer.year(n)}." for n in chosen]
        costs = [_cost(home, "check", claim, "--corpus", source) for claim in claims]
        for cost, name in zip(costs, ("first", *("next",) * len(costs)), strict=False):
            decided = "decided" if "SUPPORTED (" in cost.output else "not decided"
            print(
                f"| `zim-search`, {name} claim, {decided} | {cost.seconds:.2f}"
                f" ({cost.processor:.2f} of the processor) | {cost.megabytes:,.0f} |",
                flush=True,
            )
        for choice in vectors.split(","):
            index = home / choice
            arguments = ["index", "build", "--whole", "--source", f"zim:{path}"]
            cost = _cost(home, *arguments, "--vectors", choice, "--to", str(index))
            size = sum(one.stat().st_size for one in index.rglob("*") if one.is_file())
            factor = _WIKIPEDIA / articles
            print(
                f"| index of whole articles, vectors {choice}: {size / 1e6:,.0f} MB,"
                f" {size / articles:,.0f} bytes an article | {cost.seconds:,.0f}"
                f" ({cost.processor:,.0f} of the processor) | {cost.megabytes:,.0f} |"
            )
            print(
                f"| estimated for {_WIKIPEDIA:,}: {factor * size / 1e9:,.0f} GB"
                f" | {factor * cost.seconds / 3600:,.1f} hours | |",
                flush=True,
            )


if __name__ == "__main__":
    main()

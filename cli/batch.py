"""``esoteric batch``."""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Iterator
from contextlib import closing, contextmanager
from dataclasses import asdict, dataclass, replace
from functools import partial
from pathlib import Path
from typing import IO, Any

import click

from cli.errors import reports_errors, say
from cli.options import before_option, corpora_given, corpus_option, recipe_option
from cli.progress import LongWork, patiently, say_what_is_sent, say_where_claims_go
from retrieval.claim import read_claim
from retrieval.claim_lists.files import (
    Row,
    UnclearColumn,
    decimal_mark_of,
    list_file,
    read_claims,
    separator_of,
)
from retrieval.claim_lists.verdicts import CheckedRow, csv_pieces, verdict_table, write_xlsx
from retrieval.corpora.json_lines import encoded_line
from retrieval.errors import BadSource, EsotericError, InvalidClaim, Problem
from retrieval.llm_judge.choice import LanguageModelChoice
from retrieval.recipes.recipe_files import keep_recipe, recipe_given, recipes_with
from retrieval.recipes.recipes import RECIPES, Recipe
from retrieval.result import ClaimResult, claim_result
from retrieval.sources.opening import Sources
from retrieval.types import DEFAULT_CORPUS, CorpusInfo
from retrieval.words import WITH_QUANTITIES, counted
from settings import Settings
from worker.open_retriever import open_retriever, own_corpora

_TABLES = (".csv", ".xlsx")
_STANDARD_OUTPUT = Path("-")
_LINE_BEGINS = b'{"claim": '


@click.command("batch", epilog="Example: esoteric batch claims.csv -o verdicts.jsonl")
@click.argument("file", type=click.Path(exists=True, dir_okay=False, path_type=Path))
@click.option(
    "-o",
    "--output",
    required=True,
    type=click.Path(dir_okay=False, allow_dash=True, path_type=Path),
    help="A table (.csv or .xlsx) with a row for each claim; with any other ending JSON lines, one"
    " claim document a line; - for JSON lines on standard output. All are in input order.",
)
@click.option(
    "--column",
    metavar="NAME",
    help="The column or key with the claims; by default the one named claim, statement or text.",
)
@recipe_option
@corpus_option
@before_option
@reports_errors
def command(
    file: Path,
    output: Path,
    column: str | None,
    recipe: str | None,
    corpora: tuple[str, ...],
    before: str | None,
) -> None:
    """Check a list of claims: a table (.csv, .tsv, .xlsx), .jsonl, .json, or text, one a line.

    A recipe from a file is kept beside the output, as OUTPUT.recipe.yaml.

    The other columns come back with the verdicts. The history of the web pages shows the claims.
    After an interruption, run the same command again: it continues where it stopped. While a server
    of the index is away, it waits, ten minutes at most.
    """
    settings = Settings.from_environment()
    chosen = recipe_given(recipe, recipes_with(settings.recipes)) if recipe is not None else None
    searched = corpora_given(settings, corpora, before)
    given = list_file(file)
    try:
        rows = read_claims(given, column)
    except UnclearColumn as error:
        hint = f"{error.hint} The option is --column NAME."
        raise BadSource(error.code, error.message, hint) from error
    lines = _lines_of(output)
    to_file = lines != _STANDARD_OUTPUT and (lines.is_file() or not lines.exists())
    _refuse_other_files(file, output, lines)
    from retrieval.models.shipped import judge_name
    from retrieval.system.processes import in_order, processes_for

    chosen = chosen or open_retriever(settings).usual()
    if to_file:
        _keep_recipe_beside(output, lines, chosen)
    made = Made(
        chosen.name, judge_name(settings.model_folders), settings.llm, _corpus(settings, searched)
    )
    done = _finished(lines, rows, made) if to_file else 0
    failed = 0
    rest = rows[done:]
    processes = processes_for(len(rest), settings.threads)
    threads = settings.threads if processes == 1 else 1
    prepare = partial(_Checking, settings, threads, chosen, searched)
    say_where_claims_go(settings.llm.name if settings.llm else "")
    say_what_is_sent(settings, searched)
    history = _History(settings.database_url, searched)
    # Opened before the models are loaded, so that a wrong path is reported at once.
    with _opened(lines) as stream, closing(LongWork("Checking", len(rows), done)) as work:
        checked = in_order(prepare, rest, processes)
        for number, line in enumerate(checked, start=done + 1):
            work.show(number, f"{number} of {len(rows)} claims")
            failed += "error" in line
            stream.write(encoded_line(line))
            stream.flush()
            if to_file:
                os.fsync(stream.fileno())
            history.add(line)
    if lines != output:
        separator = separator_of(given, column)
        _write_table(lines, rows, output, separator, decimal_mark_of(separator, rows))
        lines.unlink()
    before = f" {done} had been checked before." if done else ""
    errors = f" {failed} could not be checked." if failed else ""
    say(f"{counted(len(rows), 'claim')} in {output}.{before}{errors}")


def _lines_of(output: Path) -> Path:
    """Return the file of the JSON lines: the output, or the one that a table is made from."""
    is_table = output.suffix.casefold() in _TABLES
    return output.with_name(f"{output.name}.unfinished") if is_table else output


def _refuse_other_files(file: Path, output: Path, lines: Path) -> None:
    """Raise ``BadSource`` if results would be written over the input or over another output."""
    if lines != output and output.exists():
        raise BadSource(
            "other_output",
            f"The output {output} exists already.",
            "Name another output file, or move this one away.",
        )
    if lines != _STANDARD_OUTPUT and lines.is_file() and lines.samefile(file):
        raise BadSource(
            "other_output", f"The output {lines} is the input file.", "Name another output file."
        )


def _keep_recipe_beside(output: Path, lines: Path, recipe: Recipe) -> None:
    """Write a recipe that is not shipped beside the results that it gives."""
    kept = output.with_name(f"{output.name}.recipe.yaml")
    if not lines.exists():
        kept.unlink(missing_ok=True)  # of results that were moved away
    if RECIPES.get(recipe.name) != recipe:
        keep_recipe(kept, recipe)


def _write_table(
    lines: Path, rows: list[Row], output: Path, separator: str, decimal_mark: str
) -> None:
    """Write the lines of results as a table; ``separator``: what parts the cells of a .csv."""
    others = list(dict.fromkeys(name for row in rows for name in row.others))
    unfinished = output.with_name(f"{output.name}.part")
    with lines.open("rb") as stream:
        table = verdict_table(map(_checked_row, stream), others)
        if output.suffix.casefold() == ".csv":
            with unfinished.open("w", encoding="utf-8", newline="") as file:
                file.writelines(csv_pieces(table, separator, decimal_mark))
        else:
            write_xlsx(unfinished, table)
    unfinished.replace(output)


def _checked_row(line: bytes) -> CheckedRow:
    record = json.loads(line)
    others = record.get("row", {})
    if "error" in record:
        return CheckedRow(record["claim"], others, problem=Problem(**record["error"]))
    result = ClaimResult.model_validate(record)
    return CheckedRow(_written(result), others, result)


class _History:
    """Keeps the results where the web pages show them, as long as that is possible."""

    def __init__(self, database_url: str, corpora: tuple[str, ...] | None) -> None:
        from worker.database import Database
        from worker.job_store import JobStore

        self._store: JobStore | None = JobStore(Database(database_url))
        self._corpora = corpora

    def add(self, line: dict[str, Any]) -> None:
        """Keep the result of a line; a claim that failed has none."""
        from worker.database import StoreUnavailable

        if self._store is None or "error" in line:
            return
        try:
            self._store.keep(ClaimResult.model_validate(line), self._corpora)
        except StoreUnavailable as error:
            self._store = None
            say(f"The history does not show the claims from here on: {error.message}")


class _Checking:
    """Checks claims; each process has one."""

    def __init__(
        self, settings: Settings, threads: int, recipe: Recipe, corpora: tuple[str, ...] | None
    ) -> None:
        self._retriever = open_retriever(settings, threads)
        self._retriever.warm_up(recipe)
        self._recipe, self._corpora = recipe, corpora

    def __call__(self, row: Row) -> dict[str, Any]:
        line = self._checked(row)
        return {**line, "row": row.others} if row.others else line

    def _checked(self, row: Row) -> dict[str, Any]:
        if row.problem is not None:
            return _failed(row, row.problem)
        try:
            read_claim(row.claim)  # the search itself refuses no question, link or other language
            report = patiently(
                lambda: self._retriever.follow(
                    self._recipe, row.claim, lambda progress: None, self._corpora
                )
            )
            return claim_result(report).document()
        except InvalidClaim as error:  # other errors are not caused by the claim
            return _failed(row, error.problem)


@contextmanager
def _opened(output: Path) -> Iterator[IO[bytes]]:
    if output == _STANDARD_OUTPUT:
        yield sys.stdout.buffer
        return
    with output.open("ab") as stream:
        yield stream


def _failed(row: Row, problem: Problem) -> dict[str, Any]:
    named = replace(problem, message=f"{row.where}: {problem.message}")
    return {"claim": row.claim, "error": asdict(named)}


@dataclass(frozen=True, slots=True)
class Made:
    """The recipe, models and corpus that verdicts are made with."""

    recipe: str
    verifier: str
    llm: LanguageModelChoice | None
    corpus: CorpusInfo

    def judged(self, result: ClaimResult) -> bool:
        """Return whether these models were asked for the verdict; a language model may have failed.

        The language model is asked if evidence was selected.
        """
        # Arithmetic decides some claims in addition to the verifier.
        judge, *judges = (
            name.replace(WITH_QUANTITIES, "")
            for name in (result.verdict.judge, *(one.judge for one in result.verdict.opinions))
        )
        if len(judges) < 2:
            asked = self.llm and result.selected
            alone = judge == self.verifier and judges == [self.verifier]
            return alone and (not asked or "explain" in result.seconds)
        if self.llm is None:
            return False
        both = [self.llm.name, self.verifier]  # the judge that decides comes first
        return judge == judges[0] and judges == (both if self.llm.decides else both[::-1])


def _corpus(settings: Settings, searched: tuple[str, ...] | None) -> CorpusInfo:
    from retrieval.pipeline.assembly import corpus_of

    names = searched or (DEFAULT_CORPUS,)
    own = [own_corpora(settings)(name) for name in names if name != DEFAULT_CORPUS]
    sources = Sources(settings.home, settings.contact)
    with_default = DEFAULT_CORPUS in names
    return corpus_of(settings.store, settings.snapshots, own, sources, with_default=with_default)


def _finished(output: Path, rows: list[Row], made: Made) -> int:
    """Return how many claims the output contains, after removing a last line that was cut off.

    Raises:
        BadSource: the output has other rows, or another recipe, other models or another index.
    """
    if not output.exists():
        return 0
    content = output.read_bytes()
    whole = content[: content.rfind(b"\n") + 1]
    lines = whole.split(b"\n")[:-1]
    for number, line in enumerate(lines):
        if number >= len(rows) or not _is_result_of(line, rows[number], made):
            raise _other_output(output, number + 1)
    if len(whole) < len(content):
        if not _is_cut_off(content[len(whole) :]):
            raise _other_output(output, len(lines) + 1)
        with output.open("r+b") as stream:
            stream.truncate(len(whole))
    return len(lines)


def _other_output(output: Path, line: int) -> BadSource:
    return BadSource(
        "other_output",
        f"{output}, line {line} is not claim {line} of the input with its columns, checked"
        " with this recipe, these models and the current index.",
        "Name another output file, or move this one away.",
    )


def _written(result: ClaimResult) -> str:
    return result.claim if result.claim_as_written is None else result.claim_as_written


def _is_cut_off(tail: bytes) -> bool:
    """Return whether these bytes may be the beginning of a line that was cut off."""
    return tail.startswith(_LINE_BEGINS) or _LINE_BEGINS.startswith(tail)


def _is_result_of(line: bytes, row: Row, made: Made) -> bool:
    try:
        record = json.loads(line)
        if record.get("row", {}) != row.others:
            return False
        if "error" in record:
            return bool(record["claim"] == row.claim)
        result = ClaimResult.model_validate(record)
        same = result.recipe == made.recipe and result.corpus == made.corpus
        return same and made.judged(result) and _written(result) == read_claim(row.claim).original
    except (ValueError, TypeError, LookupError, RecursionError, EsotericError):
        return False

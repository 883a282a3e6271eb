"""``esoteric batch``."""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Iterator
from contextlib import closing, contextmanager
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any

import click

from cli.claim_files import read_claims
from cli.errors import printable, reports_errors
from cli.language_model import explainer_with_kept_answers, say_where_claims_go
from cli.long_work import LongWork
from retrieval.claim import read_claim
from retrieval.corpora.json_lines import encoded_line
from retrieval.errors import BadSource, EsotericError, InvalidClaim
from retrieval.explanation.choice import LanguageModelChoice, memory_of
from retrieval.recipes import DEFAULT_RECIPE, recipe_named
from retrieval.result import ClaimResult, CorpusInfo, claim_result
from retrieval.wording import WITH_QUANTITIES
from settings import Settings

if TYPE_CHECKING:
    from retrieval.model_folders import ModelFolders

_STANDARD_OUTPUT = Path("-")
_LINE_BEGINS = b'{"claim": '


@click.command("batch", epilog="Example: esoteric batch claims.csv -o verdicts.jsonl")
@click.argument("file", type=click.Path(exists=True, dir_okay=False, path_type=Path))
@click.option(
    "-o",
    "--output",
    required=True,
    type=click.Path(dir_okay=False, allow_dash=True, path_type=Path),
    help="JSON lines: one claim document a line, in input order; - for standard output.",
)
@click.option("--recipe", default=DEFAULT_RECIPE, show_default=True, help="See: esoteric recipes.")
@reports_errors
def command(file: Path, output: Path, recipe: str) -> None:
    """Check many claims: one a line, .jsonl with a "claim" key, or .csv with a "claim" column.

    After an interruption, run the same command again: it continues where it stopped.
    """
    recipe_named(recipe)
    claims = read_claims(file)
    to_file = output != _STANDARD_OUTPUT and (output.is_file() or not output.exists())
    if to_file and output.exists() and output.samefile(file):
        raise BadSource(
            "other_output", f"The output {output} is the input file.", "Name another output file."
        )
    from retrieval.models import judge_name
    from retrieval.on_all_cores import in_order, processes_for

    settings = Settings.from_environment()
    folders = settings.model_folders
    made = Made(recipe, judge_name(folders), settings.llm, _corpus(settings))
    done = _finished(output, claims, made) if to_file else 0
    failed = 0
    rest = claims[done:]
    processes = processes_for(len(rest), settings.threads, memory_of(settings.llm))
    threads = settings.threads if processes == 1 else 1
    prepare = partial(_Checking, settings, threads, folders, recipe)
    say_where_claims_go(settings.llm.receiver if settings.llm else "")
    # Opened before the models are loaded, so that a wrong path is reported at once.
    with _opened(output) as stream, closing(LongWork("Checking", len(claims), done)) as work:
        checked = in_order(prepare, rest, processes)
        for number, line in enumerate(checked, start=done + 1):
            work.show(number, f"{number} of {len(claims)} claims")
            failed += "error" in line
            stream.write(encoded_line(line))
            stream.flush()
            if to_file:
                os.fsync(stream.fileno())
    summary = f"{len(claims)} claims in {output}, {done} of them from before, {failed} failed now."
    click.echo(printable(summary), err=True)


class _Checking:
    """Checks claims; each process has one."""

    def __init__(
        self, settings: Settings, threads: int, folders: ModelFolders, recipe: str
    ) -> None:
        from retrieval.assembly import Retriever

        explains = explainer_with_kept_answers(
            settings.llm, settings.database_url, settings.packaged_models
        )
        self._retriever = Retriever(settings.store, settings.snapshots, threads, folders, explains)
        self._retriever.warm_up(recipe_named(recipe))
        self._recipe = recipe

    def __call__(self, claim: str) -> dict[str, Any]:
        try:
            read_claim(claim)  # the search itself refuses no question, link or other language
            report = self._retriever.check(claim, self._recipe, lambda progress: None)
            return claim_result(report).document()
        except InvalidClaim as error:  # other errors are not caused by the claim
            return {"claim": claim, "error": _error(error.code, error.message, error.hint)}


@contextmanager
def _opened(output: Path) -> Iterator[IO[bytes]]:
    if output == _STANDARD_OUTPUT:
        yield sys.stdout.buffer
        return
    with output.open("ab") as stream:
        yield stream


def _error(code: str, message: str, hint: str) -> dict[str, str]:
    return {"code": code, "message": message, "hint": hint}


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
        decided = judge == self.llm.decider(self.verifier)
        return decided and judges == (both if self.llm.decides else both[::-1])


def _corpus(settings: Settings) -> CorpusInfo:
    from retrieval.open_index import open_index

    info = open_index(settings.store, settings.snapshots).open(None).info()
    return CorpusInfo.model_validate(info.as_corpus())


def _finished(output: Path, claims: list[str], made: Made) -> int:
    """Return how many claims the output contains, after removing a last line that was cut off.

    Raises:
        BadSource: the output has other claims, or another recipe, other models or another index.
    """
    if not output.exists():
        return 0
    content = output.read_bytes()
    whole = content[: content.rfind(b"\n") + 1]
    lines = whole.split(b"\n")[:-1]
    for number, line in enumerate(lines):
        if number >= len(claims) or not _is_result_of(line, claims[number], made):
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
        f"{output}, line {line} is not claim {line} of the input, checked"
        " with this recipe, these models and the current index.",
        "Name another output file, or move this one away.",
    )


def _written(result: ClaimResult) -> str:
    return result.claim if result.claim_as_written is None else result.claim_as_written


def _is_cut_off(tail: bytes) -> bool:
    """Return whether these bytes may be the beginning of a line that was cut off."""
    return tail.startswith(_LINE_BEGINS) or _LINE_BEGINS.startswith(tail)


def _is_result_of(line: bytes, claim: str, made: Made) -> bool:
    try:
        record = json.loads(line)
        if "error" in record:
            return bool(record["claim"] == claim)
        result = ClaimResult.model_validate(record)
        same = result.recipe == made.recipe and result.corpus == made.corpus
        return same and made.judged(result) and _written(result) == read_claim(claim).original
    except (ValueError, TypeError, LookupError, RecursionError, EsotericError):
        return False

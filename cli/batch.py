"""``esoteric batch``."""

from __future__ import annotations

import csv
import json
import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import click
from tqdm import tqdm

from cli.errors import reports_errors
from retrieval.errors import BadSource, EsotericError
from retrieval.recipes import DEFAULT_RECIPE, recipe_named
from settings import Settings


@click.command("batch", epilog="Example: esoteric batch claims.csv -o verdicts.jsonl")
@click.argument("file", type=click.Path(exists=True, dir_okay=False, path_type=Path))
@click.option(
    "-o",
    "--output",
    required=True,
    type=click.Path(dir_okay=False, path_type=Path),
    help="JSON lines: one claim document a line, in input order.",
)
@click.option("--recipe", default=DEFAULT_RECIPE, show_default=True, help="See: esoteric recipes.")
@reports_errors
def command(file: Path, output: Path, recipe: str) -> None:
    """Check many claims: one a line, .jsonl with a "claim" key, or .csv with a "claim" column.

    Run again after an interruption, it goes on where it stopped.
    """
    recipe_named(recipe)
    claims = list(_claims(file))
    done = _finished(output, claims, recipe)

    from retrieval.assembly import open_retriever
    from retrieval.document import claim_document

    settings = Settings.from_environment()
    retriever = open_retriever(settings.index, settings.threads)
    retriever.warm_up()
    failed = 0
    with output.open("a", encoding="utf-8") as stream:
        for claim in tqdm(
            claims[done:], initial=done, total=len(claims), unit=" claims", disable=None
        ):
            try:
                line: dict[str, Any] = claim_document(
                    retriever.check(claim, recipe, lambda progress: None)
                )
            except EsotericError as error:
                failed += 1
                line = {"claim": claim, "error": _error(error.code, error.message, error.hint)}
            stream.write(json.dumps(line, ensure_ascii=False) + "\n")
            stream.flush()
            os.fsync(stream.fileno())
    click.echo(
        f"{len(claims)} claims in {output}, {done} of them from before, {failed} failed now.",
        err=True,
    )


def _error(code: str, message: str, hint: str) -> dict[str, str]:
    return {"code": code, "message": message, "hint": hint}


def _claims(path: Path) -> Iterator[str]:
    try:
        text = path.read_text(encoding="utf-8-sig")
    except UnicodeDecodeError as error:
        raise BadSource(
            "bad_claims", f"{path} is not UTF-8 (byte {error.start}).", "Save it as UTF-8."
        ) from error
    if path.suffix == ".csv":
        rows = csv.DictReader(text.splitlines(keepends=True))
        if "claim" not in (rows.fieldnames or ()):
            raise BadSource(
                "bad_claims", f"{path} has no column named claim.", "Name one in its first line."
            )
        yield from (row["claim"] or "" for row in rows)
    elif path.suffix == ".jsonl":
        for number, line in enumerate(text.splitlines(), start=1):
            if line.strip():
                yield _claim_of(path, number, line)
    else:
        yield from (line for line in text.splitlines() if line.strip())


def _claim_of(path: Path, number: int, line: str) -> str:
    try:
        claim = json.loads(line)["claim"]
    except (ValueError, TypeError, KeyError) as error:
        raise BadSource(
            "bad_claims",
            f"{path}, line {number}: not a JSON object with a claim key.",
            "Mend that line.",
        ) from error
    if not isinstance(claim, str):
        raise BadSource(
            "bad_claims", f"{path}, line {number}: the claim is not a string.", "Mend that line."
        )
    return claim


def _finished(output: Path, claims: list[str], recipe: str) -> int:
    """Return how many claims the output holds, after dropping a line that was cut off.

    Raises:
        BadSource: the output is of other claims, or of another recipe.
    """
    if not output.exists():
        return 0
    content = output.read_bytes()
    whole = content[: content.rfind(b"\n") + 1]
    lines = whole.decode("utf-8", errors="replace").splitlines()
    for number, line in enumerate(lines):
        if number >= len(claims) or not _is_result_of(line, claims[number], recipe):
            raise BadSource(
                "other_output",
                f"{output}, line {number + 1}: holds something else than claim {number + 1} of"
                " the input, checked with this recipe.",
                "Name another output file, or move this one away.",
            )
    if len(whole) < len(content):
        with output.open("r+b") as stream:
            stream.truncate(len(whole))
    return len(lines)


def _is_result_of(line: str, claim: str, recipe: str) -> bool:
    from retrieval.claim import read_claim

    try:
        record = json.loads(line)
        if "error" in record:
            return bool(record["claim"] == claim)
        return bool(record["claim"] == read_claim(claim).text and record["recipe"] == recipe)
    except (ValueError, TypeError, KeyError, EsotericError):
        return False

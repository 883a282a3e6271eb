"""``esoteric check``."""

from __future__ import annotations

import json
import sys
from typing import Any

import click

from cli.claim_text import WIDTH, as_text
from cli.errors import printable, reports_errors
from cli.options import before_option, corpora_given, corpus_option, json_option, recipe_option
from cli.own_retriever import opened_retriever, say_what_is_sent, say_where_claims_go
from cli.service_client import ready_service
from retrieval.recipes.recipe_files import is_recipe_file, recipe_given, recipes_with
from retrieval.recipes.recipes import Recipe
from retrieval.result import ClaimResult
from retrieval.types import Progress, ProgressListener
from settings import Settings


@click.command(
    "check", epilog='Example: esoteric check "Frankenstein was written by Mary Shelley."'
)
@click.argument("claim")
@recipe_option
@corpus_option
@before_option
@click.option(
    "--anyway",
    is_flag=True,
    help="Check also a link, a text in another language, or a question such as “Who built it?”.",
)
@json_option
@reports_errors
def command(
    claim: str,
    recipe: str | None,
    corpora: tuple[str, ...],
    before: str | None,
    anyway: bool,
    as_json: bool,
) -> None:
    """Check one claim and print the verdict with its evidence.

    If the service (esoteric up) is running, it checks the claim with its own settings and keeps it
    in its history. Otherwise, and for a recipe from a file, the models are loaded first.
    """
    from retrieval.claim import read_claim

    settings = Settings.from_environment()
    searched = corpora_given(settings, corpora, before)
    service = None
    # A service searches what its settings name, and no address.
    addressed = any(":" in name for name in searched or ())
    if not addressed and (recipe is None or not is_recipe_file(recipe)):
        service = ready_service(settings)
    # Wrong input is reported before the models are loaded; a service knows its own recipes.
    chosen = None
    if recipe is not None and service is None:
        chosen = recipe_given(recipe, recipes_with(settings.recipes))
    read_claim(claim, anyway)
    say_what_is_sent(settings, searched)
    on_progress = _ignore if as_json or not sys.stderr.isatty() else _show_progress
    if service is not None:
        say_where_claims_go(service.receiver)
        job = service.checked(claim, recipe, on_progress, anyway, searched)
        document: dict[str, Any] = job["result"]
    else:
        document = _checked_here(settings, claim, chosen, on_progress, searched)
    if as_json:
        # As bytes: JSON is UTF-8 even if the terminal has another encoding.
        click.echo(json.dumps(document, ensure_ascii=False).encode())
    else:
        click.echo(as_text(ClaimResult.model_validate(document)))


def _checked_here(
    settings: Settings,
    claim: str,
    recipe: Recipe | None,
    on_progress: ProgressListener,
    corpora: tuple[str, ...] | None,
) -> dict[str, Any]:
    from retrieval.result import claim_result

    say_where_claims_go(settings.llm.name if settings.llm else "")
    retriever = opened_retriever(settings)
    report = retriever.follow(recipe or retriever.usual(), claim, on_progress, corpora)
    return claim_result(report).document()


def _ignore(progress: Progress) -> None:
    pass


def _show_progress(progress: Progress) -> None:
    percent = 100 * progress.done // progress.of
    line = printable(f"{percent:3}% {progress.stage}: {progress.message}")
    click.echo("\r\x1b[K" + ("" if progress.stage == "done" else line[:WIDTH]), nl=False, err=True)

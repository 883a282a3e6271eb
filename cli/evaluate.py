"""``esoteric evaluate``."""

from __future__ import annotations

import shlex
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click
from tqdm import tqdm

from cli.errors import FAILED, printable, reports_errors
from cli.index_bar import IndexBar
from retrieval.encoders.document_encoders import DEFAULT_ENCODER, DOCUMENT_ENCODERS
from retrieval.recipes import DEFAULT_RECIPE
from settings import Settings

if TYPE_CHECKING:
    from retrieval.index.store import BuildProgress


@click.command(
    "evaluate",
    epilog="Example: esoteric evaluate --wiki-pages wiki-pages --claims dev.jsonl --out results"
    " --recipe esoteric,bm25",
)
@click.option(
    "--wiki-pages",
    required=True,
    type=click.Path(exists=True, file_okay=False, path_type=Path),
    help="Folder of FEVER's wiki-pages files.",
)
@click.option(
    "--claims",
    required=True,
    type=click.Path(exists=True, dir_okay=False, path_type=Path),
    help="Annotated claims as FEVER has them.",
)
@click.option(
    "--out",
    required=True,
    type=click.Path(file_okay=False, path_type=Path),
    help="Folder for predictions, results.json, report.md and plots.",
)
@click.option(
    "--recipe",
    "names",
    default=DEFAULT_RECIPE,
    show_default=True,
    help="Recipes (see: esoteric recipes) and baselines (bm25, minilm, tfidf), comma-separated;"
    " all for all of these, ablations for the combined recipe without one of its parts.",
)
@click.option("--several-pages", is_flag=True, help="Only claims that need several pages.")
@click.option("--limit", type=click.IntRange(min=1), help="Only the first so many claims.")
@click.option(
    "--vectors",
    type=click.Choice([*DOCUMENT_ENCODERS]),
    default=DEFAULT_ENCODER,
    show_default=True,
    help="The encoder of the pages.",
)
@reports_errors
def command(
    wiki_pages: Path,
    claims: Path,
    out: Path,
    names: str,
    several_pages: bool,
    limit: int | None,
    vectors: str,
) -> None:
    """Measure recipes and baselines on annotated claims, as FEVER does.

    Interrupted, the same command goes on where it stopped. Fails where a claim
    crashed; such claims are in no figure.
    """
    from evaluation.evaluate import Evaluation, evaluate
    from evaluation.systems import checked_names
    from retrieval.models import AddedModels

    settings = Settings.from_environment()
    evaluation = Evaluation(
        wiki_pages=wiki_pages,
        claims=claims,
        out=out,
        systems=checked_names(names),
        several_pages=several_pages,
        limit=limit,
        vectors=vectors,
        indexes=settings.home / "evaluation",
        threads=settings.threads,
        profile=settings.profile,
        added=AddedModels(settings.verifier_base, settings.bart),
        command=f"ESOTERIC_PROFILE={settings.profile} {shlex.join(['esoteric', *sys.argv[1:]])}",
    )
    with _progress_bars() as (on_pages, on_claims):
        results = evaluate(evaluation, on_pages, on_claims)
    click.echo(printable(f"{out}/report.md, {out}/results.json"), err=True)
    for name, recipe in results["recipes"].items():
        click.echo(_line(name, recipe))
    if any(recipe["crashes"] for recipe in results["recipes"].values()):
        click.echo(
            printable(f"esoteric: Some claims crashed and are in no figure; see {out}/report.md."),
            err=True,
        )
        raise SystemExit(FAILED)


def _line(name: str, recipe: dict[str, Any]) -> str:
    figures = recipe.get("figures")
    if not figures:
        return f"{name}: no claim was answered"
    shown = {
        "label accuracy": figures["label_accuracy"],
        "FEVER score": figures["fever_score"],
        "evidence F1": figures["evidence_f1"],
        "evidence recall": figures["evidence_recall"],
    }
    told = ", ".join(f"{k} {100 * v:.1f}" for k, v in shown.items() if v is not None)
    return f"{name}: {told}; {recipe['seconds']['total']['median']:.2f} s per claim"


@contextmanager
def _progress_bars() -> Iterator[
    tuple[Callable[[BuildProgress], None], Callable[[str, int, int], None]]
]:
    """Show one bar at a time: of the pages while they are indexed, then of each system's claims."""
    index = IndexBar("Indexing")
    bars: dict[str, Any] = {}

    def show(name: str, done: int, of: int) -> None:
        if name not in bars:
            for bar in (index, *bars.values()):
                bar.close()
            bars[name] = tqdm(desc=name, unit=" claims", total=of, initial=done, disable=None)
        bars[name].update(done - bars[name].n)

    try:
        yield index.show, show
    finally:
        for bar in (index, *bars.values()):
            bar.close()

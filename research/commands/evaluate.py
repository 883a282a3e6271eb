"""``esoteric evaluate``."""

from __future__ import annotations

import shlex
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from cli.errors import FAILED, printable, reports_errors
from cli.progress import IndexBar, LongWork, say_where_claims_go
from retrieval.models.document_encoders import (
    DEFAULT_ENCODER,
    DOCUMENT_ENCODERS,
    DPR_ENCODER,
    OWN_ENCODER,
    default_choice,
)
from retrieval.recipes.recipes import DEFAULT_RECIPE
from settings import Settings

if TYPE_CHECKING:
    from research.evaluation.choice import Choice, Half
    from research.evaluation.provenance import Evaluation
    from retrieval.index.interface import BuildProgress
    from retrieval.llm_judge.choice import LanguageModelChoice

_SEED = 1
_FILE = click.Path(exists=True, dir_okay=False, path_type=Path)


@click.command(
    "evaluate",
    epilog="Example: esoteric evaluate --wiki-pages wiki-pages --claims dev.jsonl --out results"
    " --recipe esoteric,bm25",
)
@click.option(
    "--wiki-pages",
    type=click.Path(exists=True, file_okay=False, path_type=Path),
    help="Folder of FEVER's wiki-pages files, on which --claims were annotated. Without it the"
    " claims are checked against the served index.",
)
@click.option(
    "--claims",
    type=_FILE,
    help="Annotated claims, JSON lines: in FEVER's format with --wiki-pages, otherwise"
    " {claim, label, kind, evidence: [[[document id, sentence number], ...], ...]}, or a file of"
    " HoVer or FEVEROUS as it is released.",
)
@click.option(
    "--pairs",
    type=_FILE,
    help="Instead of --claims: claims with their evidence, JSON lines {claim, label, evidence}."
    " The verifier labels them; with --llm the language model too.",
)
@click.option(
    "--out",
    required=True,
    type=click.Path(file_okay=False, path_type=Path),
    help="Folder for predictions, results.json, report.md, table.tex and plots.",
)
@click.option(
    "--recipe",
    "names",
    help="Recipes (see: esoteric recipes), files of recipes (FILE.yaml) and baselines (bm25,"
    " minilm, tfidf), with commas; all: all of these but files and report; ablations: the combined"
    " recipe without one part; variants: recipes that in one respect do as their paper does."
    f"  [default: {DEFAULT_RECIPE}]",
)
@click.option("--several-pages", is_flag=True, help="Only claims that need several pages.")
@click.option(
    "--half",
    type=click.Choice(["fitted", "published"]),
    help="Only the half of the claims that thresholds and calibration are fitted to, or the other"
    " half, on which figures are published.",
)
@click.option("--limit", type=click.IntRange(min=1), help="Only this many claims, from the first.")
@click.option(
    "--sample",
    type=click.IntRange(min=1),
    help="Instead of --limit: this many claims that are not NOT ENOUGH INFO, drawn at random.",
)
@click.option("--seed", type=int, help=f"Another sample for every number.  [default: {_SEED}]")
@click.option(
    "--llm",
    "with_llm",
    is_flag=True,
    help="Ask the language model of ESOTERIC_LLM too, and report its accuracy, tokens and cost."
    " With --pairs, or with --claims against the served index.",
)
@click.option(
    "--vectors",
    type=click.Choice([*DOCUMENT_ENCODERS]),
    help=f"The encoder of the wiki pages; {DPR_ENCODER} for the recipe report, and for no other."
    f"  [default: {DEFAULT_ENCODER}, or {OWN_ENCODER} where ESOTERIC_ENCODER is set]",
)
@reports_errors
def command(
    wiki_pages: Path | None,
    claims: Path | None,
    pairs: Path | None,
    out: Path,
    names: str | None,
    several_pages: bool,
    half: Half | None,
    limit: int | None,
    sample: int | None,
    seed: int | None,
    with_llm: bool,
    vectors: str | None,
) -> None:
    """Measure recipes and baselines on annotated claims, or the verifier on pairs.

    After an interruption, the same command continues where it stopped (--pairs begins again).
    Fails if a claim crashed; such claims are in no figure.
    """
    if (claims is None) == (pairs is None):
        raise click.UsageError("Give exactly one of --claims and --pairs.")
    if claims is None and wiki_pages is not None:
        raise click.UsageError("--wiki-pages cannot be used with --pairs.")
    if several_pages and wiki_pages is None:
        raise click.UsageError("--several-pages needs --wiki-pages.")
    if pairs is not None and any(one is not None for one in (limit, sample, half, names)):
        raise click.UsageError("--recipe, --half, --limit and --sample need --claims.")
    if sample is not None and limit is not None:
        raise click.UsageError("Give only one of --sample and --limit.")
    if seed is not None and sample is None:
        raise click.UsageError("--seed needs --sample.")
    if vectors is not None and wiki_pages is None:
        raise click.UsageError("--vectors needs --wiki-pages.")
    if with_llm and wiki_pages is not None:
        raise click.UsageError(
            "--llm needs --pairs, or --claims against the served index, without --wiki-pages."
        )
    settings = Settings.from_environment()
    if with_llm and settings.llm is None:
        raise click.UsageError("--llm needs a language model: set ESOTERIC_LLM (docs/settings.md).")
    from research.evaluation.choice import Choice

    choice = Choice(half, several_pages, sample, _SEED if seed is None else seed, limit)
    names = DEFAULT_RECIPE if names is None else names
    vectors = default_choice(settings.model_folders) if vectors is None else vectors
    if pairs is not None:
        _pairs(settings, pairs, out, settings.llm if with_llm else None)
    elif claims is not None:
        evaluation = _evaluation(settings, claims, out, names, choice)
        if wiki_pages is None:
            _over_corpus(settings, evaluation, with_llm)
        else:
            _over_pages(settings, evaluation, wiki_pages, vectors)


def _pairs(settings: Settings, pairs: Path, out: Path, llm: LanguageModelChoice | None) -> None:
    from research.evaluation.verifier_alone import evaluate_pairs
    from retrieval.models import runtime

    folders = settings.model_folders
    runtime.use_threads(settings.threads)
    runtime.keep_in(folders.networks)
    say_where_claims_go(llm.name if llm else "")
    with _progress_bars() as (_, on_pairs):
        results = evaluate_pairs(
            pairs,
            out,
            folders,
            _command(),
            lambda done, of: on_pairs("pairs", done, of),
            llm,
        )
    click.echo(printable(f"{out}/pairs/report.md, {out}/pairs/results.json"), err=True)
    click.echo(
        f"{results['pairs']} pairs: label accuracy {100 * results['accuracy']:.1f},"
        f" calibration error {results['calibration_error']:.3f}"
    )
    if "language_model" in results:
        found = results["language_model"]
        click.echo(_language_model(found))
        click.echo(
            f"  verdicts: label accuracy {100 * found['verdict_accuracy']:.1f}, calibration error"
            f" {found['verdict_calibration_error']:.3f}"
        )


def _evaluation(
    settings: Settings, claims: Path, out: Path, names: str, choice: Choice
) -> Evaluation:
    from research.evaluation.provenance import Evaluation
    from research.evaluation.systems import named_systems

    systems, own = named_systems(names)
    folders, threads = settings.model_folders, settings.threads
    return Evaluation(claims, out, systems, choice, threads, folders, _command(), own)


def _over_corpus(settings: Settings, evaluation: Evaluation, with_llm: bool) -> None:
    from research.evaluation.over_corpus import evaluate_over_corpus
    from research.evaluation.report import proofs_text
    from research.evaluation.systems import Bench

    llm, out = settings.llm if with_llm else None, evaluation.out
    bench = Bench(settings.store, settings.snapshots, evaluation.folders, llm, evaluation.own)
    if llm:
        say_where_claims_go(llm.name)
    with _progress_bars() as (_, on_claims):
        results = evaluate_over_corpus(evaluation, bench, on_claims)
    click.echo(printable(f"{out}/report.md, {out}/results.json, {out}/table.tex"), err=True)
    for name, recipe in results["recipes"].items():
        shown = {
            "label accuracy": recipe["label_accuracy"],
            "evidence recall@5": recipe["evidence_recall@5"],
            "opposite stances": recipe["opposite_stances"],
        }
        click.echo(f"{name}: {_in_percent(shown) or 'no claim was answered'}")
        if recipe["proofs"]["both"]:
            click.echo(f"  {proofs_text(recipe['proofs'])}")
        if "language_model" in recipe:
            click.echo(_language_model(recipe["language_model"]))
    _show_tables(results["recipes"])
    if any(recipe["failed"] for recipe in results["recipes"].values()):
        _fail(out, "see predictions.jsonl for their errors")


def _language_model(results: dict[str, Any]) -> str:
    shown = {
        "label accuracy": results["accuracy"],
        "the verifier's": results["verifier_accuracy"],
        "agreement": results["agreement"],
    }
    cost = "" if results["cost"] is None else f", cost {results['cost']:.4f}"
    return (
        f"  {results['model']}: {_in_percent(shown) or 'no usable answer'};"
        f" {results['without_answer']} without an answer; {results['calls']} calls,"
        f" {results['prompt_tokens']} tokens read, {results['answer_tokens']} written{cost}"
    )


def _over_pages(settings: Settings, evaluation: Evaluation, wiki_pages: Path, vectors: str) -> None:
    from research.evaluation.evaluate import evaluate
    from research.evaluation.systems import searches_dpr
    from retrieval.models.papers.report_models import RECIPE

    systems, own, out = evaluation.systems, evaluation.own, evaluation.out
    of_dpr = ", ".join(name for name in systems if searches_dpr(name, own))
    others = ", ".join(name for name in systems if not searches_dpr(name, own))
    if vectors == DPR_ENCODER and others:
        raise click.UsageError(
            f"--vectors {DPR_ENCODER} works only for recipes that search vectors of DPR, such as"
            f" {RECIPE}, not for {others}. Measure these in another run, with other vectors"
            " and another folder --out."
        )
    if vectors != DPR_ENCODER and of_dpr:
        raise click.UsageError(
            f"Only --vectors {DPR_ENCODER} works for {of_dpr}. Measure that in a separate run,"
            f" with --vectors {DPR_ENCODER} and another folder --out."
        )
    with _progress_bars() as (on_pages, on_claims):
        indexes = settings.home / "evaluation"
        results = evaluate(evaluation, wiki_pages, vectors, indexes, on_pages, on_claims)
    click.echo(printable(f"{out}/report.md, {out}/results.json, {out}/table.tex"), err=True)
    for name, recipe in results["recipes"].items():
        click.echo(_line(name, recipe))
    _show_tables(results["recipes"])
    if any(recipe["crashes"] for recipe in results["recipes"].values()):
        _fail(out, f"see {out}/report.md")


def _show_tables(recipes: dict[str, Any]) -> None:
    from research.evaluation.measures import corpus, esoteric_table

    for group in corpus.groups_of(recipes):
        click.echo(f"\n{corpus.as_text(recipes, group)}")
    for name, recipe in recipes.items():
        if recipe.get("esoteric_table"):
            click.echo(f"\n{esoteric_table.as_text(name, recipe['esoteric_table'])}")


def _in_percent(shown: dict[str, float | None]) -> str:
    return ", ".join(f"{name} {100 * v:.1f}" for name, v in shown.items() if v is not None)


def _command() -> str:
    return shlex.join(["esoteric", *sys.argv[1:]])


def _fail(out: Path, where: str) -> None:
    click.echo(printable(f"esoteric: Some claims crashed and are in no figure; {where}."), err=True)
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
    return f"{name}: {_in_percent(shown)}; {recipe['seconds']['total']['median']:.2f} s per claim"


@contextmanager
def _progress_bars() -> Iterator[
    tuple[Callable[[BuildProgress], None], Callable[[str, int, int], None]]
]:
    """Show one progress bar at a time: of the pages to index, then of each system's claims."""
    index = IndexBar("Indexing")
    works: dict[str, LongWork] = {}

    def close() -> None:
        index.close()
        for work in works.values():
            work.close()

    def show(name: str, done: int, of: int) -> None:
        if name not in works:
            close()
            works[name] = LongWork(name, of, done)
        works[name].show(done, f"{done} of {of} claims")

    try:
        yield index.show, show
    finally:
        close()

"""Measures recipes and baselines on claims that need several pages, among very many pages.

python -m research.benchmarks.hard --data DATA --out OUT [--distractors 1000000] [--recipe
combined,bm25]

The pages are FEVER's, the default corpus and every other page text of DATA, and with
``--distractors`` so many synthetic ones that share their names, titles and words. Claims, pages,
index and answers are stored in OUT; an interrupted run continues there. The tables of each kind of
claims are in OUT/results-N/KIND/report.md, for N distractors.
"""

from __future__ import annotations

import shlex
import sys
from pathlib import Path

import click

from research.benchmarks.hard.claims import KINDS, write_claims
from research.benchmarks.hard.pages import NAMES, build, write_pages
from research.evaluation.choice import Choice
from research.evaluation.over_corpus import CorpusEvaluation, evaluate_over_corpus
from research.evaluation.own_recipes import named_systems
from research.evaluation.several_documents_table import as_text, groups_of
from settings import Settings


@click.command()
@click.option(
    "--data", type=click.Path(exists=True, file_okay=False, path_type=Path), required=True
)
@click.option("--out", type=click.Path(file_okay=False, path_type=Path), required=True)
@click.option("--distractors", type=click.IntRange(min=0), default=0, show_default=True)
@click.option("--recipe", "names", default="combined,admiral,m3,bm25", show_default=True)
@click.option("--claims", "kinds", type=click.Choice(KINDS), multiple=True, default=KINDS)
@click.option("--limit", type=click.IntRange(min=1), help="Of each kind only the first claims.")
def main(
    data: Path, out: Path, distractors: int, names: str, kinds: tuple[str, ...], limit: int | None
) -> None:
    """Write pages and claims, build the index, measure, and print the tables."""
    pages, index = out / "pages", out / f"index-{distractors}"
    if not (pages / NAMES).exists():
        write_pages(data, pages)
    build(pages, index, distractors)
    settings = Settings.from_environment()
    systems, own = named_systems(names)
    for kind in kinds:
        claims = out / f"{kind}.jsonl"
        if not claims.exists():
            write_claims(kind, data, claims)
        evaluation = CorpusEvaluation(
            claims=claims,
            out=out / f"results-{distractors}" / kind,
            systems=systems,
            own=own,
            choice=Choice(limit=limit),
            index=index,
            snapshots=settings.snapshots,
            threads=settings.threads,
            folders=settings.model_folders,
            llm=None,
            command=shlex.join(["python", "-m", "research.benchmarks.hard", *sys.argv[1:]]),
        )
        recipes = evaluate_over_corpus(evaluation, _show)["recipes"]
        for group in groups_of(recipes):
            print(f"\n{as_text(recipes, group)}")


def _show(name: str, done: int, of: int) -> None:
    print(f"\r{name}: {done} of {of} claims", end="" if done < of else "\n", file=sys.stderr)


if __name__ == "__main__":
    main()

"""Shows hostile evidence to the verifier, and to the language model of the settings if one is set.

[ESOTERIC_LLM=openai:MODEL ESOTERIC_LLM_URL=http://HOST:PORT/v1] python -m
research.benchmarks.hostile
    [--each N] [--out FILE]

With ``--out research/reports/hostile-evidence.md`` it writes that file.
"""

from __future__ import annotations

import shlex
import sys
from pathlib import Path

import click
from tqdm import tqdm

from research.benchmarks import processor
from research.benchmarks.hostile.campaign import Campaign
from research.benchmarks.hostile.pieces import KINDS, read_pieces
from research.benchmarks.hostile.report import report
from retrieval.llm_judge.explainer import explainer
from retrieval.models import runtime
from retrieval.models.shipped import evidence_model, judge_name
from settings import Settings


@click.command()
@click.option("--each", type=click.IntRange(min=1), help="Only the first so many of each kind.")
@click.option(
    "--out",
    type=click.Path(dir_okay=False, path_type=Path),
    help="A file for the report, which is printed too.",
)
def main(each: int | None, out: Path | None) -> None:
    """Run the campaign and print the report."""
    settings = Settings.from_environment()
    asked = explainer(settings.llm, kept=None, models=settings.packaged_models)
    runtime.use_threads(settings.threads)
    folders = settings.model_folders
    runtime.keep_in(folders.networks)
    campaign = Campaign(evidence_model(folders, in_search=True), judge_name(folders), asked)
    pieces = read_pieces()
    chosen = [piece for kind in KINDS for piece in [p for p in pieces if p.kind == kind][:each]]
    outcomes = [campaign.outcome(piece) for piece in tqdm(chosen, unit="piece")]
    for outcome in outcomes:
        if outcome.broken:
            click.echo(f"{outcome.piece.id}: {', '.join(outcome.broken)}", err=True)
    where = "ESOTERIC_LLM=openai:MODEL ESOTERIC_LLM_URL=http://HOST:PORT/v1 " if asked else ""
    command = f"{where}{shlex.join(['python', '-m', 'research.benchmarks.hostile', *sys.argv[1:]])}"
    names = (judge_name(folders), settings.llm.model if settings.llm else None)
    text = report(outcomes, len(pieces), command, processor.described(), names)
    if out is not None:
        out.write_text(text, encoding="utf-8")
    click.echo(text)


if __name__ == "__main__":
    main()

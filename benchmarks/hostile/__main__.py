"""Shows hostile evidence to the verifier and to the language model of the settings.

ESOTERIC_LLM=openai:MODEL ESOTERIC_LLM_URL=http://HOST:PORT/v1 python -m benchmarks.hostile
    [--each N] [--out FILE]

Writes docs/hostile-evidence.md.
"""

from __future__ import annotations

import shlex
import sys
from pathlib import Path

import click
from tqdm import tqdm

from benchmarks import processor
from benchmarks.hostile.campaign import Campaign
from benchmarks.hostile.pieces import KINDS, read_pieces
from benchmarks.hostile.report import report
from retrieval.explanation.explainer import explainer
from retrieval.models import evidence_model, judge_name
from retrieval.networks import runtime
from settings import CHECKOUT, Settings


@click.command()
@click.option("--each", type=click.IntRange(min=1), help="Only the first so many of each kind.")
@click.option(
    "--out",
    type=click.Path(dir_okay=False, path_type=Path),
    default=CHECKOUT / "docs" / "hostile-evidence.md",
    help="The report.  [default: docs/hostile-evidence.md]",
)
def main(each: int | None, out: Path) -> None:
    """Run the campaign and write the report."""
    settings = Settings.from_environment()
    asked = explainer(settings.llm, kept=None, models=settings.packaged_models)
    if asked is None or settings.llm is None:
        raise click.UsageError("Set ESOTERIC_LLM and ESOTERIC_LLM_URL (docs/settings.md).")
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
    where = "ESOTERIC_LLM=openai:MODEL ESOTERIC_LLM_URL=http://HOST:PORT/v1"
    command = f"{where} {shlex.join(['python', '-m', 'benchmarks.hostile', *sys.argv[1:]])}"
    names = (judge_name(folders), settings.llm.model)
    text = report(outcomes, len(pieces), command, processor.described(), names)
    out.write_text(text, encoding="utf-8")
    click.echo(text)


if __name__ == "__main__":
    main()

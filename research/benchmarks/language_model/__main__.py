"""Compares a small language model with the verifier, on everyday claims with evidence given.

python -m research.benchmarks.language_model --data DATA --out FILE [--work FOLDER]

Needs the packages of requirements-test.txt. FOLDER stores the fetched file of the model, its
answers and sentence vectors, so that an interrupted run continues.
"""

from __future__ import annotations

import time
from collections.abc import Sequence
from pathlib import Path

import click
import numpy as np

from research.benchmarks.language_model import report
from research.benchmarks.language_model.claims import Given, given_claims
from research.benchmarks.language_model.model import KeptModel, opinions_of, seconds_of
from research.benchmarks.language_model.prompts import WORDINGS
from research.benchmarks.language_model.systems import Labelled, truth_of
from retrieval.llm_judge.local_model import Wording
from retrieval.models import runtime
from retrieval.models.cross_encoders import CrossEncoder
from retrieval.models.shipped import judge_name, verifier
from settings import CHECKOUT, Settings

KEPT = 2  # wordings that are measured on dev
REPORT = CHECKOUT / "research" / "reports" / "language-model-benchmark.md"


@click.command()
@click.option(
    "--data", type=click.Path(exists=True, file_okay=False, path_type=Path), required=True
)
@click.option("--out", type=click.Path(dir_okay=False, path_type=Path), default=REPORT)
@click.option("--work", type=click.Path(file_okay=False, path_type=Path))
@click.option("--trained", type=click.IntRange(min=2), default=300, show_default=True)
@click.option("--tried", type=click.IntRange(min=2), default=24, show_default=True)
def main(data: Path, out: Path, work: Path | None, trained: int, tried: int) -> None:
    """Choose wordings and fit on train, measure on dev and write the report.

    ``trained``: claims that are fitted to; ``tried``: those of them that each wording is tried on.
    """
    settings = Settings.from_environment()
    folder = work or settings.home / "benchmarks" / "language-model"
    folder.mkdir(parents=True, exist_ok=True)
    runtime.use_threads(1)
    runtime.keep_in(settings.model_folders.networks)
    train, dev = given_claims(data, folder, trained)
    judge = verifier(settings.packaged_models, in_search=False)
    asked = KeptModel(folder)

    def labelled(wordings: Sequence[Wording], claims: Sequence[Given]) -> Labelled:
        return Labelled(
            kinds=tuple(given.kind for given in claims),
            truth=truth_of(claims),
            verifier=judge.probabilities(_pairs(claims)).astype(np.float64),
            asked=tuple(opinions_of(asked.answers(wording, claims)) for wording in wordings),
        )

    trial = {wording: labelled([wording], train[:tried]) for wording in WORDINGS}
    chosen = sorted(trial, key=lambda wording: report.fitted_loss(trial[wording]))[:KEPT]
    answers = [answer for wording in chosen for answer in asked.answers(wording, dev)]
    seconds, computed = seconds_of(answers)
    measured = report.Measured(
        command="python -m research.benchmarks.language_model --data DATA --out FILE"
        f" --trained {trained} --tried {tried}",
        trial={wording.name: found for wording, found in trial.items()},
        chosen=tuple(wording.name for wording in chosen),
        train=labelled(chosen, train),
        dev=labelled(chosen, dev),
        covered=float(np.median([answer.covered for answer in answers])),
        cost=report.Cost(
            seconds=float(np.median(seconds)),
            computed=float(np.median(computed)),
            memory=max(answer.memory for answer in answers),
        ),
        verifier=judge_name(settings.model_folders),
        verifier_seconds=_verifier_seconds(judge, dev),
    )
    click.echo(report.written(measured, out))


def _pairs(claims: Sequence[Given]) -> list[tuple[str, str]]:
    return [(given.claim, given.evidence) for given in claims]


def _verifier_seconds(judge: CrossEncoder, claims: Sequence[Given]) -> float:
    """Return the median seconds of computing that a claim takes."""
    took = []
    for pair in _pairs(claims):
        started = time.process_time()
        judge.probabilities([pair])
        took.append(time.process_time() - started)
    return float(np.median(took))


if __name__ == "__main__":
    main()

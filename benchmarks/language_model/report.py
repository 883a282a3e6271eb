"""Writes the report."""

from __future__ import annotations

import platform
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

import numpy as np

from benchmarks import processor
from benchmarks.elastic.report import Cells, table
from benchmarks.language_model import model, systems
from benchmarks.language_model.claims import Given
from benchmarks.language_model.figures import Difference, difference, figures, right
from benchmarks.language_model.fitting import Opinions, fitted
from benchmarks.language_model.prompts import EXAMPLES
from benchmarks.language_model.systems import Labelled

GATE = 3.0  # points by which both together must beat the verifier
_COMPARED = (
    (systems.TOGETHER, systems.VERIFIER),
    (systems.TOGETHER, systems.RESCALED),
    (systems.TOGETHER_TRAIN, systems.VERIFIER),
    (systems.CALIBRATED, systems.VERIFIER),
)


@dataclass(frozen=True, slots=True)
class Cost:
    """Of one claim: seconds that passed and that were computed, medians; memory in bytes."""

    seconds: float
    computed: float
    memory: int


@dataclass(frozen=True, slots=True)
class Measured:
    """What the report is about.

    ``trial``: some train claims under each wording's name. ``covered``: the probability that the
    three answers have among all tokens, the median of the dev claims.
    """

    command: str
    trial: Mapping[str, Labelled]
    chosen: str
    train: Labelled
    dev: Labelled
    claims: Sequence[Given]
    covered: float
    cost: Cost
    verifier_seconds: float


def written(measured: Measured, file: Path) -> str:
    """Write the report to the file and return it."""
    said = systems.systems(measured.train, measured.dev)
    truth = measured.dev.truth
    correct = {name: right(opinions, truth) for name, opinions in said.items()}
    gate = difference(correct[systems.TOGETHER], correct[systems.VERIFIER])
    alone, together = systems.halved(measured.dev)
    weights = fitted(measured.dev.both, truth).weights
    parts = [
        _opening(measured),
        "## Result\n\n" + _result(said, measured.dev),
        _gate(gate, alone, together, weights),
        "## Differences\n\n" + _differences(correct),
        "## By kind\n\n" + _by_kind(said, measured),
        "## Wordings\n\n" + _wordings(measured),
        "## Cost\n\n" + _cost(measured),
    ]
    text = "\n\n".join(parts) + "\n"
    file.write_text(text, encoding="utf-8")
    return text


def _opening(measured: Measured) -> str:
    return f"""# A small language model beside the verifier

Written by

    {measured.command}

on {datetime.now(UTC):%Y-%m-%d}: {processor.described()}; Python {platform.python_version()},
{platform.system()} {platform.machine()}. Does a small language model, run on the processor without
a network, label claims better than the verifier, or help it? The model is {model.NAME}
(1.1 GB, Apache License 2.0), served by xllamacpp, whose wheels use AVX2 and FMA at most.

Both read the same claims with the same evidence: {len(measured.dev.truth)} everyday claims to
measure (`vital/dev.jsonl`) and {len(measured.train.truth)} to fit to (a sample of
`vital/train-*.jsonl`). A decided claim has its first set of evidence. An undecided one has the
sentence of the default corpus nearest to it, which does not settle it. The language model is asked
once a claim, and the probabilities of three first tokens of its answer are those of the labels
(together {100 * measured.covered:.0f} % of the probability of all tokens, the median of dev).

"Calibrated" is a scale of the log probabilities and a bias of each label (Guo et al. 2017, 4.2).
"Both" adds the scaled log probabilities of both, with a bias of each label. The verifier was
trained on the claims of train, so it is surer there than elsewhere; a fit to them trusts it too
much. "The other half" therefore fits to every second claim of dev and measures the rest, then the
other way round. The verifier is also rescaled so, which separates what a bias gains from what the
language model adds."""


def _result(said: Mapping[str, Opinions], dev: Labelled) -> str:
    rows: list[Cells] = []
    for name, opinions in said.items():
        found = figures(opinions, dev.truth)
        rows.append(
            (
                name,
                f"{found.accuracy:.1f}",
                f"{found.decided:.1f}",
                f"{found.error:.3f}",
                " / ".join(map(str, found.said)),
            )
        )
    true = " / ".join(map(str, np.bincount(dev.truth, minlength=3).tolist()))
    head = (
        "",
        "label accuracy, %",
        "supported against refuted, %",
        "calibration error",
        f"labels given (true: {true})",
    )
    return (
        table(head, rows)
        + "\n\nSupported against refuted: decided claims only, whatever NOT ENOUGH"
        " INFO has. Calibration error: expected, ten bins. Labels given: SUPPORTS / REFUTES / NOT"
        " ENOUGH INFO."
    )


def _gate(gate: Difference, alone: float, together: float, weights: Sequence[float]) -> str:
    met = gate.points >= GATE
    verdict = (
        "It is met: a local language model is a documented choice."
        if met
        else "It is not met: a local language model is no choice of the product."
    )
    return f"""The gate was {GATE:.0f} points of label accuracy more than the verifier on dev. Both
together, fitted to the other half, differ by {gate.points:+.1f} points (95 % interval
{gate.low:+.1f} to {gate.high:+.1f}). {verdict}

Over {systems.HALVINGS} random halvings the verifier rescaled labels {alone:.1f} % right, and both
together {together:.1f} %. A fit to all of dev weighs the verifier {weights[0]:.2f} and the language
model {weights[1]:.2f}."""


def _differences(correct: Mapping[str, np.ndarray]) -> str:
    rows: list[Cells] = []
    for first, second in _COMPARED:
        found = difference(correct[first], correct[second])
        rows.append(
            (
                first,
                second,
                f"{found.points:+.1f}",
                f"{found.low:+.1f} to {found.high:+.1f}",
                f"{found.better} / {found.worse}",
                f"{found.p_value:.3f}",
            )
        )
    head = ("", "against", "points", "95 % interval", "only one right: first / second", "McNemar p")
    return table(head, rows) + "\n\nIntervals: paired bootstrap over claims. McNemar: exact."


def _by_kind(said: Mapping[str, Opinions], measured: Measured) -> str:
    shown = (systems.CALIBRATED, systems.VERIFIER, systems.TOGETHER)
    kinds = np.array([given.kind for given in measured.claims])
    rows: list[Cells] = []
    for kind in dict.fromkeys(kinds.tolist()):
        of_kind = kinds == kind
        rows.append(
            (
                kind,
                str(int(of_kind.sum())),
                *(
                    f"{100 * right(said[name], measured.dev.truth)[of_kind].mean():.1f}"
                    for name in shown
                ),
            )
        )
    return table(("kind", "claims", *shown), rows) + "\n\nLabel accuracy, %."


def _wordings(measured: Measured) -> str:
    rows: list[Cells] = []
    for name, labelled in measured.trial.items():
        found = figures(labelled.language_model, labelled.truth)
        rows.append(
            (
                f"**{name}**" if name == measured.chosen else name,
                f"{found.accuracy:.1f}",
                f"{found.decided:.1f}",
                f"{fitted_loss(labelled):.3f}",
                " / ".join(map(str, found.said)),
            )
        )
    claims = len(measured.trial[measured.chosen].truth)
    head = (
        "",
        "label accuracy, %, raw",
        "supported against refuted, %",
        "log loss, calibrated",
        "labels given, raw",
    )
    return (
        f"Tried on the first {claims} claims of the train sample alone; the lowest log loss after a"
        " calibration to the same claims was chosen. So few claims tell a bad wording from a good"
        f" one, and no more. The {len(EXAMPLES)} examples are invented"
        " (`benchmarks/language_model/prompts.py`).\n\n" + table(head, rows)
    )


def fitted_loss(labelled: Labelled) -> float:
    """Return the log loss of the language model after a calibration to the same claims."""
    models = [labelled.language_model]
    opinions = fitted(models, labelled.truth).of(models)
    return -float(np.log(opinions[np.arange(len(labelled.truth)), labelled.truth]).mean())


def _cost(measured: Measured) -> str:
    cost = measured.cost
    return f"""On one thread, medians of a claim of dev: the language model computes
{cost.computed:.2f} s (instructions and examples, which all prompts begin with, are computed once);
the verifier {measured.verifier_seconds:.2f} s. {cost.seconds:.1f} s passed for the language model's
answer, because the processor's cores were shared with other programs. Its process takes
{cost.memory / 1e6:,.0f} MB of memory, the weights among them."""

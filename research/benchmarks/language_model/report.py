"""Writes the report."""

from __future__ import annotations

import platform
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from research.benchmarks import processor
from research.benchmarks.elastic.report import Cells, table
from research.benchmarks.language_model import model, systems
from research.benchmarks.language_model.figures import difference, figures, right
from research.benchmarks.language_model.fitting import fitted
from research.benchmarks.language_model.systems import Labelled
from retrieval.llm_judge.local_explainer import Opinions, Pool
from retrieval.llm_judge.local_model import EXAMPLES
from retrieval.types import LABELS

GATE = 3.0  # points by which both together must beat the verifier
_COMPARED = (
    (systems.TOGETHER, systems.VERIFIER),
    (systems.TOGETHER, systems.RESCALED),
    (systems.TOGETHER_TRAIN, systems.VERIFIER),
    (systems.TOGETHER_TRAIN, systems.RESCALED_TRAIN),
    (systems.RESCALED, systems.VERIFIER),
    (systems.CALIBRATED, systems.VERIFIER),
)


@dataclass(frozen=True, slots=True)
class Cost:
    """Of one answer: seconds that passed and that were computed, medians; memory in bytes."""

    seconds: float
    computed: float
    memory: int


@dataclass(frozen=True, slots=True)
class Measured:
    """What the report is about.

    ``trial``: some train claims under each wording's name; ``chosen``: those wordings that
    ``train`` and ``dev`` are asked with. ``covered``: the probability that the three answers have
    among all tokens, the median of the dev claims.
    """

    command: str
    trial: Mapping[str, Labelled]
    chosen: tuple[str, ...]
    train: Labelled
    dev: Labelled
    covered: float
    cost: Cost
    verifier: str
    verifier_seconds: float


def written(measured: Measured, file: Path) -> str:
    """Write the report to the file and return it."""
    by_system = systems.systems(measured.train, measured.dev)
    truth = measured.dev.truth
    correct = {name: right(opinions, truth) for name, opinions in by_system.items()}
    parts = [
        _opening(measured),
        "## Result\n\n" + _result(by_system, measured.dev),
        _gate(correct, measured),
        "## Fits\n\n" + _fits(measured),
        "## Differences\n\n" + _differences(correct),
        "## By kind\n\n" + _by_kind(by_system, measured),
        "## Wordings\n\n" + _wordings(measured),
        "## Cost\n\n" + _cost(measured),
    ]
    text = "\n\n".join(parts) + "\n"
    file.write_text(text, encoding="utf-8")
    return text


def _opening(measured: Measured) -> str:
    return f"""# A small language model compared with the verifier

Written by

    {measured.command}

on {datetime.now(UTC):%Y-%m-%d}: {processor.described()}; Python {platform.python_version()},
{platform.system()} {platform.machine()}. Does a small language model, run on the processor without
a network, label claims better than the verifier, or help it? The model is {model.NAME}
(1.1 GB, Apache License 2.0), served by xllamacpp, whose wheels use AVX2 and FMA at most.
The verifier is {measured.verifier}.

Both read the same claims with the same evidence: {len(measured.dev.truth)} everyday claims to
measure (`vital/dev.jsonl`) and {len(measured.train.truth)} to fit to (a sample of
`vital/train-*.jsonl`). A decided claim has its first set of evidence. An undecided one has the
sentence of the default corpus nearest to it, which does not settle it. The language model is asked
in {len(measured.chosen)} wordings, and the probabilities of three first tokens of its answer are
those of the labels. Together they have {100 * measured.covered:.0f} % of the probability of all
tokens, the median of dev.

"Raw" is the mean of the wordings. "Calibrated" has a scale of each wording's log probabilities and
a bias of each label (Guo et al. 2017, 4.2). "Both" adds the scaled log probabilities of both
models, with a bias of each label. The verifier was trained on the claims of train, so it is surer
there than elsewhere; a fit to them trusts it too much. "The other half" therefore fits to every
second claim of dev, of each kind and label, and measures the rest, then the other way round. The
verifier is also rescaled so. That separates what a bias gains from what the language model adds."""


def _result(by_system: Mapping[str, Opinions], dev: Labelled) -> str:
    rows: list[Cells] = []
    for name, opinions in by_system.items():
        found = figures(opinions, dev.truth)
        rows.append(
            (
                name,
                f"{found.accuracy:.1f}",
                f"{found.decided:.1f}",
                f"{found.error:.3f}",
                " / ".join(map(str, found.predicted)),
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
        + "\n\nSupported against refuted: decided claims only, without regard to the"
        " probability of NOT ENOUGH INFO. Calibration error: expected, ten bins. Labels given:"
        " SUPPORTS / REFUTES / NOT ENOUGH INFO."
    )


def _gate(correct: Mapping[str, NDArray[np.bool_]], measured: Measured) -> str:
    shipped, rescaled = (
        difference(correct[systems.TOGETHER], correct[name])
        for name in (systems.VERIFIER, systems.RESCALED)
    )
    # What a bias alone gains needs no language model.
    verdict = (
        "It is met: a local language model is a documented choice."
        if min(shipped.points, rescaled.points) >= GATE
        else "It is met compared with the shipped verifier, but not with the rescaled verifier."
        " A bias, which needs no language model, gains the difference."
        if shipped.points >= GATE
        else "It is not met."
    )
    alone, together = systems.halved(measured.dev)
    return f"""The gate was {GATE:.0f} points of label accuracy more than the verifier on dev. Both
models together, fitted to the other half, differ from the verifier as it is shipped by
{shipped.points:+.1f} points (95 % interval {shipped.low:+.1f} to {shipped.high:+.1f}), and from the
verifier rescaled in the same way by {rescaled.points:+.1f} ({rescaled.low:+.1f} to
{rescaled.high:+.1f}). {verdict}

Over {systems.HALVINGS} random halvings the verifier rescaled labels {alone:.1f} % right, and both
together {together:.1f} %."""


def _fits(measured: Measured) -> str:
    """Return the pools that the product uses (``LanguageModelConfig``)."""
    dev = measured.dev
    pools = {
        "both": (("the verifier", *measured.chosen), fitted(dev.both, dev.truth)),
        "language model alone": (measured.chosen, fitted(dev.asked, dev.truth)),
    }
    rows: list[Cells] = [(name, *_cells(models, pool)) for name, (models, pool) in pools.items()]
    return (
        table(("", "weights", "biases: " + " / ".join(LABELS)), rows)
        + "\n\nBy a fit to all of dev. `ESOTERIC_LLM=local` uses these numbers."
    )


def _cells(models: Sequence[str], pool: Pool) -> Cells:
    weights = zip(models, pool.weights, strict=True)
    return (
        "; ".join(f"{name} {weight:.2f}" for name, weight in weights),
        " / ".join(f"{bias:+.2f}" for bias in pool.biases),
    )


def _differences(correct: Mapping[str, NDArray[np.bool_]]) -> str:
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


def _by_kind(by_system: Mapping[str, Opinions], measured: Measured) -> str:
    shown = (systems.CALIBRATED, systems.VERIFIER, systems.TOGETHER)
    kinds = np.array(measured.dev.kinds)
    rows: list[Cells] = []
    for kind in dict.fromkeys(kinds.tolist()):
        of_kind = kinds == kind
        rows.append(
            (
                kind,
                str(int(of_kind.sum())),
                *(
                    f"{100 * right(by_system[name], measured.dev.truth)[of_kind].mean():.1f}"
                    for name in shown
                ),
            )
        )
    return table(("kind", "claims", *shown), rows) + "\n\nLabel accuracy, %."


def _wordings(measured: Measured) -> str:
    on_dev = dict(zip(measured.chosen, measured.dev.asked, strict=True))
    rows: list[Cells] = []
    for name, labelled in measured.trial.items():
        found = figures(labelled.asked[0], labelled.truth)
        dev = figures(on_dev[name], measured.dev.truth) if name in on_dev else None
        rows.append(
            (
                name,
                f"{found.accuracy:.1f}",
                f"{found.decided:.1f}",
                f"{fitted_loss(labelled):.3f}",
                f"{dev.accuracy:.1f}" if dev else "",
                f"{dev.decided:.1f}" if dev else "",
                " / ".join(map(str, dev.predicted)) if dev else "",
            )
        )
    claims = len(next(iter(measured.trial.values())).truth)
    head = (
        "",
        "trial: label accuracy, %",
        "supported against refuted, %",
        "log loss, calibrated",
        "dev: label accuracy, %",
        "supported against refuted, %",
        "labels given",
    )
    return (
        f"Each alone, raw. They were tried on the first {claims} claims of the train sample, and"
        f" the {len(measured.chosen)} with the lowest log loss after a calibration to the same"
        " claims were measured on dev. With so few claims only large differences can be seen."
        f" The {len(EXAMPLES)} examples are invented"
        " (`retrieval/llm_judge/local_explainer.py`).\n\n" + table(head, rows)
    )


def fitted_loss(labelled: Labelled) -> float:
    """Return the log loss of the language model after a calibration to the same claims."""
    opinions = fitted(labelled.asked, labelled.truth).of(labelled.asked)
    return -float(np.log(opinions[np.arange(len(labelled.truth)), labelled.truth]).mean())


def _cost(measured: Measured) -> str:
    cost = measured.cost
    return f"""Medians of dev, on one thread. An answer of the language model computes
{cost.computed:.2f} s, and a claim takes {len(measured.chosen)}; instructions and examples, which
all prompts of a wording begin with, are computed once. The verifier computes
{measured.verifier_seconds:.2f} s a claim. {cost.seconds:.1f} s passed for an answer, because other
programs shared the processor's cores. The process of the language model takes
{cost.memory / 1e6:,.0f} MB of memory, the weights among them."""

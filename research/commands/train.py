"""``esoteric train``."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from functools import partial, wraps
from pathlib import Path
from typing import TypeAlias

import click

from cli.errors import reports_errors
from retrieval.system.packages import require_models, require_research
from settings import CHECKOUT, Settings

_Option: TypeAlias = Callable[[Callable[..., None]], Callable[..., None]]
_FOLDER = click.Path(file_okay=False, path_type=Path)
_FORMER_NAMES = {"reader": "relevance"}  # of a command and of an option; scripts may use them


def _folder(name: str, folder: Path, meaning: str) -> _Option:
    shown = f"{meaning}  [default: {folder.relative_to(CHECKOUT)}]"
    return click.option(name, type=_FOLDER, default=folder, help=shown)


def _given(name: str, meaning: str) -> _Option:
    return click.option(name, required=True, type=_FOLDER, help=meaning)


def _out(name: str) -> _Option:
    meaning = "Folder for the model; the default is the one in use."
    return _folder("--out", CHECKOUT / "models" / name, meaning)


def _run(name: str) -> _Option:
    return _folder("--run", CHECKOUT / "runs" / name, "Folder for logs and checkpoints.")


_data = _given("--data", "Folder with the training data (docs/models.md).")
_relevance_model = _folder(
    "--relevance", CHECKOUT / "models" / "relevance", "The trained relevance model."
)

_start = click.option(
    "--start", type=_FOLDER, help="A trained model; only the last phase is run, from its weights."
)
_seeds = click.option(
    "--seed",
    "seeds",
    type=click.IntRange(min=0),
    multiple=True,
    default=(0,),
    help="Draws the examples and their order. Given several times, a model of each is trained in"
    " --run, mean and spread of their figures are shown, and --out stays as it is.  [default: 0]",
)
_Train: TypeAlias = Callable[[Path, Path, int], dict[str, float]]
"""Trains a model: the folders of the run and of the model, and the seed, to its figures."""


def with_seeds(seeds: tuple[int, ...], run: Path, out: Path, train: _Train) -> None:
    """Train a model into ``out``, or one of each of several seeds beside ``run``."""
    from research.training.figures import spread

    different, run = tuple(dict.fromkeys(seeds)), run.resolve()  # "." has no name
    if len(different) == 1:
        train(run, out, different[0])
        return
    figures = {}
    for seed in different:
        own = run.with_name(f"{run.name}-seed-{seed}")  # beside it: both keep vectors there
        figures[seed] = train(own, own / "model", seed)
    click.echo(spread(figures))


@click.group(
    "train",
    epilog="Example: esoteric train relevance --data ../data",
    context_settings={"token_normalize_func": lambda name: _FORMER_NAMES.get(name, name)},
)
def command() -> None:
    """Train one of the shipped models. After an interruption it continues where it stopped."""


def _trains(name: str, *options: _Option, example: str = "--data ../data") -> _Option:
    """Make a command of a function, which checks for the packages of training first."""

    def made(function: Callable[..., None]) -> Callable[..., None]:
        @wraps(function)
        def checked(*arguments: object, **given: object) -> None:
            require_models("Training")
            require_research("Training")
            function(*arguments, **given)

        whole: Callable[..., None] = reports_errors(checked)
        for option in reversed(options):
            whole = option(whole)
        epilog = f"Example: esoteric train {name} {example}".rstrip()
        return command.command(name, epilog=epilog)(whole)

    return made


@_trains(
    "verifier",
    _data,
    _out("verifier"),
    _run("verifier"),
    _start,
)
def verifier(data: Path, run: Path, out: Path, start: Path | None) -> None:
    """Train the verifier (ten minutes on a GPU; with --start an hour on two cores)."""
    from research.training.verifier.train import train_verifier

    train_verifier(data, run, out, _prepared().packaged_models, start)


@_trains("calibration", _data)
def calibration(data: Path) -> None:
    """Calibrate the verifier to searches for the fitted half of the dev claims (ten minutes)."""
    from research.commands.calibrate import fit_to_searches

    settings = _prepared()
    folders = replace(settings.model_folders, verifier=None)  # fit the shipped one
    figures = fit_to_searches(settings, data, folders)
    click.echo(", ".join(f"{name} {value:.3g}" for name, value in figures.items()))


@_trains(
    "relevance",
    _data,
    _out("relevance"),
    _run("relevance"),
    _folder(
        "--teacher",
        CHECKOUT / "models" / "verifier",
        "The trained verifier, or a model as for ESOTERIC_VERIFIER.",
    ),
    _start,
    _seeds,
)
def relevance(
    data: Path, run: Path, out: Path, teacher: Path, start: Path | None, seeds: tuple[int, ...]
) -> None:
    """Train the relevance model with its teacher, the verifier (two hours on two cores)."""
    from research.training.relevance import train_relevance
    from retrieval.models.own_verifier import SequenceClassifier, read_classifier
    from retrieval.models.shipped import verifier

    unpacked = _prepared().packaged_models
    model = (
        verifier(unpacked, in_search=False, folder=teacher)
        if (teacher / "delta.safetensors").is_file()
        else SequenceClassifier(read_classifier(teacher))
    )
    with_seeds(seeds, run, out, partial(train_relevance, data, model, start))


@_trains("path", _data, _out("path"), _run("path"), _relevance_model, _seeds)
def path(data: Path, run: Path, out: Path, relevance: Path, seeds: tuple[int, ...]) -> None:
    """Train the path model (30 minutes)."""
    from research.training.path import train_path

    _prepared()
    with_seeds(seeds, run, out, partial(train_path, data, relevance))


@_trains(
    "prover",
    _data,
    _given("--wordnet", "Folder of WordNet's database, such as Debian's wordnet-base installs."),
    _out("prover"),
    _run("prover"),
    _relevance_model,
    _seeds,
    example="--data ../data --wordnet /usr/share/wordnet",
)
def prover(
    data: Path, wordnet: Path, run: Path, out: Path, relevance: Path, seeds: tuple[int, ...]
) -> None:
    """Train the prover, which makes the proof of a claim (an hour on two cores)."""
    from research.training.prover import train_prover

    _prepared()
    with_seeds(seeds, run, out, partial(train_prover, data, wordnet, relevance))


@_trains("dense", _data, _out("dense"), _run("dense"), _relevance_model, _seeds)
def dense(data: Path, run: Path, out: Path, relevance: Path, seeds: tuple[int, ...]) -> None:
    """Train the encoder of claims and paths (half an hour on two cores)."""
    from research.training.dense import train_dense

    _prepared()
    with_seeds(seeds, run, out, partial(train_dense, data, relevance))


@_trains("static", _data, _out("static"), _run("static"))
def static(data: Path, run: Path, out: Path) -> None:
    """Fit the encoder that builds large indexes (five minutes)."""
    from research.training.static import train_static

    _prepared()
    train_static(data, run, out)


@_trains("vectors", _out("vital-vectors"), _run("vital-vectors"), example="")
def vectors(run: Path, out: Path) -> None:
    """Encode the default corpus; its vectors are shipped with the project (a minute)."""
    from research.training.vital_vectors import encode_vital

    encode_vital(run, out, _prepared().threads)


@_trains(
    "distilbert",
    _given("--data", "Folder with FEVER's train.jsonl and wiki-pages."),
    _run("distilbert"),
    example="--data ../data/fever-dev",
)
def distilbert(data: Path, run: Path) -> None:
    """Train the relevance classifier of the ESOTERIC report, for the recipe report.

    It is written to distilbert-relevance in ESOTERIC_REPORT_MODELS. The published one must not be
    there.
    distilbert-base-uncased, from which it is trained, is fetched into that folder too.
    """
    from research.training.distilbert import train_distilbert
    from retrieval.models.papers import report_models as reported

    models = reported.named_folder(_prepared().report_models)
    base, relevance = reported.BASE, reported.RELEVANCE
    reported.refuse_to_replace(models, relevance)
    models.mkdir(parents=True, exist_ok=True)
    reported.bring(models, base)
    figures = train_distilbert(data, run, models / base.name, models / relevance.name)
    reported.record_own(models, relevance)
    click.echo(", ".join(f"{name} {value:.5g}" for name, value in figures.items()))


@_trains("titles", _data, _out("titles"), _run("titles"), _seeds)
def titles(data: Path, run: Path, out: Path, seeds: tuple[int, ...]) -> None:
    """Train the model that generates titles (35 minutes on two cores)."""
    from research.training.titles import train_titles

    _prepared()
    with_seeds(seeds, run, out, partial(train_titles, data))


@_trains("checkable", _out("checkable"), example="")
def checkable(out: Path) -> None:
    """Fit the model that finds the checkable sentences of a text (some seconds)."""
    from research.training.checkable import train_checkable

    _prepared()
    train_checkable(out)


def _prepared() -> Settings:
    """Return the settings, and let the models use that number of threads."""
    import torch

    from retrieval.models import runtime

    settings = Settings.from_environment()
    torch.set_num_threads(settings.threads)
    runtime.use_threads(settings.threads)
    runtime.keep_in(settings.model_folders.networks)
    return settings

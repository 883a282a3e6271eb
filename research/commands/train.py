"""``esoteric train``."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from functools import wraps
from pathlib import Path
from typing import TYPE_CHECKING

import click

from cli.errors import reports_errors
from retrieval.system.packages import require_models, require_research
from settings import CHECKOUT, Settings

if TYPE_CHECKING:
    from research.training.utility_feedback import Losses

_FOLDER = click.Path(file_okay=False, path_type=Path)


_data = click.option(
    "--data", required=True, type=_FOLDER, help="Folder with the training data (docs/training.md)."
)


def _folder(
    name: str, folder: Path, meaning: str
) -> Callable[[Callable[..., None]], Callable[..., None]]:
    shown = f"{meaning}  [default: {folder.relative_to(CHECKOUT)}]"
    return click.option(name, type=_FOLDER, default=folder, help=shown)


def _out_and_run(name: str) -> Callable[[Callable[..., None]], Callable[..., None]]:
    """The options for the folders of the model and of its training."""
    out = _folder(
        "--out",
        CHECKOUT / "models" / name,
        "Folder for the model; the default is the one in use.",
    )
    run = _folder("--run", CHECKOUT / "runs" / name, "Folder for logs and checkpoints.")
    return lambda command: out(run(command))


def _trains(command: Callable[..., None]) -> Callable[..., None]:
    """Check for the packages of training, and report errors."""

    @wraps(command)
    def checked(*args: object, **options: object) -> None:
        require_models("Training")
        require_research("Training")
        command(*args, **options)

    return reports_errors(checked)


_relevance_model = _folder(
    "--relevance", CHECKOUT / "models" / "relevance", "The trained relevance model."
)
_FORMER_NAMES = {"reader": "relevance"}  # of a command and of an option; scripts may use them


@click.group(
    "train",
    epilog="Example: esoteric train relevance --data ../data",
    context_settings={"token_normalize_func": lambda name: _FORMER_NAMES.get(name, name)},
)
def command() -> None:
    """Train one of the shipped models. After an interruption it continues where it stopped."""


@command.command("verifier", epilog="Example: esoteric train verifier --data ../data")
@_data
@_out_and_run("verifier")
@click.option(
    "--start",
    type=_FOLDER,
    help="A trained verifier; only the last phase is run, from its weights.",
)
@_trains
def verifier(data: Path, run: Path, out: Path, start: Path | None) -> None:
    """Train the verifier (ten minutes on a GPU; with --start an hour on two cores)."""
    from research.training.verifier.train import train_verifier

    train_verifier(data, run, out, _prepared().packaged_models, start)


@command.command("calibration", epilog="Example: esoteric train calibration --data ../data")
@_data
@_trains
def calibration(data: Path) -> None:
    """Calibrate the verifier to searches for the fitted half of the dev claims (ten minutes)."""
    from research.commands.calibrate import fit_to_searches

    settings = _prepared()
    folders = replace(settings.model_folders, verifier=None)  # fit the shipped one
    figures = fit_to_searches(settings, data, folders)
    click.echo(", ".join(f"{name} {value:.3g}" for name, value in figures.items()))


@command.command("relevance", epilog="Example: esoteric train relevance --data ../data")
@_data
@_out_and_run("relevance")
@_folder("--teacher", CHECKOUT / "models" / "verifier", "The trained verifier.")
@_trains
def relevance(data: Path, run: Path, out: Path, teacher: Path) -> None:
    """Train the relevance model with its teacher, the verifier (90 minutes on two cores)."""
    from research.training.relevance import train_relevance
    from retrieval.models.shipped import verifier

    unpacked = _prepared().packaged_models
    train_relevance(data, run, out, verifier(unpacked, in_search=False, folder=teacher))


@command.command("path", epilog="Example: esoteric train path --data ../data")
@_data
@_out_and_run("path")
@_relevance_model
@_trains
def path(data: Path, run: Path, out: Path, relevance: Path) -> None:
    """Train the path model (30 minutes)."""
    from research.training.path import train_path

    _prepared()
    train_path(data, relevance, run, out)


@command.command(
    "prover",
    epilog="Example: esoteric train prover --data ../data --wordnet /usr/share/wordnet",
)
@_data
@click.option(
    "--wordnet",
    required=True,
    type=_FOLDER,
    help="Folder of WordNet's database, such as Debian's wordnet-base installs.",
)
@_out_and_run("prover")
@_relevance_model
@_trains
def prover(data: Path, wordnet: Path, run: Path, out: Path, relevance: Path) -> None:
    """Train the prover, which makes the proof of a claim (an hour on two cores)."""
    from research.training.prover import train_prover

    _prepared()
    train_prover(data, wordnet, relevance, run, out)


@command.command("selector", epilog="Example: esoteric train selector --data ../data")
@_data
@_out_and_run("selector")
@_relevance_model
@click.option(
    "--losses",
    type=click.Choice(["both", "classification", "utility"]),
    default="both",
    show_default=True,
    help="Which of FER's losses; one alone is an ablation.",
)
@_trains
def selector(data: Path, run: Path, out: Path, relevance: Path, losses: Losses) -> None:
    """Train the model that selects the evidence most useful for the verdict (30 minutes)."""
    from research.training.selector import train_selector

    _prepared()
    train_selector(data, relevance, run, out, losses)


@command.command("dense", epilog="Example: esoteric train dense --data ../data")
@_data
@_out_and_run("dense")
@_relevance_model
@_trains
def dense(data: Path, run: Path, out: Path, relevance: Path) -> None:
    """Train the encoder of claims and paths (half an hour on two cores)."""
    from research.training.dense import train_dense

    _prepared()
    train_dense(data, relevance, run, out)


@command.command("static", epilog="Example: esoteric train static --data ../data")
@_data
@_out_and_run("static")
@_trains
def static(data: Path, run: Path, out: Path) -> None:
    """Fit the encoder that builds large indexes (five minutes)."""
    from research.training.static import train_static

    _prepared()
    train_static(data, run, out)


@command.command("vectors", epilog="Example: esoteric train vectors")
@_out_and_run("vital-vectors")
@_trains
def vectors(run: Path, out: Path) -> None:
    """Encode the default corpus; its vectors are shipped with the project (a minute)."""
    from research.training.vital_vectors import encode_vital

    encode_vital(run, out, _prepared().threads)


@command.command("distilbert", epilog="Example: esoteric train distilbert --data ../data/fever-dev")
@click.option(
    "--data", required=True, type=_FOLDER, help="Folder with FEVER's train.jsonl and wiki-pages."
)
@_folder("--run", CHECKOUT / "runs" / "distilbert", "Folder for logs and checkpoints.")
@_trains
def distilbert(data: Path, run: Path) -> None:
    """Train the relevance classifier of the ESOTERIC report, for the recipe report.

    It is written to distilbert-relevance in ESOTERIC_REPORT_MODELS. The published one must not be
    there.
    distilbert-base-uncased, from which it is trained, is fetched into that folder too.
    """
    from research.training.distilbert import train_distilbert
    from retrieval.models.papers import report_models as fetching
    from retrieval.models.papers.report_models import (
        BASE,
        RELEVANCE,
        named_folder,
        refuse_to_replace,
    )

    models = named_folder(_prepared().report_models)
    refuse_to_replace(models, RELEVANCE)
    models.mkdir(parents=True, exist_ok=True)
    fetching.bring(models, BASE)
    figures = train_distilbert(data, run, models / BASE.name, models / RELEVANCE.name)
    fetching.record_own(models, RELEVANCE)
    click.echo(", ".join(f"{name} {value:.5g}" for name, value in figures.items()))


@command.command("titles", epilog="Example: esoteric train titles --data ../data")
@_data
@_out_and_run("titles")
@_trains
def titles(data: Path, run: Path, out: Path) -> None:
    """Train the model that generates titles (35 minutes on two cores)."""
    from research.training.titles import train_titles

    _prepared()
    train_titles(data, run, out)


@command.command("checkable", epilog="Example: esoteric train checkable")
@_folder(
    "--out",
    CHECKOUT / "models" / "checkable",
    "Folder for the model; the default is the one in use.",
)
@_trains
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

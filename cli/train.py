"""``esoteric train``."""

from __future__ import annotations

from pathlib import Path

import click

from cli.errors import reports_errors
from settings import CHECKOUT, Settings

_folder = click.Path(file_okay=False, path_type=Path)


@click.group("train", epilog="Example: esoteric train relevance --data ../data")
def command() -> None:
    """Train one of the models that ESOTERIC ships. Interrupted, it goes on where it stopped."""


@command.command("relevance", epilog="Example: esoteric train relevance --data ../data")
@click.option("--data", required=True, type=_folder, help="Folder with fever-dev and fm2 in it.")
@click.option(
    "--run",
    type=_folder,
    default=CHECKOUT / "runs" / "relevance",
    show_default=False,
    help="Folder for log and checkpoint.  [default: runs/relevance]",
)
@click.option(
    "--out",
    type=_folder,
    default=CHECKOUT / "models" / "relevance",
    show_default=False,
    help="Folder for the model.  [default: models/relevance]",
)
@reports_errors
def relevance(data: Path, run: Path, out: Path) -> None:
    """Train the relevance classifier (about an hour on two cores)."""
    from training.relevance import train_relevance

    _use_threads()
    train_relevance(data, run, out)


@command.command("verdict", epilog="Example: esoteric train verdict --data ../data")
@click.option("--data", required=True, type=_folder, help="Folder with fever-dev and fm2 in it.")
@click.option(
    "--run",
    type=_folder,
    default=CHECKOUT / "runs" / "verdict",
    show_default=False,
    help="Folder for log and checkpoint.  [default: runs/verdict]",
)
@click.option(
    "--out",
    type=_folder,
    default=CHECKOUT / "models" / "verdict",
    show_default=False,
    help="Folder for the model.  [default: models/verdict]",
)
@click.option(
    "--relevance",
    type=_folder,
    default=CHECKOUT / "models" / "relevance",
    help="The trained relevance classifier.  [default: models/relevance]",
)
@reports_errors
def verdict(data: Path, run: Path, out: Path, relevance: Path) -> None:
    """Train the judge, after the relevance classifier (about an hour on two cores)."""
    from training.verdict import train_verdict

    _use_threads()
    train_verdict(data, run, out, relevance)


def _use_threads() -> None:
    import torch

    torch.set_num_threads(Settings.from_environment().threads)

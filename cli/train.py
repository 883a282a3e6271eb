"""``esoteric train``."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import click

from cli.errors import reports_errors
from settings import CHECKOUT, Settings

_FOLDER = click.Path(file_okay=False, path_type=Path)


def _folders(task: str) -> Callable[[Callable[..., None]], Callable[..., None]]:
    """Add the options that every task has: where its data is, and where its results go."""

    def add(command: Callable[..., None]) -> Callable[..., None]:
        for name, folder, meaning in (
            ("--out", CHECKOUT / "models" / task, "Folder for the model."),
            ("--run", CHECKOUT / "runs" / task, "Folder for log and checkpoint."),
        ):
            shown = f"{meaning}  [default: {folder.relative_to(CHECKOUT)}]"
            command = click.option(name, type=_FOLDER, default=folder, help=shown)(command)
        data = "Folder with fever-dev and fm2 in it."
        return click.option("--data", required=True, type=_FOLDER, help=data)(command)

    return add


@click.group("train", epilog="Example: esoteric train relevance --data ../data")
def command() -> None:
    """Train one of the models that ESOTERIC ships. Interrupted, it goes on where it stopped."""


@command.command("relevance", epilog="Example: esoteric train relevance --data ../data")
@_folders("relevance")
@reports_errors
def relevance(data: Path, run: Path, out: Path) -> None:
    """Train the relevance classifier (about an hour on two cores)."""
    from training.relevance import train_relevance

    _use_threads()
    train_relevance(data, run, out)


@command.command("verdict", epilog="Example: esoteric train verdict --data ../data")
@_folders("verdict")
@click.option(
    "--relevance",
    type=_FOLDER,
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

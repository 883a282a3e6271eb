"""``esoteric train``."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import click

from cli.errors import reports_errors
from settings import CHECKOUT, Settings

_FOLDER = click.Path(file_okay=False, path_type=Path)


_data = click.option(
    "--data", required=True, type=_FOLDER, help="Folder with fever-dev and fm2 in it."
)


def _folder(
    name: str, folder: Path, meaning: str
) -> Callable[[Callable[..., None]], Callable[..., None]]:
    shown = f"{meaning}  [default: {folder.relative_to(CHECKOUT)}]"
    return click.option(name, type=_FOLDER, default=folder, help=shown)


@click.group("train", epilog="Example: esoteric train reader --data ../data")
def command() -> None:
    """Train one of the models that ESOTERIC ships. Interrupted, it goes on where it stopped."""


@command.command("teacher", epilog="Example: esoteric train teacher --data ../data")
@_data
@_folder("--run", CHECKOUT / "runs" / "teacher", "Folder for weights, log and checkpoint.")
@reports_errors
def teacher(data: Path, run: Path) -> None:
    """Train the model that the reader learns from (about an hour on two cores)."""
    from training.teacher.train import train_teacher

    _use_threads()
    train_teacher(data, run)


@command.command("reader", epilog="Example: esoteric train reader --data ../data")
@_data
@_folder("--out", CHECKOUT / "models" / "reader", "Folder for the model.")
@_folder("--run", CHECKOUT / "runs" / "reader", "Folder for logs and checkpoints.")
@_folder("--teacher", CHECKOUT / "runs" / "teacher", "The trained teacher.")
@reports_errors
def reader(data: Path, run: Path, out: Path, teacher: Path) -> None:
    """Train the model that reads evidence, after its teacher (about two hours on two cores)."""
    from training.reader import train_reader

    _use_threads()
    train_reader(data, run, out, teacher)


def _use_threads() -> None:
    import torch

    torch.set_num_threads(Settings.from_environment().threads)

"""Writes the files beside a trained model's weights: its configuration and its card."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path

import torch

from research.training.loop import Hyperparameters


@dataclass(frozen=True, slots=True)
class Card:
    """The text of a model card without the figures; ``commands`` reproduce the model."""

    name: str
    purpose: str
    architecture: str
    data: str
    digests: Mapping[str, str]
    commands: Sequence[str]
    definitions: str


def write_config(
    folder: Path, name: str, version: str, max_tokens: int, sha256: str, **more: object
) -> None:
    """Write ``config.json`` beside ``delta.safetensors``, whose digest is ``sha256``.

    ``more``: further entries for this kind of model.
    """
    config = {"name": name, "version": version, "max_tokens": max_tokens, "sha256": sha256, **more}
    (folder / "config.json").write_text(json.dumps(config, indent=2) + "\n", encoding="utf-8")


def write_card(
    folder: Path,
    card: Card,
    recipes: Mapping[str, Hyperparameters],
    figures: Mapping[str, Mapping[str, float]],
) -> None:
    """Write ``README.md``.

    ``recipes`` maps each phase of training to its settings, if it has any; ``figures`` maps the
    name of each measured model to its figures.
    """
    (weights,) = folder.glob("*.safetensors")
    size = weights.stat().st_size
    commands = "\n".join(f"    {command}" for command in card.commands)
    digests = "\n".join(f"- `{file}`: `{digest}`" for file, digest in card.digests.items())
    text = f"""# {card.name}

{card.purpose}

{card.architecture} The trained part, `{weights.name}`, takes {size / 1e6:.1f} MB.

## Data

{card.data}

SHA-256 of the files:

{digests}

## Recipe

{_settings(recipes)}
Reproduce with:

{commands}

## Figures

Written by that command. {card.definitions} Measured on a small corpus of 11 thousand pages, where
evidence is easier to find than among the 5.4 million of the full FEVER release.

{_table(figures)}

## Limits

English only; trained on Wikipedia introductions and claims about them. It sees a sentence with
its title and without the rest of its document, knows only the text that it reads, and can be
misled by text that reads like evidence.
"""
    (folder / "README.md").write_text(text, encoding="utf-8")


def _table(figures: Mapping[str, Mapping[str, float]]) -> str:
    """Return the figures, a row for each of them and a column for each model."""
    names = list(next(iter(figures.values())))
    rows = [
        "| on dev | " + " | ".join(names) + " |",
        "|---|" + "---|" * len(names),
        *(
            f"| {what} | " + " | ".join(f"{row[name]:.3g}" for name in names) + " |"
            for what, row in figures.items()
        ),
    ]
    return "\n".join(rows)


def _settings(recipes: Mapping[str, Hyperparameters]) -> str:
    """Return the settings that any phase has, a column for each phase."""
    if not recipes:
        return "Solved directly, without gradient steps.\n"
    phases = [asdict(recipe) for recipe in recipes.values()]
    settings = [
        f"| {key} | "
        + " | ".join("none" if phase[key] is None else str(phase[key]) for phase in phases)
        + " |"
        for key in phases[0]
        if any(phase[key] is not None for phase in phases)
    ]
    lines = [
        f"AdamW, products in bfloat16, linear decay; torch {torch.__version__}.\n",
        f"| setting | {' | '.join(recipes)} |",
        f"|---|{'---|' * len(recipes)}",
        *settings,
        "",
    ]
    return "\n".join(lines)

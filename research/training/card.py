"""Writes a trained model: its difference from the base, its configuration and its card.

``cards.yaml`` has what the cards say besides their figures.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import asdict
from pathlib import Path
from typing import Any

import torch
import yaml
from torch import nn

from research.training.loop import Hyperparameters
from research.training.networks.delta import save_delta

_CARDS: Mapping[str, Mapping[str, Any]] = yaml.safe_load(
    Path(__file__).with_name("cards.yaml").read_text(encoding="utf-8")
)


def write_model(
    folder: Path,
    trained: nn.Module,
    base: nn.Module,
    rank: int,
    *,
    name: str,
    version: str,
    max_tokens: int,
    **more: object,
) -> None:
    """Write the difference of two modules (``save_delta``), and ``config.json`` beside it.

    ``more``: further entries for this kind of model.
    """
    digest = save_delta(trained, base, folder / "delta.safetensors", rank)
    config = {"name": name, "version": version, "max_tokens": max_tokens, "sha256": digest, **more}
    (folder / "config.json").write_text(json.dumps(config, indent=2) + "\n", encoding="utf-8")


def write_card(
    folder: Path,
    model: str,
    digests: Mapping[str, str],
    recipes: Mapping[str, Hyperparameters],
    figures: Mapping[str, Mapping[str, float]],
    **values: object,
) -> None:
    """Write ``README.md`` of a model, which ``cards.yaml`` names; ``values`` fill in its text.

    ``digests``: of the files that were read. ``recipes`` maps each phase of training to its
    settings, if it has any; ``figures`` maps the name of each measured model to its figures.
    """
    (weights,) = folder.glob("*.safetensors")
    size = weights.stat().st_size
    card = _CARDS[model]
    said = {key: text.format(**values) for key, text in card.items() if key != "commands"}
    definitions = said["definitions"]
    commands = "\n".join(f"    {command}" for command in card["commands"])
    files = "\n".join(f"- `{file}`: `{digest}`" for file, digest in digests.items())
    text = f"""# {said["name"]}

{said["purpose"]}

{said["architecture"]} The trained part, `{weights.name}`, takes {size / 1e6:.1f} MB.

## Data

{said["data"]}

SHA-256 of the files:

{files}

## Recipe

{_settings(recipes)}
Reproduce with:

{commands}

## Figures

Written by that command. {definitions} Measured on a small corpus of 11 thousand pages, where
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

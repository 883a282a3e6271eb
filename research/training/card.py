"""Writes a trained model: its difference from the base, its configuration and its card.

``card.md`` is the text of every card. ``cards.yaml`` has what each says besides its figures, and
the version of each model.
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
from research.training.networks.encoders import save_delta
from retrieval.models.trained_model import read_config

_HERE = Path(__file__)
_CARDS: Mapping[str, Mapping[str, Any]] = yaml.safe_load(
    _HERE.with_name("cards.yaml").read_text(encoding="utf-8")
)
_TEXT = _HERE.with_name("card.md").read_text(encoding="utf-8")


def write_model(
    folder: Path, model: str, trained: nn.Module, base: nn.Module, max_tokens: int, **more: object
) -> None:
    """Write the difference of two modules (``save_delta``), and ``config.json`` beside it.

    ``model``: its name in ``cards.yaml``, which has its name, version and rank. ``more``: further
    entries for this kind of model.
    """
    card = _CARDS[model]
    digest = save_delta(trained, base, folder / "delta.safetensors", card["rank"])
    config = {"name": card["model"], "version": card["version"], "max_tokens": max_tokens}
    config |= {"sha256": digest, **more}
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
    card = _CARDS[model]
    values["rank"] = card.get("rank")
    said = {key: text.format(**values) for key, text in card.items() if isinstance(text, str)}
    text = _TEXT.format(
        **said,
        weights=weights.name,
        megabytes=weights.stat().st_size / 1e6,
        files="\n".join(f"- `{file}`: `{digest}`" for file, digest in digests.items()),
        settings=_settings(recipes),
        commands="\n".join(f"    {command}" for command in card["commands"]),
        figures=_table(figures),
    )
    (folder / "README.md").write_text(text, encoding="utf-8")


def started_from(start: Path | None) -> str:
    """Return what a card says of the model that the last phase continued from."""
    if start is None:
        return ""
    return f"Started from version {read_config(start)['version']}, which has a card of its own. "


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

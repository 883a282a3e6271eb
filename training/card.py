"""Writes a trained model down: what loads it, and its card."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path

import torch

from retrieval.types import LABELS
from training.loop import Recipe


@dataclass(frozen=True, slots=True)
class Card:
    """What a model card says beside the figures; ``commands`` make the model again."""

    name: str
    purpose: str
    architecture: str
    data: str
    digests: Mapping[str, str]
    commands: Sequence[str]
    definitions: str


@dataclass(frozen=True, slots=True)
class Config:
    """What loads a model beside its weights; ``sha256`` is the digest of ``delta.safetensors``."""

    name: str
    version: str
    max_tokens: int
    temperature: float
    sha256: str


def write_config(folder: Path, config: Config) -> None:
    """Write ``config.json`` beside ``delta.safetensors``."""
    text = json.dumps(asdict(config) | {"labels": LABELS}, indent=2)
    (folder / "config.json").write_text(text + "\n", encoding="utf-8")


def write_card(
    folder: Path,
    card: Card,
    recipes: Mapping[str, Recipe],
    figures: Mapping[str, Mapping[str, float]],
) -> None:
    """Write ``README.md``.

    ``recipes`` maps each phase of training to its settings, ``figures`` what was
    measured to its figures.
    """
    names = list(next(iter(figures.values())))
    table = [
        "| on dev | " + " | ".join(names) + " |",
        "|---|" + "---|" * len(names),
        *(
            f"| {what} | " + " | ".join(f"{row[name]:.3g}" for name in names) + " |"
            for what, row in figures.items()
        ),
    ]
    phases = [asdict(recipe) for recipe in recipes.values()]
    settings = "\n".join(
        f"| {key} | " + " | ".join(str(phase[key]) for phase in phases) + " |" for key in phases[0]
    )
    size = (folder / "delta.safetensors").stat().st_size
    commands = "\n".join(f"    {command}" for command in card.commands)
    digests = "\n".join(f"- `{file}`: `{digest}`" for file, digest in card.digests.items())
    text = f"""# {card.name}

{card.purpose}

{card.architecture} What was trained, `delta.safetensors`, takes {size / 1e6:.1f} MB.

## Data

{card.data}

SHA-256 of the files:

{digests}

## Recipe

AdamW, products in bfloat16, linear decay; torch {torch.__version__}.

| setting | {" | ".join(recipes)} |
|---|{"---|" * len(recipes)}
{settings}

Reproduce with:

    pip install --no-deps -r requirements-large.txt
{commands}

## Figures

Written by that command. {card.definitions} Measured on a small corpus of 11 thousand pages, where
evidence is easier to find than among the 5.4 million of the full FEVER release.

{chr(10).join(table)}

## Limits

English only; trained on claims about Wikipedia introductions. A sentence is read with its title
and without the rest of its document. It knows nothing but the text it is given, and it can be
misled by text that reads like evidence.
"""
    (folder / "README.md").write_text(text, encoding="utf-8")

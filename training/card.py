"""Writes a trained model down: the delta, what loads it, and its card."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from pathlib import Path

import torch
from transformers import DistilBertForSequenceClassification

from retrieval.cross_encoders.delta import save_delta
from retrieval.cross_encoders.folded_minilm import load_folded_minilm
from retrieval.types import LABELS
from training.loop import Recipe

VERSION = "1"
RANK = 64  # of the shipped difference; the cards say what cutting to it costs


@dataclass(frozen=True, slots=True)
class Card:
    """What a model card says beside the figures."""

    name: str
    purpose: str
    data: str
    digests: Mapping[str, str]
    definitions: str


def write_model(
    folder: Path,
    model: DistilBertForSequenceClassification,
    temperature: float,
    max_tokens: int,
    name: str,
) -> int:
    """Write ``delta.safetensors`` and ``config.json``; return the delta's size in bytes."""
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / "delta.safetensors"
    digest = save_delta(model, load_folded_minilm(LABELS), path, RANK)
    config = {
        "name": name,
        "version": VERSION,
        "labels": LABELS,
        "max_tokens": max_tokens,
        "temperature": round(temperature, 2),
        "sha256": digest,
    }
    (folder / "config.json").write_text(json.dumps(config, indent=2) + "\n", encoding="utf-8")
    return path.stat().st_size


def write_card(
    folder: Path,
    card: Card,
    recipes: Mapping[str, Recipe],
    figures: Mapping[str, Mapping[str, float]],
    size: int,
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
    digests = "\n".join(f"- `{file}`: `{digest}`" for file, digest in card.digests.items())
    text = f"""# {card.name}

{card.purpose}

A `DistilBertForSequenceClassification` of six layers over {", ".join(LABELS)}: the packaged
all-MiniLM-L6-v2 weights (`retrieval/cross_encoders/folded_minilm.py`) plus the difference in
`delta.safetensors` ({size / 1e6:.1f} MB, rank {RANK}).

## Data

{card.data}

SHA-256 of the files:

{digests}

## Recipe

AdamW in bfloat16, embeddings frozen, linear decay; torch {torch.__version__}.

| setting | {" | ".join(recipes)} |
|---|{"---|" * len(recipes)}
{settings}

Reproduce with:

    pip install --no-deps -r requirements-teacher.txt
    esoteric train teacher --data DATA
    esoteric train {folder.name} --data DATA --out models/{folder.name}

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

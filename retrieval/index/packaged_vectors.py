"""Vectors of the default corpus that come with the project, so that its build encodes nothing.

models/vital-vectors/
  vectors.json   what was encoded with what (``key_of``), and the SHA-256 of
  vectors.npz    the vectors, as ``vector_writer`` keeps those of some blocks, and what turned them

Where the corpus, its split into sentences or the encoder differs, or the file is damaged, they are
not used: the build then encodes, as it does for any other corpus.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from retrieval.files import digest_of
from retrieval.index.versions import FORMAT
from retrieval.networks.minilm_weights import SHA256

FOLDER = Path(__file__).resolve().parents[2] / "models" / "vital-vectors"
CONFIG, ARRAYS, TURN = "vectors.json", "vectors.npz", "turn"


@dataclass(frozen=True, slots=True)
class PackagedVectors:
    """A part of vectors, and the matrix that they were turned by."""

    part: Path
    turn: NDArray[np.float32]


def packaged_vectors(encoder: str, segment: str) -> PackagedVectors | None:
    """Return the vectors that an encoder makes of a segment, if they are packaged.

    ``encoder``: the encoder's name. ``segment``: the digest of the segment's documents.
    """
    arrays = FOLDER / ARRAYS
    try:
        config = json.loads((FOLDER / CONFIG).read_text(encoding="utf-8"))
        wanted = key_of(encoder, segment)
        # The digest, which takes longest, only of what is wanted.
        if not wanted.items() <= config.items() or config["sha256"] != digest_of(arrays):
            return None
        with np.load(arrays) as packaged:
            return PackagedVectors(arrays, packaged[TURN])
    except (OSError, ValueError, AttributeError, KeyError):
        return None


def key_of(encoder: str, segment: str) -> dict[str, object]:
    """Return what vectors depend on.

    The index's format, the encoder, the SHA-256 of its weights, and the digest of the documents.
    """
    return {"format": FORMAT, "encoder": encoder, "weights": SHA256, "segment": segment}

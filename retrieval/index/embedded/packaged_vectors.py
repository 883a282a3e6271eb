"""Vectors of the default corpus that come with the project, so that its build encodes nothing.

models/vital-vectors/
  vectors.json   what was encoded, by which encoder (``key_of``), and the SHA-256 of
  vectors.npz    the vectors and the matrix that rotated them

If the corpus, its sentences or the encoder differ, or the file is damaged, the build encodes as for
any other corpus.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from retrieval.index.embedded.meta import FORMAT
from retrieval.models.packaged import MINILM_SHA256
from retrieval.system.files import digest_of

FOLDER = Path(__file__).resolve().parents[3] / "models" / "vital-vectors"
CONFIG, ARRAYS = "vectors.json", "vectors.npz"
_NAMES = ("documents", "signs", "codes", "turn")


def packaged_vectors(encoder: str, documents: str) -> dict[str, NDArray[Any]] | None:
    """Return the packaged vectors of these documents by this encoder, if there are any.

    They are the arrays of ``EncodedDocuments`` by their names, and ``turn``, which rotated them.

    ``encoder``: the encoder's name. ``documents``: the digest of the documents.
    """
    arrays = FOLDER / ARRAYS
    try:
        config = json.loads((FOLDER / CONFIG).read_text(encoding="utf-8"))
        wanted = key_of(encoder, documents)
        # The digest takes the longest time, so it is computed last.
        if not wanted.items() <= config.items() or config["sha256"] != digest_of(arrays):
            return None
        with np.load(arrays) as packaged:
            return {name: packaged[name] for name in _NAMES}
    except (OSError, ValueError, AttributeError, KeyError):
        return None


def key_of(encoder: str, documents: str) -> dict[str, object]:
    """Return what vectors depend on.

    The index's format, the encoder, the SHA-256 of its weights, and the digest of the documents.
    """
    return {"format": FORMAT, "encoder": encoder, "weights": MINILM_SHA256, "documents": documents}

"""Vectors of the default corpus that come with the project, so that no build encodes it.

models/vital-vectors/
  vectors.json   what was encoded, by which encoder, and the SHA-256 of
  vectors.npz    the vectors and the matrix that rotated them

If the corpus, its sentences or the encoder differ, or a file is damaged, a build encodes as for any
other corpus.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from retrieval.models.packaged import MINILM_SHA256
from retrieval.system.files import digest_of

PACKAGED = Path(__file__).resolve().parents[3] / "models" / "vital-vectors"
PACKAGED_CONFIG, PACKAGED_ARRAYS = "vectors.json", "vectors.npz"
_NAMES = ("documents", "signs", "codes", "turn")


def packaged_vectors(encoder: str, **of: object) -> dict[str, NDArray[Any]] | None:
    """Return the packaged vectors by this encoder, if they are ``of`` what is asked for.

    ``documents``: int8, ``(documents, dimension)``; ``signs`` of the rotated ones; ``codes``: of
    the rotated vectors of the sentences, in the documents' order; ``turn``, which rotated them.
    ``encoder``: the encoder's name. ``of``: other keys of ``vectors.json``.
    """
    arrays = PACKAGED / PACKAGED_ARRAYS
    wanted = {"encoder": encoder, "weights": MINILM_SHA256, **of}
    try:
        config = json.loads((PACKAGED / PACKAGED_CONFIG).read_text(encoding="utf-8"))
        # The digest takes the longest time, so it is computed last.
        if not wanted.items() <= config.items() or config["sha256"] != digest_of(arrays):
            return None
        with np.load(arrays) as packaged:
            return {name: packaged[name] for name in _NAMES}
    except (OSError, ValueError, AttributeError, KeyError):
        return None

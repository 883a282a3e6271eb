"""``esoteric train vectors``: the vectors of the default corpus that are shipped."""

from __future__ import annotations

import json
from contextlib import closing
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from retrieval.corpora.wiki.vital import VitalCorpus
from retrieval.index.embedded.documents import connected
from retrieval.index.embedded.embedded_index import EmbeddedIndex
from retrieval.index.embedded.layout import DATABASES, DOCUMENTS, current_version, read_meta
from retrieval.index.embedded.vectors import (
    PACKAGED_ARRAYS,
    PACKAGED_CONFIG,
    NewVectors,
    encode,
    packaged_key,
)
from retrieval.index.formats.codes import rotation
from retrieval.models.encoders import MiniLMEncoder
from retrieval.system.files import digest_of


def encode_vital(run: Path, out: Path, processes: int) -> None:
    """Encode the default corpus and write what ``vectors.packaged_vectors`` reads to ``out``.

    ``run`` contains an index without vectors, and the vectors encoded so far.

    Raises:
        BadSource: the corpus is not installed.
        ModelUnavailable: the packaged weights are missing.
        IndexNotBuilt: the folder cannot be written.
    """
    index = run / "index"
    EmbeddedIndex(index, processes).build(VitalCorpus(), None)
    documents = read_meta(index, current_version(index)).stored[DOCUMENTS]
    ((count, digest),) = documents.parts
    encoder = MiniLMEncoder()
    turn = rotation(encoder.dimension)
    vectors = run / f"vectors-{digest[:16]}"
    new = NewVectors(vectors, 0)
    path = index / DATABASES / documents.name
    encode(path, count, new, encoder, turn, processes, lambda _: None)
    new.close()
    arrays: dict[str, NDArray[Any]] = {"turn": turn}
    bits = -(-encoder.dimension // 8)
    with closing(connected(vectors)) as connection:
        for name, column, shape, kind in (
            ("documents", "document", (count, encoder.dimension), np.int8),
            ("signs", "signs", (count, bits), np.uint8),
            ("codes", "codes", (-1, bits + 2), np.uint8),
        ):
            rows = connection.execute(f"SELECT {column} FROM vectors ORDER BY number")
            arrays[name] = np.frombuffer(b"".join(row for (row,) in rows), kind).reshape(shape)
    out.mkdir(parents=True, exist_ok=True)
    np.savez_compressed(out / PACKAGED_ARRAYS, allow_pickle=False, **arrays)
    config = packaged_key(encoder.name, digest) | {"sha256": digest_of(out / PACKAGED_ARRAYS)}
    (out / PACKAGED_CONFIG).write_text(json.dumps(config, indent=2) + "\n", encoding="utf-8")
    vectors.unlink()

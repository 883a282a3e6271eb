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
from retrieval.index.embedded.layout import DATABASES, DOCUMENTS, FORMAT, current_version, read_meta
from retrieval.index.embedded.vectors import NewVectors, encode
from retrieval.index.formats.codes import rotation
from retrieval.index.formats.packaged import PACKAGED_ARRAYS, PACKAGED_CONFIG
from retrieval.models.encoders import MiniLMEncoder
from retrieval.models.packaged import MINILM_SHA256
from retrieval.system.files import digest_of


def encode_vital(run: Path, out: Path, processes: int) -> None:
    """Encode the default corpus and write what ``packaged_vectors`` reads to ``out``.

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
    config = {
        "format": FORMAT,
        "encoder": encoder.name,
        "weights": MINILM_SHA256,
        "documents": digest,
        "sha256": digest_of(out / PACKAGED_ARRAYS),
    }
    (out / PACKAGED_CONFIG).write_text(json.dumps(config, indent=2) + "\n", encoding="utf-8")
    vectors.unlink()

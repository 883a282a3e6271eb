"""``esoteric train vectors``: the vectors of the default corpus that are shipped."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import numpy as np

from retrieval.corpora.vital import VitalCorpus
from retrieval.encoders.minilm_encoder import MiniLMEncoder
from retrieval.files import digest_of
from retrieval.index.codes import rotation
from retrieval.index.embedded_index import EmbeddedIndex
from retrieval.index.layout import SEGMENTS, read_meta
from retrieval.index.packaged_vectors import ARRAYS, CONFIG, TURN, key_of
from retrieval.index.vector_writer import PART_ARRAYS, encoded_parts
from retrieval.index.versions import current_version


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
    ((name, _, segment),) = read_meta(index, current_version(index)).segments
    parts = run / f"parts-{segment[:16]}"
    parts.mkdir(exist_ok=True)
    encoder = MiniLMEncoder()
    encoded = []
    turn = rotation(encoder.dimension)
    for part in encoded_parts(parts, index / SEGMENTS / name, encoder, turn, processes):
        with np.load(part) as arrays:
            encoded.append([arrays[each] for each in PART_ARRAYS])
    documents, signs, codes = (np.concatenate(blocks) for blocks in zip(*encoded, strict=True))
    out.mkdir(parents=True, exist_ok=True)
    arrays = {"documents": documents, "signs": signs, "codes": codes, TURN: turn}
    np.savez_compressed(out / ARRAYS, allow_pickle=False, **arrays)
    config = key_of(encoder.name, segment) | {"sha256": digest_of(out / ARRAYS)}
    (out / CONFIG).write_text(json.dumps(config, indent=2) + "\n", encoding="utf-8")
    shutil.rmtree(parts)

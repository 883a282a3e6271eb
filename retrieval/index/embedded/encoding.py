"""Encodes documents on all cores; after an interruption it continues where it stopped."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from itertools import pairwise
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from retrieval.index.building import prepare_networks
from retrieval.index.embedded.documents import records_between
from retrieval.index.embedded.vectors import EncodedDocuments, NewVectors
from retrieval.index.formats.codes import as_bytes, codes, signs
from retrieval.index.formats.records import encodable
from retrieval.models import runtime
from retrieval.models.encoders import DocumentEncoder
from retrieval.system.on_all_cores import in_order

# Encoded together: many enough for batches of similar length, few enough to lose little in an
# interruption.
_DOCUMENTS = 512


def encode(
    documents: Path,
    last: int,
    new: NewVectors,
    encoder: DocumentEncoder,
    turn: NDArray[np.float32],
    processes: int,
    on_progress: Callable[[int], None],
) -> None:
    """Add the vectors of the documents of a database that have none yet, up to before ``last``.

    ``turn`` is the matrix that rotates them (``codes.rotation``). ``on_progress`` receives the
    number of the next document.

    Raises:
        ModelUnavailable: the encoder cannot be loaded.
        OSError: the disk is full or read-only, or the database of the documents is damaged.
    """
    starts = [*range(new.end, last, _DOCUMENTS), last]
    prepare = partial(_Encoding, documents, encoder, turn, processes, runtime.kept_folder())
    for encoded in in_order(prepare, pairwise(starts), processes):
        new.add(encoded)
        on_progress(new.end)


class _Encoding:
    """Encodes documents of a database, in any process."""

    def __init__(
        self,
        documents: Path,
        encoder: DocumentEncoder,
        turn: NDArray[np.float32],
        threads: int,
        networks: Path | None,
    ) -> None:
        prepare_networks(threads, networks)
        self._documents = documents
        self._encoder = encoder
        self._turn = turn

    def __call__(self, numbers: tuple[int, int]) -> EncodedDocuments:
        read = [encodable(record) for record in records_between(self._documents, *numbers)]
        whole, sentences = self._encoder.encode_documents(read)
        apart = np.concatenate([np.zeros((0, self._encoder.dimension), np.float32), *sentences])
        return EncodedDocuments(
            as_bytes(whole),
            signs(whole @ self._turn),
            codes(apart @ self._turn),
            [len(each) for each in sentences],
        )

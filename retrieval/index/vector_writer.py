"""Encodes the documents of a segment on all cores; interrupted, it goes on behind what was done."""

from __future__ import annotations

import hashlib
import io
import multiprocessing
from collections.abc import Callable, Iterable, Iterator
from contextlib import ExitStack
from functools import partial
from itertools import pairwise
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from retrieval.encoders.encoder import DocumentEncoder
from retrieval.files import write_array, write_whole
from retrieval.index import vectors
from retrieval.index.array_file import ArrayFile
from retrieval.index.codes import codes, signs
from retrieval.index.records import encodable
from retrieval.index.segment import Segment
from retrieval.networks import runtime
from retrieval.on_all_cores import in_order

# What is encoded together: enough that like lengths meet, few enough that little is lost.
_BLOCKS = 16
PART_ARRAYS = ("documents", "signs", "codes")  # of the files that are made, in order


def write_vectors(
    folder: Path,
    turn: NDArray[np.float32],
    parts: Iterable[Path],
    on_progress: Callable[[int], None],
) -> str:
    """Write the files of a segment's vectors into a folder that is there; return their digest.

    ``parts``: files as ``encoded_parts`` makes them with the same ``turn``, all of the segment in
    order. ``on_progress`` gets the number of documents that have vectors since the last call.

    Raises:
        OSError: the folder cannot be written.
    """
    dimension = len(turn)
    write_array(folder / vectors.ROTATION, turn)
    digest = hashlib.sha256()
    with ExitStack() as stack:
        files = [
            stack.enter_context(ArrayFile(folder / name, columns, kind))
            for name, columns, kind in (
                (vectors.DOCUMENTS, dimension, np.int8),
                (vectors.DOCUMENT_SIGNS, -(-dimension // 8), np.uint8),
                (vectors.SENTENCE_CODES, -(-dimension // 8) + 2, np.uint8),
            )
        ]
        for part in parts:
            with np.load(part) as arrays:
                rows = [arrays[name] for name in PART_ARRAYS]
            for file, array in zip(files, rows, strict=True):
                digest.update(array.tobytes())
                file.append(array)
            on_progress(len(rows[0]))
    return digest.hexdigest()


def encoded_parts(
    folder: Path,
    segment: Path,
    encoder: DocumentEncoder,
    turn: NDArray[np.float32],
    processes: int,
) -> Iterator[Path]:
    """Yield files of the vectors of some blocks of a segment each, in order (``PART_ARRAYS``).

    ``turn`` is what they are turned by (``codes.rotation``). ``folder`` keeps the files; what an
    earlier try left there is not made again.

    Raises:
        ModelUnavailable: the encoder cannot be loaded.
        OSError: the folder cannot be written.
    """
    blocks = Segment(segment).block_count
    firsts = [*range(0, blocks, _BLOCKS), blocks]
    prepare = partial(_Encoding, segment, folder, encoder, turn, processes, runtime.kept_folder())
    return in_order(prepare, pairwise(firsts), processes)


class _Encoding:
    """Makes the vectors of some blocks of documents, in whichever process."""

    def __init__(
        self,
        segment: Path,
        parts: Path,
        encoder: DocumentEncoder,
        turn: NDArray[np.float32],
        threads: int,
        networks: Path | None,
    ) -> None:
        if networks:
            runtime.keep_in(networks)
        # Where there are several processes, each of them is one of the threads.
        runtime.use_threads(1 if multiprocessing.parent_process() else threads)
        self._segment = Segment(segment)
        self._parts = parts
        self._encoder = encoder
        self._turn = turn

    def __call__(self, blocks: tuple[int, int]) -> Path:
        first, last = blocks
        path = self._parts / f"{first:08}.npz"
        if not path.exists():
            records = self._segment.records(first, last)
            whole, sentences = self._encoder.encode_documents([encodable(r) for r in records])
            apart = np.concatenate([np.zeros((0, self._encoder.dimension), np.float32), *sentences])
            content = io.BytesIO()
            np.savez(
                content,
                documents=vectors.as_bytes(whole),
                signs=signs(whole @ self._turn),
                codes=codes(apart @ self._turn),
            )
            write_whole(path, content.getvalue())
        return path

"""A body in ONNX Runtime."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache
from pathlib import Path

import numpy as np
import onnxruntime

from retrieval.models.networks import runtime
from retrieval.models.networks.arrays import Array
from retrieval.models.networks.graph import MASK, STATES, VECTORS
from retrieval.models.networks.interface import RuntimeFailed, States, batch
from retrieval.models.networks.tokenizer import Row


class OnnxNetwork:
    """Computes the last layer's states of rows of tokens."""

    def __init__(self, layers: Path, words: Array, padding: int) -> None:
        """Open the graph in ``layers``, as ``graph.body_graph`` makes it.

        ``words``: the word embeddings, ``(vocabulary, width)``.

        Raises:
            RuntimeFailed: ONNX Runtime cannot open the graph here.
        """
        try:
            _share()
            options = onnxruntime.SessionOptions()
            options.use_per_session_threads = False
            options.add_session_config_entry("session.use_env_allocators", "1")
            self._session = onnxruntime.InferenceSession(
                str(layers), options, providers=["CPUExecutionProvider"]
            )
        except MemoryError:
            raise
        except Exception as error:  # its errors have no common base class
            raise RuntimeFailed(str(error)) from error
        self._words = words
        self._padding = padding

    def states(self, rows: Sequence[Row]) -> States:
        """See ``Network``."""
        ids, mask = batch(rows, self._padding)
        inputs = {VECTORS: self._words[ids], MASK: mask.astype(np.int32)}
        (vectors,) = self._session.run([STATES], inputs)
        return States(vectors, mask.astype(np.float32))


@cache
def _share() -> None:
    """Create the environment that all networks of this process share; it can be done only once.

    They use the same threads and the same memory. Otherwise each would keep memory of the size of
    its largest batch.
    """
    onnxruntime.set_global_thread_pool_sizes(runtime.threads(), 1)
    memory = onnxruntime.OrtMemoryInfo(
        "Cpu",
        onnxruntime.OrtAllocatorType.ORT_ARENA_ALLOCATOR,
        0,
        onnxruntime.OrtMemType.DEFAULT,
    )
    onnxruntime.create_and_register_allocator(memory, onnxruntime.OrtArenaCfg({}))

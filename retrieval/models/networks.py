"""Transformers' bodies in ONNX Runtime: rows of tokens in, the last layer's states out.

The weights are converted to 8 bits once (``graph``), and the files are stored (``runtime``).
"""

from __future__ import annotations

import importlib
import io
from collections.abc import Callable, Iterator, Mapping, Sequence, Sized
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from types import ModuleType
from typing import TypeAlias, TypeVar

import numpy as np
from numpy.typing import NDArray
from tokenizers import Tokenizer as Rust

from retrieval.errors import ModelUnavailable
from retrieval.models import runtime
from retrieval.models.arrays import MASK, STATES, VECTORS, Array
from retrieval.models.packaged import PackagedBody
from retrieval.system.fixes import install_service_command

Row: TypeAlias = list[int]
Offsets: TypeAlias = list[tuple[int, int]]

_T = TypeVar("_T", bound=Sized)
_BATCH = 8  # rows in a batch; in larger ones more padding is computed
_FORMAT = 1  # raised when ``graph`` changes what it computes


class Tokenizer:
    """A fast tokenizer of Hugging Face, without the import of transformers, which takes seconds."""

    def __init__(self, file: Path, max_tokens: int) -> None:
        """Read ``file``, a ``tokenizer.json``; ``pairs`` and ``texts`` cut to ``max_tokens``."""
        self._whole, self._cut = opened_tokenizer(file), opened_tokenizer(file, max_tokens)
        self.begin, self.end = self._whole.encode("").ids  # [CLS] and [SEP], or <s> and </s>

    def pairs(self, pairs: Sequence[tuple[str, str]]) -> list[Row]:
        """Return each pair of texts as one row; the end of the longer text is cut."""
        return [read.ids for read in self._cut.encode_batch(list(pairs))]

    def texts(self, texts: Sequence[str]) -> list[Row]:
        """Return each text, cut at its end, with the special tokens of begin and end."""
        return [read.ids for read in self._cut.encode_batch(list(texts))]

    def placed(self, texts: Sequence[str]) -> list[tuple[Row, Offsets]]:
        """Return each text, whole and without special tokens, and each token's characters."""
        read = self._whole.encode_batch(list(texts), add_special_tokens=False)
        return [(text.ids, text.offsets) for text in read]

    def length(self, first: str, second: str) -> int:
        """Return the number of tokens of a pair's row before it is cut."""
        return len(self._whole.encode(first, second))


@cache
def opened_tokenizer(file: Path, max_tokens: int | None = None) -> Rust:
    """Return the tokenizer in a file, which does not pad; whoever opens the same shares it."""
    tokenizer = Rust.from_file(str(file))
    tokenizer.no_padding()  # the file's settings pad and cut
    tokenizer.no_truncation()
    if max_tokens is not None:
        # A claim of up to half the window is never cut; 500 Chinese characters are more.
        tokenizer.enable_truncation(max_tokens, strategy="longest_first")
    return tokenizer


@dataclass(frozen=True, slots=True)
class States:
    """``vectors``, ``(rows, tokens, width)``, and ``mask``, ``(rows, tokens)``, 1 at tokens.

    If the network was opened with ``first_only``, vectors are ``(rows, 1, width)``.
    """

    vectors: Array
    mask: Array

    @property
    def first(self) -> Array:
        """The states of each row's first token, ``(rows, width)``."""
        return self.vectors[:, 0]

    @property
    def mean(self) -> Array:
        """The mean over each row's tokens, ``(rows, width)``."""
        total = np.einsum("rtw,rt->rw", self.vectors, self.mask)
        mean: Array = total / self.mask.sum(1, keepdims=True)
        return mean


def batch(rows: Sequence[Row], padding: int) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Return token ids and mask, both ``(rows, tokens)``; rows are filled with ``padding``."""
    lengths = np.array([len(row) for row in rows])
    mask = np.arange(lengths.max()) < lengths[:, None]
    ids = np.full(mask.shape, padding, np.int64)
    ids[mask] = np.concatenate([np.asarray(row, np.int64) for row in rows])
    return ids, mask.astype(np.int64)


def by_length(
    rows: Sequence[_T], length: Callable[[_T], int] = len
) -> Iterator[tuple[list[int], list[_T]]]:
    """Yield batches of rows with their numbers, those of like length together: less is padding."""
    order = sorted(range(len(rows)), key=lambda number: length(rows[number]))
    for start in range(0, len(order), _BATCH):
        numbers = order[start : start + _BATCH]
        yield numbers, [rows[number] for number in numbers]


def in_batches(
    rows: Sequence[_T],
    width: int,
    compute: Callable[[list[_T]], Array],
    length: Callable[[_T], int] = len,
) -> Array:
    """Return what ``compute`` makes of each row, ``(rows, width)``, batch by batch."""
    result = np.zeros((len(rows), width), np.float32)
    for numbers, batch_rows in by_length(rows, length):
        result[numbers] = compute(batch_rows)
    return result


class Network:
    """Computes the last layer's states of rows of tokens."""

    def __init__(self, layers: Path, words: Array, padding: int) -> None:
        """Open the graph in ``layers``, as ``graph.body_graph`` makes it.

        ``words``: the word embeddings, ``(vocabulary, width)``.

        Raises:
            ModelUnavailable: ONNX Runtime cannot open the graph here.
        """
        onnxruntime = import_onnx_runtime()
        try:
            _share_memory()
            options = onnxruntime.SessionOptions()
            options.use_per_session_threads = False
            options.add_session_config_entry("session.use_env_allocators", "1")
            self._session = onnxruntime.InferenceSession(
                str(layers), options, providers=["CPUExecutionProvider"]
            )
        except MemoryError:
            raise
        except Exception as error:  # its errors have no common base class
            raise _unusable(error) from error
        self._words = words
        self._padding = padding

    def states(self, rows: Sequence[Row]) -> States:
        """Return the states of rows of token ids, at least one; shorter ones are padded."""
        ids, mask = batch(rows, self._padding)
        inputs = {VECTORS: self._words[ids], MASK: mask.astype(np.int32)}
        (vectors,) = self._session.run([STATES], inputs)
        return States(vectors, mask.astype(np.float32))


def open_network(
    name: str,
    base: PackagedBody,
    weights: Callable[[], Mapping[str, Array]],
    key: str,
    places: int,
    first_only: bool = False,
) -> Network:
    """Return a body that is ready to compute.

    ``weights`` returns the trained weights of ``base``; it is called for the first conversion, and
    again when ``key``, their digest, changes. ``name``: the model's, for the converted file.
    ``places``: the most tokens of a row. ``first_only``: compute only the states of each row's
    first token.

    Raises:
        ModelUnavailable: the weights are missing or damaged, or cannot be stored; or ONNX Runtime
            does not work here.
    """
    layers = converted_layers(name, base, weights, key, places, first_only)
    return Network(layers, word_embeddings(base), base.padding)


def import_onnx_runtime() -> ModuleType:
    """Import ONNX Runtime.

    Raises:
        ModelUnavailable: it cannot be imported here.
    """
    try:
        return importlib.import_module("onnxruntime")
    except Exception as error:  # a compiled library may raise anything
        raise _unusable(error) from error


def converted_layers(
    name: str,
    base: PackagedBody,
    weights: Callable[[], Mapping[str, Array]],
    key: str,
    places: int,
    first_only: bool,
) -> Path:
    """Return the file of the layers' graph; arguments and errors as for ``open_network``."""

    def content() -> bytes:
        from retrieval.models.graph import body_graph

        graph: bytes = body_graph(base.body(weights(), places), first_only).SerializeToString()
        return graph

    made_from = f"{_FORMAT} {base.sha256} {key} {places} {first_only}"
    return runtime.kept_file(name, made_from, ".onnx", content)


@cache
def word_embeddings(base: PackagedBody) -> Array:
    """Return the word embeddings of a base, ``(vocabulary, width)``.

    All networks and all processes that read them share one copy of the file in memory.
    """
    words: Array = np.load(converted_words(base), mmap_mode="r")
    return words


def converted_words(base: PackagedBody) -> Path:
    """Return the file of a base's word embeddings; errors as for ``open_network``."""

    def content() -> bytes:
        stream = io.BytesIO()
        np.save(stream, base.body(base.weights(), places=1).words)
        return stream.getvalue()

    return runtime.kept_file(f"{base.name}-words", base.sha256, ".npy", content)


@cache
def _share_memory() -> None:
    """Create the environment that all networks of this process share; it can be done only once.

    They use the same threads and the same memory. Otherwise each would keep memory of the size of
    its largest batch.
    """
    onnxruntime = import_onnx_runtime()
    onnxruntime.set_global_thread_pool_sizes(runtime.threads(), 1)
    memory = onnxruntime.OrtMemoryInfo(
        "Cpu",
        onnxruntime.OrtAllocatorType.ORT_ARENA_ALLOCATOR,
        0,
        onnxruntime.OrtMemType.DEFAULT,
    )
    onnxruntime.create_and_register_allocator(memory, onnxruntime.OrtArenaCfg({}))


def _unusable(error: Exception) -> ModelUnavailable:
    return ModelUnavailable(
        "runtime_unusable",
        f"ONNX Runtime, which computes the models, does not work here ({error}).",
        f"Install it again: {install_service_command()}",
    )

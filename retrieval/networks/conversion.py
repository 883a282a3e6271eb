"""Networks as ONNX Runtime reads them: converted once, kept in a folder, checked when opened."""

from __future__ import annotations

import atexit
import errno
import hashlib
import io
from collections.abc import Callable, Mapping
from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np

from retrieval.errors import ModelUnavailable
from retrieval.index.files import write_whole
from retrieval.index.layout import digest_of
from retrieval.networks import runtime
from retrieval.networks.base import Base
from retrieval.networks.weights import Array

_FORMAT = 1  # raised when ``graph`` changes what it computes
_FULL = (errno.ENOSPC, errno.EDQUOT)


def converted_layers(
    name: str,
    base: Base,
    weights: Callable[[], Mapping[str, Array]],
    key: str,
    places: int,
    first_only: bool,
) -> Path:
    """Return the file of the layers' graph; see ``open_network`` for the arguments.

    Raises:
        ModelUnavailable: the weights are missing or damaged, or the folder cannot hold the file.
    """

    def content() -> bytes:
        from retrieval.networks.graph import body_graph

        graph: bytes = body_graph(base.body(weights(), places), first_only).SerializeToString()
        return graph

    return _kept(name, f"{_FORMAT} {base.sha256} {key} {places} {first_only}", ".onnx", content)


def converted_words(base: Base) -> Path:
    """Return the file of a base's word embeddings, ``(vocabulary, width)``; raises likewise."""

    def content() -> bytes:
        stream = io.BytesIO()
        np.save(stream, base.body(base.weights(), places=1).words)
        return stream.getvalue()

    return _kept(f"{base.name}-words", base.sha256, ".npy", content)


def _kept(name: str, key: str, suffix: str, content: Callable[[], bytes]) -> Path:
    """Return the file of this name and key, made from ``content`` where it is missing or damaged.

    The file's name holds the key and the digest of what is in it. A file with another key is of
    another version of the model and is removed.
    """
    folder = runtime.kept_folder() or _of_this_process()
    start = f"{name}.{hashlib.sha256(key.encode()).hexdigest()[:16]}."
    try:
        for path in folder.glob(f"{start}*{suffix}"):
            if path.name == f"{start}{digest_of(path)[:16]}{suffix}":
                return path
        made = content()
        folder.mkdir(parents=True, exist_ok=True)
        path = folder / f"{start}{hashlib.sha256(made).hexdigest()[:16]}{suffix}"
        write_whole(path, made)
        for other in folder.glob(f"{name}.*{suffix}"):
            if other != path:
                other.unlink(missing_ok=True)
    except OSError as error:
        raise ModelUnavailable(
            "model_missing",
            f"The converted model {name} cannot be kept in {folder}: {error.strerror}.",
            "Make room for 300 MB there, or set ESOTERIC_HOME to a folder with room."
            if error.errno in _FULL
            else "Make that folder writable, or set ESOTERIC_HOME to one that is.",
        ) from error
    return path


@cache
def _of_this_process() -> Path:
    folder = TemporaryDirectory(prefix="esoteric-networks-")
    atexit.register(folder.cleanup)
    return Path(folder.name)

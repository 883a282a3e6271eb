"""Converts networks for ONNX Runtime, once; the files are stored."""

from __future__ import annotations

import io
from collections.abc import Callable, Mapping
from pathlib import Path

import numpy as np

from retrieval.models.networks.arrays import Array
from retrieval.models.networks.base import PackagedBody
from retrieval.models.networks.kept_file import kept_file

_FORMAT = 1  # raised when ``graph`` changes what it computes


def converted_layers(
    name: str,
    base: PackagedBody,
    weights: Callable[[], Mapping[str, Array]],
    key: str,
    places: int,
    first_only: bool,
) -> Path:
    """Return the file of the layers' graph; see ``open_network`` for the arguments.

    Raises:
        ModelUnavailable: the weights are missing or damaged, or the file cannot be stored.
    """

    def content() -> bytes:
        from retrieval.models.networks.graph import body_graph

        graph: bytes = body_graph(base.body(weights(), places), first_only).SerializeToString()
        return graph

    made_from = f"{_FORMAT} {base.sha256} {key} {places} {first_only}"
    return kept_file(name, made_from, ".onnx", content)


def converted_words(base: PackagedBody) -> Path:
    """Return the file of a base's word embeddings, ``(vocabulary, width)``; raises the same."""

    def content() -> bytes:
        stream = io.BytesIO()
        np.save(stream, base.body(base.weights(), places=1).words)
        return stream.getvalue()

    return kept_file(f"{base.name}-words", base.sha256, ".npy", content)

"""Opens a transformer's body to compute: in 8 bits, converted once."""

from __future__ import annotations

import logging
from collections.abc import Callable, Mapping
from functools import cache
from typing import TYPE_CHECKING

import numpy as np

from retrieval.models.networks.arrays import Array
from retrieval.models.networks.base import PackagedBody
from retrieval.models.networks.conversion import converted_layers, converted_words
from retrieval.models.networks.interface import Network, RuntimeFailed
from retrieval.system.optional import require_models

if TYPE_CHECKING:
    from retrieval.models.networks.onnx_network import OnnxNetwork

logger = logging.getLogger(__name__)


def open_network(
    name: str,
    base: PackagedBody,
    weights: Callable[[], Mapping[str, Array]],
    key: str,
    places: int,
    first_only: bool = False,
) -> Network:
    """Return a body that is ready to compute, in ONNX Runtime or, if that fails, in PyTorch.

    ``weights`` returns the trained weights of ``base``; it is called for the first conversion, and
    again when ``key``, their digest, changes. ``name``: the model's, for the converted file.
    ``places``: the most tokens of a row. ``first_only``: compute only the states of each row's
    first token.

    Raises:
        ModelUnavailable: the weights are missing or damaged, or cannot be stored; or there is
            neither runtime.
    """
    try:
        onnx_network = import_onnx_runtime()
        layers = converted_layers(name, base, weights, key, places, first_only)
        return onnx_network(layers, word_embeddings(base), base.padding)
    except RuntimeFailed as error:
        require_models(f"ONNX Runtime does not load here ({error}); computing without it")
        logger.warning(
            "ONNX Runtime cannot compute %s here (%s). PyTorch computes it instead, which takes"
            " about twice as long.",
            name,
            error,
        )
        from retrieval.models.networks.torch_network import TorchNetwork

        return TorchNetwork(base.torch_body(weights()), base.padding)


def import_onnx_runtime() -> type[OnnxNetwork]:
    """Import ONNX Runtime, and the library that writes its graphs.

    Raises:
        RuntimeFailed: they cannot be imported here.
    """
    try:
        import retrieval.models.networks.graph  # noqa: F401
        from retrieval.models.networks.onnx_network import OnnxNetwork
    except Exception as error:  # a compiled library may raise anything
        raise RuntimeFailed(str(error)) from error
    return OnnxNetwork


@cache
def word_embeddings(base: PackagedBody) -> Array:
    """Return the word embeddings of a base, ``(vocabulary, width)``.

    All networks and all processes that read them share one copy of the file in memory.
    """
    words: Array = np.load(converted_words(base), mmap_mode="r")
    return words

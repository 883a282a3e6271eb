"""A query encoder that nothing was learnt by."""

import json
from pathlib import Path

from research.training.dense import packaged_query_network
from research.training.networks.encoders import save_delta
from retrieval.models.encoders import QueryEncoder


def untrained_query_encoder(folder: Path, max_tokens: int = 256) -> QueryEncoder:
    """Write a difference of zeros and open it."""
    network = packaged_query_network()
    digest = save_delta(network, network, folder / "delta.safetensors", rank=1)
    config = {"name": "queries", "version": "3", "max_tokens": max_tokens, "sha256": digest}
    (folder / "config.json").write_text(json.dumps(config))
    return QueryEncoder(folder)

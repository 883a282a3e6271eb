"""A model of proofs that nothing was learnt by."""

from __future__ import annotations

import json
from pathlib import Path

from research.training.networks.delta import save_delta
from research.training.networks.proof import packaged_proof_network
from retrieval.models.prover import ProofModel


def untrained_proof_model(folder: Path, max_tokens: int = 192) -> ProofModel:
    """Write the fresh heads with a difference of zeros and open them."""
    network = packaged_proof_network()
    digest = save_delta(network, network, folder / "delta.safetensors", rank=1)
    config = {
        "name": "proofs",
        "version": "3",
        "max_tokens": max_tokens,
        "temperature": 1.0,
        "sha256": digest,
    }
    (folder / "config.json").write_text(json.dumps(config))
    return ProofModel(folder)

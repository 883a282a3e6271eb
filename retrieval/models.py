"""The shipped models: where each lies, and what reads it."""

from __future__ import annotations

import hashlib
from pathlib import Path

from retrieval.cross_encoders.cross_encoder import CrossEncoder
from retrieval.trained.trained_model import read_config, version_of

MODELS = Path(__file__).resolve().parent.parent / "models"
READER, VERIFIER = MODELS / "reader", MODELS / "verifier"
PATH, PROVER, SELECTOR = MODELS / "path", MODELS / "prover", MODELS / "selector"
DENSE, TITLES = MODELS / "dense", MODELS / "titles"


def reader() -> CrossEncoder:
    """Return the model that reads every sentence; its weights are not loaded yet.

    Raises:
        ModelUnavailable: it is missing.
    """
    from retrieval.cross_encoders.folded_minilm import FoldedMiniLM

    return CrossEncoder(READER, FoldedMiniLM())


def path_reader() -> CrossEncoder:
    """Return the model that reads sentences beside those that led to them, as ``reader`` does."""
    from retrieval.cross_encoders.folded_minilm import FoldedMiniLM

    return CrossEncoder(PATH, FoldedMiniLM())


def verifier(base: Path) -> CrossEncoder:
    """Return the large profile's second model, as ``reader`` does.

    ``base`` is the folder that its base weights are unpacked into.
    """
    from retrieval.cross_encoders.mpnet import PackagedMPNet

    return CrossEncoder(VERIFIER, PackagedMPNet(base))


def judge_name(verifier_base: Path | None) -> str:
    """Return the name that verdicts carry: every model that reads for it, with its version.

    Loads no model. ``verifier_base`` as in ``assembly.open_retriever``.

    Raises:
        ModelUnavailable: a model is missing.
    """
    folders = [READER, VERIFIER] if verifier_base else [READER]
    return " and ".join(version_of(read_config(folder)) for folder in folders)


def models_digest() -> str:
    """Return one SHA-256 of the configurations of all shipped models.

    A configuration holds the digest of its weights; no model is loaded.
    """
    configs = sorted(MODELS.glob("*/config.json"))
    digest = hashlib.sha256()
    for path in configs:
        digest.update(path.parent.name.encode() + path.read_bytes())
    return digest.hexdigest()

"""The shipped models: where each lies, and what reads it."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from pathlib import Path

from retrieval.cross_encoders.cross_encoder import CrossEncoder
from retrieval.generation.bart import weight_files
from retrieval.index.layout import digest_of
from retrieval.recipes import Recipe
from retrieval.trained.trained_model import read_config, version_of

MODELS = Path(__file__).resolve().parent.parent / "models"
READER, VERIFIER = MODELS / "reader", MODELS / "verifier"
PATH, PROVER, SELECTOR = MODELS / "path", MODELS / "prover", MODELS / "selector"
DENSE, TITLES = MODELS / "dense", MODELS / "titles"
STATIC = MODELS / "static"


@dataclass(frozen=True, slots=True)
class AddedModels:
    """Models that an installation has beside the shipped ones; ``None`` where it does without.

    ``verifier_base``: the folder that the large profile's base weights are
    unpacked into. ``bart``: a folder with weights of BART or GENRE, which
    generate titles instead of the shipped model.
    """

    verifier_base: Path | None = None
    bart: Path | None = None


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


def reading_models(recipe: Recipe, added: AddedModels) -> list[Path]:
    """Return the folders of all models whose opinion is in a recipe's verdict."""
    folders = [READER]
    if recipe.ranking != "alone":
        folders.append(PATH)
    if added.verifier_base:
        folders.append(VERIFIER)
    if recipe.proof:
        folders.append(PROVER)
    return folders


def judge_name(recipe: Recipe, added: AddedModels) -> str:
    """Return the name that verdicts carry: every model that reads for them, with its version.

    Loads no model.

    Raises:
        ModelUnavailable: a model is missing.
    """
    *others, last = (version_of(read_config(f)) for f in reading_models(recipe, added))
    return f"{', '.join(others)} and {last}" if others else last


def models_digest(added: AddedModels) -> str:
    """Return one SHA-256 of the configurations of all shipped models, and of BART where it reads.

    A configuration holds the digest of its weights; no model is loaded.
    """
    configs = sorted(MODELS.glob("*/config.json"))
    digest = hashlib.sha256()
    for path in configs:
        digest.update(path.parent.name.encode() + path.read_bytes())
    if added.bart:
        for path in weight_files(added.bart):
            digest.update(path.name.encode() + digest_of(path).encode())
    return digest.hexdigest()

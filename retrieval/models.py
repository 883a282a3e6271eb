"""The shipped models: where each lies, and what reads it."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from pathlib import Path

from retrieval.cross_encoders.cross_encoder import CrossEncoder
from retrieval.cross_encoders.heads import OF_FIRST, OF_FIRST_AND_MEAN
from retrieval.generation.bart import weight_files
from retrieval.index.layout import digest_of
from retrieval.networks.minilm import MiniLM
from retrieval.networks.mpnet import MPNet
from retrieval.recipes import Recipe
from retrieval.report.lock import LOCK
from retrieval.trained.trained_model import read_config, version_of

MODELS = Path(__file__).resolve().parent.parent / "models"
READER, VERIFIER = MODELS / "reader", MODELS / "verifier"
PATH, PROVER, SELECTOR = MODELS / "path", MODELS / "prover", MODELS / "selector"
DENSE, TITLES = MODELS / "dense", MODELS / "titles"
STATIC = MODELS / "static"


@dataclass(frozen=True, slots=True)
class ModelFolders:
    """Folders outside the checkout that models are read from.

    ``unpacked``: where the verifier's packaged base weights are unpacked. ``bart``: weights of
    BART or GENRE, which then generate titles instead of the shipped model. ``report``: the models
    of the ESOTERIC report, for the recipe of this name.
    """

    unpacked: Path
    bart: Path | None = None
    report: Path | None = None

    @property
    def networks(self) -> Path:
        """Where networks are kept as they are computed, in 8 bits."""
        return self.unpacked / "networks"


def minilm_classifier(folder: Path) -> CrossEncoder:
    """Return the small cross-encoder in this folder; its weights are not loaded yet.

    Raises:
        ModelUnavailable: it is missing.
    """
    return CrossEncoder(folder, MiniLM(), OF_FIRST)


def reader() -> CrossEncoder:
    """Return the model that reads every sentence, as ``minilm_classifier`` does."""
    return minilm_classifier(READER)


def path_reader() -> CrossEncoder:
    """Return the model that reads sentences beside those that led to them, likewise."""
    return minilm_classifier(PATH)


def verifier(unpacked: Path, in_search: bool, folder: Path = VERIFIER) -> CrossEncoder:
    """Return the model that labels evidence, likewise.

    ``unpacked`` is the folder that its base weights are unpacked into. ``in_search``: whether a
    search found the evidence; otherwise somebody gave it.
    """
    return CrossEncoder(folder, MPNet(unpacked), OF_FIRST_AND_MEAN, in_search)


def reading_models(recipe: Recipe) -> list[Path]:
    """Return the folders of all shipped models that choose a recipe's evidence or label it."""
    folders = [READER] if recipe.models == "shipped" else []
    if recipe.ranking != "alone":
        folders.append(PATH)
    folders.append(VERIFIER)
    if recipe.proof:
        folders.append(PROVER)
    if recipe.selection == "utility":
        folders.append(SELECTOR)
    return folders


def trained_folders() -> list[Path]:
    """Return the folders of the models that claims are checked with, whatever the recipe."""
    return [READER, PATH, VERIFIER, PROVER, SELECTOR, DENSE, TITLES]


def judge_name() -> str:
    """Return the name that verdicts carry: the verifier's, with its version. Loads no model.

    Raises:
        ModelUnavailable: the model is missing.
    """
    return version_of(read_config(VERIFIER))


def models_digest(folders: ModelFolders) -> str:
    """Return one SHA-256 of the configurations of all shipped models, and of others that are named.

    Those are BART and the report's models, by their lock. A configuration holds the digest of its
    weights; no model is loaded.
    """
    configs = sorted(MODELS.glob("*/config.json"))
    digest = hashlib.sha256()
    for path in configs:
        digest.update(path.parent.name.encode() + path.read_bytes())
    if folders.bart:
        for path in weight_files(folders.bart):
            digest.update(path.name.encode() + digest_of(path).encode())
    if folders.report and (folders.report / LOCK).is_file():
        digest.update(LOCK.encode() + digest_of(folders.report / LOCK).encode())
    return digest.hexdigest()

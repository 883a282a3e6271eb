"""The shipped models: where each lies, and what reads it."""

from __future__ import annotations

import hashlib
from pathlib import Path

from retrieval.cross_encoders.classifier_files import read_calibration, read_classifier
from retrieval.cross_encoders.cross_encoder import CrossEncoder
from retrieval.cross_encoders.evidence_model import EvidenceModel
from retrieval.cross_encoders.heads import OF_FIRST, OF_FIRST_AND_MEAN
from retrieval.cross_encoders.sequence_classifier import SequenceClassifier
from retrieval.generation.bart import weight_files
from retrieval.index.layout import digest_of
from retrieval.model_folders import ModelFolders
from retrieval.networks.minilm import MiniLM
from retrieval.networks.mpnet import MPNet
from retrieval.recipes import Recipe
from retrieval.report.lock import LOCK

MODELS = Path(__file__).resolve().parent.parent / "models"
READER, VERIFIER = MODELS / "reader", MODELS / "verifier"
PATH, PROVER, SELECTOR = MODELS / "path", MODELS / "prover", MODELS / "selector"
DENSE, TITLES = MODELS / "dense", MODELS / "titles"
STATIC = MODELS / "static"


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
    """Return the shipped model that labels evidence, likewise.

    ``unpacked`` is the folder that its base weights are unpacked into. ``in_search``: whether a
    search found the evidence; otherwise somebody gave it.
    """
    return CrossEncoder(folder, MPNet(unpacked), OF_FIRST_AND_MEAN, in_search)


def evidence_model(folders: ModelFolders, in_search: bool) -> EvidenceModel:
    """Return the model that labels evidence: the user's where there is one, or the shipped one.

    ``in_search`` is that of ``verifier``. The model is not loaded yet.

    Raises:
        ModelUnavailable: it is missing, or the user's cannot be used (``read_classifier``,
            ``read_calibration``).
    """
    if folders.verifier is None:
        return verifier(folders.unpacked, in_search)
    files = read_classifier(folders.verifier)
    return SequenceClassifier(files, read_calibration(files), in_search)


def reading_models(recipe: Recipe) -> list[Path]:
    """Return the folders of all shipped models that choose a recipe's evidence or label it.

    Models of the report are not shipped and not among them.
    """
    folders = [READER] if "relevance" in recipe.hop else []
    if "paths" in recipe.hop:
        folders.append(PATH)
    folders.append(VERIFIER)
    if "proof" in recipe.hop:
        folders.append(PROVER)
    if "selection:utility" in recipe.hop:
        folders.append(SELECTOR)
    return folders


def trained_folders() -> list[Path]:
    """Return the folders of the models that claims are checked with, whatever the recipe."""
    return [READER, PATH, VERIFIER, PROVER, SELECTOR, DENSE, TITLES]


def judge_name(folders: ModelFolders) -> str:
    """Return the name that verdicts carry: the verifier's, with its version. Loads no model.

    Raises:
        ModelUnavailable: what ``evidence_model`` raises.
    """
    return evidence_model(folders, in_search=True).version


def models_digest(folders: ModelFolders) -> str:
    """Return one SHA-256 of the configurations of all shipped models, and of others that are named.

    The report's models are named by their lock. A configuration holds the digest of its weights;
    no model is loaded.

    Raises:
        ModelUnavailable: a model of the user cannot be used.
    """
    configs = sorted(MODELS.glob("*/config.json"))
    digest = hashlib.sha256()
    for path in configs:
        digest.update(path.parent.name.encode() + path.read_bytes())
    if folders.bart:
        for path in weight_files(folders.bart):
            digest.update(path.name.encode() + digest_of(path).encode())
    if folders.verifier:
        files = read_classifier(folders.verifier)
        digest.update(f"{files.digest} {read_calibration(files)}".encode())
    if folders.report and (folders.report / LOCK).is_file():
        digest.update(LOCK.encode() + digest_of(folders.report / LOCK).encode())
    return digest.hexdigest()

"""The shipped models: their folders, and functions that open them."""

from __future__ import annotations

import hashlib
from pathlib import Path

from retrieval.models.cross_encoders import CrossEncoder, EvidenceModel, alike_and_computed
from retrieval.models.folders import ModelFolders
from retrieval.models.own_verifier import SequenceClassifier, read_calibration, read_classifier
from retrieval.models.packaged import MiniLM, MPNet
from retrieval.models.papers.bart import weight_files
from retrieval.models.papers.report_models import LOCK
from retrieval.recipes.recipes import Recipe
from retrieval.system.files import digest_of
from retrieval.text.figures import written_alike

MODELS = Path(__file__).resolve().parents[2] / "models"
RELEVANCE_MODEL, VERIFIER = MODELS / "relevance", MODELS / "verifier"
PATH, PROVER = MODELS / "path", MODELS / "prover"
DENSE, TITLES = MODELS / "dense", MODELS / "titles"
STATIC = MODELS / "static"
# Those that choose evidence or label it.
_READING = (RELEVANCE_MODEL, PATH, VERIFIER, PROVER)


def minilm_classifier(folder: Path) -> CrossEncoder:
    """Return the small cross-encoder in this folder; its weights are not loaded yet.

    Raises:
        ModelUnavailable: it is missing.
    """
    return CrossEncoder(folder, MiniLM())


def relevance_model() -> CrossEncoder:
    """Return the relevance model, as ``minilm_classifier`` does."""
    return minilm_classifier(RELEVANCE_MODEL)


def path_model() -> CrossEncoder:
    """Return the path model, as ``minilm_classifier`` does."""
    return minilm_classifier(PATH)


def verifier(
    unpacked: Path, in_search: bool, folder: Path = VERIFIER, computed: bool = True
) -> CrossEncoder:
    """Return the shipped verifier; its weights are not loaded yet.

    ``unpacked`` is the folder that its base weights are unpacked into. ``in_search``: whether a
    search found the evidence, so that the calibration for searches is used. ``computed``: it reads
    what follows from the numbers of the evidence too (``with_computed``).

    Raises:
        ModelUnavailable: it is missing.
    """
    reads = alike_and_computed if computed else written_alike
    return CrossEncoder(folder, MPNet(unpacked), in_search, reads_all=True, reads=reads)


def evidence_model(folders: ModelFolders, in_search: bool, computed: bool = True) -> EvidenceModel:
    """Return the verifier: the user's if ``folders`` names one, otherwise the shipped one.

    ``in_search`` and ``computed`` are as in ``verifier``; a verifier of the user has not learnt to
    read what is computed. The model is not loaded yet.

    Raises:
        ModelUnavailable: it is missing, or the user's cannot be used (``read_classifier``,
            ``read_calibration``).
    """
    if folders.verifier is None:
        return verifier(folders.unpacked, in_search, computed=computed)
    files = read_classifier(folders.verifier)
    return SequenceClassifier(files, read_calibration(files), in_search)


def reading_models(recipe: Recipe) -> list[Path]:
    """Return the folders of all shipped models that choose a recipe's evidence or label it.

    The models of the report are not shipped, so they are not included.
    """
    computes = recipe.models
    return [folder for folder in _READING if folder.name in computes]


def trained_folders() -> list[Path]:
    """Return the folders of the trained models that any recipe checks claims with."""
    return [*_READING, DENSE, TITLES]


def judge_name(folders: ModelFolders) -> str:
    """Return the verifier's name and version, which verdicts contain. Loads no model.

    Raises:
        ModelUnavailable: as in ``evidence_model``.
    """
    return evidence_model(folders, in_search=True).version


def models_digest(folders: ModelFolders) -> str:
    """Return one SHA-256 of all shipped models and of those in ``folders``.

    It is computed from the configurations, which contain the digests of the weights, from the
    lock of the report's models, and from the user's files. No model is loaded.

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
    for model in filter(None, (folders.encoder, folders.reranker)):
        digest.update(f"{model.variable} {model.digest()}".encode())
    if folders.report and (folders.report / LOCK).is_file():
        digest.update(LOCK.encode() + digest_of(folders.report / LOCK).encode())
    return digest.hexdigest()

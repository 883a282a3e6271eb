"""The models that the ESOTERIC report names: their folders, their lock, and how they are fetched.

None of them is shipped. Each is a folder in ``ESOTERIC_REPORT_MODELS``; ``docs/models.md``
describes how to get them. This project contains no revision and no digest of them. The first fetch
records the commit of the branch on the hub and the SHA-256 of each file in ``models.lock.json``:

    {"models": {NAME: {"repository": str, "revision": str, "files": {FILE: SHA-256}}}}

From then on every fetch and every load requires the same commit and the same files. ``repository``
and ``revision`` are empty for a folder that was placed by hand. ``files`` is empty while the first
download has not ended.
"""

from __future__ import annotations

import shutil
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path

from pydantic import BaseModel, ConfigDict, ValidationError

from retrieval.errors import ModelUnavailable
from retrieval.models.weights import damaged, fetch_from_hub, hub_commit
from retrieval.system.files import digest_of, write_whole
from retrieval.system.fixes import esoteric_command
from retrieval.system.packages import require_models

RECIPE = "report"
LOCK = "models.lock.json"
WEIGHTS = "model.safetensors"
TOKENIZER, SENTENCE_PIECES = "tokenizer.json", "spiece.model"
# All files that are fetched. Weights are safetensors and the rest is data: no file contains code.
FETCHED = (
    "config.json",
    "generation_config.json",
    WEIGHTS,
    TOKENIZER,
    "tokenizer_config.json",
    "special_tokens_map.json",
    "added_tokens.json",
    "vocab.txt",
    "vocab.json",
    "merges.txt",
    SENTENCE_PIECES,
)
_WITHOUT_HUB = (
    "Check the connection, or copy the folders from a computer that can reach it"
    " (docs/models.md), and run the command again."
)


@dataclass(frozen=True, slots=True)
class PublishedModel:
    """A model of the report.

    Attributes:
        repository: its name on the hub.
        architecture: the class of ``transformers`` that loads it.
        branch: the branch of the repository that has its weights as safetensors.
        folder: in ``ESOTERIC_REPORT_MODELS``; "" where it has the name of the repository.
    """

    repository: str
    architecture: str
    branch: str = "main"
    folder: str = ""

    @property
    def name(self) -> str:
        """The name of its folder."""
        return self.folder or self.repository.partition("/")[2]


# Report, sections 3.3.6 and 3.3.8 to 3.3.11.
NAMES = PublishedModel("Babelscape/wikineural-multilingual-ner", "BertForTokenClassification")
ANSWERS = PublishedModel("vabatista/t5-small-answer-extraction-en", "T5ForConditionalGeneration")
QUESTIONS = PublishedModel(
    "mrm8488/t5-base-finetuned-question-generation-ap", "T5ForConditionalGeneration"
)
# The main branches of DPR have only pickled weights; these are the hub's own conversions of them.
DPR_QUESTIONS = PublishedModel(
    "facebook/dpr-question_encoder-single-nq-base", "DPRQuestionEncoder", branch="refs/pr/2"
)
DPR_CONTEXTS = PublishedModel(
    "facebook/dpr-ctx_encoder-single-nq-base", "DPRContextEncoder", branch="refs/pr/3"
)
_CLASSIFIER = "AutoModelForSequenceClassification"
RELEVANCE = PublishedModel(
    "theobaur/relevancy_classification_FEVER", _CLASSIFIER, folder="distilbert-relevance"
)
SIMILARITY = PublishedModel("sentence-transformers/all-mpnet-base-v2", "MPNetModel")
# The start of the relevance classifier (table 5); only ``esoteric train distilbert`` needs it.
BASE = PublishedModel("distilbert/distilbert-base-uncased", _CLASSIFIER)
REPORT_MODELS = (NAMES, ANSWERS, QUESTIONS, DPR_QUESTIONS, DPR_CONTEXTS, RELEVANCE, SIMILARITY)


class LockedModel(BaseModel):
    """One model's entry in the lock."""

    model_config = ConfigDict(extra="forbid", frozen=True, strict=True)

    repository: str
    revision: str
    files: dict[str, str]


class _Lock(BaseModel):
    models: dict[str, LockedModel]


def read_lock(path: Path) -> dict[str, LockedModel]:
    """Return the entries of a lock by the names of their models; none if there is no file.

    Raises:
        ModelUnavailable: it is not a lock.
    """
    try:
        return _Lock.model_validate_json(path.read_bytes()).models
    except FileNotFoundError:
        return {}
    except ValidationError as error:
        raise ModelUnavailable(
            "lock_damaged",
            f"{path} is not a lock of models.",
            "Restore it, or delete it to accept the files as they are.",
        ) from error


def write_lock(path: Path, entries: Mapping[str, LockedModel]) -> None:
    """Write a lock atomically.

    Raises:
        OSError: it cannot be written.
    """
    lock = _Lock(models=dict(sorted(entries.items())))
    write_whole(path, (lock.model_dump_json(indent=1) + "\n").encode())


def files_of(folder: Path) -> dict[str, str]:
    """Return the SHA-256 of each file of a folder; none if there is no folder.

    Subfolders and hidden files are left out: no model is read from them.
    """
    if not folder.is_dir():
        return {}
    files = (path for path in sorted(folder.iterdir()) if path.is_file())
    return {path.name: digest_of(path) for path in files if not path.name.startswith(".")}


def verify(models: Path, name: str) -> None:
    """Compare one model's files with the lock, byte by byte.

    Raises:
        ModelUnavailable: a file is missing, differs from the lock, or was added.
    """
    locked = read_lock(models / LOCK).get(name, _by_hand({})).files
    found = files_of(models / name)
    differing = sorted({file for file, _ in locked.items() ^ found.items()})
    if differing or not locked:
        raise damaged(
            f"The model in {models / name} is not the one that {models / LOCK} names:"
            f" {', '.join(differing) or 'there is none'}.",
            "Put the files of the lock back. Or delete the folder, or remove the model from the"
            f" lock if the change is meant, and then run: {_fetch_command()}",
        )


def _fetch_command() -> str:
    return esoteric_command(f"models fetch {RECIPE}")


def how_to_get_them() -> str:
    """Return the hint how to get the models."""
    return f"Run: {_fetch_command()}, or place the folders by hand (docs/models.md)."


def named_folder(models: Path | None) -> Path:
    """Return the folder of the report's models.

    Raises:
        ModelUnavailable: the setting is empty.
    """
    if models is None:
        raise ModelUnavailable(
            "report_models_unset",
            f"The recipe {RECIPE} and the vectors dpr need the models of the ESOTERIC report, and"
            " ESOTERIC_REPORT_MODELS names no folder.",
            f"Set ESOTERIC_REPORT_MODELS to a folder, and then run: {_fetch_command()}",
        )
    return models


def refuse_to_replace(models: Path, published: PublishedModel) -> None:
    """Raise ``ModelUnavailable`` if the folder ``models`` has this model already."""
    folder = models / published.name
    if folder.is_dir() and any(folder.iterdir()):
        raise ModelUnavailable(
            "model_exists",
            f"{folder} has a model already.",
            "Move it away, or name another folder with ESOTERIC_REPORT_MODELS.",
        )


def present_models(models: Path | None) -> Path:
    """Return the folder of the report's models, if all of them are in it. No file is compared.

    Raises:
        ModelUnavailable: the setting is empty, PyTorch is not installed, or models are missing; all
            of them are listed.
    """
    folder = named_folder(models)
    require_models(f"The recipe {RECIPE}")
    missing = [m.name for m in REPORT_MODELS if not (folder / m.name / WEIGHTS).is_file()]
    if missing:
        raise ModelUnavailable(
            "report_models_missing",
            f"{folder} lacks models of the report: {', '.join(missing)}.",
            how_to_get_them(),
        )
    locked = read_lock(folder / LOCK)
    unlocked = [m.name for m in REPORT_MODELS if m.name not in locked or not locked[m.name].files]
    if unlocked:
        raise ModelUnavailable(
            "report_models_unlocked",
            f"{folder / LOCK} does not list the files of {', '.join(unlocked)}.",
            how_to_get_them(),
        )
    return folder


def fetch(models: Path, shared: Path | None, on_model: Callable[[str], None]) -> None:
    """Fetch all models into the folder ``models`` and compare them with the lock.

    A folder that exists but is not in the lock was placed by hand; its files are recorded as they
    are. After an interruption, the same call keeps the complete files and fetches the rest.

    Args:
        models: the folder of the report's models; it is created if missing.
        shared: a lock file to use, which is copied into the folder.
        on_model: called with the name of each model before the work on it.

    Raises:
        ModelUnavailable: the hub cannot be reached or lacks a file, or a file differs from the
            lock.
        OSError: the folder cannot be written.
    """
    models.mkdir(parents=True, exist_ok=True)
    if shared is not None:
        if not shared.is_file():
            raise ModelUnavailable(
                "lock_missing",
                f"There is no lock file {shared}.",
                "Name the file, or leave it out.",
            )
        write_lock(models / LOCK, read_lock(shared))
    for published in REPORT_MODELS:
        on_model(published.name)
        bring(models, published)


def bring(models: Path, published: PublishedModel) -> None:
    """Fetch one model into the folder ``models``, which exists, and compare it with the lock.

    Raises what ``fetch`` raises.
    """
    name, folder = published.name, models / published.name
    locked = read_lock(models / LOCK).get(name)
    found = files_of(folder)
    if locked is None and WEIGHTS in found:
        _record(models, name, _by_hand(found))
        return
    if locked is not None and locked.files:
        added_or_changed = found.items() - locked.files.items()
        complete = found.keys() == locked.files.keys()
        if added_or_changed or complete:
            verify(models, name)
            return
    if locked is None or not locked.revision:
        commit = hub_commit(published.repository, published.branch, _WITHOUT_HUB)
        files = {} if locked is None else locked.files
        locked = LockedModel(repository=published.repository, revision=commit, files=files)
        _record(models, name, locked)
    fetch_from_hub(published.repository, locked.revision, folder, FETCHED, _WITHOUT_HUB)
    found = files_of(folder)
    if WEIGHTS not in found:
        if not locked.files:  # so that files which are put there later count as placed by hand
            entries = read_lock(models / LOCK)
            del entries[name]
            write_lock(models / LOCK, entries)
        raise ModelUnavailable(
            "model_pickled",
            f"{published.repository} contains no {WEIGHTS} at {locked.revision}; weights in other"
            " formats are not read, because they can contain code.",
            f"If you trust them, convert them to {folder / WEIGHTS} (docs/models.md), and"
            " run the command again.",
        )
    if not locked.files:
        _record(models, name, locked.model_copy(update={"files": found}))
    verify(models, name)
    shutil.rmtree(folder / ".cache", ignore_errors=True)  # temporary files of the download


def record_own(models: Path, published: PublishedModel) -> None:
    """Lock the files of a model's folder as they are, like those of a folder placed by hand."""
    _record(models, published.name, _by_hand(files_of(models / published.name)))


def _by_hand(files: dict[str, str]) -> LockedModel:
    return LockedModel(repository="", revision="", files=files)


def _record(models: Path, name: str, entry: LockedModel) -> None:
    write_lock(models / LOCK, {**read_lock(models / LOCK), name: entry})

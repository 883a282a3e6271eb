"""The models that the ESOTERIC report names, and their folders.

None of them is shipped. Each is a folder in ``ESOTERIC_REPORT_MODELS``; ``docs/report-models.md``
describes how to get them.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from retrieval.errors import ModelUnavailable
from retrieval.models.report.pinned_files import LOCK, WEIGHTS, read_lock
from retrieval.system.fixes import esoteric_command
from retrieval.system.optional import require_models

RECIPE = "report"
_BY_HAND = "or place the folders by hand (docs/report-models.md)"


@dataclass(frozen=True, slots=True)
class PublishedModel:
    """A model of the report.

    Attributes:
        name: its folder in ``ESOTERIC_REPORT_MODELS``.
        repository: its name on the hub.
        architecture: the class of ``transformers`` that loads it.
        branch: the branch of the repository that has its weights as safetensors.
    """

    name: str
    repository: str
    architecture: str
    branch: str = "main"


# Report, sections 3.3.6 and 3.3.8 to 3.3.11.
NAMES = PublishedModel(
    "wikineural-multilingual-ner",
    "Babelscape/wikineural-multilingual-ner",
    "BertForTokenClassification",
)
ANSWERS = PublishedModel(
    "t5-small-answer-extraction-en",
    "vabatista/t5-small-answer-extraction-en",
    "T5ForConditionalGeneration",
)
QUESTIONS = PublishedModel(
    "t5-base-finetuned-question-generation-ap",
    "mrm8488/t5-base-finetuned-question-generation-ap",
    "T5ForConditionalGeneration",
)
DPR_QUESTIONS = PublishedModel(
    "dpr-question_encoder-single-nq-base",
    "facebook/dpr-question_encoder-single-nq-base",
    "DPRQuestionEncoder",
    branch="refs/pr/2",  # main has only pickled weights; this is the hub's own conversion of them
)
DPR_CONTEXTS = PublishedModel(
    "dpr-ctx_encoder-single-nq-base",
    "facebook/dpr-ctx_encoder-single-nq-base",
    "DPRContextEncoder",
    branch="refs/pr/3",  # likewise
)
RELEVANCE = PublishedModel(
    "distilbert-relevance",
    "theobaur/relevancy_classification_FEVER",
    "AutoModelForSequenceClassification",
)
SIMILARITY = PublishedModel(
    "all-mpnet-base-v2", "sentence-transformers/all-mpnet-base-v2", "MPNetModel"
)
# The start of the relevance classifier (table 5); only ``esoteric train distilbert`` needs it.
BASE = PublishedModel(
    "distilbert-base-uncased",
    "distilbert/distilbert-base-uncased",
    "AutoModelForSequenceClassification",
)
REPORT_MODELS = (NAMES, ANSWERS, QUESTIONS, DPR_QUESTIONS, DPR_CONTEXTS, RELEVANCE, SIMILARITY)


def how_to_get_them() -> str:
    """Return the hint how to get the models."""
    return f"Run: {esoteric_command(f'models fetch {RECIPE}')}, {_BY_HAND}."


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
            "Set ESOTERIC_REPORT_MODELS to a folder, and then run:"
            f" {esoteric_command(f'models fetch {RECIPE}')}",
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

"""A folder with a file and an entry in the lock for each model of the report, without weights."""

from __future__ import annotations

from pathlib import Path

from retrieval.models.papers.report_models import (
    LOCK,
    REPORT_MODELS,
    WEIGHTS,
    LockedModel,
    write_lock,
)


def name_models(folder: Path) -> Path:
    """Make the folder, which is enough wherever models are looked for and not loaded."""
    for model in REPORT_MODELS:
        (folder / model.name).mkdir(parents=True)
        (folder / model.name / WEIGHTS).touch()
    entry = LockedModel("", "", {WEIGHTS: ""})
    write_lock(folder / LOCK, dict.fromkeys((m.name for m in REPORT_MODELS), entry))
    return folder

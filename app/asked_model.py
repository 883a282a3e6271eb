"""Which language model gets the claims, as reported by a worker or named in the settings."""

from __future__ import annotations

from app.contexts import Asked
from settings import Settings
from worker.health import WorkerHealth


def asked_model(settings: Settings, health: WorkerHealth) -> Asked | None:
    """Return the language model, or ``None`` where the verifier alone decides.

    The workers report it. While no worker is alive, it is read from the settings of this process.
    """
    model = health.language_model
    if model is not None:
        return Asked(model.model, model.host, answers=model.problem is None)
    if health.workers == 0 and settings.llm is not None:
        return Asked(settings.llm.model, settings.llm.host, answers=True)
    return None

"""The language model that gets the claims of this service."""

from __future__ import annotations

from app.services import services
from worker.health import WorkerHealth
from worker.reports import AskedModel


def asked_model(health: WorkerHealth) -> AskedModel | None:
    """Return the language model that gets the claims, or ``None`` where there is none.

    The workers report it. While no worker is alive, it is read from the settings of this process.
    """
    llm = services().settings.llm
    if health.language_model is None and health.workers == 0 and llm is not None:
        return AskedModel(llm.model, llm.host, llm.decides, problem=None)
    return health.language_model

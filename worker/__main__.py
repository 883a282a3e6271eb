"""``python -m worker``: one worker process."""

from __future__ import annotations

import sys

from settings import Settings
from worker.main import main
from worker.retriever import Retriever


def open_when_asked(settings: Settings) -> Retriever:
    """Open the retriever; PyTorch is imported here, when the heartbeat already beats."""
    from retrieval.assembly import open_retriever
    from retrieval.explanation.explainer import explainer
    from worker.jobs import JobStore

    folders = settings.model_folders
    explains = explainer(settings.llm, JobStore(settings.database_url))
    return open_retriever(settings.store, settings.snapshots, settings.threads, folders, explains)


if __name__ == "__main__":
    sys.exit(main(open_when_asked))

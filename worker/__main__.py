"""``python -m worker``: one worker process."""

from __future__ import annotations

import sys

from settings import Settings
from worker.main import main
from worker.retriever import Retriever


def open_when_asked(settings: Settings) -> Retriever:
    """Open the retriever; PyTorch is imported here, when the heartbeat already beats."""
    from retrieval.assembly import open_retriever
    from retrieval.models import ModelFolders

    folders = ModelFolders(settings.packaged_models, settings.bart, settings.report_models)
    return open_retriever(settings.store, settings.snapshots, settings.threads, folders)


if __name__ == "__main__":
    sys.exit(main(open_when_asked))

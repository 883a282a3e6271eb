"""How a process that checks claims finds the corpora beside the default one."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from settings import Settings
from worker.corpora.corpus_store import CorpusStore

if TYPE_CHECKING:
    from retrieval.pipeline.assembly import OwnCorpus


def own_corpora(settings: Settings) -> Callable[[str], OwnCorpus]:
    """Return what finds a corpus beside the default one; it raises ``EsotericError``."""
    from retrieval.pipeline.assembly import OwnCorpus

    store = CorpusStore(settings.documents, settings.folders)
    return lambda name: OwnCorpus(name, *store.searchable(name))

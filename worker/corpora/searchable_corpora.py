"""How a process that checks claims finds the corpora beside the default one."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from retrieval.errors import BadSource
from retrieval.sources.address import given_source, written_source
from settings import Settings
from worker.corpora.corpus_store import CorpusStore

if TYPE_CHECKING:
    from retrieval.pipeline.assembly import OwnCorpus


def own_corpora(settings: Settings) -> Callable[[str], OwnCorpus]:
    """Return what finds a corpus beside the default one; it raises ``EsotericError``.

    Who asks has checked that the name may be used: an address names any file and any host.
    """
    from retrieval.pipeline.assembly import OwnCorpus

    store = CorpusStore(settings.documents, settings.folders)

    def found(name: str) -> OwnCorpus:
        try:
            source = given_source(name, settings.sources) or written_source(name)
        except ValueError as error:
            raise BadSource("source_unknown", str(error), "Name it in another way.") from error
        if source is not None:
            return OwnCorpus(name, source.title, source)
        return OwnCorpus(name, *store.searchable(name))

    return found

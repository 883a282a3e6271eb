"""Which corpora a claim is checked against."""

from __future__ import annotations

from collections.abc import Callable, Collection

from retrieval.types import DEFAULT_CORPUS
from worker.corpora.corpus_store import CorpusStore
from worker.corpora.errors import CorpusRefused

_MOST = 10


def chosen_corpora(
    store: CorpusStore, names: Collection[str], is_default: Callable[[str], bool]
) -> tuple[str, ...] | None:
    """Return the names of the corpora that a claim is checked against, in one order for each set.

    ``None``: the default corpus: no name was given, or only names for which ``is_default`` is true.

    Raises:
        UnknownCorpus: a name has no corpus.
        CorpusNotReady: one of them cannot be searched yet.
        CorpusRefused: there are too many.
    """
    own = sorted({name for name in names if not is_default(name)})
    if not own:
        return None
    if len(own) > _MOST:
        raise CorpusRefused(
            "many_corpora", f"At most {_MOST} corpora are searched at once.", "Choose fewer."
        )
    for name in own:
        store.searchable(name)
    return (DEFAULT_CORPUS, *own) if len(own) < len(set(names)) else tuple(own)

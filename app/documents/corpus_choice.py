"""Which corpora a claim is checked against: what can be chosen, and what was."""

from __future__ import annotations

from collections.abc import Sequence

from app.contexts import Corpus, CorpusChoice
from app.documents.corpus import corpus_item, searched_corpus
from app.documents.uploading import refuse_unless_shared
from app.people.sharing import refuse_unseen_corpus, sees_corpus
from app.services import services
from retrieval.errors import IndexUnavailable
from retrieval.types import DEFAULT_CORPUS
from retrieval.words import VITAL, counted
from worker.corpora.chosen import chosen_corpora
from worker.corpora.errors import UnknownCorpus


def corpora_to_choose(chosen: Sequence[str] = ()) -> tuple[CorpusChoice, ...]:
    """Return the corpora that can be searched, the default one first.

    ``chosen``: the names of those that are selected; without any it is the default one.
    """
    corpora = services().corpora
    own = [one for one in corpora.choices() if sees_corpus(corpora.corpus(one.name))]
    selected = {*chosen} & {DEFAULT_CORPUS, *(one.name for one in own)} or {DEFAULT_CORPUS}
    choices = []
    try:
        default = corpus_item(searched_corpus(services()))
    except IndexUnavailable:
        pass  # the page says why
    else:
        choices.append(
            CorpusChoice(
                DEFAULT_CORPUS,
                default.title,
                _held(default),
                default.text_date,
                DEFAULT_CORPUS in selected,
            )
        )
    choices += [
        # Long files are searched by their passages.
        CorpusChoice(
            one.name,
            one.title,
            f"files, {counted(one.documents, 'passage')}",
            one.text_date,
            one.name in selected,
        )
        for one in own
    ]
    return tuple(choices)


def corpora_to_search(names: Sequence[str]) -> tuple[str, ...] | None:
    """Return the names of the corpora that a claim is checked against, in one order for each set.

    ``None``: the default one, which is also meant by no name and by its own.

    Raises:
        UnknownCorpus: a name has no corpus.
        CorpusNotReady: one of them cannot be searched yet.
        CorpusRefused: there are too many, or a worker does not have the documents.
    """
    for name in names:
        if not _is_default(name):
            refuse_unseen_corpus(name)
    found = chosen_corpora(services().corpora, names, _is_default)
    if found is not None:
        refuse_unless_shared()
    return found


def titles_of(names: Sequence[str] | None) -> dict[str, str | None]:
    """Return what people call these corpora, ``None`` for one that was removed.

    ``names``: ``None`` for the default one, which is left out where it cannot be used.
    """
    titles: dict[str, str | None] = {}
    for name in names or (DEFAULT_CORPUS,):
        try:
            if _is_default(name):
                titles[name] = corpus_item(searched_corpus(services())).title
            else:
                titles[name] = services().corpora.corpus(name).title
        except IndexUnavailable:
            pass  # the workers say why
        except UnknownCorpus:
            titles[name] = None
    return titles


def _held(corpus: Corpus) -> str:
    if corpus.title == VITAL:
        return f"only the first paragraphs of {corpus.documents:,} articles"
    return counted(corpus.documents, "document")


def _is_default(name: str) -> bool:
    if name == DEFAULT_CORPUS:
        return True
    try:
        return name == searched_corpus(services()).name
    except IndexUnavailable:
        return False

"""Several indexes that are searched as one, such as a default corpus and somebody's documents.

Titles, words and vectors of all of them are searched, and the answers merged. What must be
comparable for that:

- **similarities** are inner products with vectors of one encoder, so they are merged as they are;
- **BM25** is not: how rare a word is, is counted in each index alone, and in a few documents every
  word seems common. So ranks are merged instead: the first of each index, then the second of each,
  and so on. What is found is compared by its vectors and read by the models afterwards;
- **counts** of documents and words are added.

An index has a prefix, which the ids of its documents begin with here; so no two are alike, and an
id says which index it came from. At most one prefix is empty.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import chain

import numpy as np
from numpy.typing import NDArray

from retrieval.index.interface import MOST_OF_A_NAME, DocumentStore, IndexInfo, by_similarity
from retrieval.models.title_trie import TitleTrie
from retrieval.types import (
    CorpusInfo,
    CorpusKind,
    CorpusPart,
    Document,
    PhraseMatch,
    PhraseSearch,
    SentenceKey,
    SentenceMatch,
    TitleMatch,
)


@dataclass(frozen=True, slots=True)
class Part:
    """One of the indexes: its name for programs, what people call it, and the prefix of its ids.

    ``kind``: see ``CorpusPart``.
    """

    name: str
    title: str
    prefix: str
    store: DocumentStore
    kind: CorpusKind = "index"


@dataclass(frozen=True, slots=True)
class TogetherInfo(IndexInfo):
    """What all of them contain together; ``parts`` has each."""

    parts: tuple[CorpusPart, ...]

    def as_corpus(self) -> CorpusInfo:
        """Return what a result says of the corpora."""
        return IndexInfo.as_corpus(self).model_copy(update={"parts": self.parts})


class TogetherStore(DocumentStore):
    """A view of several indexes; it changes none of them."""

    def __init__(self, parts: Sequence[Part]) -> None:
        """The prefixes of ``parts`` differ; of equally good answers those of the first come first.

        If one has no vectors, none of them is searched by vectors.
        """
        self._parts = tuple(parts)
        self._by_prefix = {part.prefix: part for part in parts}
        self.knows_its_words = all(part.store.knows_its_words for part in parts)

    def begin(self, claim: str) -> None:
        for part in self._parts:
            part.store.begin(claim)

    def notices(self) -> tuple[str, ...]:
        return tuple(chain.from_iterable(part.store.notices() for part in self._parts))

    def info(self) -> TogetherInfo:
        infos = [part.store.info() for part in self._parts]
        encoders = {info.encoder for info in infos}
        counts = ("documents", "passages", "sentences", "bytes", "bad_pages", "superseded")
        totals = {count: sum(getattr(info, count) for info in infos) for count in counts}
        return TogetherInfo(
            name=", ".join(part.name for part in self._parts),
            source=", ".join(info.source for info in infos),
            date=max(info.date for info in infos),
            built_at=max(info.built_at for info in infos),
            encoder=infos[0].encoder if "" not in encoders else "",
            checksum=" ".join(info.checksum for info in infos),
            parts=tuple(
                CorpusPart(
                    *(part.name, part.title, info.documents, info.built_at, info.date or None),
                    kind=part.kind,
                )
                for part, info in zip(self._parts, infos, strict=True)
            ),
            **totals,
        )

    def documents(self, ids: Sequence[str]) -> list[Document]:
        found: dict[str, Document] = {}
        for part, own in self._of_each(ids):
            found |= {
                part.prefix + document.id: _renamed(document, part, len(self._parts) > 1)
                for document in part.store.documents(own)
            }
        return [found[one] for one in ids]

    def title_matches(self, names: Sequence[str]) -> list[TitleMatch]:
        found = [
            replace(match, document_id=part.prefix + match.document_id)
            for part in self._parts
            for match in part.store.title_matches(names)
        ]
        of_name: dict[str, list[TitleMatch]] = {name: [] for name in names}
        for match in sorted(found, key=lambda m: (m.disambiguation is not None, m.document_id)):
            of_name[match.name].append(match)
        return [match for matches in of_name.values() for match in matches[:MOST_OF_A_NAME]]

    def phrase_matches(self, searches: Sequence[PhraseSearch]) -> list[list[PhraseMatch]]:
        """See ``DocumentStore``; the matches are in order of their ranks in each index."""
        of_parts = [
            [
                [replace(match, document_id=part.prefix + match.document_id) for match in matches]
                for matches in part.store.phrase_matches(searches)
            ]
            for part in self._parts
        ]
        return [
            _by_rank([found[number] for found in of_parts])[: search.limit]
            for number, search in enumerate(searches)
        ]

    def near_words(self, word: str, edits: int) -> dict[str, int]:
        search = [PhraseSearch((word,), 1)]
        asked = [part for part in self._parts if part.store.knows_its_words]
        if any(part.store.phrase_matches(search)[0] for part in asked):
            return {}
        counts: dict[str, int] = {}
        for part in asked:
            for near, count in part.store.near_words(word, edits).items():
                counts[near] = counts.get(near, 0) + count
        return counts

    def similarities(
        self, ids: Sequence[str], queries: NDArray[np.float32]
    ) -> NDArray[np.float32] | None:
        rows: dict[str, NDArray[np.float32]] = {}
        for part, own in self._of_each(ids, every=True):
            similar = part.store.similarities(own, queries)
            if similar is None:
                return None
            rows |= {part.prefix + one: row for one, row in zip(own, similar, strict=True)}
        found = np.zeros((len(ids), len(queries)), dtype=np.float32)
        for number, one in enumerate(ids):
            found[number] = rows[one]
        return found

    def nearest_sentences(
        self,
        queries: NDArray[np.float32],
        limit: int,
        without: Collection[str] = (),
        among: Collection[str] | None = None,
    ) -> list[list[SentenceMatch]]:
        if not self.info().encoder:
            return [[] for _ in queries]
        left_out = {part.prefix: own for part, own in self._of_each([*without])}
        only = None if among is None else {p.prefix: own for p, own in self._of_each([*among])}
        found: list[list[SentenceMatch]] = [[] for _ in queries]
        for part in self._parts:
            own = None if only is None else only.get(part.prefix, [])
            matches = part.store.nearest_sentences(
                queries, limit, left_out.get(part.prefix, []), own
            )
            for all_of, of_part in zip(found, matches, strict=True):
                all_of.extend(
                    SentenceMatch(
                        SentenceKey(part.prefix + match.key.document_id, match.key.sentence_id),
                        match.similarity,
                    )
                    for match in of_part
                )
        return [by_similarity(matches)[:limit] for matches in found]

    def titles(self) -> TitleTrie:
        return self._titles

    @cached_property
    def _titles(self) -> TitleTrie:
        return TitleTrie.together([(part.prefix, part.store.titles()) for part in self._parts])

    def titled(self) -> Iterator[tuple[str, str]]:
        return chain.from_iterable(
            ((part.prefix + one, title) for one, title in part.store.titled())
            for part in self._parts
        )

    def _of_each(self, ids: Sequence[str], every: bool = False) -> Iterator[tuple[Part, list[str]]]:
        """Yield the indexes that the ids name with the ids as they have them, or every index."""
        own: dict[str, list[str]] = {part.prefix: [] for part in self._parts}
        for one in ids:
            prefix = self._prefix_of(one)
            own[prefix].append(one.removeprefix(prefix))
        for part in self._parts:
            if own[part.prefix] or every:
                yield part, own[part.prefix]

    def _prefix_of(self, document_id: str) -> str:
        named = (prefix for prefix in self._by_prefix if prefix and document_id.startswith(prefix))
        return next(named, "" if "" in self._by_prefix else self._parts[0].prefix)


def _renamed(document: Document, part: Part, several: bool) -> Document:
    """Return a document of a part; of ``several`` corpora, what it is credited to says which."""
    prefix = part.prefix
    credited = document.source or (None if document.url else part.title)
    if several and prefix and document.source and part.kind == "index":
        credited = f"{part.title}: {document.source}"
    return replace(
        document,
        id=prefix + document.id,
        source=credited,
        sentences=tuple(
            replace(sentence, document_id=prefix + sentence.document_id)
            for sentence in document.sentences
        ),
    )


def _by_rank(lists: Sequence[Sequence[PhraseMatch]]) -> list[PhraseMatch]:
    """Return the first of each list, then the second of each, and so on."""
    longest = max(map(len, lists), default=0)
    return [one[rank] for rank in range(longest) for one in lists if rank < len(one)]

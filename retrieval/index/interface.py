"""The interface of every kind of index: searching, building and changing it.

A new store implements two classes:

- ``DocumentStore``, which a check reads: ``info``, ``documents``, ``title_matches``,
  ``phrase_matches``, ``near_words``, ``similarities``, ``nearest_sentences``, ``titles`` and
  ``titled``
- ``Index``, which the commands build and change: ``open``, ``version``, ``needs_build``,
  ``verify``, ``diagnose``, ``bad_pages``, ``unfinished``, ``prune``, ``build``, ``add``,
  ``encode`` and ``remove``. A store that others fill, such as ``haystack_store``, needs none.

``open.py`` chooses among the kinds. ``building.py``, ``errors.py`` and ``formats/`` are there to be
used by all. ``tests/retrieval/index/test_store_contract.py`` tests every implementation: add the
new one to its list. The reasons for these operations are in
``docs/decisions/0013-what-is-asked-of-an-index.md``.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, fields
from typing import TYPE_CHECKING, Any, Literal, Self, TypeAlias

from retrieval.index.errors import other_encoder, rebuild
from retrieval.types import (
    CorpusInfo,
    Document,
    PhraseMatch,
    PhraseSearch,
    SentenceMatch,
    TitleMatch,
)

# Nothing heavy is imported: the web process reads descriptions of indexes.
if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from retrieval.corpora.corpus import Corpus
    from retrieval.models.encoders import DocumentEncoder
    from retrieval.models.title_trie import TitleTrie

MOST_OF_A_NAME = 100


@dataclass(frozen=True, slots=True)
class IndexInfo:
    """What an index contains. ``built_at`` is ISO 8601 in UTC; ``bytes`` is its size on disk.

    ``documents``: a long one, which is read in passages, counts once; in ``passages`` each of its
    passages counts. ``date``: the day of the newest text, ISO 8601, "" if unknown. ``checksum`` is
    a digest of the indexed documents and of all vectors: two first builds of one source have the
    same, however often they were interrupted. ``encoder``: the name of the encoder of the vectors,
    "" without vectors. ``bad_pages``: how many pages of the source that was read last could not be
    read; ``superseded``: how many of them had the id of a later one.
    """

    name: str
    source: str
    date: str
    documents: int
    passages: int
    sentences: int
    bytes: int
    built_at: str
    encoder: str
    checksum: str
    bad_pages: int
    superseded: int

    def as_corpus(self) -> CorpusInfo:
        """Return what a result says of the corpus."""
        return CorpusInfo(
            name=self.name,
            documents=self.documents,
            built_at=self.built_at,
            text_date=self.date or None,
            parts=(),
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class Description:
    """What all stores say of a version; see ``IndexInfo`` for the names that both have.

    Attributes:
        meets: the query encoder, whose vectors those of ``encoder`` are compared with (the name in
            the files of existing indexes).
        changed: whether pages were added or removed, which its source alone does not bring back.
    """

    name: str
    source: str
    encoder: str = ""
    meets: str = ""
    date: str = ""
    documents: int = 0
    passages: int = 0
    sentences: int = 0
    bad_pages: int = 0
    superseded: int = 0
    built_at: str = ""
    checksum: str = ""
    changed: bool = False

    @classmethod
    def read(cls, values: Mapping[str, Any]) -> Self:
        """Return the description that has these values; those of other names are ignored.

        Raises:
            TypeError: one is missing.
        """
        known = {field.name for field in fields(cls)}
        return cls(**{name: value for name, value in values.items() if name in known})

    def info(self, size: int) -> IndexInfo:
        """Return what an index of this version contains, with its size on the disk."""
        named = {f.name: getattr(self, f.name) for f in fields(IndexInfo) if f.name != "bytes"}
        return IndexInfo(bytes=size, **named)

    def fix(self) -> str:
        """Return the hint with the command that builds such an index again."""
        return rebuild(self.source, self.encoder, self.changed)

    def check_query_encoder(self, encoder: str | None) -> None:
        """Check that the vectors, if there are some, can be compared with a text encoder's.

        Raises:
            IndexUnavailable: they are made for another.
        """
        if self.encoder and encoder is not None and self.meets != encoder:
            raise other_encoder(self.encoder, encoder)


@dataclass(frozen=True, slots=True)
class BadPages:
    """Pages that could not be read: the error of the first, and the file that lists them all.

    Both are empty if every page could be read.
    """

    first: str
    listed_in: str


@dataclass(frozen=True, slots=True)
class BuildProgress:
    """``done`` of ``of`` is read (in the unit of the corpus) or encoded (in documents).

    ``documents``: the number of documents read or encoded so far.
    """

    step: Literal["reading", "encoding"]
    done: int
    of: int
    documents: int


ProgressListener: TypeAlias = Callable[[BuildProgress], None]


def by_bm25(matches: Iterable[PhraseMatch]) -> list[PhraseMatch]:
    """Return the matches of a search by phrases in their order: the best first, ties by id."""
    return sorted(matches, key=lambda match: (-match.bm25, match.document_id))


def by_similarity(matches: Iterable[SentenceMatch]) -> list[SentenceMatch]:
    """Return the matches of a search by vectors in their order: the nearest first, ties by key."""
    return sorted(matches, key=lambda match: (-match.similarity, match.key))


def ignore_progress(_: BuildProgress) -> None:
    """Do nothing."""


class DocumentStore(ABC):
    """A read-only view of one finished version of an index, or of what is searched where it is.

    ``knows_its_words``: whether it has all its texts at hand, so that a word it does not find is in
    none of them.

    ``tests/retrieval/index/test_store_contract.py`` tests every implementation.
    """

    knows_its_words = True

    def begin(self, claim: str) -> None:  # noqa: B027 - most have nothing to do
        """Begin with a statement, "" for none: a store that asks somebody else asks about it."""

    def notices(self) -> tuple[str, ...]:
        """Return what users should know about the search for the statement."""
        return ()

    @abstractmethod
    def info(self) -> IndexInfo:
        """Return the description of the index."""

    @abstractmethod
    def documents(self, ids: Sequence[str]) -> list[Document]:
        """Return the documents with these ids, in the order of ``ids``.

        Raises:
            IndexUnavailable: no document has one of the ids, which came from this index.
        """

    @abstractmethod
    def title_matches(self, names: Sequence[str]) -> list[TitleMatch]:
        """Return every document with one of the titles ``names``.

        The titles of redirects count too; of a long document only the first passage is returned.
        Case, accents, a leading article and a possessive ending are ignored on both sides. Titles
        that are equal except for words in parentheses ("Savages (band)" for "Savages") match with
        ``disambiguation`` set. Ordered by position in ``names``, exact ones first, then by document
        id; of a name that more than ``MOST_OF_A_NAME`` documents share, only so many.
        """

    @abstractmethod
    def phrase_matches(self, searches: Sequence[PhraseSearch]) -> list[list[PhraseMatch]]:
        """Return for each search the documents whose text contains any phrase, in BM25 order.

        A phrase weighs the sum of its words' inverse document frequencies, as in Lucene.

        Case and accents of words are ignored. Documents with equal scores are in order of their
        ids, but which of them are within the limit is not defined. No character of a phrase is
        query syntax.
        """

    @abstractmethod
    def near_words(self, word: str, edits: int) -> dict[str, int]:
        """Return the words of the texts that at most ``edits``, 1 or 2, lead to from a word.

        There are none if a text contains the word itself. They begin with the same letter, in lower
        case and without accents; each comes with the number of texts that contain it. Rare ones may
        be left out. ``retrieval.text.word_forms`` says what counts as an edit.
        """

    @abstractmethod
    def similarities(
        self, ids: Sequence[str], queries: NDArray[np.float32]
    ) -> NDArray[np.float32] | None:
        """Return the inner products of documents and queries, ``(len(ids), len(queries))``.

        ``queries`` are unit vectors, shape ``(n, dimension)``; the documents' vectors are unit
        vectors too, stored with one byte for each dimension. None if the index has no vectors.

        Raises:
            IndexUnavailable: no document has one of the ids, which came from this index.
        """

    @abstractmethod
    def nearest_sentences(
        self,
        queries: NDArray[np.float32],
        limit: int,
        without: Collection[str] = (),
        among: Collection[str] | None = None,
    ) -> list[list[SentenceMatch]]:
        """Return the ``limit`` sentences nearest to each query, best first.

        ``queries`` are unit vectors, shape ``(n, dimension)``; there is one list for
        each. Similarities may be estimated from one bit for each dimension, and not every
        sentence need be compared. Sentences of the documents ``without`` are not returned.
        ``among``: if given, exactly the sentences of these documents are compared. Ties are
        broken by document id, then by sentence id. An index without vectors finds none.

        Raises:
            IndexUnavailable: no document has one of the ids ``among``, which came from this index.
        """

    @abstractmethod
    def titles(self) -> TitleTrie:
        """Return all titles as a prefix tree of their tokens."""

    @abstractmethod
    def titled(self) -> Iterator[tuple[str, str]]:
        """Yield each title with the id of the document that it finds, always in the same order.

        A document that redirects lead to comes several times; of a long one only the first passage.
        """


class Index(ABC):
    """An index that can be searched and changed. Each change is atomic.

    A view that was opened before a change still shows the state before it.
    """

    @abstractmethod
    def open(self, query_encoder: str | None) -> DocumentStore:
        """Return a view of the current version.

        ``query_encoder`` names the text encoder whose vectors will be compared with the stored
        ones; None if none will.

        Raises:
            IndexUnavailable: there is no index, it is damaged or of another format, or
                its vectors are made for another text encoder.
        """

    @abstractmethod
    def version(self) -> str:
        """Return a name of the current version, which every change replaces. This is fast.

        Raises:
            IndexUnavailable: the server of the index does not answer.
        """

    @abstractmethod
    def needs_build(self, source: str) -> Literal["missing", "outdated"] | None:
        """Return why the index is to be built from this source, None if it is not.

        It is outdated if another version built it from this source. An index of another source is
        left to the user: building it may take hours. So is one that was changed since it was built:
        a build from its source would lose the changes.
        """

    @abstractmethod
    def verify(self) -> None:
        """Read the whole index and compare it with the digests from its build.

        Raises:
            IndexUnavailable: there is no index, or it differs from them.
        """

    @abstractmethod
    def diagnose(self) -> None:
        """Look for damage, and for reasons why the index cannot be changed.

        Over a network only quick checks are made; ``verify`` reads everything.

        Raises:
            IndexUnavailable: something was found, or there is no index.
        """

    @abstractmethod
    def bad_pages(self) -> BadPages:
        """Return which pages of the source that was read last could not be read.

        Raises:
            IndexUnavailable: there is no index.
        """

    @abstractmethod
    def unfinished(self) -> list[str]:
        """Return a sentence for the user about each unfinished build or change.

        There is none while a change is being made.
        """

    @abstractmethod
    def prune(self) -> list[str]:
        """Remove older versions and unfinished work; return the names of what was removed.

        Raises:
            EsotericError: a change is being made.
            IndexUnavailable: the current version cannot be read, so its files are unknown.
        """

    @abstractmethod
    def build(
        self,
        corpus: Corpus,
        encoder: DocumentEncoder | None,
        on_progress: ProgressListener = ignore_progress,
    ) -> IndexInfo:
        """Build an index of the corpus; it replaces the current one.

        ``encoder`` makes the vectors; without one there are none until ``encode``.
        After an interruption the same call continues the work. Pages that cannot be
        read are left out and counted; of several with one id the last is used.
        An index of a source of the same kind, with vectors of the same encoder, is updated:
        documents that did not change are not made again.

        Raises:
            BadSource: a file cannot be read, or there is no page that can.
            ModelUnavailable: the encoder or the sentence splitter cannot be loaded.
        """

    @abstractmethod
    def add(
        self,
        corpus: Corpus,
        encoder: DocumentEncoder | None,
        on_progress: ProgressListener = ignore_progress,
    ) -> IndexInfo:
        """Add the pages of the corpus; a page replaces the one with the same id.

        Raises:
            IndexUnavailable: there is no index, or its vectors are of another encoder.
        """

    @abstractmethod
    def encode(
        self, encoder: DocumentEncoder, on_progress: ProgressListener = ignore_progress
    ) -> IndexInfo:
        """Encode all documents with this encoder; the vectors replace existing ones.

        Raises:
            IndexUnavailable: there is no index.
            ModelUnavailable: the encoder cannot be loaded.
        """

    @abstractmethod
    def remove(self, ids: Sequence[str]) -> IndexInfo:
        """Remove the documents with these ids, all of them or none; long ones in whole.

        Raises:
            BadSource: no document has one of the ids.
            IndexUnavailable: there is no index.
        """

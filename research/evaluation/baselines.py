"""Baselines: plain ranking of documents and sentences, then the verdict of the shipped models.

All baselines use the product's selection and verdict, so their rows differ from a recipe's only in
retrieval.
"""

from __future__ import annotations

import time
from dataclasses import dataclass, replace
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from research.evaluation.run import MOST_EVIDENCE, Answer
from retrieval.claim import read_claim
from retrieval.index.errors import no_vectors
from retrieval.index.interface import DocumentStore
from retrieval.models import runtime
from retrieval.models.encoders import MiniLMEncoder
from retrieval.models.folders import ModelFolders
from retrieval.models.shipped import evidence_model
from retrieval.recipes.recipes import RetrievalConfig
from retrieval.stages.decide.selection import RelativeSelector
from retrieval.stages.decide.verdict import VerdictJudge
from retrieval.stages.decide.verification import EvidenceVerifier
from retrieval.text.context import evidence_text
from retrieval.types import Evidence, Report, Retrieved, Sentence, SentenceKey

UNREAD = (0.0, 0.0, 1.0)  # the opinion before the verifier has read a sentence


@dataclass(frozen=True, slots=True)
class RankedSentence:
    """A sentence with its document's title and its score, whose scale depends on the ranker."""

    page: str
    number: int
    title: str
    text: str
    score: float


class Ranker(Protocol):
    """Finds documents and sentences without reading them."""

    def warm_up(self) -> None:
        """Make the tables that ranking needs."""
        ...

    def rank(self, claim: str) -> tuple[list[str], list[RankedSentence]]:
        """Return document ids and sentences of these documents, each best first."""
        ...


class RankedBaseline:
    """Selects from the first five sentences of a ranker and passes them to the shipped verifier."""

    def __init__(
        self, name: str, ranker: Ranker, store: DocumentStore, folders: ModelFolders
    ) -> None:
        """Store the ranker over ``store``; nothing is loaded yet."""
        self._name = name
        self._ranker = ranker
        self._store = store
        config = RetrievalConfig()
        self._networks = folders.networks
        model = evidence_model(folders, in_search=True)
        self._verification = EvidenceVerifier(
            model, replace(config, verified_sentences=MOST_EVIDENCE)
        )
        self._selection = RelativeSelector(config.selection_share, config.selection_limit)
        self._judge = VerdictJudge(model, model.version, config)

    def warm_up(self) -> None:
        """Make the ranker's tables and load the models."""
        runtime.use_threads(1)
        runtime.keep_in(self._networks)
        self._ranker.warm_up()
        self._verification.warm_up()

    def report(self, claim: str) -> Report:
        """Rank, select, judge.

        Raises:
            InvalidClaim: the text is not a claim that can be checked.
        """
        return self._judged(claim)[0]

    def answer(self, claim: str) -> Answer:
        """Rank, select, judge; ``ranked`` is in the order of the ranker.

        Raises:
            InvalidClaim: the text is not a claim that can be checked.
        """
        report, pages, ranked = self._judged(claim)
        return Answer.of(report, [((s.page, s.number), s.score) for s in ranked], pages)

    def _judged(self, claim: str) -> tuple[Report, list[str], list[RankedSentence]]:
        read = read_claim(claim, anyway=True)
        info = self._store.info()
        started = time.perf_counter()
        pages, ranked = self._ranker.rank(read.text)
        ranked_at = time.perf_counter()
        best = [
            Evidence(
                sentence=Sentence(s.page, s.number, s.text, 0, len(s.text)),
                title=s.title,
                url=None,
                opinion=UNREAD,
                hop=1,
            )
            for s in ranked[:MOST_EVIDENCE]
        ]
        verified = self._verification.verify(read.text, best, {})[0]
        evidence = self._selection.select(verified)
        selected = [item for item in evidence if item.selected]
        documents = self._store.documents([item.key.document_id for item in selected])
        verdict = self._judge.judge(read.text, selected, documents)
        ended = time.perf_counter()
        report = Report(
            claim=read.text,
            recipe=self._name,
            notices=read.notices,
            corpus=info.as_corpus(),
            verdict=verdict,
            evidence=tuple(evidence),
            documents=(),
            questions=(),
            proof=None,
            hops=(),
            seconds={
                "total": ended - started,
                "ranking": ranked_at - started,
                "verdict": ended - ranked_at,
            },
            original=read.rewritten,
            retrieved=Retrieved(
                documents=tuple((page, ()) for page in pages),
                passages=tuple(SentenceKey(s.page, s.number) for s in ranked),
            ),
        )
        return report, pages, ranked


DOCUMENTS = 20  # as many as a recipe passes to its sentence stages
RANKED = 20  # sentences that are kept, to measure recall at k


@dataclass(frozen=True, slots=True)
class Sentences:
    """Parallel lists of documents, and of their sentences that have text, document by document.

    ``starts[d]`` is the first sentence of document ``d``; ``starts[d + 1]`` is
    one after its last.
    """

    ids: list[str]
    titles: list[str]
    starts: list[int]
    documents: list[int]
    numbers: list[int]
    texts: list[str]

    def document_texts(self) -> list[str]:
        """Return title and text of each document."""
        return [
            f"{title}. {' '.join(self.texts[start:end])}"
            for title, start, end in zip(
                self.titles, self.starts[:-1], self.starts[1:], strict=True
            )
        ]

    def titled(self, rows: NDArray[np.int64] | range) -> list[str]:
        """Return these sentences, each with its title."""
        return [evidence_text(self.titles[self.documents[n]], self.texts[n]) for n in rows]

    def rows_of(self, documents: list[int]) -> NDArray[np.int64]:
        """Return the rows of the sentences of these documents."""
        ranges = [np.arange(self.starts[d], self.starts[d + 1]) for d in documents]
        return np.concatenate([np.zeros(0, dtype=np.int64), *ranges])

    def best(self, rows: NDArray[np.int64], scores: NDArray[np.float32]) -> list[RankedSentence]:
        """Return the best ``RANKED`` of these rows; equal ones stay in their order."""
        order = np.argsort(-scores, kind="stable")[:RANKED]
        return [
            RankedSentence(
                page=self.ids[self.documents[row]],
                number=self.numbers[row],
                title=self.titles[self.documents[row]],
                text=self.texts[row],
                score=float(scores[position]),
            )
            for position, row in ((int(p), int(rows[p])) for p in order)
        ]


def read_sentences(store: DocumentStore) -> Sentences:
    """Read all documents of an index."""
    read = Sentences([], [], [0], [], [], [])
    for document_id, title in store.titled():
        (document,) = store.documents([document_id])
        for sentence in document.sentences:
            read.documents.append(len(read.ids))
            read.numbers.append(sentence.sentence_id)
            read.texts.append(sentence.text)
        read.ids.append(document_id)
        read.titles.append(title)
        read.starts.append(len(read.texts))
    return read


class Bm25Ranker:
    """BM25 over titles and texts, then over the sentences of what it found.

    Robertson & Zaragoza (2009) as Lucene computes it, with Lucene's k1 = 1.2 and b = 0.75.
    """

    def __init__(self, store: DocumentStore) -> None:
        """Remember the index; it is read in ``warm_up``."""
        self._store = store

    def warm_up(self) -> None:
        """Count the words of documents and sentences."""
        self._sentences = read_sentences(self._store)
        self._by_document = counted_words(self._sentences.document_texts())
        self._by_sentence = counted_words(self._sentences.titled(range(len(self._sentences.texts))))

    def rank(self, claim: str) -> tuple[list[str], list[RankedSentence]]:
        """See ``Ranker.rank``; documents without a word of the claim are left out."""
        words = words_of([claim])[0]
        scores = self._by_document.get_scores(words)
        order = np.argsort(-scores, kind="stable")[:DOCUMENTS]
        best = [int(document) for document in order if scores[document] > 0]
        rows = self._sentences.rows_of(best)
        ranked = self._sentences.best(rows, self._by_sentence.get_scores(words)[rows])
        return [self._sentences.ids[document] for document in best], ranked


def counted_words(texts: list[str]) -> Any:
    """Return BM25 over these texts, by ``get_scores`` for a list of words."""
    import bm25s

    counted = bm25s.BM25(k1=1.2, b=0.75)
    counted.index(words_of(texts), show_progress=False)
    return counted


def words_of(texts: list[str]) -> list[list[str]]:
    """Return the words of each text as BM25 counts them."""
    import bm25s

    words: list[list[str]] = bm25s.tokenize(texts, return_ids=False, show_progress=False)
    return words


class MiniLMRanker:
    """all-MiniLM-L6-v2 without further training: cosine similarity.

    The claim is compared with every document of the index, then with the sentences of the best.
    """

    def __init__(self, store: DocumentStore) -> None:
        """Remember the index; it is read in ``warm_up``."""
        self._store = store
        self._encoder = MiniLMEncoder()

    def warm_up(self) -> None:
        """Read the sentences and the document encodings, load the encoder.

        Raises:
            IndexUnavailable: the index has no vectors.
        """
        self._encoder.warm_up()
        self._sentences = read_sentences(self._store)
        # All encodings are read now, so that no claim waits for the index.
        axes = np.eye(self._encoder.dimension, dtype=np.float32)
        vectors = self._store.similarities(self._sentences.ids, axes)
        if vectors is None:
            raise no_vectors()
        self._vectors = vectors

    def rank(self, claim: str) -> tuple[list[str], list[RankedSentence]]:
        """See ``Ranker.rank``."""
        query = self._encoder.encode([claim])[0]
        order = np.argsort(-(self._vectors @ query), kind="stable")[:DOCUMENTS]
        best = [int(document) for document in order]
        rows = self._sentences.rows_of(best)
        ranked = self._sentences.best(
            rows, self._encoder.encode(self._sentences.titled(rows)) @ query
        )
        return [self._sentences.ids[document] for document in best], ranked


class TfidfRanker:
    """TF-IDF after the FEVER baseline (Thorne et al. 2018, section 5): five documents.

    Documents by weighted unigrams and bigrams, as in DrQA (Chen et al. 2017, section 3.1),
    sentences by unigrams; by the cosine similarity of the vectors.
    """

    documents = 5

    def __init__(self, store: DocumentStore) -> None:
        """Remember the index; it is read in ``warm_up``."""
        self._store = store

    def warm_up(self) -> None:
        """Compute the word weights of documents and sentences."""
        self._sentences = read_sentences(self._store)
        self._document_words, self._documents = _weighed(self._sentences.document_texts(), 2)
        titled = self._sentences.titled(range(len(self._sentences.texts)))
        self._sentence_words, self._by_sentence = _weighed(titled, 1)

    def rank(self, claim: str) -> tuple[list[str], list[RankedSentence]]:
        """See ``Ranker.rank``; documents without a word of the claim are left out."""
        query = self._document_words.transform([claim])
        scores = (self._documents @ query.T).toarray()[:, 0]
        order = np.argsort(-scores, kind="stable")[: self.documents]
        best = [int(document) for document in order if scores[document] > 0]
        rows = self._sentences.rows_of(best)
        similar = self._by_sentence[rows] @ self._sentence_words.transform([claim]).T
        ranked = self._sentences.best(rows, similar.toarray()[:, 0])
        return [self._sentences.ids[document] for document in best], ranked


def _weighed(texts: list[str], longest: int) -> tuple[Any, Any]:
    """Return the vectoriser and the matrix of the texts, rows of unit length."""
    from sklearn.feature_extraction.text import TfidfVectorizer

    vectoriser = TfidfVectorizer(
        ngram_range=(1, longest), sublinear_tf=True, stop_words="english", dtype=np.float32
    )
    return vectoriser, vectoriser.fit_transform(texts)

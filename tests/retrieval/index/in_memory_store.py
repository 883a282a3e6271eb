"""The same questions answered from plain Python values: the oracle for every store."""

import math
import re
import unicodedata
from collections.abc import Collection, Iterator, Sequence
from functools import cache

import numpy as np
from numpy.typing import NDArray

from retrieval.corpora.corpus import Page, Passage
from retrieval.errors import IndexUnavailable
from retrieval.index.formats.titles import NamedTitles
from retrieval.index.interface import DocumentStore, IndexInfo
from retrieval.models.encoders import DocumentEncoder, EncodableDocument
from retrieval.models.title_trie import TitleTokenizer, TitleTrie
from retrieval.text.sentence_splitter import shared_splitter
from retrieval.text.word_forms import is_near
from retrieval.types import (
    Document,
    PhraseMatch,
    PhraseSearch,
    Sentence,
    SentenceKey,
    SentenceMatch,
    TitleMatch,
)

K1, B = 1.2, 0.75


class InMemoryStore(DocumentStore):
    """Looks at every document for every question."""

    def __init__(self, pages: Sequence[Page], encoder: DocumentEncoder | None) -> None:
        """Split and encode the pages; of several with one id the last counts."""
        pages = list({page.id: page for page in pages}.values())
        bounds = shared_splitter().split(page.text for page in pages)
        made = (_document(page, ends) for page, ends in zip(pages, bounds, strict=True))
        self._documents = {document.id: document for document in made}
        # Redirects lead to a document too, and a title to the first passage of a long one.
        self._titled = [
            (page.id, title)
            for page in pages
            if page.passage is None or page.passage.number == 1
            for title in (page.title, *page.other_titles)
        ]
        self._vectors: dict[str, NDArray[np.float32]] = {}
        self._sentence_vectors: dict[SentenceKey, NDArray[np.float32]] = {}
        self._encoder = encoder.name if encoder is not None else ""
        for one in self._documents.values() if encoder is not None else ():
            bounds = tuple((sentence.start, sentence.end) for sentence in one.sentences)
            whole, parts = encoder.encode_documents(
                [EncodableDocument(one.title, one.text, bounds)]
            )
            self._vectors[one.id] = whole[0]
            for sentence, own in zip(one.sentences, parts[0], strict=True):
                self._sentence_vectors[SentenceKey(one.id, sentence.sentence_id)] = own
        tokens = _title_tokenizer().tokens([title for _, title in self._titled])
        self._trie = TitleTrie.of(tokens, [document_id for document_id, _ in self._titled])

    def info(self) -> IndexInfo:
        """Count what there is; nothing of it lies on a disk."""
        documents, passages = len({one for one, _ in self._titled}), len(self._documents)
        sentences = sum(len(document.sentences) for document in self._documents.values())
        numbers = (documents, passages, sentences, 0)
        return IndexInfo("memory", "memory", "", *numbers, "", self._encoder, "", 0, 0)

    def documents(self, ids: Sequence[str]) -> list[Document]:
        try:
            return [self._documents[document_id] for document_id in ids]
        except KeyError as error:
            raise IndexUnavailable("index_damaged", f"No document is {error}.", "") from error

    def title_matches(self, names: Sequence[str]) -> list[TitleMatch]:
        return NamedTitles(self._titled).matches(names)

    def phrase_matches(self, searches: Sequence[PhraseSearch]) -> list[list[PhraseMatch]]:
        return [self._holding(search) for search in searches]

    def _holding(self, search: PhraseSearch) -> list[PhraseMatch]:
        """BM25 (Robertson and Zaragoza 2009) with a phrase's count as its frequency."""
        texts = {document.id: _words(document.text) for document in self._documents.values()}
        mean = sum(map(len, texts.values())) / max(1, len(texts))
        scores: dict[str, float] = {}
        for phrase in dict.fromkeys(tuple(_words(phrase)) for phrase in search.phrases):
            if not phrase:
                continue
            weight = 0.0
            for word in phrase:
                holding = sum(word in words for words in texts.values())
                weight += math.log(1 + (len(texts) - holding + 0.5) / (holding + 0.5))
            for document_id, words in texts.items():
                count = _occurrences(words, phrase)
                if count:
                    norm = K1 * (1 - B + B * len(words) / mean)
                    gain = weight * count * (K1 + 1) / (count + norm)
                    scores[document_id] = scores.get(document_id, 0.0) + gain
        ranked = sorted(scores.items(), key=lambda item: (-item[1], item[0]))
        return [PhraseMatch(document_id, score) for document_id, score in ranked[: search.limit]]

    def near_words(self, word: str, edits: int) -> dict[str, int]:
        texts = [set(_words(document.text)) for document in self._documents.values()]
        wanted, *more = _words(word) or [""]
        if more or any(wanted in words for words in texts):
            return {}
        near = {one for words in texts for one in words if is_near(wanted, one, edits)}
        return {one: sum(one in words for words in texts) for one in sorted(near)}

    def similarities(
        self, ids: Sequence[str], queries: NDArray[np.float32]
    ) -> NDArray[np.float32] | None:
        documents = self.documents(ids)
        if not self._encoder:
            return None
        similar = [[np.dot(self._vectors[d.id], query) for query in queries] for d in documents]
        return np.array(similar, dtype=np.float32).reshape(len(ids), len(queries))

    def nearest_sentences(
        self,
        queries: NDArray[np.float32],
        limit: int,
        without: Collection[str] = (),
        among: Collection[str] | None = None,
    ) -> list[list[SentenceMatch]]:
        found = []
        for query in queries:
            matches = [
                SentenceMatch(key, math.fsum(query.astype(float) * vector))
                for key, vector in self._sentence_vectors.items()
                if key.document_id not in without and (among is None or key.document_id in among)
            ]
            matches.sort(key=lambda m: (-m.similarity, m.key.document_id, m.key.sentence_id))
            found.append(matches[:limit])
        return found

    def titles(self) -> TitleTrie:
        return self._trie

    def titled(self) -> Iterator[tuple[str, str]]:
        return iter(self._titled)


# Loading it takes longer than all that is done with it here.
_title_tokenizer = cache(TitleTokenizer)


def _document(page: Page, bounds: Sequence[tuple[int, int]]) -> Document:
    sentences = tuple(
        Sentence(page.id, n, page.text[start:end], start, end)
        for n, (start, end) in enumerate(bounds)
    )
    place = page.passage or Passage(page.id, 1)
    section = " > ".join(place.section) or None
    return Document(page.id, page.title, page.url, page.text, sentences, section, place.page)


def _words(text: str) -> list[str]:
    plain = unicodedata.normalize("NFKD", text.casefold())
    plain = "".join(letter for letter in plain if not unicodedata.combining(letter))
    return re.findall(r"[^\W_]+", plain)


def _occurrences(words: Sequence[str], phrase: tuple[str, ...]) -> int:
    length = len(phrase)
    return sum(tuple(words[i : i + length]) == phrase for i in range(len(words) - length + 1))

"""A source as a store, so that the stages which search an index search it too.

For each claim the source is asked once, for the names in the claim and for its words. A few whole
articles are read, and their passages that words of the claim speak for are all that the stages
find: by words, by vectors that are made now, and sentence by sentence.
"""

from __future__ import annotations

import re
from collections import OrderedDict
from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import replace
from functools import cached_property
from itertools import chain

import numpy as np
from numpy.typing import NDArray
from spacy.lang.en.stop_words import STOP_WORDS

from retrieval.errors import BadSource, IndexUnavailable
from retrieval.index.formats.titles import split_disambiguation, title_key
from retrieval.index.interface import DocumentStore, IndexInfo, by_bm25, by_similarity
from retrieval.models.encoders import DocumentEncoder, EncodableDocument
from retrieval.models.title_trie import TitleTrie
from retrieval.sources.address import SourceAddress
from retrieval.sources.interface import Article, Found, Source, SourceAway
from retrieval.sources.passages import best, documents_of, has_phrase, plain, stretches
from retrieval.types import (
    Document,
    PhraseMatch,
    PhraseSearch,
    SentenceMatch,
    TitleMatch,
)

MOST_ARTICLES = 4  # that are read whole for a claim
_MOST_NAMED = 3  # of them that have a name in the claim as their title
_MOST_LED_TO = 2  # that a disambiguation page leads to
_MOST_LATER = 2  # that are read in addition, because the evidence links to them
_MOST_PASSAGES = 16  # of these articles, for each time that articles are read
_MOST_SEARCHES = 3  # of a claim
_MOST_READ = 7  # articles of a claim, all in all
_LONG_NAME = 4  # spaces; hardly a title
_KEPT = 400  # passages that stay in memory with their vectors
_WORD = re.compile(r"[\w’'-]*\w")  # noqa: RUF001
_OWN = ("'s", "’s")  # noqa: RUF001
_MOST_WORDS = 12  # of a search


class SourceStore(DocumentStore):
    """A source, searched for one claim at a time (``begin``)."""

    knows_its_words = False

    def __init__(self, address: SourceAddress, source: Source, encoder: DocumentEncoder) -> None:
        """``encoder`` makes the vectors of passages; nothing is asked yet."""
        self._address, self._source, self._encoder = address, source, encoder
        self._passages: OrderedDict[str, Document] = OrderedDict()
        self._vectors: dict[str, tuple[NDArray[np.float32], NDArray[np.float32]]] = {}
        self._claim = ""
        self.begin("")

    def begin(self, claim: str) -> None:
        self._claim = claim
        self._asked: dict[str, str] = {}  # the id of the article with each name, "" for none
        self._searches = self._reads = 0
        self._articles: dict[str, Article] = {}  # those that were read, by id
        self._led: dict[str, str] = {}  # by article: the name whose disambiguation page led to it
        self._chosen: dict[str, list[str]] = {}  # passages, by article
        self._problem = ""  # why the source was not searched, or not all of it
        if len(self._passages) > _KEPT:
            self._passages.clear()
            self._vectors.clear()

    def notices(self) -> tuple[str, ...]:
        """Return why the source was not searched, and what users should know of its search."""
        if self._problem:
            kept = " Its articles that are stored here were read." if self._articles else ""
            return (f"{self._problem}{kept}",)
        notice = self._source.about().notice
        return (notice,) if notice else ()

    def info(self) -> IndexInfo:
        return self._info

    @cached_property
    def _info(self) -> IndexInfo:
        about = self._source.about()
        address = self._address
        return IndexInfo(
            name=address.name,
            source=f"{address.kind}:{address.place}",
            date=about.date,
            documents=about.articles,
            passages=0,
            sentences=0,
            bytes=0,
            built_at="",
            encoder=self._encoder.name,
            checksum="",
            bad_pages=0,
            superseded=0,
        )

    def documents(self, ids: Sequence[str]) -> list[Document]:
        try:
            return [self._passages[one] for one in ids]
        except KeyError as error:
            raise IndexUnavailable(
                "source_changed",
                f"{self._address.title} has no passage {error} any more.",
                "Check the claim again.",
            ) from error

    def title_matches(self, names: Sequence[str]) -> list[TitleMatch]:
        """See ``DocumentStore``: of the articles that were read, or that are read for this."""
        self._look_up(names)
        matches = []
        for name in dict.fromkeys(names):
            key = title_key(name)
            for article_id, article in self._articles.items():
                exact = article_id == self._asked.get(name) or title_key(article.title) == key
                led = self._led.get(article_id) == name
                if key and (exact or led) and (passages := self._chosen.get(article_id)):
                    words = None
                    if led and not exact:
                        words = split_disambiguation(article.title)[1] or article.title
                    matches.append(TitleMatch(passages[0], article.title, name, words))
        return sorted(matches, key=lambda match: match.disambiguation is not None)

    def phrase_matches(self, searches: Sequence[PhraseSearch]) -> list[list[PhraseMatch]]:
        """See ``DocumentStore``: among the passages of the articles that were read for the claim.

        The score of a passage is the number of phrases that it has, of words those with several.
        """
        self._look_up(())
        texts = {one: plain(self._passages[one].text) for one in self._of_claim()}
        found = []
        for search in searches:
            phrases = {plain(phrase) for phrase in search.phrases}
            counted = (
                PhraseMatch(one, float(sum(has_phrase(text, phrase) for phrase in phrases)))
                for one, text in texts.items()
            )
            found.append(by_bm25(match for match in counted if match.bm25)[: search.limit])
        return found

    def near_words(self, word: str, edits: int) -> dict[str, int]:
        return {}

    def similarities(
        self, ids: Sequence[str], queries: NDArray[np.float32]
    ) -> NDArray[np.float32] | None:
        self._encode(ids)
        vectors = np.array([self._vectors[one][0] for one in ids], dtype=np.float32)
        similar: NDArray[np.float32] = vectors.reshape(-1, self._encoder.dimension) @ queries.T
        return similar

    def nearest_sentences(
        self,
        queries: NDArray[np.float32],
        limit: int,
        without: Collection[str] = (),
        among: Collection[str] | None = None,
    ) -> list[list[SentenceMatch]]:
        self._look_up(())
        left_out = set(without)
        ids = [one for one in (self._of_claim() if among is None else among) if one not in left_out]
        self.documents(ids)
        self._encode(ids)
        found = []
        for query in queries:
            matches = (
                SentenceMatch(sentence.key, float(similarity))
                for one in ids
                for sentence, similarity in zip(
                    self._passages[one].sentences, self._vectors[one][1] @ query, strict=True
                )
            )
            found.append(by_similarity(matches)[:limit])
        return found

    def titles(self) -> TitleTrie:
        """Return no titles: there are too many to ask for. Links lead to them instead."""
        return TitleTrie.of([], [])

    def titled(self) -> Iterator[tuple[str, str]]:
        return iter(())

    def _of_claim(self) -> Iterable[str]:
        return chain.from_iterable(self._chosen.values())

    def _look_up(self, names: Sequence[str]) -> None:
        """Ask the source about names that it was not asked about for this claim, and read articles.

        The first time it is asked for the claim's words too.
        """
        first = not self._searches
        new = [name for name in dict.fromkeys(names) if name not in self._asked]
        new.sort(key=lambda name: name.count(" ") > _LONG_NAME)  # a source may take so many alone
        if not self._claim or self._problem or self._searches >= _MOST_SEARCHES:
            return
        if not first and not new:
            return
        self._searches += 1
        try:
            written = _in_capitals(new) if self._claim[1:].islower() else {}
            words = _words(self._claim) if first else ""
            found = self._source.search([*new, *written], words, MOST_ARTICLES)
            capital = {written.get(name, name): one for name, one in found.named.items()}
            as_asked = {name: one for name, one in found.named.items() if name not in written}
            found = replace(found, named=capital | as_asked)
            self._problem = found.problem
            self._asked |= {name: found.named.get(name, "") for name in new}
            if first:
                self._read_for_claim(found)
            else:
                ids = dict.fromkeys(found.named[name] for name in names if name in found.named)
                later = [one for one in ids if one not in self._articles][:_MOST_LATER]
                self._choose(self._read(later))
        except (SourceAway, BadSource) as error:  # other corpora still answer
            self._problem = error.message

    def _read_for_claim(self, found: Found) -> None:
        """Read the articles that names of the claim are titles of, and those with all its words.

        A false claim has words that stand nowhere, so without any of these, those with its names.
        """
        named = _subjects(found, self._claim)
        wanted = dict.fromkeys((*named.values(), *found.by_words))
        read = self._read([*wanted][:MOST_ARTICLES])
        names = _unnamed(self._claim, named)
        answers = not found.problem and self._searches < _MOST_SEARCHES
        if names and not found.by_words and answers:
            self._searches += 1
            more = self._source.search((), names, MOST_ARTICLES).by_words
            new = [one for one in more if one not in wanted]
            read += self._read(new[: MOST_ARTICLES - len(read)])
        called = {article_id: name for name, article_id in named.items()}
        for page in [article for article in read if article.leads_to]:
            meant = self._read(self._nearest(page.leads_to))
            self._led |= dict.fromkeys(
                (article.id for article in meant), called.get(page.id, page.title)
            )
            read += meant
        self._choose(read)

    def _read(self, ids: Sequence[str]) -> list[Article]:
        few = ids[: _MOST_READ - self._reads]
        self._reads += len(few)
        return self._source.articles(few) if few else []

    def _choose(self, articles: Sequence[Article]) -> None:
        """Take the best passages of articles for those that the stages find.

        The beginning of each is among them, and its infobox.
        """
        new = {article.id: article for article in articles if not article.leads_to}
        self._articles |= new
        of_article = {article.id: [*stretches(article)] for article in new.values()}
        chosen = best([*chain(*of_article.values())], self._claim, _MOST_PASSAGES)
        for article_id, own in of_article.items():
            documents = documents_of(one for one in own if one.begins or one in chosen)
            self._passages |= {document.id: document for document in documents}
            self._chosen[article_id] = [document.id for document in documents]

    def _nearest(self, titles: Sequence[str]) -> list[str]:
        """Return the titles that are nearest to the claim by their vectors."""
        texts = [EncodableDocument(one, "", ()) for one in (self._claim, *titles)]
        vectors, _ = self._encoder.encode_documents(texts)
        nearness = (vectors[1:] @ vectors[0]).tolist()
        ranked = sorted(zip(titles, nearness, strict=True), key=lambda pair: -pair[1])
        return [title for title, _ in ranked[:_MOST_LED_TO]]

    def _encode(self, ids: Iterable[str]) -> None:
        new = [self._passages[one] for one in dict.fromkeys(ids) if one not in self._vectors]
        texts = [
            EncodableDocument(d.heading, d.text, tuple((s.start, s.end) for s in d.sentences))
            for d in new
        ]
        whole, parts = self._encoder.encode_documents(texts)
        for document, one, sentences in zip(new, whole, parts, strict=True):
            self._vectors[document.id] = one, sentences


def _subjects(found: Found, claim: str) -> dict[str, str]:
    """Return the names of the claim that articles are read for, each with its article.

    Names before common words, longer ones before shorter; none that is a part of a longer one, and
    no number.
    """
    kept: dict[str, str] = {}
    one_case = claim.islower() or claim.isupper()
    names = [name for name in found.named if any(map(str.isalpha, name))]
    capital = [name for name in names if name[0].isupper() or one_case]
    for name in sorted(capital or names, key=lambda name: (-len(name), name)):
        article = found.named[name]
        inside = any(has_phrase(plain(longer), plain(name)) for longer in kept)
        if not inside and article not in kept.values():
            kept[name] = article
    return dict([*kept.items()][:_MOST_NAMED])


def _in_capitals(names: Iterable[str]) -> dict[str, str]:
    """Return names as titles have them, each with the name: "Tour of Norway" of "tour of norway".

    Whoever types in small letters means such titles too, which wikis tell apart.
    """
    titles = {name: _WORD.sub(_with_capital, name) for name in names}
    return {title: name for name, title in titles.items() if title != name}


def _with_capital(word: re.Match[str]) -> str:
    return word[0] if word[0] in STOP_WORDS else word[0].capitalize()


def _words(claim: str) -> str:
    """Return the words of a claim that mean something; sources find texts with all of them."""
    return " ".join(_meaningful(claim)[:_MOST_WORDS])


def _meaningful(claim: str) -> list[str]:
    words = [one[:-2] if one.endswith(_OWN) else one for one in _WORD.findall(claim)]
    return [one for one in words if one.lower() not in STOP_WORDS]


def _unnamed(claim: str, named: Collection[str]) -> str:
    """Return the names in a claim, if one of them is in none of ``named``, "" otherwise.

    Every claim begins with a capital, so its first word alone is a name only if something is said
    to be its own ("Vael's"). Without any name, and none found, it is the longest word, which is the
    rarest, perhaps.
    """
    words = _meaningful(claim)
    first, second, *_ = *_WORD.findall(claim), "", ""
    begins = "" if second[:1].isupper() or first.endswith(_OWN) else first
    names = [one for one in words if one[0].isupper() and one != begins]
    if not names:
        return "" if named else max(words, key=len, default="")
    known = plain(" ".join(named)).split()
    return " ".join(names[:_MOST_WORDS]) if set(map(plain, names)).difference(known) else ""

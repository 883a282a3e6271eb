"""The stage ``next``, its expanders, and the stage ``dense``: documents for the next hop."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import cached_property
from itertools import zip_longest
from typing import Protocol, TypeAlias

from retrieval.index.interface import DocumentStore
from retrieval.models.encoders import Query
from retrieval.models.papers.decoding import (
    DocumentSet,
    Generated,
    Reading,
    TitleModel,
    documents_alone,
    generate,
    joined,
    joint_sets,
)
from retrieval.models.title_trie import TitleNode, TitleTokenizer, TitleTrie
from retrieval.recipes.recipes import RetrievalConfig
from retrieval.stages.ending import missing
from retrieval.stages.stage import ClaimState, Makers, Resources, Stage, Step, Warm
from retrieval.text.word_forms import FUNCTION_WORDS
from retrieval.types import Candidate, Evidence, FoundBy, SentenceKey, Span, TitleMatch
from retrieval.words import counted


class Expander(Warm, Protocol):
    """Finds documents that the evidence of a hop leads to."""

    def expand(self, state: ClaimState) -> list[Candidate]:
        """Return documents for the hop after this one, best first.

        An expander that ranks sets of documents returns those of its sets, also opened ones.
        """
        ...


ExpanderMakers: TypeAlias = Mapping[str, Callable[[Resources, RetrievalConfig], Expander]]
"""What makes each expander of a file, by the names that recipes use: ``EXPANDERS`` at its end."""


class NextHop(Stage):
    """Asks every expander of the recipe and takes the best documents of each in turn."""

    def __init__(self, expanders: Sequence[Expander], limit: int) -> None:
        """Find ``limit`` documents at most."""
        self._expanders = expanders
        self._limit = limit

    def warm_up(self) -> None:
        """Load the expanders."""
        for expander in self._expanders:
            expander.warm_up()

    def run(self, state: ClaimState) -> Step:
        """Find ``candidates``, to be opened in the next hop, and rank the documents by sets."""
        proposed = interleaved([expander.expand(state) for expander in self._expanders])
        found = [one for one in proposed if one.document_id not in state.seen][: self._limit]
        ids = [one.document_id for one in proposed]
        ranked = () if state.seen.isdisjoint(ids) else ids
        by_sets = tuple(dict.fromkeys((*ranked, *state.by_sets)))
        words = ", ".join(f"“{state.claim[start:end]}”" for start, end in missing(state))
        reason = f"Still missing: {words}" if words else "Not sufficient"
        message = f"{reason}; {counted(len(found), 'document')} to read next"
        return Step(replace(state, candidates=tuple(found), by_sets=by_sets), message)


def interleaved(lists: Sequence[Sequence[Candidate]]) -> list[Candidate]:
    """Return all candidates: the first of every list, the second of every list, …

    Each list comes best first; scores of two lists cannot be compared. A document that is in
    several lists is returned once, with all stages that found it and the score and lead of the
    first.
    """
    merged: dict[str, Candidate] = {}
    for candidates in zip_longest(*lists):
        for candidate in candidates:
            if candidate is None:
                continue
            first = merged.setdefault(candidate.document_id, candidate)
            found_by = tuple(dict.fromkeys((*first.found_by, *candidate.found_by)))
            merged[candidate.document_id] = replace(first, found_by=found_by)
    return list(merged.values())


class MentionExpander(Expander):
    """Finds every title that occurs in the evidence, in one pass over its tokens.

    If the corpus has links, they are followed. Most corpora have none; then a title that occurs in
    a sentence suggests that its document says more. From each word the pass follows the trie of all
    titles as far as possible. A title that has neither a capital letter nor a digit in the sentence
    is ignored: it is a common word there.
    """

    def __init__(self, store: DocumentStore, leads: int, limit: int) -> None:
        """Read the ``leads`` best sentences and return ``limit`` documents at most."""
        self._store = store
        self._trie = store.titles()
        self._leads = leads
        self._limit = limit

    def warm_up(self) -> None:
        """Load the tokenizer of titles."""
        _ = self._beginnings

    @cached_property
    def _tokenizer(self) -> TitleTokenizer:
        return TitleTokenizer()

    @cached_property
    def _bracket(self) -> int:
        ((token,),) = self._tokenizer.tokens(["("])
        return token

    @cached_property
    def _beginnings(self) -> list[TitleNode]:
        """Nodes where a name may begin; "the Beatles" in a sentence is the title "The Beatles"."""
        root, articles = [self._trie.root()], self._tokenizer.tokens(["the", "an", "a"])
        return root + [n for article in articles for n in self._walked(root, article)]

    def expand(self, state: ClaimState) -> list[Candidate]:
        """See ``Expander.expand``."""
        leads = state.evidence[: self._leads]
        return self.mentioned(state.spans, leads, state.seen, state.hop + 1)

    def mentioned(
        self, spans: Sequence[Span], evidence: Sequence[Evidence], seen: Collection[str], hop: int
    ) -> list[Candidate]:
        """Return documents not ``seen`` yet that the evidence links to or mentions.

        In the order of the evidence, links first, then longer names first, and a title
        before others that only add words in parentheses. Names in the claim were looked up in the
        first hop and are left out.
        """
        claimed = {span.text.casefold() for span in spans}
        asked: list[tuple[Evidence, FoundBy, str]] = []
        for item in evidence:
            asked += [(item, "link", link) for link in item.sentence.links]
            names = [n for n in self._names(item.sentence.text) if n.casefold() not in claimed]
            asked += [(item, "mention", name) for name in sorted(names, key=lambda n: -len(n))]
        titled: dict[str, list[TitleMatch]] = defaultdict(list)
        for match in self._store.title_matches([name for _, _, name in asked]):
            titled[match.name].append(match)
        found: dict[str, Candidate] = {}
        for item, found_by, name in asked:
            for match in titled.get(name, ()):
                document, another = match.document_id, match.disambiguation is not None
                if document not in seen and not (found_by == "link" and another):
                    found.setdefault(document, Candidate(document, (found_by,), 1.0, hop, item.key))
        return list(found.values())[: self._limit]

    def titled(self, evidence: Sequence[Evidence]) -> list[tuple[str, str]]:
        """Return ids and titles of the documents that the evidence links to or mentions."""
        found = [one.document_id for one in self.mentioned((), evidence, (), 0)]
        return [(document.id, document.title) for document in self._store.documents(found)]

    def _names(self, sentence: str) -> Iterator[str]:
        """Yield the runs of words that are a title, or a title without its parentheses."""
        words = self._tokenizer.words(sentence)
        for first, word in enumerate(words):
            nodes = self._beginnings
            for last in words[first:]:
                nodes = self._walked(nodes, last.tokens)
                if not nodes:
                    break
                name = sentence[word.start : last.end]
                if self._whole(nodes) and _is_name(name):
                    yield name

    def _whole(self, nodes: list[TitleNode]) -> bool:
        return any(
            self._trie.is_end(node) or self._trie.step(node, self._bracket) is not None
            for node in nodes
        )

    def _walked(self, nodes: list[TitleNode], tokens: Iterable[int]) -> list[TitleNode]:
        for token in tokens:
            nodes = [n for node in nodes if (n := self._trie.step(node, token)) is not None]
        return nodes


def _is_name(words: str) -> bool:
    return words.casefold() not in FUNCTION_WORDS and any(
        letter.isupper() or letter.isdigit() for letter in words
    )


def mention_expander(resources: Resources, c: RetrievalConfig) -> MentionExpander:
    """Return the expander as recipes use it."""
    return MentionExpander(resources.store, c.lead_sentences, c.expansion_limit)


Path = Sequence[Evidence]


class DenseSentenceRetriever(Stage):
    """Searches the stored sentence vectors with the claim, or with the claim and each path.

    Sentences are found without a common word or name with the claim, and without links between
    pages.
    """

    def __init__(self, resources: Resources, settings: RetrievalConfig) -> None:
        self._store = resources.store
        self._encoder = resources.models.queries
        self._limit = settings.dense_limit
        self._leads = settings.path_leads

    def run(self, state: ClaimState) -> Step:
        """Add documents to ``candidates``: the first of both, the second of both, and so on."""
        near = self._near(state, [[]], state.hop)
        found = replace(state, candidates=tuple(interleaved([state.candidates, near])))
        return Step(found, f"{counted(len(near), 'document')} with a sentence close to the claim")

    def expand(self, state: ClaimState) -> list[Candidate]:
        """See ``Expander.expand``."""
        return self._near(state, leading_paths(state, self._leads), state.hop + 1)

    def _near(self, state: ClaimState, paths: Sequence[Path], hop: int) -> list[Candidate]:
        """Return the documents of the sentences nearest to each path that are not seen yet.

        The score of a document is that of its best sentence; highest first. The lead of each is
        the last sentence of the path that found it.
        """
        vectors = self._encoder.encode(queries_of(state.claim, paths))
        nearest = self._store.nearest_sentences(vectors, self._limit, state.seen)
        best: dict[str, tuple[float, SentenceKey | None]] = {}
        for path, matches in zip(paths, nearest, strict=True):
            led_by = path[-1].key if path else None
            for match in matches:
                page = match.key.document_id
                if page not in best or match.similarity > best[page][0]:
                    best[page] = (match.similarity, led_by)
        ranked = sorted(best.items(), key=lambda entry: (-entry[1][0], entry[0]))
        return [
            Candidate(page, ("dense",), similarity, hop, led_by)
            for page, (similarity, led_by) in ranked
        ]


def leading_paths(state: ClaimState, leads: int) -> list[Path]:
    """Return the paths that end with the ``leads`` best sentences; the empty one without any."""
    known = {item.key: item for item in state.read}
    best = state.evidence[:leads]
    return [[*(known[key] for key in lead.path), lead] for lead in best] or [[]]


def queries_of(claim: str, paths: Sequence[Path]) -> list[Query]:
    """Return the claim with each of the paths."""
    return [(claim, [(item.heading, item.sentence.text) for item in path]) for path in paths]


SENTENCES = 5  # that title generation reads with the claim in training


class TitleGenerator(Expander):
    """Generates the sentences that lead to other documents, and the titles of these documents.

    It needs neither hyperlinks nor vectors, and it can find which of the names in the evidence are
    important for the claim.
    """

    def __init__(
        self, model: TitleModel, titles: TitleTrie, names: MentionExpander, c: RetrievalConfig
    ) -> None:
        """``titles``: all titles, in the model's tokens.

        A narrow search over all titles loses many of those that the sentences name (``names``)
        early, so these get a search of their own.
        """
        self._model = model
        self._titles = titles
        self._names = names
        self._settings = c

    def expand(self, state: ClaimState) -> list[Candidate]:
        """Return documents, most probable first; the score is the probability.

        If sets are scored jointly (AdMIRaL, equation 1), these are the documents of the sets, those
        of the best set first, also seen ones. Otherwise they are those not seen yet, each scored
        alone. The first sentences of the evidence are read; without any there is nothing.
        """
        leads = state.evidence[: self._settings.generation_sentences]
        if not leads:
            return []
        texts = [(item.heading, self._text(item)) for item in leads]
        candidates: dict[str, Candidate] = {}
        for one in self._sets(self._model.read(state.claim, texts), leads, state.seen):
            led_by = leads[one.sentences[0]].key if one.sentences else None
            for document in one.documents:
                found = Candidate(document, ("generation",), one.probability, state.hop + 1, led_by)
                candidates.setdefault(document, found)
        return list(candidates.values())

    def _sets(
        self, reading: Reading, leads: Sequence[Evidence], seen: Collection[str]
    ) -> list[DocumentSet]:
        joint = self._settings.generation_joint
        sources = [item.sentence.document_id for item in leads]

        def found(titles: TitleTrie, beams: int) -> list[Generated]:
            unwanted = () if joint else seen
            return generate(reading, self._model.markup, titles, beams, sources, unwanted)

        ways = found(self._titles, self._settings.generation_beams)
        if self._settings.generation_named_beams:
            named = self._model.trie(self._names.titled(leads))
            ways = joined(ways, found(named, self._settings.generation_named_beams))
        return joint_sets(ways) if joint else documents_alone(ways)

    def _text(self, item: Evidence) -> str:
        """Return the sentence, with the titles that it links to after it if these are read."""
        links = item.sentence.links if self._settings.generation_links else ()
        return " ".join((item.sentence.text, *links))


MAKERS: Makers = {"dense": DenseSentenceRetriever}
EXPANDERS: ExpanderMakers = {
    "mentions": mention_expander,
    "dense": DenseSentenceRetriever,
    "generation": lambda r, c: TitleGenerator(r.models.titles, r.titles, mention_expander(r, c), c),
}

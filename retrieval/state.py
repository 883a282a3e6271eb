"""The state of a claim while it is checked: the value that every stage takes and returns."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace

from spacy.tokens import Doc

from retrieval.quantities.relation import Ruling
from retrieval.types import (
    Candidate,
    Evidence,
    Hop,
    Opinion,
    Proof,
    Question,
    RankedDocument,
    Reading,
    Retrieved,
    Sentence,
    SentenceKey,
    Span,
    Verdict,
)

_BEST = 5


@dataclass(frozen=True, slots=True)
class ClaimState:
    """The claim and what the stages have found for it so far.

    A stage returns a new state (``dataclasses.replace``). Lists of evidence come best first.

    Attributes:
        claim: the text that is checked.
        parsed: the same text with its words, their kinds and their relations.
        hop: the number of this hop, from 1.
        spans: pieces of the claim that may name a document or answer a question.
        exact: documents whose title is in the claim.
        disambiguated: documents whose title, without words in parentheses, is in the claim.
        by_text: documents that contain a span of the claim.
        by_words: documents that contain words of the claim.
        questions: whose answers would help to decide the claim.
        candidates: documents to open next.
        opened: documents that this hop has opened.
        documents: documents that all hops have opened.
        by_sets: ids of documents in the order of the sets that title generation scored, those of
            the last hop first; empty if the recipe scores no sets.
        named: documents that the best sentence names, opened for the stage ``bridge`` alone; later
            hops may open them again.
        chosen: sentences of ``opened`` that are read, with their documents.
        read: every sentence that the relevance model has read alone, of all hops.
        relevant: those of this hop that are relevant to the claim.
        ranked: those of all hops that the semantic ranking has kept.
        paths: last sentences of paths, read together with the sentences before them, of all hops.
        passages: every sentence that was ranked, alone or on paths, of all hops, before the
            verifier chose among them.
        evidence: the sentences that may decide the claim.
        readings: the verifier's probabilities for each sentence and path.
        rulings: what arithmetic says about sentences and paths of ``evidence``, if anything.
        selection: the sentences that the selection chose, before the proof left some out.
        last_selection: the selection of the previous hop; None in the first hop.
        proof: of the claim, from the selected evidence; None if the recipe makes none.
        verdict: on the selected evidence; None until the first hop has decided.
        read_words: how many words of the selected evidence the verifier has read at once; None
            where it has read all of them.
        hops: the finished hops.
    """

    claim: str
    parsed: Doc = field(repr=False, compare=False)
    hop: int = 1
    spans: tuple[Span, ...] = ()
    exact: tuple[Candidate, ...] = ()
    disambiguated: tuple[Candidate, ...] = ()
    by_text: tuple[Candidate, ...] = ()
    by_words: tuple[Candidate, ...] = ()
    questions: tuple[Question, ...] = ()
    candidates: tuple[Candidate, ...] = ()
    opened: tuple[RankedDocument, ...] = ()
    documents: tuple[RankedDocument, ...] = ()
    named: tuple[RankedDocument, ...] = ()
    by_sets: tuple[str, ...] = ()
    chosen: tuple[tuple[RankedDocument, Sentence], ...] = ()
    read: tuple[Evidence, ...] = ()
    relevant: tuple[Evidence, ...] = ()
    ranked: tuple[Evidence, ...] = ()
    paths: tuple[Evidence, ...] = ()
    passages: tuple[SentenceKey, ...] = ()
    evidence: tuple[Evidence, ...] = ()
    readings: Mapping[Reading, Opinion] = field(default_factory=dict)
    rulings: Mapping[Reading, Ruling] = field(default_factory=dict)
    selection: frozenset[SentenceKey] = frozenset()
    last_selection: frozenset[SentenceKey] | None = None
    proof: Proof | None = None
    verdict: Verdict | None = None
    read_words: int | None = None
    hops: tuple[Hop, ...] = ()

    def __deepcopy__(self, memo: object) -> ClaimState:
        """Return the same state, which never changes. Haystack copies all inputs."""
        return self

    @property
    def selected(self) -> tuple[Evidence, ...]:
        """The selected evidence, from which the verdict is made."""
        return tuple(item for item in self.evidence if item.selected)

    @property
    def seen(self) -> frozenset[str]:
        """The ids of all documents that were opened."""
        return frozenset(ranked.document.id for ranked in self.documents)

    @property
    def best(self) -> tuple[SentenceKey, ...]:
        """The five best sentences, selected or not."""
        return tuple(item.key for item in self.evidence[:_BEST])

    def with_ranking(self, ranking: Sequence[Evidence]) -> ClaimState:
        """Return the state with this ranking first in ``passages`` and ``evidence``."""
        passages = dict.fromkeys((*(item.key for item in ranking), *self.passages))
        among = {item.key for item in ranking}
        earlier = (item for item in self.evidence if item.key not in among)
        return replace(self, passages=tuple(passages), evidence=(*ranking, *earlier))

    def retrieved(self) -> Retrieved:
        """Return what was found, without what the verifier says about it."""
        documents = ((ranked.document.id, ranked.found_by) for ranked in self._all_documents())
        return Retrieved(tuple(documents), self.passages)

    def ranked_documents(self) -> tuple[RankedDocument, ...]:
        """Return the documents of the best sets, then those of the selected sentences.

        Then those that these led to, then those of other sentences, best first, and the rest as
        they were opened.
        """
        in_sets = {document_id: place for place, document_id in enumerate(self.by_sets)}
        selected = {item.key for item in self.selected}
        of_selected = {key.document_id for key in selected}
        in_evidence: dict[str, int] = {}
        for item in sorted(self.evidence, key=lambda item: not item.selected):
            in_evidence.setdefault(item.key.document_id, len(in_evidence))

        def place(ranked: RankedDocument) -> tuple[int, int]:
            name = ranked.document.id
            if name in in_sets:
                return 0, in_sets[name]
            kind = 1 if name in of_selected else 2 if ranked.led_by in selected else 3
            return kind, in_evidence.get(name, len(in_evidence))

        return tuple(sorted(self._all_documents(), key=place))

    def _all_documents(self) -> tuple[RankedDocument, ...]:
        only_named = (ranked for ranked in self.named if ranked.document.id not in self.seen)
        return (*self.documents, *only_named)

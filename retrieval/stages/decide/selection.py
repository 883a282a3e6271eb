"""The stages ``selection`` and ``bridge``: the few sentences that the verdict is made from."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import replace

from retrieval.index.formats.titles import split_disambiguation
from retrieval.recipes.recipes import RetrievalConfig
from retrieval.stages.ending import share_a_word
from retrieval.stages.find.next import MentionExpander
from retrieval.stages.read.sentences import opened, unread_evidence
from retrieval.stages.stage import ClaimState, Makers, Resources, Stage, Step, opinions
from retrieval.text.context import path_text
from retrieval.text.word_forms import FUNCTION_WORDS, nfkd, stems_in, without_marks
from retrieval.types import NOT_ENOUGH_INFO, OPPOSITE, UNREAD, Evidence, SentenceKey
from retrieval.words import counted


class RelativeSelector(Stage):
    """Selects the sentences that are nearly as relevant to the claim as the best one.

    A verifier needs the few sentences that decide the claim, not all on the same topic (FER,
    section 1). The relevance of the best sentence differs between claims, so the threshold is a
    share of it: one sentence is selected if it is far better than the others, several if they are
    alike. The sentences of a path are selected together, because they decide only together. The
    best sentence of the other side is selected too, if there is one.
    """

    def __init__(self, share: float, limit: int) -> None:
        """Select sentences with at least ``share`` of the best score, ``limit`` at most."""
        self._share = share
        self._limit = limit

    def run(self, state: ClaimState) -> Step:
        """Mark the selected ``evidence``."""
        return _step(state, self.select(state.evidence))

    def select(self, evidence: Sequence[Evidence]) -> list[Evidence]:
        """Return the evidence, which comes best first, with ``selected`` set again on each."""
        first = evidence[: self._limit]
        bar = self._share * max((item.score for item in first), default=0.0)
        best = [item for item in first if item.score >= bar]
        selected = _with_paths(_opposed(best, evidence), self._limit)
        return [replace(item, selected=item.key in selected) for item in evidence]


class ProvedSelector(Stage):
    """Keeps the selected sentences that the proof uses, and others nearly as good as the best.

    A sentence that no part of the proof uses is often only about the same topic and decides
    nothing. The best sentence of the other side stays.
    """

    def __init__(self, resources: Resources, settings: RetrievalConfig) -> None:
        self._share = settings.unproved_share

    def run(self, state: ClaimState) -> Step:
        """Leave sentences out of the selection, after the stage ``proof``.

        Those that led to a kept one are kept too, and unused ones with at least ``unproved_share``
        of the best selected one's relevance.
        """
        assert state.proof is not None, "a recipe names selection:proved after proof"
        selected = state.selected
        needed = {step.evidence.key for step in state.proof.mutations if step.evidence is not None}
        bar = self._share * max((item.score for item in selected), default=0.0)
        best = [item for item in selected if item.key in needed or item.score >= bar]
        kept = _with_paths(_opposed(best, selected), len(selected))
        evidence = tuple(replace(item, selected=item.key in kept) for item in state.evidence)
        found = replace(state, evidence=evidence)
        return Step(found, f"{counted(len(found.selected), 'sentence')} kept for the proof")


def _opposed(best: Sequence[Evidence], evidence: Sequence[Evidence]) -> list[Evidence]:
    """Return the best sentences with the best one of the other side in the second place.

    So it finds room where the last of the others does not. The side is what the sentence with the
    highest score says, with its path, of those that say something. Nothing is added if there is no
    side, or if no sentence says the opposite.
    """
    decided = [item for item in best if item.decides in OPPOSITE]
    if not decided:
        return list(best)
    side = max(decided, key=lambda item: item.score)
    against = [item for item in evidence if item.decides == OPPOSITE[side.decides]][:1]
    keys = {item.key for item in (side, *against)}
    return [side, *against, *(item for item in best if item.key not in keys)]


def _with_paths(best: Iterable[Evidence], limit: int) -> set[SentenceKey]:
    """Return which sentences are selected, ``limit`` at most.

    ``best`` comes best first. A sentence that was read together with others is selected only
    together with them.
    """
    selected: set[SentenceKey] = set()
    for item in best:
        wanted = selected | {item.key, *item.path}
        if len(wanted) <= limit:
            selected = wanted
    return selected


def _step(state: ClaimState, marked: Sequence[Evidence]) -> Step:
    """Return the marked evidence; sentences without a common word with the claim are not selected.

    Sentences are ranked even for a text that is not a sentence, so the best may be meaningless.
    """
    if not share_a_word(state.spans, state.read):
        marked = [replace(item, selected=False) for item in marked]
    selection = frozenset(item.key for item in marked if item.selected)
    found = replace(state, evidence=tuple(marked), selection=selection)
    return Step(found, f"{counted(len(selection), 'sentence')} selected as evidence")


_ARTICLE = re.compile(r"^(?:The|An|A)\s+(?=\S)")
_SENTENCES = 6  # of each document that the best sentence names: the beginning


class BridgeReader(Stage):
    """If a sentence settles the claim, looks for a second one in another document.

    "Ann Lee planned the Rowan bridge." may settle a claim that a beekeeper planned it, together
    with what the page of Ann Lee says. Such a second sentence is hardly relevant alone, and a
    search that ends with the first sentence that settles the claim does not look for it. The two
    documents are linked by a name: the second sentence names the first document, or the first names
    the second document, which has a word of the claim that the first one lacks.
    """

    def __init__(self, resources: Resources, settings: RetrievalConfig) -> None:
        """The path model reads the pairs, and the verifier the best of them."""
        self._store = resources.store
        self._named = MentionExpander(resources.store, leads=1, limit=settings.bridge_documents)
        self._model = resources.models.path_model
        self._verifier = resources.verifier
        self._cutoff = settings.bridge_cutoff
        self._limit = settings.selection_limit

    def run(self, state: ClaimState) -> Step:
        """Select one more of ``evidence``, and set ``named``."""
        best = next(iter(state.selected), None)
        room = len(state.selected) < self._limit
        if best is None or best.path or best.stance == NOT_ENOUGH_INFO or not room:
            return Step(state, "")
        found = self._named.mentioned(state.spans, [best], state.seen, state.hop)
        named = opened(self._store, found)
        selected = {item.key for item in state.selected}
        beginnings = (
            unread_evidence(ranked, sentence)
            for ranked in named
            for sentence in ranked.document.sentences[:_SENTENCES]
        )
        others = (*(item for item in state.read if item.key not in selected), *beginnings)
        state = replace(state, named=tuple(named))
        bridge = self._completing(state.claim, best, _linked(state.claim, best, others))
        if bridge is None:
            return Step(state, "")
        message = f"A sentence of “{bridge.title}” completes the best one"
        return Step(_with_bridge(state, best, bridge), message)

    def _completing(
        self, claim: str, best: Evidence, linked: Sequence[Evidence]
    ) -> Evidence | None:
        """Return the sentence that most probably is evidence with the best one.

        Its opinion is the verifier's, of both together. None if there is no such sentence, or if
        both together do not settle the claim as the best one does.
        """
        texts = [path_text(item.as_read, [best.as_read]) for item in linked]
        undecided = [neither for _, _, neither in opinions(self._model, claim, texts)]
        if 1 - min(undecided, default=1.0) < self._cutoff:
            return None
        number = undecided.index(min(undecided))
        (together,) = opinions(self._verifier, claim, [texts[number]])
        bridge = replace(linked[number], opinion=together, path=(best.key,), selected=True)
        return bridge if bridge.decides == best.stance else None


def _with_bridge(state: ClaimState, best: Evidence, bridge: Evidence) -> ClaimState:
    """Return the state with the bridge in its place by score, after ``best``.

    If its document was opened for it alone, it joins those that the search has opened and read.
    """
    own = [ranked for ranked in state.named if ranked.document.id == bridge.key.document_id]
    alone = [replace(bridge, opinion=UNREAD, path=(), selected=False)] if own else []
    others = [item for item in state.evidence if item.key not in (best.key, bridge.key)]
    place = next((n for n, item in enumerate(others) if item.score < bridge.score), len(others))
    return replace(
        state,
        documents=(*state.documents, *own),
        read=(*state.read, *alone),
        evidence=(best, *others[:place], bridge, *others[place:]),
        passages=tuple(dict.fromkeys((*state.passages, bridge.key))),
        readings={**state.readings, (bridge.path, bridge.key): bridge.opinion},
    )


def _linked(claim: str, best: Evidence, others: Iterable[Evidence]) -> list[Evidence]:
    """Return the sentences of other documents that a name links to ``best``."""
    lacking = stems_in(claim) - stems_in(f"{best.title} {best.in_context}")
    return [
        item
        for item in others
        if item.key.document_id != best.key.document_id
        and item.in_context != best.in_context
        and (
            _names(item.in_context, best.title)
            or (
                _names(best.in_context, item.title)
                and lacking & stems_in(f"{item.title} {item.in_context}")
            )
        )
    ]


def _names(text: str, title: str) -> bool:
    """Return whether the title is in the text.

    Its words in parentheses, a leading article and accents do not matter. A title that is a word
    such as "It" is no name.
    """
    name = _ARTICLE.sub("", _without_accents(split_disambiguation(title)[0]))
    if name.casefold() in FUNCTION_WORDS:
        return False
    return re.search(rf"(?<!\w){re.escape(name)}(?!\w)", _without_accents(text)) is not None


def _without_accents(text: str) -> str:
    return without_marks(nfkd(text))


MAKERS: Makers = {
    "selection": lambda r, c: RelativeSelector(c.selection_share, c.selection_limit),
    "selection:proved": ProvedSelector,
    "bridge": BridgeReader,
}

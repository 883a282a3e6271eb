"""The stage ``bridge``: the sentence of another document that completes the best one."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import replace

from retrieval.index.formats.titles import split_disambiguation
from retrieval.normal_form import nfkd, without_marks
from retrieval.recipes.config import RetrievalConfig
from retrieval.stages.find.next import MentionExpander
from retrieval.stages.read.relevance import unread_evidence
from retrieval.stages.read.sentences import opened
from retrieval.stages.stage import Makers, Resources, Stage, Step, opinions
from retrieval.state import ClaimState
from retrieval.text.model_texts import path_text
from retrieval.text.word_forms import FUNCTION_WORDS, stems_in
from retrieval.types import NOT_ENOUGH_INFO, UNREAD, Evidence

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
        self._verifier = resources.models.verifier
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


MAKERS: Makers = {"bridge": BridgeReader}

"""The hops of a claim document: what led to each, what it found, and why the search ended."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Sequence

from app.contexts import HopItem, Lead, Saying
from app.passages import WholeDocument, whole_document
from app.sentences import CitedSentences, words_at
from retrieval.result import ClaimResult, Offsets
from retrieval.types import SentenceKey
from retrieval.wording import STOPPED

_MOST_NAMED = 4
# Headings for the words that were missing before a hop, no longer are, and still are.
_OF_PARTS = ("Open before it:", "Now covered:", "Still open:")
# Without a proof only the words that no selected sentence contains are known.
_OF_NAMES = ("Not named before it:", "Now named:", "Not named in the selected sentences:")


def hop_items(result: ClaimResult) -> tuple[HopItem, ...]:
    """Return the hops in order."""
    claim, leads, further = result.claim, _leads(result), _further_passages(result)
    before, covered, still_open = _OF_PARTS if result.proof else _OF_NAMES
    items = []
    was: tuple[Offsets, ...] = ()
    for hop in result.hops:
        items.append(
            HopItem(
                number=hop.hop,
                before=_saying(before, claim, was),
                leads=leads.get(hop.hop, ()),
                documents=hop.documents - further[hop.hop],
                sentences=hop.sentences,
                sufficient=hop.sufficient,
                covered=_saying(covered, claim, [span for span in was if span not in hop.missing]),
                # If a hop was sufficient, words that no sentence names were not needed.
                open=None if hop.sufficient else _saying(still_open, claim, hop.missing),
                ended=STOPPED[hop.stopped] if hop.stopped else "",
            )
        )
        was = () if hop.stopped else hop.missing  # the next hop is that of another statement
    return tuple(items)


def _saying(before: str, claim: str, spans: Sequence[Offsets]) -> Saying | None:
    quoted = tuple(words for start, end in spans if (words := words_at(claim, start, end)))
    return Saying(before, quoted, ".") if quoted else None


def _further_passages(result: ClaimResult) -> Counter[int]:
    """Return for each hop how many of its documents are further passages of the same documents."""
    read = Counter(document.hop for document in result.documents)
    wholes = {(document.hop, whole_document(document)) for document in result.documents}
    return read - Counter(hop for hop, _ in wholes)


def _leads(result: ClaimResult) -> dict[int, tuple[Lead, ...]]:
    """Return for each hop the sentences that led to its documents, best documents first."""
    led_to: dict[int, dict[SentenceKey, dict[WholeDocument, None]]]
    led_to = defaultdict(lambda: defaultdict(dict))
    for document in result.documents:
        if document.led_by is not None:
            led_to[document.hop][document.led_by][whole_document(document)] = None
    sentences = CitedSentences(result)
    return {
        hop: tuple(
            _lead(*key, [whole.title for whole in wholes], sentences)
            for key, wholes in by_sentence.items()
        )
        for hop, by_sentence in led_to.items()
    }


def _lead(document: str, sentence_id: int, titles: list[str], sentences: CitedSentences) -> Lead:
    found = sentences.sentence(document, sentence_id)
    return Lead(
        sentence=found[1].sentence if found else "",
        source=sentences.cited(document, sentence_id),
        led_to=tuple(titles[:_MOST_NAMED]),
        more=len(titles[_MOST_NAMED:]),
    )

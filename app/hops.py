"""The hops of a claim document as a chain: what led on, what it brought, why it ended."""

from __future__ import annotations

from collections import defaultdict
from typing import Any

from app.contexts import HopItem, Lead
from app.sentences import CitedSentences, words_at
from app.wording import STOPPED

_MOST_NAMED = 4


def hop_items(result: dict[str, Any]) -> tuple[HopItem, ...]:
    """Return the rounds in order."""
    leads = _leads(result)
    # Results that are kept from before do not tell why they stopped.
    return tuple(
        HopItem(
            number=hop["hop"],
            leads=leads.get(hop["hop"], ()),
            documents=hop["documents"],
            sentences=hop["sentences"],
            sufficient=hop["sufficient"],
            open=tuple(
                words
                for start, end in hop["missing"]
                if (words := words_at(result["claim"], start, end))
            ),
            ended=STOPPED.get(hop.get("stopped"), ""),
        )
        for hop in result["hops"]
    )


def _leads(result: dict[str, Any]) -> dict[int, tuple[Lead, ...]]:
    """Return for each round the sentences that led to its documents, best documents first."""
    led_to: dict[int, dict[tuple[str, int], list[str]]] = defaultdict(lambda: defaultdict(list))
    for document in result["documents"]:
        if document.get("led_by") is not None:
            led_to[document["hop"]][tuple(document["led_by"])].append(document["title"])
    sentences = CitedSentences(result)
    return {
        hop: tuple(_lead(*key, titles, sentences) for key, titles in by_sentence.items())
        for hop, by_sentence in led_to.items()
    }


def _lead(document: str, sentence_id: int, titles: list[str], sentences: CitedSentences) -> Lead:
    sentence = sentences.sentence(document, sentence_id)
    return Lead(
        sentence="" if sentence is None else sentence.text,
        source=sentences.cited(document, sentence_id),
        led_to=tuple(titles[:_MOST_NAMED]),
        more=len(titles[_MOST_NAMED:]),
    )

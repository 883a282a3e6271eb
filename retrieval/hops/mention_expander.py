"""The next hop: documents that the evidence found so far mentions by their titles."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator

from haystack import component

from retrieval.index.store import DocumentStore
from retrieval.types import Candidate, Evidence, Span

_TOKEN = re.compile(r"\w+(?:[.'’-]\w+)*")  # noqa: RUF001 - the curly one is meant
_LONGEST = 6  # words of a title


@component
class MentionExpander:
    """Looks up every run of words in the evidence that may be a title.

    Most corpora have no hyperlinks; a title that occurs in a sentence is the next
    best sign that its page tells more.
    """

    def __init__(self, store: DocumentStore, limit: int = 10) -> None:
        """Return ``limit`` documents at most."""
        self._store = store
        self._limit = limit

    @component.output_types(candidates=list[Candidate])
    def run(
        self, spans: list[Span], evidence: list[Evidence], seen: Collection[str], hop: int
    ) -> dict[str, list[Candidate]]:
        """Return documents not ``seen`` yet that the evidence mentions.

        In the order of the evidence, longer names first. What the claim itself
        names was looked up in the first hop and is left out.
        """
        claimed = {span.text.casefold() for span in spans}
        names = [
            name
            for item in evidence
            for name in _names(item.sentence.text)
            if name.casefold() not in claimed
        ]
        found = dict.fromkeys(
            match.document_id
            for match in self._store.title_matches(names)
            if match.disambiguation is None and match.document_id not in seen
        )
        return {
            "candidates": [
                Candidate(document_id, ("mention",), 1.0, hop)
                for document_id in list(found)[: self._limit]
            ]
        }


def _names(sentence: str) -> Iterator[str]:
    """Yield runs of words that begin and end with a capital letter or a digit, longest first."""
    words = list(_TOKEN.finditer(sentence))
    runs = [
        (first, last)
        for first in range(len(words))
        for last in range(first, min(len(words), first + _LONGEST))
        if _may_bound(words[first][0]) and _may_bound(words[last][0])
    ]
    for first, last in sorted(runs, key=lambda run: (run[0] - run[1], run[0])):
        yield sentence[words[first].start() : words[last].end()]


def _may_bound(word: str) -> bool:
    return word[0].isupper() or word[0].isdigit()

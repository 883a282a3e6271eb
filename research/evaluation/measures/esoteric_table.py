"""Table 8 and the table of appendix A of the ESOTERIC report, counted in three ways.

The report defines its measures in words (sections 4.1 and 4.2). Its published program
(https://github.com/theobaur13/ESOTERIC) counts in two other ways: by document while it runs, and by
passage in the functions that the tables were made with.
``research/reports/published-systems.md`` has the differences.

What is counted is what the two retrievers return, before the verifier chooses among it. Undecided
claims are left out; items are counted over all claims together; every annotated sentence is
relevant, in whichever set it is.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence, Sized
from dataclasses import dataclass
from typing import TypeAlias, get_args

from research.evaluation.claims import AnnotatedClaim, SentenceKey, page_key
from research.evaluation.run import Answer
from research.evaluation.tables import columns, markdown
from retrieval.recipes.recipes import STAGES
from retrieval.types import FoundBy, Retrieved

COUNTINGS = ("text", "by_document", "by_passage")
Row: TypeAlias = dict[str, float | None]

# What comes after retrieval; the report's times are without it.
_JUDGING = {record.name for record in STAGES.values() if record.act == "decide"}
_WAYS: tuple[FoundBy, ...] = get_args(FoundBy)


@dataclass(frozen=True, slots=True)
class RetrievedPassage:
    """A retrieved sentence: its document, and the annotated sentences that its span overlaps."""

    document: str
    covers: frozenset[SentenceKey]


@dataclass(frozen=True, slots=True)
class Search:
    """A decided claim, and what was retrieved for it.

    ``documents``: in the order of the retriever, each with the way in which it was found (None if
    it is not known; of several, the first one in the order of ``FoundBy``). ``passages``: best
    first. ``retrieval``, ``total``: seconds until the passages were there, and until the verdict.
    """

    claim: AnnotatedClaim
    documents: tuple[tuple[str, FoundBy | None], ...]
    passages: tuple[RetrievedPassage, ...]
    retrieval: float
    total: float

    @classmethod
    def of(
        cls,
        claim: AnnotatedClaim,
        retrieved: Retrieved,
        seconds: Mapping[str, float],
        covered: Callable[[SentenceKey], frozenset[SentenceKey]],
    ) -> Search:
        """Return the search; ``covered`` returns the annotated sentences of a retrieved one."""
        after = sum(spent for stage, spent in seconds.items() if stage in _JUDGING)
        return cls(
            claim,
            tuple(
                (page_key(document), min(found_by, key=_WAYS.index, default=None))
                for document, found_by in retrieved.documents
            ),
            tuple(RetrievedPassage(page_key(key[0]), covered(key)) for key in retrieved.passages),
            seconds["total"] - after,
            seconds["total"],
        )

    @property
    def found(self) -> frozenset[str]:
        """The documents."""
        return frozenset(document for document, _ in self.documents)

    @property
    def right(self) -> frozenset[str]:
        """The documents with an annotated sentence."""
        return self.found & self.claim.pages

    @property
    def covered(self) -> frozenset[SentenceKey]:
        """The annotated sentences that some passage overlaps."""
        return frozenset(key for passage in self.passages for key in passage.covers)

    @property
    def within(self) -> frozenset[SentenceKey]:
        """The annotated sentences of the documents that were found."""
        return frozenset(key for key in self.claim.gold if key[0] in self.found)

    @property
    def places(self) -> list[tuple[int, FoundBy | None]]:
        """The place of each right document among all documents, from 1, and how it was found."""
        return [
            (place, way)
            for place, (document, way) in enumerate(self.documents, 1)
            if document in self.right
        ]


def searches_of(claims: Sequence[AnnotatedClaim], answers: Sequence[Answer]) -> list[Search]:
    """Return the searches for the decided claims, whose sentences are those of the index."""
    return [
        Search.of(claim, answer.retrieved, answer.seconds, _same(claim))
        for claim, answer in zip(claims, answers, strict=True)
        if claim.evidence
    ]


def _same(claim: AnnotatedClaim) -> Callable[[SentenceKey], frozenset[SentenceKey]]:
    gold = claim.gold
    return lambda key: frozenset({(page_key(key[0]), key[1])}) & gold


def esoteric_table(searches: Sequence[Search]) -> dict[str, Row]:
    """Return the rows of the tables for each of ``COUNTINGS``; nothing without searches.

    ``…_recall``, ``…_precision``, ``…_f1``, ``…_ofever`` and ``hits_by_…`` are 0..1. ``documents``
    and ``passages`` are means a claim, ``place`` and ``place_by_text`` mean places from 1,
    ``id_length`` a mean number of characters. A row is None if nothing counts for it, and missing
    if a counting does not have it.
    """
    if not searches:
        return {}
    everywhere = _hits_by_way(searches)
    return {
        "text": _by_text(searches) | _in_words(searches) | everywhere,
        "by_document": _by_document(searches) | _in_program(searches) | everywhere,
        "by_passage": _by_passage(searches) | _in_program(searches) | everywhere,
    }


def _by_text(searches: Sequence[Search]) -> Row:
    """Count as sections 4.1 and 4.2 say; a score of OFEVER asks for one whole evidence set."""
    with_documents = sum(
        any(s.found.issuperset(page for page, _ in group) for group in s.claim.evidence)
        for s in searches
    )
    whole = sum(any(map(s.covered.issuperset, s.claim.evidence)) for s in searches)
    hits = [passage for s in searches for passage in s.passages if passage.covers]
    gold, covered = _sum(s.claim.gold for s in searches), _sum(s.covered for s in searches)
    on_right = [p for s in searches for p in s.passages if p.document in s.right]
    return {
        **_documents(searches),
        **_ratios("passage", covered, _sum(s.within for s in searches), len(hits), len(on_right)),
        **_ratios("combined", covered, gold, len(hits), _sum(s.passages for s in searches)),
        "document_ofever": _share(with_documents, len(searches)),
        "passage_ofever": _share(whole, with_documents),
        "combined_ofever": _share(whole, len(searches)),
    }


def _by_document(searches: Sequence[Search]) -> Row:
    """Count as the program does while it runs.

    A hit is a document with a passage that overlaps an annotated sentence; it is measured against
    the number of annotated sentences. A score of OFEVER asks for all annotated sentences.
    """
    hits = _sum({p.document for p in s.passages if p.covers} for s in searches)
    return {
        **_documents(searches),
        **_ratios(
            "passage",
            hits,
            _sum(s.within for s in searches),
            hits,
            _sum(s.right for s in searches),
        ),
        **_ratios(
            "combined",
            hits,
            _sum(s.claim.gold for s in searches),
            hits,
            _sum(s.documents for s in searches),
        ),
        **_all_of_it(searches),
        "passage_ofever": _share(sum(s.within <= s.covered for s in searches), len(searches)),
    }


def _by_passage(searches: Sequence[Search]) -> Row:
    """Count as the functions of the program do that its tables were made with.

    A hit of passage recall is a pair of a passage and an annotated sentence that overlap, so one
    sentence may count more than once; of the other rows it is a passage. A score of OFEVER asks for
    all annotated sentences; that of passages, for those of the documents found, is of the claims
    with such a sentence.
    """
    pairs = sum(len(passage.covers) for s in searches for passage in s.passages)
    hits = sum(bool(passage.covers) for s in searches for passage in s.passages)
    on_right = [p for s in searches for p in s.passages if p.document in s.claim.pages]
    found = [s for s in searches if s.within]
    return {
        **_documents(searches),
        **_ratios("passage", pairs, _sum(s.within for s in searches), hits, len(on_right)),
        **_ratios(
            "combined",
            hits,
            _sum(s.claim.gold for s in searches),
            hits,
            _sum(s.passages for s in searches),
        ),
        **_all_of_it(searches),
        "passage_ofever": _share(sum(s.within <= s.covered for s in found), len(found)),
    }


def _documents(searches: Sequence[Search]) -> Row:
    """Return the rows of documents, in which all countings agree."""
    right = _sum(s.right for s in searches)
    targets = _sum(s.claim.pages for s in searches)
    return _ratios("document", right, targets, right, _sum(s.documents for s in searches))


def _all_of_it(searches: Sequence[Search]) -> Row:
    return {
        "document_ofever": _share(sum(s.claim.pages <= s.found for s in searches), len(searches)),
        "combined_ofever": _share(sum(s.claim.gold <= s.covered for s in searches), len(searches)),
    }


def _in_words(searches: Sequence[Search]) -> Row:
    """Return time, size of the answer and places as the names of the rows say."""
    by_text = []
    for search in searches:
        matched = [document for document, way in search.documents if way == "text"]
        by_text += [n for n, document in enumerate(matched, 1) if document in search.right]
    return {
        "retrieval_seconds": _mean([search.retrieval for search in searches]),
        "seconds": _mean([search.total for search in searches]),
        "documents": _mean([len(search.documents) for search in searches]),
        "passages": _mean([len(search.passages) for search in searches]),
        "place": _mean([place for search in searches for place, _ in search.places]),
        "place_by_text": _mean(by_text),
    }


def _in_program(searches: Sequence[Search]) -> Row:
    """Return what the program computes under these names.

    Its mean time is divided by one claim too many. What it prints as the length of documents is the
    mean number of characters of an annotated document's id. Places are among all documents.
    """
    return {
        "retrieval_seconds": sum(search.retrieval for search in searches) / (len(searches) + 1),
        "id_length": _mean([len(page) for s in searches for page, _ in s.claim.gold]),
        "place_by_text": _mean(
            [place for search in searches for place, way in search.places if way == "text"]
        ),
    }


def _hits_by_way(searches: Sequence[Search]) -> Row:
    """Return which share of the right documents was found in each way, where that is known."""
    ways = [way for search in searches for _, way in search.places if way is not None]
    if not ways:
        return {}
    shown = [way for way in _WAYS if way in ways or way in ("title", "disambiguation", "text")]
    return {f"hits_by_{way}": ways.count(way) / len(ways) for way in shown}


def _ratios(of: str, recalled: int, targets: int, precise: int, retrieved: int) -> Row:
    recall, precision = _share(recalled, targets), _share(precise, retrieved)
    total = recall + precision
    return {
        f"{of}_recall": recall,
        f"{of}_precision": precision,
        f"{of}_f1": 2 * recall * precision / total if total else 0.0,
    }


def _sum(groups: Iterable[Sized]) -> int:
    return sum(len(group) for group in groups)


def _share(part: int, whole: int) -> float:
    return part / whole if whole else 0.0


def _mean(values: Sequence[float]) -> float | None:
    return sum(values) / len(values) if values else None


# "Final Version" of table 8 and of appendix A.
_REPORTED: Row = {
    "document_recall": 0.7737,
    "document_precision": 0.0624,
    "document_f1": 0.1155,
    "passage_recall": 0.6084,
    "passage_precision": 0.6029,
    "passage_f1": 0.6056,
    "combined_recall": 0.6927,
    "combined_precision": 0.1113,
    "combined_f1": 0.1918,
    "document_ofever": 0.7966,
    "passage_ofever": 0.5986,
    "combined_ofever": 0.3559,
    "retrieval_seconds": 31.75,
    "seconds": None,
    "hits_by_title": 0.8564,
    "hits_by_disambiguation": 0.0957,
    "hits_by_text": 0.0479,
    "documents": None,
    "passages": None,
    "id_length": 13.60,
    "place": None,
    "place_by_text": 8.72,
}
_NAMES = {
    "retrieval_seconds": "seconds a claim, retrieval",
    "seconds": "seconds a claim, with the verdict",
    "documents": "documents a claim",
    "passages": "passages a claim",
    "id_length": "“document set length”: characters of an id",
    "place": "place of a right document",
    "place_by_text": "the same, of those found by text",
}
_HEAD = ("", "report", "text", "program, by document", "program, by passage")

MEANING = (
    "What the document and passage retrievers return, before the verifier chooses, for the"
    " decided claims: shares in per cent, seconds, numbers and places. Counted as the"
    " report's text defines it; by document, as its program does while it runs; and by passage, as"
    " the functions of the program do that its tables were made with"
    " (research/reports/published-systems.md, “The tables of the report”). The first"
    " column is the report's final version, on 200 other claims and all pages of FEVER, so it is"
    " not comparable with the others. A right document has an annotated sentence."
)


def as_markdown(table: Mapping[str, Row]) -> str:
    """Return the table of one recipe as Markdown."""
    return markdown(_cells(table))


def as_text(name: str, table: Mapping[str, Row]) -> str:
    """Return the table of one recipe in columns, with its name in the corner."""
    head, *rows = _cells(table)
    return columns([[name, *head[1:]], *rows])


def _cells(table: Mapping[str, Row]) -> list[Sequence[str]]:
    ways = [row for row in table["text"] if row.startswith("hits_by_")]
    order = [row for row in _REPORTED if not row.startswith("hits_by_")]
    order[order.index("documents") : order.index("documents")] = ways
    rows = [
        [
            _name(row),
            _value(row, _REPORTED.get(row)),
            *(_value(row, table[counting].get(row)) for counting in COUNTINGS),
        ]
        for row in order
    ]
    return [_HEAD, *rows]


def _name(row: str) -> str:
    if row.startswith("hits_by_"):
        return f"right documents found by {row.removeprefix('hits_by_')}"
    return _NAMES.get(row) or row.replace("_", " ").replace("ofever", "OFEVER").replace("f1", "F1")


def _value(row: str, value: float | None) -> str:
    if value is None:
        return "–"  # noqa: RUF001
    return f"{value:.2f}" if row in _NAMES else f"{100 * value:.1f}"

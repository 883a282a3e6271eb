"""The evidence of a result, by documents: each sentence once, in its context."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from urllib.parse import quote, urlsplit

from app.filters import LOOKS, Look, safe_url
from app.result.answer import Shown
from app.result.proof import Difference
from retrieval.compared import counted_stance, opposed, shared_names
from retrieval.result import ClaimResult, Document, Evidence
from retrieval.types import NOT_ENOUGH_INFO, Label
from retrieval.words import balance_of

# A neighbour is cut where it is longer, and a text is shown whole where hardly more is left.
_LONGEST = 160
_HARDLY_MORE = 60
# Sentences on each side that are shown; the best one had a part in the verdict with two.
_NEIGHBOURS, _OF_THE_BEST = 1, 2
_SENTENCE_END = re.compile(r"[.!?][\"'”’)\]]*\s+")  # noqa: RUF001 - curly quotes are meant
# A long sentence is found by its first and last words: a page may have notes between others.
_ENOUGH_WORDS = 4
_DAY = re.compile(r"\b\d{4}-\d\d-\d\d\b")


@dataclass(frozen=True, slots=True)
class Ranked:
    """A piece of evidence with its number in the result.

    ``stance``: what is shown; a sentence that only seems to oppose the verdict settles nothing.
    """

    rank: int
    item: Evidence
    stance: Label


@dataclass(frozen=True, slots=True)
class Piece:
    """A piece of a document's text; joined they are the text again.

    ``ranks``: the evidence that begins with it. ``look``: of the evidence that it is part of and
    that the card is about.
    ``differs``: these words are the difference to the claim. ``rest``: it is shown only with the
    whole text.
    """

    text: str
    ranks: tuple[int, ...]
    look: Look | None
    differs: bool
    rest: bool


@dataclass(frozen=True, slots=True)
class Card:
    """A document, or a passage of one, with the sentences of it that are evidence, best first.

    ``document``: its id. ``items``: those that were selected; of a document without any, the
    others. ``address``: where the best sentence stands, ``None`` where that is not known.
    ``looks``: of all that its sentences say, also of single statements. ``whole``: nothing is left
    out.
    """

    document: str
    title: str
    address: str | None
    credit: str
    by_ocr: bool
    items: tuple[Ranked, ...]
    looks: tuple[Look, ...]
    pieces: tuple[Piece, ...]
    whole: bool


@dataclass(frozen=True, slots=True)
class Sourced:
    """A sentence, and the address where it stands, ``None`` where that is not known."""

    item: Evidence
    address: str | None


@dataclass(frozen=True, slots=True)
class Source:
    """Where a sentence stands, ``None`` where that is not known, and whose text it is.

    ``text_date``: of the text, ``None`` where it is not known or stands in the credit.
    """

    address: str | None
    credit: str
    text_date: str | None


def closest_first(
    result: ClaimResult, found: Sequence[Card], quoted: Shown | None
) -> tuple[tuple[Card, ...], tuple[Card, ...]]:
    """Return the cards that are shown, and those that speak neither for nor against the verdict.

    That of the ``quoted`` sentence is shown, and those whose sentences were read with a telling
    one.

    Of a claim that is not settled, those of the documents that it is about come first, used or not,
    and none is shown of a document that shares no name with it.
    """
    if result.verdict.level != "unsettled":
        telling = [card for card in found if result.statements or set(card.looks) - {"unsettled"}]
        read_with = {key.document_id for card in telling for i in card.items for key in i.item.path}
        beside = {*read_with, *([quoted.document] if quoted else [])}
        shown = [card for card in found if card in telling or card.document in beside]
        return tuple(shown), tuple(card for card in found if card not in shown)
    closest = {item.document for item in result.closest}
    named = [card for card in found if _shares_name(result, card)]
    about = [card for card in named if card.document in result.about]
    others = [card for card in named if card not in about and card.document in closest]
    shown = [*about, *others]
    return tuple(shown), tuple(card for card in found if card not in shown)


def more_documents(result: ClaimResult, shown: Sequence[Card]) -> int:
    """Return how many documents were read beside those of these cards; a long one counts once."""
    whole = {one.id: one.whole for one in result.documents}
    read = {*whole, *(item.document for item in result.evidence)}
    files = {whole.get(one, one) for one in read}
    return len(files - {whole.get(card.document, card.document) for card in shown})


def cards(
    result: ClaimResult,
    files: Mapping[str, str],
    differences: Sequence[Difference],
    opposing: Collection[int],
) -> tuple[Card, ...]:
    """Return the documents with evidence, that with the best sentence first.

    ``files``: addresses of documents that have none, by their ids. ``opposing``: the numbers of the
    sentences that oppose the verdict.
    """
    read = {document.id: document for document in result.documents}
    of: dict[str, list[Ranked]] = defaultdict(list)
    for rank, item in enumerate(result.evidence, 1):
        of[item.document].append(Ranked(rank, item, counted_stance(result, rank, opposing)))
    return tuple(
        _card(
            *(result, items, read.get(name), files.get(name)),
            [d for d in differences if d.document == name],
        )
        for name, items in of.items()
    )


def by_statements(result: ClaimResult, found: Sequence[Card]) -> dict[int, list[Card]]:
    """Return the cards under the first statement that one of their sentences is about.

    Statements are counted from 1; 0 where the claim is one statement. A card may also have
    sentences about other statements.
    """
    groups: dict[int, list[Card]] = defaultdict(list)
    for card in found:
        about = (said.number for i in card.items for said in result.said_of_statements(i.rank))
        groups[min(about, default=0)].append(card)
    return dict(sorted(groups.items()))


def _card(
    result: ClaimResult,
    found: Sequence[Ranked],
    document: Document | None,
    file: str | None,
    differences: Sequence[Difference],
) -> Card:
    items = [one for one in found if one.item.selected] or found
    best = items[0].item
    # A document that was not kept with the result is its best sentence.
    text, shift = (document.text, 0) if document else (best.sentence, best.start)
    first = max(result.selected, key=lambda item: item.score, default=None)
    windows = [
        _window(text, one.item, shift, _OF_THE_BEST if one.item is first else _NEIGHBOURS)
        for one in items
    ]
    pieces = _pieces(text, shift, found, {one.rank for one in items}, windows, differences)
    return Card(
        document=best.document,
        title=best.reference_without_ocr,
        address=_address(best, file),
        credit=document.credit if document else "",
        by_ocr=best.by_ocr,
        items=tuple(items),
        looks=tuple(dict.fromkeys(LOOKS[said] for one in items for said in _stances(result, one))),
        pieces=pieces,
        whole=not any(piece.rest for piece in pieces),
    )


def _stances(result: ClaimResult, one: Ranked) -> list[Label]:
    """Return what a sentence says of each statement that it was selected for, or of the claim."""
    return [said.stance for said in result.said_of_statements(one.rank)] or [one.stance]


def _shares_name(result: ClaimResult, card: Card) -> bool:
    said = " ".join([card.title, *(one.item.sentence for one in card.items)])
    return shared_names(result.claim, said)


def balance(result: ClaimResult, opposing: Collection[int]) -> dict[Label, int]:
    """Return how many sentences are alone for or against the verdict, those for it first."""
    said = [
        counted_stance(result, rank, opposing)
        for rank, item in enumerate(result.evidence, 1)
        if item.selected and not item.of_the_pair
    ]
    verdict = result.verdict
    decided = (stance for stance in said if stance != NOT_ENOUGH_INFO)
    return balance_of(verdict.leans or verdict.label, decided)


def quoted(result: ClaimResult) -> Evidence | None:
    """Return the sentence that the reason of the verdict quotes, ``None`` without evidence.

    It is the first with the verdict's stance, else the last of those that have it together, else
    the closest.
    """
    if not result.selected:
        return None
    best, stance = result.closest[0], result.verdict.leans or result.verdict.label
    if stance == NOT_ENOUGH_INFO:
        return best
    together = (one for one in result.selected if one.stance_together == stance)
    return next((one for one in result.selected if one.stance == stance), next(together, best))


def best_of_each_stance(result: ClaimResult, files: Mapping[str, str]) -> tuple[Sourced, ...]:
    """Return the best selected sentence for the claim and the best against it, as far as found.

    That with the verdict's stance comes first; if none says anything about the claim, it is the
    closest one. ``files``: see ``cards``.
    """
    found: dict[Label, Evidence] = {}
    first, opposing = quoted(result), opposed(result)
    said = {
        id(item): counted_stance(result, rank, opposing)
        for rank, item in enumerate(result.evidence, 1)
    }
    for item in result.selected if first is None else (first, *result.selected):
        found.setdefault(said[id(item)], item)
    best = [found[s] for s in result.balance if s != NOT_ENOUGH_INFO and s in found]
    return tuple(
        Sourced(item, _address(item, files.get(item.document)))
        for item in best or result.closest[:1]
    )


def source_of(result: ClaimResult, shown: Shown | None, files: Mapping[str, str]) -> Source | None:
    """Return where a sentence is from; ``None`` where nothing is quoted."""
    if shown is None:
        return None
    read = next((one for one in result.documents if one.id == shown.document), None)
    item = result.evidence[shown.rank - 1] if shown.rank else None
    url = safe_url(item.url if item else read.url if read else None)
    address = at_sentence(url, shown.sentence) if url else files.get(shown.document)
    credit = read.credit if read else ""
    dates = {one.text_date for one in result.corpora}
    known = dates.pop() if len(dates) == 1 and not _DAY.search(credit) else None
    return Source(address, credit, known)


def _address(item: Evidence, file: str | None) -> str | None:
    url = safe_url(item.url)
    return at_sentence(url, item.sentence) if url else file


def at_sentence(url: str, sentence: str) -> str:
    """Return the address of a page with the sentence as its text fragment.

    Browsers that know text fragments scroll to the sentence and mark it; others open the page.
    """
    parts = urlsplit(url)
    if parts.path.lower().endswith(".pdf"):
        return url
    words = sentence.split()
    if len(words) > 2 * _ENOUGH_WORDS:
        ends = [words[:_ENOUGH_WORDS], words[-_ENOUGH_WORDS:]]
    else:
        ends = [words]
    # A dash would separate words before and after the text.
    found = ",".join(quote(" ".join(end), safe="").replace("-", "%2D") for end in ends)
    return f"{url}{'' if parts.fragment else '#'}:~:text={found}"


def _window(text: str, item: Evidence, shift: int, neighbours: int) -> tuple[int, int]:
    """Return the offsets of a sentence with its neighbours, and with what it was read with."""
    start = min(max(0, item.start - shift), len(text))
    end = min(max(start, item.end - shift), len(text))
    begin, stop = start, end
    for _ in range(neighbours):
        begin, stop = _before(text, begin), _after(text, stop)
    for context in filter(None, (item.context_before, item.context_after)):
        place = text.find(context)
        if place >= 0:
            begin, stop = min(begin, place), max(stop, place + len(context))
    return begin, stop


def _before(text: str, start: int) -> int:
    """Return where the sentence before an offset begins, or the last words of a long one."""
    before = text[:start].rstrip()
    ends = [found.end() for found in _SENTENCE_END.finditer(before)]
    begin = ends[-1] if ends else 0
    if len(before) - begin > _LONGEST:
        begin = before.find(" ", len(before) - _LONGEST) + 1 or len(before)
    return begin


def _after(text: str, end: int) -> int:
    """Return where the sentence after an offset ends, or the first words of a long one."""
    begin = end + len(text[end:]) - len(text[end:].lstrip())
    found = _SENTENCE_END.search(text, begin)
    stop = found.end() if found else len(text)
    if stop - begin > _LONGEST:
        stop = text.rfind(" ", begin, begin + _LONGEST)
    return max(end, stop)


def _pieces(
    text: str,
    shift: int,
    found: Sequence[Ranked],
    marked: Collection[int],
    windows: Sequence[tuple[int, int]],
    differences: Sequence[Difference],
) -> tuple[Piece, ...]:
    """Cut a text where evidence, a difference or what is shown begins or ends.

    ``marked``: the ranks of the evidence that the card is about.
    """
    hidden = sum(
        after - before
        for (_, before), (after, _) in pairwise([(0, 0), *sorted(windows), (len(text), 0)])
        if after > before
    )
    if hidden <= _HARDLY_MORE:
        windows = [(0, len(text))]
    spans = [(one.rank, one.item.start - shift, one.item.end - shift) for one in found]
    looks = {one.rank: LOOKS[one.stance] for one in found if one.rank in marked}
    words = [(one.start - shift, one.end - shift) for one in differences]
    edges = [*windows, *words, *((start, end) for _, start, end in spans)]
    cuts = sorted({0, len(text), *(at for edge in edges for at in edge if 0 < at < len(text))})
    pieces = []
    for start, end in pairwise(cuts):
        over = [rank for rank, begin, stop in spans if begin <= start and end <= stop]
        look = next((looks[rank] for rank in over if rank in looks), None)
        pieces.append(
            Piece(
                text=text[start:end],
                ranks=tuple(rank for rank, begin, _ in spans if max(0, begin) == start),
                look=look,
                differs=any(begin <= start and end <= stop for begin, stop in words),
                rest=not any(begin <= start and end <= stop for begin, stop in windows),
            )
        )
    return tuple(pieces)

"""Verdicts as they are published: pages that need no other file, and schema.org's ClaimReview.

A ClaimReview is published as a judgement. So its author and its rating are those of a person who
has confirmed the verdict; without one there is none. It says whether the name of its author was
typed, and which other user submitted the claim.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from datetime import datetime
from typing import Any, TypeAlias

from flask import current_app, render_template

from app.documents.corpus import from_wikipedia
from app.filters import safe_url
from app.result.answer import Answer, answer_of
from app.result.evidence import Source, balance, by_statements, cards, closest_first, source_of
from app.result.proof import marked_claim
from retrieval.claim_lists.verdicts import CheckedRow
from retrieval.result import ClaimResult, Evidence
from retrieval.types import NOT_ENOUGH_INFO, REFUTES, SUPPORTS, CorpusPart
from retrieval.words import VERDICTS, counted
from settings import CHECKOUT
from worker.feedback_store import Feedback
from worker.jobs import SaidBy
from worker.lists import ClaimList, Shown
from worker.user_store import user_of

# schema.org needs a best and a worst rating; NOT ENOUGH INFO gets no number.
_BEST, _WORST = 5, 1
_RATINGS = {SUPPORTS: _BEST, REFUTES: _WORST}
_TYPED = "The name was typed by a visitor who had not logged in."
_CONTEXT = {"@context": "https://schema.org"}
# JSON-LD is made to be put into a page, where HTML would end it at a "</script>". These characters
# occur only in strings of JSON, and are the same strings if they are escaped.
_FOR_SCRIPT = str.maketrans({"<": "\\u003c", ">": "\\u003e", "&": "\\u0026"})
_ENDS: dict[Shown, str] = {
    "refuted": "refuted",
    "supported": "supported",
    "unsettled": "not settled",
    "errors": "without a verdict",
    "unfinished": "to come",
}
_DATE = re.compile(r"\d{4}(?:-\d\d(?:-\d\d(?:T\d\d:\d\d\S*)?)?)?")
_Key: TypeAlias = tuple[str, SaidBy]  # of a review: the address of its claim, and who said that
_TOGETHER = 200  # pieces of a template that are sent at once


@dataclass(frozen=True, slots=True)
class Published:
    """A result, and what is published with it.

    ``page``: its address. ``text_sentence``: the sentence of a text that says the claim, "" for
    none. ``submitted_by``: the user who did, ``None`` where the claim is of no user. ``by``: who
    has confirmed the verdict.
    """

    result: ClaimResult
    page: str
    checked_at: datetime
    said: SaidBy
    text_sentence: str = ""
    submitted_by: str | None = None
    by: Feedback | None = None

    @property
    def author(self) -> str:
        """The name of who has confirmed the verdict, "" if there is none."""
        return self.by.opinion.name if self.by else ""

    @property
    def review(self) -> str:
        """The ClaimReview in JSON-LD, "" if no person has confirmed the verdict."""
        return _json_ld(_CONTEXT | _review(self, self.by)) if self.by else ""


@dataclass(frozen=True, slots=True, kw_only=True)
class PublishedRow(CheckedRow):
    """A row of a list; ``published``: ``None`` where it has no verdict."""

    number: int
    said: SaidBy
    published: Published | None


@dataclass(frozen=True, slots=True)
class _Answered:
    """A row with its answer, and where the sentence stands that this rests on.

    ``review``: the ClaimReview of its claim in JSON-LD, "" for none, or where a row before has it.
    """

    row: PublishedRow
    answer: Answer | None = None
    quoted_from: Source | None = None
    review: str = ""


def said_in_words(said: SaidBy) -> str:
    """Return who said the claim, where and when, in a line; "" where nothing is known."""
    return ", ".join(filter(None, asdict(said).values()))


def list_in_words(claims: ClaimList) -> str:
    """Return how many rows a list has, and what came out of their checks, in a line."""
    found = (
        f"{claims.counts[name]:,} {said}" for name, said in _ENDS.items() if claims.counts[name]
    )
    return f"{counted(claims.total, 'claim')}: {', '.join(found)}"


def confirmation(given: Sequence[Feedback], asker: str | None) -> Feedback | None:
    """Return the agreement that a ClaimReview is made from: it has a name.

    ``given``: the feedback on the claim, newest first. That of the asker comes before all others.
    """
    named = [one for one in given if one.opinion.agrees and one.opinion.name]
    own = [one for one in named if asker is not None and one.owner == asker]
    return next(iter(own + named), None)


def claim_page(published: Published) -> str:
    """Return the page with its style, all evidence open; of a person's review, that as well."""
    result = published.result
    answer = answer_of(result)
    found = cards(result, {}, answer.differences, answer.opposing)
    shown, _ = closest_first(result, found, answer.quoted)
    return render_template(
        "published_claim.html",
        published=published,
        result=result,
        answer=answer,
        files={},
        page=published.page,
        said=said_in_words(published.said),
        css=_style("style.css"),
        drawn=marked_claim(result, answer.differences),
        quoted_from=source_of(result, answer.quoted, {}),
        balance=balance(result, answer.opposing),
        found=by_statements(result, shown),
        attribution=any(map(from_wikipedia, result.documents)),
        review=published.review,
    )


def list_page(rows: Iterable[PublishedRow], claims: ClaimList, page: str) -> Iterator[bytes]:
    """Yield the page of a list, whose rows are read while it is sent."""
    # The end of the page names what was searched, by titles, and whose texts are quoted.
    searched: dict[str, CorpusPart] = {}
    wikipedias: set[bool] = set()
    seen: set[_Key] = set()

    def answered() -> Iterator[_Answered]:
        for row in rows:
            if row.published is None:
                yield _Answered(row)
                continue
            result = row.published.result
            answer = answer_of(result)
            searched.update((one.title, one) for one in result.corpora)
            wikipedias.update(map(from_wikipedia, result.documents))
            review = row.published.review if _is_new(row.published, seen) else ""
            yield _Answered(row, answer, source_of(result, answer.quoted, {}), review)

    pieces = current_app.jinja_env.get_template("published_list.html").stream(
        claims=claims,
        files={},
        page=page,
        css=_style("style.css", "lists.css"),
        rows=answered(),
        summary=list_in_words(claims),
        said_in_words=said_in_words,
        searched_in=searched,
        wikipedias=wikipedias,
    )
    pieces.enable_buffering(_TOGETHER)
    return (piece.encode() for piece in pieces)


def claim_reviews(rows: Iterable[PublishedRow], claims: ClaimList, page: str) -> Iterator[bytes]:
    """Yield a graph in JSON-LD: the list, and a ClaimReview of all that is decided and confirmed.

    Rows with the same claim make one for each who said it.
    """
    whole = {
        "@type": "CollectionPage",
        "@id": page,
        "url": page,
        "name": claims.name,
        "dateCreated": claims.created_at.date().isoformat(),
    }
    yield f'{{"@context": "{_CONTEXT["@context"]}", "@graph": [\n{_json_ld(whole)}'.encode()
    seen: set[_Key] = set()
    for one in (row.published for row in rows):
        if one is not None and one.by is not None and _is_new(one, seen):
            review = _review(one, one.by) | {"isPartOf": {"@id": page}}
            yield f",\n{_json_ld(review)}".encode()
    yield b"\n]}\n"


def _is_new(one: Published, seen: set[_Key]) -> bool:
    """Return whether a list tells its review, and has not yet, and remember that it has."""
    key = one.page, one.said
    if one.by is None or not decided(one.by) or key in seen:
        return False
    seen.add(key)
    return True


def decided(by: Feedback) -> bool:
    """Return whether the verdict that somebody has confirmed says that the claim is true or not."""
    return by.opinion.label != NOT_ENOUGH_INFO


def _json_ld(thing: Mapping[str, object]) -> str:
    """Return the text, which may also stand in a script of a page."""
    return json.dumps(thing, ensure_ascii=False, indent=2).translate(_FOR_SCRIPT)


def _review(published: Published, by: Feedback) -> dict[str, Any]:
    result, opinion = published.result, by.opinion
    label = opinion.label
    rating: dict[str, Any] = {
        "@type": "Rating",
        # The person has confirmed the verdict, so it is not less sure. A lean is no rating.
        "alternateName": VERDICTS[label],
        "ratingExplanation": opinion.note or result.verdict.rationale,
    }
    if label != NOT_ENOUGH_INFO:
        rating |= {"ratingValue": _RATINGS[label], "bestRating": _BEST, "worstRating": _WORST}
    author = {"@type": "Person", "name": opinion.name}
    user = user_of(by.owner)
    if user is None:
        author["description"] = _TYPED
    claim: dict[str, Any] = {"@type": "Claim", "text": result.claim} | _said_by(published.said)
    if published.submitted_by not in (None, user):
        claim["contributor"] = {"@type": "Person", "name": published.submitted_by}
    return {
        "@type": "ClaimReview",
        "url": published.page,
        "datePublished": by.created_at.date().isoformat(),
        "author": author,
        "claimReviewed": result.claim,
        "itemReviewed": claim,
        "reviewRating": rating,
        "citation": [
            _citation(item, result.credits.get(item.document))
            for rank, item in enumerate(result.evidence, 1)
            if item.selected and item.stance == label and rank not in opinion.wrong
        ],
    }


def _said_by(said: SaidBy) -> dict[str, Any]:
    """Return who said the claim, where and when, as far as known."""
    # Only ISO 8601 is a date in schema.org; "last spring" is not.
    name = "datePublished" if _DATE.fullmatch(said.said_on) else "temporal"
    when: dict[str, Any] = {name: said.said_on} if said.said_on else {}
    known = dict(when)
    if said.speaker:
        known["author"] = {"@type": "Person", "name": said.speaker}
    if said.appearance:
        address = safe_url(said.appearance)
        where = {"url": address} if address else {"name": said.appearance}
        known["appearance"] = {"@type": "CreativeWork"} | where | when
    return known


def _citation(item: Evidence, credit: str | None) -> dict[str, Any]:
    work = {"@type": "CreativeWork", "name": item.reference, "text": item.sentence}
    known = {"url": safe_url(item.url), "creditText": credit}
    return work | {key: value for key, value in known.items() if value}


def _style(*names: str) -> str:
    return "".join((CHECKOUT / "static" / name).read_text(encoding="utf-8") for name in names)

"""A finished claim as Markdown, with its hops: what led to each, and which words it settled.

The text is that of ``templates/claim.md``. It gets the functions that escape what comes from a user
or from a corpus.
"""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from flask import render_template

from app.filters import safe_url
from app.result.answer import answer_of
from app.result.evidence import balance
from app.result.proof import proof_item
from retrieval.compared import counted_stance
from retrieval.result import Cited, ClaimResult, Evidence, WholeDocument
from retrieval.types import Hop, Offsets, SentenceKey
from retrieval.words import Quoting, listed
from worker.jobs import Job

# What makes markup within a line; an underscore does so only beside a word (CommonMark 0.31,
# section 6.2), a colon and a dot where GitHub makes a link of an address.
_MARKUP = re.compile(
    r"[\\`*\[\]<~]|(?<![^\W_])_|_(?![^\W_])|&(?=#?\w+;)|:(?=//)|(?<=\bwww)\.", re.IGNORECASE
)
# What makes a heading, a list, a quotation or a rule where a line begins.
_BEGINS = re.compile(r"\A(?:#{1,6}(?=\s|\Z)|[-+](?=[-\s]|\Z)|>|=+\Z|\d{1,9}(?=[.)](?:\s|\Z)))")
_MOST_NAMED = 4
# Headings for the words that were missing before a hop, no longer are, and still are.
_OF_PARTS = ("Open before it:", "Now covered:", "Still open:")
# Without a proof only the words that no selected sentence contains are known.
_OF_NAMES = ("Not named before it:", "Now named:", "Not named in the selected sentences:")


@dataclass(frozen=True, slots=True)
class Lead:
    """A sentence that led to other documents.

    ``sentence`` is empty where only its document is known. ``led_to``: titles of these documents,
    each once, however many of its passages were read; of many the first, and how many more.
    """

    sentence: str
    source: Cited
    led_to: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class HopItem:
    """A hop. ``documents``: how many it added, the passages of one document counted once.

    ``before``, ``covered``, ``open``: words of the claim that were missing before the hop, that
    are no longer missing, and that are still missing; ``None`` where there are none.
    """

    hop: Hop
    documents: int
    leads: tuple[Lead, ...]
    before: Quoting | None
    covered: Quoting | None
    open: Quoting | None


def markdown(job: Job, result: ClaimResult, page: str, text_sentence: str) -> str:
    """Return the file. ``page``: its address; ``text_sentence``: of a text that says the claim."""
    answer = answer_of(result)
    stances = [
        counted_stance(result, rank, answer.opposing) for rank in range(1, len(result.evidence) + 1)
    ]
    return render_template(
        "claim.md",
        answer=answer,
        stances=stances,
        balance=balance(result, answer.opposing),
        job=job,
        result=result,
        verdict=result.verdict,
        page=page,
        text_sentence=text_sentence,
        proof=proof_item(result),
        hops=_hop_items(result),
        said=[
            _address(one) or _escaped(one)
            for one in (job.speaker, job.appearance, job.said_on)
            if one
        ],
        md=_escaped,
        names=_names,
        quotes=_quotes,
        source=_source,
    )


def _escaped(text: str) -> str:
    """Return the text on one line, escaped as little as needed for Markdown to show it so."""
    escaped = _MARKUP.sub(r"\\\g<0>", " ".join(text.split()))
    if escaped.count("$") > 1:  # GitHub reads what is between them as mathematics
        escaped = escaped.replace("$", r"\$")
    begin = _BEGINS.match(escaped)
    if begin is None:
        return escaped
    at = begin.end() if begin[0].isdigit() else 0
    return f"{escaped[:at]}\\{escaped[at:]}"


def _names(texts: Iterable[str]) -> str:
    """Return texts as a list within a sentence."""
    return listed(list(map(_escaped, texts)))


def _quotes(*texts: str) -> str:
    """Return texts within quotation marks, as a list within a sentence."""
    return listed([f"“{_escaped(text)}”" for text in texts])


def _source(item: Evidence) -> str:
    title, address = _escaped(item.reference), _address(item.url)
    return f"[{title}]({address})" if address else title


def _address(text: str | None) -> str:
    """Return an address between angle brackets, "" if it is none that may be linked to."""
    url = safe_url(text)
    if url is None:
        return ""
    # Between angle brackets only these characters can end the address.
    return f"<{url.replace(chr(92), '%5C').replace('<', '%3C').replace('>', '%3E')}>"


def _hop_items(result: ClaimResult) -> tuple[HopItem, ...]:
    """Return the hops in order."""
    leads, further = _leads(result), _further_passages(result)
    before, covered, still_open = _OF_PARTS if result.proof else _OF_NAMES

    def quoting(heading: str, spans: Sequence[Offsets]) -> Quoting | None:
        quoted = tuple(words for span in spans if (words := result.words_at(span)))
        return Quoting(heading, quoted) if quoted else None

    items = []
    was: tuple[Offsets, ...] = ()
    for hop in result.hops:
        items.append(
            HopItem(
                hop,
                documents=hop.documents - further[hop.hop],
                leads=leads.get(hop.hop, ()),
                before=quoting(before, was),
                covered=quoting(covered, [span for span in was if span not in hop.missing]),
                # If a hop was sufficient, words that no sentence names were not needed.
                open=None if hop.sufficient else quoting(still_open, hop.missing),
            )
        )
        was = () if hop.stopped else hop.missing  # the next hop is that of another statement
    return tuple(items)


def _further_passages(result: ClaimResult) -> Counter[int]:
    """Return for each hop how many of its documents are further passages of the same documents."""
    read = Counter(document.hop for document in result.documents)
    wholes = {(document.hop, document.whole) for document in result.documents}
    return read - Counter(hop for hop, _ in wholes)


def _leads(result: ClaimResult) -> dict[int, tuple[Lead, ...]]:
    """Return for each hop the sentences that led to its documents, best documents first."""
    led_to: dict[int, dict[SentenceKey, dict[WholeDocument, None]]]
    led_to = defaultdict(lambda: defaultdict(dict))
    for document in result.documents:
        if document.led_by is not None:
            led_to[document.hop][document.led_by][document.whole] = None
    return {
        hop: tuple(
            _lead(result, key, [whole.title for whole in wholes])
            for key, wholes in by_sentence.items()
        )
        for hop, by_sentence in led_to.items()
    }


def _lead(result: ClaimResult, key: SentenceKey, titles: list[str]) -> Lead:
    found = result.ranked.get(key)
    named, more = titles[:_MOST_NAMED], len(titles[_MOST_NAMED:])
    if more:
        named.append(f"{more} more")
    return Lead(found[1].sentence if found else "", result.cited(key), tuple(named))

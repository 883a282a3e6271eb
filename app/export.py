"""A finished claim as a file: JSON, Markdown, CSV, and schema.org's ClaimReview.

A ClaimReview is published as a judgement: its author is the person who has confirmed the verdict,
or the program if no person has.
"""

from __future__ import annotations

import csv
import io
import json
import re
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from app.contexts import ProofItem, Saying
from app.hops import hop_items
from app.links import safe_url
from app.opinions import opinions
from app.proof import proof_item
from app.sentences import CitedSentences
from app.statements import statement_items
from app.wording import STANCES, confidence_in, counted, listed
from retrieval.result import ClaimResult, Evidence
from retrieval.spreadsheet import safe_cell
from retrieval.types import NOT_ENOUGH_INFO, REFUTES, SUPPORTS
from retrieval.wording import (
    NOT_SETTLED,
    NOTHING_SETTLES,
    balance_words,
    level_of,
    verdict_words,
)
from worker.jobs import Job

# schema.org needs a best and a worst rating; NOT ENOUGH INFO gets no number.
_BEST, _WORST = 5, 1
_RATINGS = {SUPPORTS: _BEST, REFUTES: _WORST}
# All ASCII punctuation may be escaped with a backslash (CommonMark 0.31, section 2.4).
_MARKDOWN = re.compile(r"([\\`*_{}\[\]()<>#+\-.!|~&:=\"'$^])")
# JSON-LD is made to be put into a page, where HTML would end it at a "</script>". These characters
# occur only in strings of JSON, and are the same strings if they are escaped.
_FOR_SCRIPT = str.maketrans({"<": "\\u003c", ">": "\\u003e", "&": "\\u0026"})
_PROGRAM = {"@type": "Organization", "name": "ESOTERIC"}
_CSV_COLUMNS = (
    *("claim", "verdict", "confidence", "rank", "selected", "stance", "stance_confidence"),
    *("score", "title", "sentence", "url", "document", "sentence_id", "start", "end", "hop"),
    *("path", "section", "page", "context_before", "context_after"),
    *("copies", "leans", "disagrees", "source", "level"),
)


@dataclass(frozen=True, slots=True)
class Export:
    """A file format.

    ``write`` takes the job, its result, the address of its page, and who has confirmed the verdict,
    "" if no person has.
    """

    suffix: str
    media_type: str
    write: Callable[[Job, ClaimResult, str, str], str]


def export(name: str, job: Job, page: str, person: str) -> str:
    """Return the content of the file.

    Raises:
        KeyError: there is no such format.
    """
    assert job.result is not None  # the view has checked this
    return EXPORTS[name].write(job, job.result, page, person)


def _json(job: Job, result: ClaimResult, page: str, person: str) -> str:
    return json.dumps(result.document(), ensure_ascii=False, indent=2) + "\n"


def _markdown(job: Job, result: ClaimResult, page: str, person: str) -> str:
    verdict = result.verdict
    corpus = result.corpus
    proof = proof_item(result)
    sentences = CitedSentences(result)
    sources = _sources(result)
    lines = [f"# {_escaped(result.claim)}", ""]
    if result.claim_as_written is not None:
        lines += [f"As it was written: {_escaped(result.claim_as_written)}", ""]
    for notice in result.notices:
        lines += [f"Note: {_escaped(notice)}", ""]
    words = verdict_words(verdict.label, verdict.confidence, verdict.leans)
    lines += [
        f"**{words}**, {result.certainty}" if result.certainty else f"**{words}**",
        "",
        *_missing(result),
        *_statements(result),
        *([balance_words(result.balance), ""] if result.selected else []),
        _escaped(verdict.rationale),
        "",
        *_against(result),
        *_judges(result),
        "## Evidence",
        "",
    ]
    for rank, item in enumerate(result.evidence, 1):
        stance = STANCES[item.stance].word.lower()
        sure = confidence_in(item.stance, item.stance_confidence)
        percent = f" ({sure}%)" if sure else ""
        copies = f", in {item.copies} documents" if item.copies > 1 else ""
        together = _read_with(item, sentences)
        selected = ", selected" if item.selected else ""
        credit = sources.get(item.document)
        origin = f", from {_escaped(credit)}" if credit else ""
        lines += [
            f"{rank}. {_in_context(item)}",
            f"   {_source(item)}{origin}: {stance}{percent}{copies}{together}{selected}",
        ]
    if not result.evidence:
        lines.append("None was found.")
    lines += [*_proof(proof, result.proof_differs)]
    lines += ["", "## Questions asked", ""]
    lines += [f"- {_escaped(question.text)}" for question in result.questions]
    lines += ["", "## Hops", "", *_hops(result)]
    searched = f"{_escaped(result.corpus_title)} ({corpus.documents} documents,"
    searched += f" text of {_escaped(corpus.text_date)}," if corpus.text_date else ""
    searched += f" built {_escaped(corpus.built_at)})"
    lines += ["", f"Checked by ESOTERIC against {searched}: <{page}>", ""]
    return "\n".join(lines)


def _sources(result: ClaimResult) -> dict[str, str]:
    """Return what each document is credited to, by its id."""
    return {document.id: document.credit for document in result.documents}


def _against(result: ClaimResult) -> list[str]:
    """Return the best sentence against the verdict, where there is one."""
    item = result.against
    return [f"Against it: {_quoted(item.sentence)} {_source(item)}", ""] if item else []


def _missing(result: ClaimResult) -> list[str]:
    """Return what is missing, where the claim is not decided."""
    if result.verdict.label != NOT_ENOUGH_INFO:
        return []
    words = listed([_quoted(words) for words in result.missing])
    return [f"{NOT_SETTLED} {NOTHING_SETTLES} {words}." if words else NOT_SETTLED, ""]


def _statements(result: ClaimResult) -> list[str]:
    """Return the verdict on each statement, where the claim makes several."""
    lines = []
    for number, one in enumerate(statement_items(result), 1):
        percent = f" ({one.confidence}%)" if one.confidence else ""
        lines.append(f"{number}. {one.badge.word}{percent}: {_escaped(one.text)}")
    return [*lines, ""] if lines else []


def _judges(result: ClaimResult) -> list[str]:
    """Return what each judge says, where there are two."""
    both = opinions(result)
    if both is None:
        return []
    lines = ["Both judges agree:" if both.agree else "The judges disagree:", ""]
    for one in (both.first, both.second):
        cites = listed([str(rank) for rank in one.cites])
        citing = f", citing evidence {cites}" if cites else ""
        percent = f" ({one.confidence}%)" if one.confidence else ""
        verdict = f"{one.badge.word.lower()}{percent}{citing}"
        lines.append(f"- {_escaped(one.judge)}: {verdict}. {_escaped(one.rationale)}")
        if one.missing:
            lines.append(f"  Missing: {_escaped(one.missing)}")
    return [*lines, ""]


def _in_context(item: Evidence) -> str:
    """Return the sentence, with its context in italics."""
    before, after = (
        f"*{_escaped(text)}*" if text else None
        for text in (item.context_before, item.context_after)
    )
    return " ".join(filter(None, (before, _escaped(item.sentence), after)))


def _read_with(item: Evidence, sentences: CitedSentences) -> str:
    path = [sentences.cited(*key) for key in item.path]
    named = [_escaped(one.title) + (f" (evidence {one.rank})" if one.rank else "") for one in path]
    return f", read together with {listed(named)}" if named else ""


def _proof(proof: ProofItem | None, differs: str) -> list[str]:
    """Return the lines of the proof, if there is one; where it ``differs``, only this."""
    if differs:
        return ["", "## Proof", "", differs]
    if proof is None:
        return []
    lines = ["", "## Proof", "", _sentence(proof.summary), ""]
    for part in proof.parts:
        line = f"{part.number}. {_quoted(part.words)}: {part.badge.word.lower()}"
        if part.excerpt is not None:
            words = "".join(piece.text for piece in part.excerpt.pieces if piece.look)
            by = "by the title or the whole sentence" if part.excerpt.whole else _quoted(words)
            line += f", {by} in {_escaped(part.excerpt.title)}, evidence {part.excerpt.rank}"
        lines.append(line)
    return lines


def _hops(result: ClaimResult) -> list[str]:
    lines = []
    for hop in hop_items(result):
        lines.append(
            f"{hop.number}. {counted(hop.documents, 'document')} read,"
            f" {counted(hop.sentences, 'sentence')} found"
        )
        lines += [f"   - {_sentence(hop.before)}"] if hop.before else []
        for lead in hop.leads:
            said = f"{_quoted(lead.sentence)} in " if lead.sentence else ""
            titles = [_escaped(title) for title in lead.led_to]
            titles += [f"{lead.more} more"] if lead.more else []
            lines.append(f"   - {said}{_escaped(lead.source.title)} led to {listed(titles)}")
        lines += [f"   - {_sentence(saying)}" for saying in (hop.covered, hop.open) if saying]
        if hop.ended:
            lines.append(f"   - The search ended: {hop.ended}")
    return lines


def _sentence(saying: Saying) -> str:
    words = f" {listed([_quoted(words) for words in saying.quoted])}" if saying.quoted else ""
    return f"{_escaped(saying.before)}{words}{_escaped(saying.after)}"


def _quoted(words: str) -> str:
    return f"“{_escaped(words)}”"


def _csv(job: Job, result: ClaimResult, page: str, person: str) -> str:
    file = io.StringIO()
    writer = csv.writer(file)
    writer.writerow(_CSV_COLUMNS)
    label = result.verdict.label
    about = {
        "claim": result.claim,
        "verdict": label,
        # A cell without the page around it would read as a certainty.
        "confidence": "" if label == NOT_ENOUGH_INFO else result.verdict.confidence,
        "leans": result.verdict.leans,
        "level": level_of(label, result.verdict.confidence, result.verdict.leans),
    }
    sources = _sources(result)
    rows = [
        {
            **item.model_dump(),
            "source": sources.get(item.document),
            "rank": rank,
            "disagrees": rank in result.verdict.disagreement,
            "path": json.dumps(item.path, ensure_ascii=False) if item.path else "",
        }
        for rank, item in enumerate(result.evidence, 1)
    ]
    # A claim without evidence gets one row with its verdict.
    for row in rows or [{}]:
        row |= about
        writer.writerow([safe_cell(row.get(column)) for column in _CSV_COLUMNS])
    return file.getvalue()


def _claim_review(job: Job, result: ClaimResult, page: str, person: str) -> str:
    verdict = result.verdict
    label = verdict.label
    rating: dict[str, Any] = {
        "@type": "Rating",
        # A lean is no rating.
        "alternateName": verdict_words(label, verdict.confidence, None),
        "ratingExplanation": verdict.rationale,
    }
    if label != NOT_ENOUGH_INFO:
        rating |= {"ratingValue": _RATINGS[label], "bestRating": _BEST, "worstRating": _WORST}
    sources = _sources(result)
    review = {
        "@context": "https://schema.org",
        "@type": "ClaimReview",
        "url": page,
        "datePublished": (job.finished_at or job.created_at).date().isoformat(),
        "author": {"@type": "Person", "name": person} if person else _PROGRAM,
        "claimReviewed": result.claim,
        "itemReviewed": {"@type": "Claim", "text": result.claim},
        "reviewRating": rating,
        "citation": [
            _citation(item, sources.get(item.document))
            for item in result.selected
            if item.stance == label
        ],
    }
    return json.dumps(review, ensure_ascii=False, indent=2).translate(_FOR_SCRIPT) + "\n"


def _citation(item: Evidence, credit: str | None) -> dict[str, Any]:
    work = {"@type": "CreativeWork", "name": item.reference, "text": item.sentence}
    known = {"url": safe_url(item.url), "creditText": credit}
    return work | {key: value for key, value in known.items() if value}


def _escaped(text: str) -> str:
    """Return the text on one line, escaped so that Markdown shows it unchanged."""
    return _MARKDOWN.sub(r"\\\1", " ".join(text.split()))


def _source(item: Evidence) -> str:
    title = _escaped(item.reference)
    url = safe_url(item.url)
    if url is None:
        return title
    # Between angle brackets only these characters can end the address.
    address = url.replace("\\", "%5C").replace("<", "%3C").replace(">", "%3E")
    return f"[{title}](<{address}>)"


EXPORTS: dict[str, Export] = {
    "json": Export("json", "application/json", _json),
    "md": Export("md", "text/markdown", _markdown),
    "csv": Export("csv", "text/csv", _csv),
    "claimreview": Export("jsonld", "application/ld+json", _claim_review),
}

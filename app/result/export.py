"""A finished claim as a file: JSON, Markdown, CSV, and schema.org's ClaimReview.

A ClaimReview is published as a judgement. So its author and its rating are those of a person who
has confirmed the verdict; without one there is none. It says whether the name of its author was
typed, and which other user submitted the claim.
"""

from __future__ import annotations

import csv
import io
import json
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from app.filters import safe_url
from app.result.hops import hop_items
from app.result.proof import proof_item
from retrieval.claim_lists.verdicts import part_by_part
from retrieval.result import ClaimResult, Evidence
from retrieval.safe_cell import safe_cell
from retrieval.types import NOT_ENOUGH_INFO, REFUTES, SUPPORTS, CorpusPart
from retrieval.words import (
    AGAINST,
    AGREE,
    BY_WHOLE,
    DISAGREE,
    OPERATORS,
    STANCES,
    STOPPED,
    VERDICTS,
    Quoting,
    balance_words,
    counted,
    listed,
    together_words,
)
from worker.feedback_store import Feedback
from worker.jobs import Job
from worker.user_store import user_of

# schema.org needs a best and a worst rating; NOT ENOUGH INFO gets no number.
_BEST, _WORST = 5, 1
_RATINGS = {SUPPORTS: _BEST, REFUTES: _WORST}
_TYPED = "The name was typed by a visitor who had not logged in."
# All ASCII punctuation may be escaped with a backslash (CommonMark 0.31, section 2.4).
_MARKDOWN = re.compile(r"([\\`*_{}\[\]()<>#+\-.!|~&:=\"'$^])")
# JSON-LD is made to be put into a page, where HTML would end it at a "</script>". These characters
# occur only in strings of JSON, and are the same strings if they are escaped.
_FOR_SCRIPT = str.maketrans({"<": "\\u003c", ">": "\\u003e", "&": "\\u0026"})
_CSV_COLUMNS = (
    *("claim", "verdict", "confidence", "rank", "selected", "stance", "stance_confidence"),
    *("score", "title", "sentence", "url", "document", "sentence_id", "start", "end", "hop"),
    *("path", "section", "page", "context_before", "context_after"),
    *("copies", "leans", "disagrees", "source", "level"),
    # New columns come last: programs may count them.
    *("recipe", "judge", "corpus", "text_date", "indexed_at", "finished_at", "part by part"),
    *("recipe_digest", "esoteric_version", "claim_as_written", "text_sentence", "link"),
)


@dataclass(frozen=True, slots=True)
class Provenance:
    """The address of a claim's ``page``, and the sentence of a text that says it, "" for none.

    ``submitted_by``: the user who did, ``None`` where the claim is of no user.
    """

    page: str
    text_sentence: str = ""
    submitted_by: str | None = None


@dataclass(frozen=True, slots=True)
class Export:
    """A file format.

    ``write`` takes the job, its result, where it is from, and who has confirmed the verdict; only a
    ClaimReview needs this.
    """

    suffix: str
    media_type: str
    write: Callable[[Job, ClaimResult, Provenance, Feedback | None], str]


def export(name: str, job: Job, provenance: Provenance, by: Feedback | None) -> str:
    """Return the content of the file.

    Raises:
        KeyError: there is no such format.
    """
    assert job.result is not None  # the view has checked this
    return EXPORTS[name].write(job, job.result, provenance, by)


def _json(job: Job, result: ClaimResult, provenance: Provenance, by: Feedback | None) -> str:
    return json.dumps(result.document(), ensure_ascii=False, indent=2) + "\n"


def _markdown(job: Job, result: ClaimResult, provenance: Provenance, by: Feedback | None) -> str:
    verdict = result.verdict
    lines = [f"# {_escaped(result.claim)}", ""]
    if result.did_you_mean is not None:
        lines += [f"Did you mean {_quoted(result.did_you_mean)}?", ""]
    if provenance.text_sentence:
        lines += [f"In the text: {_quoted(provenance.text_sentence)}", ""]
    if result.claim_as_written is not None:
        lines += [f"As it was written: {_escaped(result.claim_as_written)}", ""]
    for notice in result.notices_on_claim:
        lines += [f"Note: {_escaped(notice)}", ""]
    lines += [
        f"**{verdict.words}**" + (f", {result.certainty}" if result.certainty else ""),
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
    for notice in result.notices_on_reading:
        lines += [_escaped(notice), ""]
    for rank, item in enumerate(result.evidence, 1):
        stance = STANCES[item.stance].lower() + _percent(item.percent)
        copies = f", in {item.copies} documents" if item.copies > 1 else ""
        together = _read_with(item, result)
        selected = ", selected" if item.selected else ""
        credit = result.credits.get(item.document)
        origin = f", from {_escaped(credit)}" if credit else ""
        lines += [
            f"{rank}. {_in_context(item)}",
            f"   {_source(item)}{origin}: {stance}{copies}{together}{selected}",
            *(f"   {line}" for line in _of_statements(rank, result)),
        ]
    if not result.evidence:
        lines.append("None was found.")
    lines += _proof(result)
    lines += ["", "## Questions asked", ""]
    lines += [f"- {_escaped(question.text)}" for question in result.questions]
    lines += ["", "## Hops", "", *_hops(result)]
    searched = " and ".join(map(_searched, result.corpora))
    when = f" on {job.finished_at.date().isoformat()}" if job.finished_at else ""
    version = f"{result.version} " if result.version else ""
    lines += [
        "",
        f"Checked by ESOTERIC {version}against {searched}: <{provenance.page}>",
        "",
        f"Recipe {_escaped(result.recipe)}, judge {_escaped(verdict.judge)}, checked{when}.",
        "",
    ]
    return "\n".join(lines)


def _searched(corpus: CorpusPart) -> str:
    text_date = f" text of {_escaped(corpus.text_date)}," if corpus.text_date else ""
    built = f" built {_escaped(corpus.built_at)}"
    return f"{_escaped(corpus.title)} ({counted(corpus.documents, 'document')},{text_date}{built})"


def _against(result: ClaimResult) -> list[str]:
    """Return the best sentence against the verdict, where there is one."""
    item = result.against
    return [f"{AGAINST}: {_quoted(item.sentence)} {_source(item)}", ""] if item else []


def _missing(result: ClaimResult) -> list[str]:
    """Return why the claim is not decided, where it is not."""
    said = []
    for one in result.why_not_settled:
        words = f" {listed(list(map(_quoted, one.quoted)))}" if one.quoted else ""
        said.append(f"{one.before}{words}{one.after}".strip())
    return [" ".join(said), ""] if said else []


def _statements(result: ClaimResult) -> list[str]:
    """Return the verdict on each statement, where the claim makes several."""
    lines = [
        f"{number}. {one.verdict.words}{_in_brackets(result.certainty_of(one.verdict))}:"
        f" {_escaped(one.text)}"
        for number, one in enumerate(result.statements, 1)
    ]
    return [*lines, ""] if lines else []


def _judges(result: ClaimResult) -> list[str]:
    """Return what each judge says, where there are two."""
    if not result.judges:
        return []
    lines = [f"{AGREE if result.agree else DISAGREE}:", ""]
    for one in result.judges:
        cites = listed([str(rank) for rank in one.cites])
        citing = f", citing evidence {cites}" if cites else ""
        sure = _in_brackets(result.certainty_of(one))
        verdict = f"{VERDICTS[one.label].lower()}{sure}{citing}"
        lines.append(f"- {_escaped(one.judge)}: {verdict}. {_escaped(one.rationale)}")
        if one.missing:
            lines.append(f"  Missing: {_escaped(one.missing)}")
    return [*lines, ""]


def _in_brackets(words: str) -> str:
    return f" ({words})" if words else ""


def _percent(value: int | None) -> str:
    return f" ({value}%)" if value else ""


def _in_context(item: Evidence) -> str:
    """Return the sentence, with its context in italics."""
    before, after = (
        f"*{_escaped(text)}*" if text else None
        for text in (item.context_before, item.context_after)
    )
    return " ".join(filter(None, (before, _escaped(item.sentence), after)))


def _read_with(item: Evidence, result: ClaimResult) -> str:
    path = [result.cited(key) for key in item.path]
    named = [_escaped(one.title) + (f" (evidence {one.rank})" if one.rank else "") for one in path]
    together = together_words(item.stance_together)
    return f", read together with {listed(named)}{together}" if named else ""


def _of_statements(rank: int, result: ClaimResult) -> list[str]:
    """Return what a sentence says about each statement that it was selected for."""
    return [
        f"Statement {one.number}: {STANCES[one.stance].lower()}{_percent(one.percent)}."
        for one in result.said_of_statements(rank)
    ]


def _proof(result: ClaimResult) -> list[str]:
    """Return the lines of the proof, if there is one."""
    proof = proof_item(result)
    if proof is None:
        return []
    lines = ["", "## Proof", "", _sentence(proof.summary), ""]
    for part in proof.parts:
        line = f"{part.number}. {_quoted(part.words)}: {OPERATORS[part.operator].lower()}"
        if part.excerpt is not None:
            by = _quoted(part.excerpt.words) if part.excerpt.words else BY_WHOLE
            line += f", {by} in {_escaped(part.excerpt.title)}, evidence {part.excerpt.rank}"
        lines.append(line)
    return lines


def _hops(result: ClaimResult) -> list[str]:
    lines = []
    for item in hop_items(result):
        hop = item.hop
        lines.append(
            f"{hop.hop}. {counted(item.documents, 'document')} read,"
            f" {counted(hop.sentences, 'sentence')} found"
        )
        lines += [f"   - {_sentence(item.before)}"] if item.before else []
        for lead in item.leads:
            said = f"{_quoted(lead.sentence)} in " if lead.sentence else ""
            titles = [_escaped(title) for title in lead.led_to]
            titles += [f"{lead.more} more"] if lead.more else []
            lines.append(f"   - {said}{_escaped(lead.source.title)} led to {listed(titles)}")
        lines += [f"   - {_sentence(words)}" for words in (item.covered, item.open) if words]
        if hop.stopped:
            lines.append(f"   - The search ended: {STOPPED[hop.stopped]}")
    return lines


def _sentence(sentence: Quoting) -> str:
    words = f" {listed([_quoted(words) for words in sentence.quoted])}" if sentence.quoted else ""
    return f"{_escaped(sentence.before)}{words}{_escaped(sentence.after)}"


def _quoted(words: str) -> str:
    return f"“{_escaped(words)}”"


def _csv(job: Job, result: ClaimResult, provenance: Provenance, by: Feedback | None) -> str:
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
        "level": result.verdict.level,
        "recipe": result.recipe,
        "judge": result.verdict.judge,
        "corpus": result.corpus_title,
        "text_date": result.corpus.text_date,
        "indexed_at": result.corpus.built_at,
        "finished_at": job.finished_at and job.finished_at.isoformat(timespec="seconds"),
        "part by part": part_by_part(result),
        "recipe_digest": result.recipe_digest,
        "esoteric_version": result.version,
        "claim_as_written": result.claim_as_written,
        "text_sentence": provenance.text_sentence,
        "link": provenance.page,
    }
    rows = [
        {
            **item.model_dump(),
            "source": result.credits.get(item.document),
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


def confirmation(given: Sequence[Feedback], asker: str | None) -> Feedback | None:
    """Return the agreement that a ClaimReview is made from: it has a name.

    ``given``: the feedback on the claim, newest first. That of the asker comes before all others.
    """
    named = [one for one in given if one.opinion.agrees and one.opinion.name]
    own = [one for one in named if asker is not None and one.owner == asker]
    return next(iter(own + named), None)


def _claim_review(
    job: Job, result: ClaimResult, provenance: Provenance, by: Feedback | None
) -> str:
    assert by is not None  # the view has checked this
    opinion = by.opinion
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
    claim: dict[str, Any] = {"@type": "Claim", "text": result.claim}
    if provenance.submitted_by not in (None, user):
        claim["contributor"] = {"@type": "Person", "name": provenance.submitted_by}
    review = {
        "@context": "https://schema.org",
        "@type": "ClaimReview",
        "url": provenance.page,
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

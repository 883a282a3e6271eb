"""A claim document as text for a terminal."""

from __future__ import annotations

import textwrap

from cli.errors import printable
from retrieval.compared import opposed
from retrieval.result import ClaimResult, Evidence
from retrieval.types import ALTERNATION, EQUIVALENCE, INDEPENDENCE, NEGATION, Label
from retrieval.words import (
    AGAINST,
    AGREE,
    BY_WHOLE,
    CANNOT_COMBINE,
    COMPUTED,
    DISAGREE,
    OCR_NOTE,
    OPERATORS,
    STANCES,
    STOPPED,
    VERDICTS,
    balance_words,
    counted,
)

WIDTH = 88
_SHOWN = 5
_MARKS = {EQUIVALENCE: "=", NEGATION: "!", ALTERNATION: "!", INDEPENDENCE: "?"}


def as_text(result: ClaimResult) -> str:
    """Return the verdict, its evidence, the proof and why the search ended."""
    verdict, selected, corpus = result.verdict, result.selected, result.corpus
    sure = _in_brackets(result.certainty)
    lines = [f"{verdict.words.upper()}{sure}: {result.claim}"]
    if result.did_you_mean is not None:
        lines += _wrapped(f"Did you mean “{result.did_you_mean}”?", "")
    if result.claim_as_written is not None:
        lines += _wrapped(f"As it was written: {result.claim_as_written}", "")
    lines += [f"Note: {notice}" for notice in result.notices_on_claim]
    lines += _missing(result)
    lines += _statements(result)
    lines += ["", balance_words(result.balance)] if selected else []
    lines += ["", *_wrapped(verdict.rationale, "")]
    for rank in [*opposed(result)][:1]:
        lines += _wrapped(f"{AGAINST}: {_named(result.evidence[rank - 1])}", "   ")
    lines += _judges(result)
    if selected:
        lines += ["", "Evidence, best first:"]
    ranked = [(rank, item) for rank, item in enumerate(result.evidence, 1) if item.selected]
    for number, (rank, item) in enumerate(ranked[:_SHOWN], start=1):
        lines += _wrapped(f"{number}. [{_stance(rank, item, result)}] {_named(item)}", "   ")
        for said in item.computed:
            lines += _wrapped(f"   {COMPUTED}: {said}", "   ")
        if item.url:
            lines.append(f"   {item.url}")
        credit = result.credits.get(item.document, "")
        if credit not in (item.url or corpus.name):
            lines.append(f"   From {credit}")
    if any(item.by_ocr for item in selected[:_SHOWN]):
        lines += ["", *_wrapped(OCR_NOTE, "")]
    proof = _proof(result)
    lines += ["", *proof] if proof else []
    lines += ["", *result.notices_on_reading] if result.notices_on_reading else []
    last = result.hops[-1]
    if last.stopped:
        lines += ["", f"The search ended after hop {last.hop}: {STOPPED[last.stopped]}."]
    seconds = result.seconds["total"]
    text_date = f"text of {corpus.text_date}, " if corpus.text_date else ""
    built = f"{text_date}built {corpus.built_at[:10]}" if corpus.built_at else "searched in place"
    documents = counted(corpus.documents, "document")
    searched = f"{result.corpus_title}, {documents}, {built}"
    lines.append(f"{searched}; recipe {result.recipe}; judged by {verdict.judge}; {seconds:.2f} s.")
    return "\n".join(printable(line) for line in lines)


def _named(item: Evidence) -> str:
    """Return the sentence after its title, with its context in brackets."""
    before, after = (
        f"[{text}]" if text else None for text in (item.context_before, item.context_after)
    )
    return " ".join(filter(None, (f"{item.reference}:", before, item.sentence, after)))


def _statements(result: ClaimResult) -> list[str]:
    """Return the verdict on each statement, where the claim makes several."""
    lines = ["", "Its statements:"] if result.statements else []
    for number, one in enumerate(result.statements, 1):
        words, sure = one.verdict.words.upper(), _in_brackets(result.certainty_of(one.verdict))
        lines += _wrapped(f"{number}. {words}{sure}: {one.text}", "   ")
    return lines


def _judges(result: ClaimResult) -> list[str]:
    """Return what each judge says, where there are two."""
    if not result.judges:
        return []
    lines = ["", f"{AGREE if result.agree else DISAGREE}:"]
    for one in result.judges:
        cites = ", ".join(str(number) for number in one.cites)
        citing = f", citing {cites}" if cites else ""
        sure = _in_brackets(result.certainty_of(one))
        head = f"- {one.judge}: {VERDICTS[one.label].lower()}{sure}{citing}. "
        missing = f" Missing: {one.missing}" if one.missing else ""
        lines += _wrapped(head + one.rationale + missing, "  ")
    return lines


def _in_brackets(words: str) -> str:
    return f" ({words})" if words else ""


def _stance(rank: int, item: Evidence, result: ClaimResult) -> str:
    said = [
        f"{_how_sure(one.stance, one.percent)} (statement {one.number})"
        for one in result.said_of_statements(rank)
    ]
    copies = [f"in {item.copies} documents"] if item.copies > 1 else []
    return ", ".join(
        [
            *(
                said
                or [_how_sure(item.shown_stance, item.percent) + " together" * item.of_the_pair]
            ),
            *copies,
        ]
    )


def _how_sure(stance: Label, percent: int | None) -> str:
    return STANCES[stance].lower() + ("" if percent is None else f", {percent}%")


def _missing(result: ClaimResult) -> list[str]:
    """Return why the claim is not decided, where it is not."""
    said = " ".join(one.text for one in result.why_not_settled)
    return _wrapped(said, "") if said else []


def _proof(result: ClaimResult) -> list[str]:
    if not result.proof_agrees:
        return []
    texts = {found.id: found for found in result.documents}
    whole = {(item.document, item.start, item.end) for item in result.evidence}
    lines = ["The proof, part by part:"]
    for part in result.proof:
        said = OPERATORS[part.operator].lower()
        finding = said if part.operator == INDEPENDENCE else f"the evidence {said}"
        line = f"{_MARKS[part.operator]} {result.words_at(part.claim_span)}: {finding}"
        if part.evidence:
            name, _, first, last = part.evidence
            words = f'"{texts[name].text[first:last]}"'
            entire = (name, first, last) in whole
            by = BY_WHOLE if entire else words
            line += f" ({by}, {texts[name].reference})"
        lines += _wrapped(line, "  ")
    operators = [part.operator for part in result.proof]
    contradicted = sum(operator in (ALTERNATION, NEGATION) for operator in operators)
    if contradicted > 1 and INDEPENDENCE not in operators and not result.statements:
        lines += _wrapped(f"More than one part is contradicted. {CANNOT_COMBINE}", "")
    return lines


def _wrapped(text: str, indent: str) -> list[str]:
    return textwrap.wrap(text, WIDTH, subsequent_indent=indent) or [""]

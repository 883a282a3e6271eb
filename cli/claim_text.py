"""A claim document as text for a terminal."""

from __future__ import annotations

import textwrap

from cli.errors import printable
from retrieval.result import ClaimResult, Evidence
from retrieval.types import ALTERNATION, INDEPENDENCE, NEGATION, NOT_ENOUGH_INFO
from retrieval.wording import (
    NOT_SETTLED,
    NOTHING_SETTLES,
    OCR_NOTE,
    STOPPED,
    VERDICTS,
    balance_words,
    verdict_words,
)

WIDTH = 88
_SHOWN = 5
_OPERATORS = {
    "equivalence": "= {}: the evidence says the same",
    "negation": "! {}: the evidence says the opposite",
    "alternation": "! {}: the evidence gives a different answer",
    "independence": "? {}: nothing found yet",
}


def as_text(result: ClaimResult) -> str:
    """Return the verdict, its evidence, the proof and why the search ended."""
    verdict, selected, corpus = result.verdict, result.selected, result.corpus
    sources = {document.id: document.credit for document in result.documents}
    words = verdict_words(verdict.label, verdict.confidence, verdict.leans).upper()
    sure = f" ({result.certainty})" if result.certainty else ""
    lines = [f"{words}{sure}: {result.claim}"]
    if result.claim_as_written is not None:
        lines += _wrapped(f"As it was written: {result.claim_as_written}", "")
    lines += [f"Note: {notice}" for notice in result.notices]
    lines += _missing(result)
    lines += _statements(result)
    lines += ["", balance_words(result.balance)] if selected else []
    lines += ["", *_wrapped(verdict.rationale, "")]
    lines += _wrapped(f"Against it: {_named(result.against)}", "   ") if result.against else []
    lines += _judges(result)
    if selected:
        lines += ["", "Evidence, best first:"]
    for number, item in enumerate(selected[:_SHOWN], start=1):
        lines += _wrapped(f"{number}. [{_stance(item)}] {_named(item)}", "   ")
        if item.url:
            lines.append(f"   {item.url}")
        credit = sources.get(item.document, "")
        if credit not in (item.url or corpus.name):
            lines.append(f"   From {credit}")
    if any(item.by_ocr for item in selected[:_SHOWN]):
        lines += ["", *_wrapped(OCR_NOTE, "")]
    lines += ["", *_proof(result)] if result.proof else []
    last = result.hops[-1]
    if last.stopped:
        lines += ["", f"The search ended after hop {last.hop}: {STOPPED[last.stopped]}."]
    seconds = result.seconds["total"]
    text_date = f"text of {corpus.text_date}, " if corpus.text_date else ""
    built = f"{text_date}built {corpus.built_at[:10]}"
    searched = f"{result.corpus_title}, {corpus.documents} documents, {built}"
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
        verdict = one.verdict
        words = verdict_words(verdict.label, verdict.confidence, verdict.leans).upper()
        decided = verdict.label != NOT_ENOUGH_INFO
        percent = f" ({verdict.confidence:.0%} confident)" if decided else ""
        lines += _wrapped(f"{number}. {words}{percent}: {one.text}", "   ")
    return lines


def _judges(result: ClaimResult) -> list[str]:
    """Return what each judge says, where there are two."""
    opinions = result.verdict.opinions
    if len(opinions) < 2:
        return []
    labels = {opinion.label for opinion in opinions}
    lines = ["", "Both judges agree:" if len(labels) == 1 else "The judges disagree:"]
    for one in opinions:
        cites = ", ".join(str(number) for number in one.cites)
        citing = f", citing {cites}" if cites else ""
        # A language model is not asked for a confidence.
        unsaid = result.by_model(one.judge) or one.label == NOT_ENOUGH_INFO
        percent = "" if unsaid else f" ({one.confidence:.0%})"
        head = f"- {one.judge}: {VERDICTS[one.label].lower()}{percent}{citing}. "
        missing = f" Missing: {one.missing}" if one.missing else ""
        lines += _wrapped(head + one.rationale + missing, "  ")
    return lines


def _stance(item: Evidence) -> str:
    settles = item.stance != NOT_ENOUGH_INFO
    stance = item.stance.lower() + (f", {item.stance_confidence:.0%}" if settles else "")
    return stance + (f", in {item.copies} documents" if item.copies > 1 else "")


def _missing(result: ClaimResult) -> list[str]:
    """Return what is missing, where the claim is not decided."""
    if result.verdict.label != NOT_ENOUGH_INFO:
        return []
    words = ", ".join(f"“{words}”" for words in result.missing)
    return _wrapped(f"{NOT_SETTLED} {NOTHING_SETTLES} {words}." if words else NOT_SETTLED, "")


def _proof(result: ClaimResult) -> list[str]:
    if result.proof_differs:
        return _wrapped(result.proof_differs, "")
    claim = result.claim
    texts = {found.id: found for found in result.documents}
    whole = {(item.document, item.start, item.end) for item in result.evidence}
    lines = ["The proof, part by part:"]
    for part in result.proof:
        start, end = part.claim_span
        line = _OPERATORS[part.operator].format(claim[start:end])
        if part.evidence:
            name, _, first, last = part.evidence
            words = f'"{texts[name].text[first:last]}"'
            entire = (name, first, last) in whole
            by = "by the title or the whole sentence" if entire else words
            line += f" ({by}, {texts[name].reference})"
        lines += _wrapped(line, "  ")
    operators = [part.operator for part in result.proof]
    contradicted = sum(operator in (ALTERNATION, NEGATION) for operator in operators)
    if contradicted > 1 and INDEPENDENCE not in operators and not result.statements:
        lines += _wrapped(
            "More than one part is contradicted. The proof cannot combine several contradictions,"
            " so the verdict is that of the evidence read as a whole.",
            "",
        )
    return lines


def _wrapped(text: str, indent: str) -> list[str]:
    return textwrap.wrap(text, WIDTH, subsequent_indent=indent) or [""]

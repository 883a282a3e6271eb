"""``esoteric check``."""

from __future__ import annotations

import json
import sys
import textwrap

import click

from cli.errors import printable, reports_errors
from retrieval.recipes import DEFAULT_RECIPE
from retrieval.types import ALTERNATION, NEGATION, EvidenceSpan, Progress, Report
from retrieval.wording import STOPPED
from settings import Settings

_WIDTH = 88
_WORDS = {
    "SUPPORTS": "SUPPORTED",
    "REFUTES": "REFUTED",
    "NOT ENOUGH INFO": "NOT ENOUGH INFORMATION",
}
_SHOWN = 5
_OPERATORS = {
    "equivalence": "= {}: the evidence says the same",
    "negation": "! {}: the evidence says the opposite",
    "alternation": "! {}: the evidence gives a different answer",
    "independence": "? {}: nothing found yet",
}


@click.command(
    "check", epilog='Example: esoteric check "Frankenstein was written by Mary Shelley."'
)
@click.argument("claim")
@click.option("--recipe", default=DEFAULT_RECIPE, show_default=True, help="See: esoteric recipes.")
@click.option("--json", "as_json", is_flag=True, help="Print the claim document and nothing else.")
@reports_errors
def command(claim: str, recipe: str, as_json: bool) -> None:
    """Check one claim and print the verdict with its evidence."""
    from retrieval.claim import read_claim
    from retrieval.recipes import recipe_named

    # Wrong input is answered before the models take their seconds to load.
    recipe_named(recipe)
    read_claim(claim)

    from retrieval.assembly import open_retriever
    from retrieval.document import claim_document
    from retrieval.models import ModelFolders

    settings = Settings.from_environment()
    quiet = as_json or not sys.stderr.isatty()
    folders = ModelFolders(settings.packaged_models, settings.bart)
    retriever = open_retriever(settings.index, settings.threads, folders)
    report = retriever.check(claim, recipe, _ignore if quiet else _show_progress)
    if as_json:
        # JSON is UTF-8, whatever the terminal is.
        click.echo(json.dumps(claim_document(report), ensure_ascii=False).encode())
    else:
        click.echo(as_text(report))


def _ignore(progress: Progress) -> None:
    pass


def _show_progress(progress: Progress) -> None:
    percent = 100 * progress.done // progress.of
    line = printable(f"{percent:3}% {progress.stage}: {progress.message}")
    click.echo("\r\x1b[K" + ("" if progress.stage == "done" else line[:_WIDTH]), nl=False, err=True)


def as_text(report: Report) -> str:
    """Return the verdict, its evidence, the proof and why the search ended, for a terminal."""
    verdict = report.verdict
    selected = [item for item in report.evidence if item.selected]
    lines = [f"{_WORDS[verdict.label]}{_how_sure(report) if selected else ''}: {report.claim}"]
    lines += [f"Note: {notice}" for notice in report.notices]
    lines += ["", *_wrapped(verdict.rationale, "")]
    if selected:
        lines += ["", "Evidence, best first:"]
    for number, item in enumerate(selected[:_SHOWN], start=1):
        head = f"{number}. [{item.stance.lower()}, relevance {item.score:.2f}] {item.title}: "
        lines += _wrapped(head + item.sentence.text, "   ")
        if item.url:
            lines.append(f"   {item.url}")
    lines += ["", *_proof(report)] if report.proof else []
    last = report.hops[-1]
    assert last.stopped is not None  # only the last one tells
    lines += ["", f"The search ended after round {last.hop}: {STOPPED[last.stopped]}."]
    corpus, seconds = report.corpus, report.seconds["total"]
    built = corpus.built_at[:10]
    searched = f"{corpus.name}, {corpus.documents} documents, built {built}"
    lines.append(f"{searched}; judged by {verdict.judge}; {seconds:.2f} s.")
    return "\n".join(printable(line) for line in lines)


def _how_sure(report: Report) -> str:
    sure = f"{report.verdict.confidence:.0%} confident"
    if report.proof is not None and report.proof.label != report.verdict.label:
        sure += ", lowered because the proof below does not agree"
    return f" ({sure})"


def _proof(report: Report) -> list[str]:
    assert report.proof is not None  # the caller has looked
    texts = {ranked.document.id: ranked.document for ranked in report.documents}
    whole = {
        EvidenceSpan(item.key, item.sentence.start, item.sentence.end) for item in report.evidence
    }
    lines = ["The proof, part by part:"]
    for mutation in report.proof.mutations:
        line = _OPERATORS[mutation.operator].format(report.claim[mutation.start : mutation.end])
        span = mutation.evidence
        if span is not None:
            document = texts[span.key.document_id]
            words = f'"{document.text[span.start : span.end]}"'
            by = "by the title or the whole sentence" if span in whole else words
            line += f" ({by}, {document.title})"
        lines += _wrapped(line, "  ")
    contradicted = [m for m in report.proof.mutations if m.operator in (ALTERNATION, NEGATION)]
    if report.proof.sufficient and len(contradicted) > 1:
        lines += _wrapped(
            "More than one part is contradicted. What that comes to, the proof cannot tell, so the"
            " verdict follows the evidence read as a whole.",
            "",
        )
    return lines


def _wrapped(text: str, indent: str) -> list[str]:
    return textwrap.wrap(text, _WIDTH, subsequent_indent=indent) or [""]

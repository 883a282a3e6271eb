"""``esoteric check``."""

from __future__ import annotations

import json
import sys
import textwrap
from typing import TYPE_CHECKING

import click

from cli.errors import printable, reports_errors
from retrieval.recipes import DEFAULT_RECIPE
from settings import Settings

if TYPE_CHECKING:
    from retrieval.types import Progress, Report

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
    "alternation": "! {}: the evidence says something else",
    "independence": "? {}: nothing was found",
}
_STOPPED = {
    "proved": "every part of the claim is covered",
    "decided": "the evidence was enough to decide",
    "unchanged": "the best sentences no longer changed",
    "nothing new": "nothing new was found",
    "hops": "the limit of rounds was reached",
    "time": "the time allowed was used up",
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
    from retrieval.models import AddedModels

    settings = Settings.from_environment()
    quiet = as_json or not sys.stderr.isatty()
    added = AddedModels(settings.verifier_base, settings.bart)
    retriever = open_retriever(settings.index, settings.threads, added)
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
    how_sure = f" ({verdict.confidence:.0%} confident)" if report.evidence else ""
    lines = [f"{_WORDS[verdict.label]}{how_sure}: {report.claim}"]
    lines += [f"Note: {notice}" for notice in report.notices]
    lines += ["", *_wrapped(verdict.rationale, "")]
    selected = [item for item in report.evidence if item.selected][:_SHOWN]
    if selected:
        lines += ["", "Evidence, best first:"]
    for number, item in enumerate(selected, start=1):
        head = f"{number}. [{item.stance.lower()}, relevance {item.score:.2f}] {item.title}: "
        lines += _wrapped(head + item.sentence.text, "   ")
        if item.url:
            lines.append(f"   {item.url}")
    lines += ["", *_proof(report)] if report.proof else []
    last = report.hops[-1]
    assert last.stopped is not None  # only the last one tells
    lines += ["", f"The search ended after round {last.hop}: {_STOPPED[last.stopped]}."]
    corpus, seconds = report.corpus, report.seconds["total"]
    built = corpus.built_at[:10]
    searched = f"{corpus.name}, {corpus.documents} documents, built {built}"
    lines.append(f"{searched}; judged by {verdict.judge}; {seconds:.2f} s.")
    return "\n".join(printable(line) for line in lines)


def _proof(report: Report) -> list[str]:
    assert report.proof is not None  # the caller has looked
    texts = {ranked.document.id: ranked.document for ranked in report.documents}
    lines = ["The claim, part by part:"]
    for mutation in report.proof.mutations:
        line = _OPERATORS[mutation.operator].format(report.claim[mutation.start : mutation.end])
        span = mutation.evidence
        if span is not None:
            document = texts[span.key.document_id]
            line += f' ("{document.text[span.start : span.end]}", {document.title})'
        lines += _wrapped(line, "  ")
    if report.proof.label != report.verdict.label:
        lines += _wrapped(
            f"These parts alone would come to: {_WORDS[report.proof.label]}. The verdict follows"
            " the sentences read together.",
            "",
        )
    return lines


def _wrapped(text: str, indent: str) -> list[str]:
    return textwrap.wrap(text, _WIDTH, subsequent_indent=indent) or [""]

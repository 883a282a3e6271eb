"""A comparison as a file: JSON, CSV, a LaTeX table, and runs for ``trec_eval``."""

from __future__ import annotations

import io
import json
import re
import unicodedata
import zipfile
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from operator import itemgetter
from textwrap import shorten

from app.comparisons.comparison import ComparedClaim, Comparison, Found, Run
from app.comparisons.measured import Accuracy
from app.filters import only_here
from app.result.export import csv_table
from retrieval.result import ClaimResult
from retrieval.types import LABELS, NOT_ENOUGH_INFO
from retrieval.words import VERDICTS, counted
from worker.jobs import Job

_ABOUT = (
    *("claim", "recipe", "state", "verdict", "level", "confidence", "leans", "judge", "hops"),
    *("documents", "seconds", "corpus", "corpus_documents", "built_at", "text_date"),
    *("finished_at", "id", "error"),
)
_MADE_BY = ("language_model", "recipe_digest", "esoteric_version")
_FOUND = (
    *("rank", "used", "document", "sentence_id", "title", "sentence", "url"),
    *("stance", "stance_confidence", "score", "hop", "found_by"),
)
# New columns come last: programs may count them.
_COLUMNS = (*_ABOUT, *_FOUND, *_MADE_BY, "gold", "kind")
_LATEX = {
    "\\": r"\textbackslash{}",
    "{": r"\{",
    "}": r"\}",
    "~": r"\textasciitilde{}",
    "^": r"\textasciicircum{}",
    "<": r"\textless{}",
    ">": r"\textgreater{}",
    "|": r"\textbar{}",
    # Some packages give these two a meaning; the codes do not depend on the font's encoding.
    '"': r"{\char34}",
    "`": r"{\char96}",
    # After the end of a row these would be read as its options.
    "[": "{[}",
    "*": "{*}",
    **{sign: f"\\{sign}" for sign in "&%$#_"},
}
# Several of these would be set as a dash, or as a quotation mark.
_APART = {"-": "{-}", "'": r"{\char39}"}
_LIGATURES = re.compile("--+|''+")
_NONE = "--"
_WIDTH = 90  # characters
# Programs that read runs split lines at spaces.
_SPACE = re.compile(r"[\s%]")


# What the files of a zip for TREC are.
_IN_ZIP = (
    "TREC is the Text Retrieval Conference, whose formats trec_eval and similar programs read.",
    "topics.tsv: the number and the text of each claim.",
    "RECIPE/documents.run and RECIPE/sentences.run: what the recipe found, best first.",
    "RECIPE/scores: the same, ordered by the scores of the models.",
)
_QRELS = (
    "qrels: the right documents and sentences, of {known} of {all} claims; trec_eval reads them"
    " beside the runs."
)
_NO_QRELS = (
    "No qrels: no right documents or sentences are known for these claims. They can come in the"
    " file of the claims, in a column evidence: [[[document, sentence number], ...], ...]."
)


@dataclass(frozen=True, slots=True)
class ComparisonFile:
    """A file format; ``write`` takes the comparison, its jobs, and the address of its page."""

    name: str
    media_type: str
    write: Callable[[Comparison, Sequence[Job], str], str | bytes]


def _json(comparison: Comparison, jobs: Sequence[Job], page: str) -> str:
    return json.dumps(comparison.model_dump(mode="json"), ensure_ascii=False, indent=2) + "\n"


def _csv(comparison: Comparison, jobs: Sequence[Job], page: str) -> str:
    """A row for each sentence that a recipe found; a check without any has one row."""
    rows = (
        _about(claim, run) | row
        for claim in comparison.claims
        for recipe, run in claim.runs.items()
        for row in _found(claim, recipe) or [{}]
    )
    return "".join(csv_table(_COLUMNS, rows))


def _about(claim: ComparedClaim, run: Run) -> dict[str, object]:
    corpus = run.corpus
    return {
        "claim": claim.claim,
        "recipe": run.recipe,
        "state": run.state,
        "verdict": run.label,
        "level": run.verdict and run.verdict.level,
        # A cell without the page around it would read as a certainty.
        "confidence": None if run.label == NOT_ENOUGH_INFO else run.confidence,
        "leans": run.leans,
        "judge": run.judge,
        "hops": run.hops,
        "documents": run.documents,
        "seconds": run.seconds,
        "corpus": corpus and corpus.title,
        "corpus_documents": corpus and corpus.documents,
        "built_at": corpus and corpus.built_at,
        "text_date": corpus and corpus.text_date,
        "finished_at": run.finished_at and run.finished_at.isoformat(timespec="seconds"),
        "id": run.id,
        "error": run.error and f"{run.error.message} {run.error.hint}",
        "language_model": run.language_model,
        "recipe_digest": run.recipe_digest,
        "esoteric_version": run.version,
        "gold": claim.gold,
        "kind": claim.kind,
    }


def _found(claim: ComparedClaim, recipe: str) -> list[dict[str, object]]:
    """Return what a recipe found, best first."""
    rows = [
        {
            **found.model_dump(exclude={"found_by"}),
            "found_by": ";".join(found.found_by),
            **sentence.model_dump(exclude={"found"}),
        }
        for sentence in claim.sentences
        if (found := sentence.found.get(recipe))
    ]
    return sorted(rows, key=itemgetter("rank"))


def _made_by(comparison: Comparison) -> Iterator[str]:
    """Yield what somebody needs to check the claims again: versions, recipes, models, corpora.

    The version of a recipe is the digest of its stages and settings.
    """
    done = [run for run in comparison.runs if run.label]
    of = f"of {len(comparison.runs)} checks"
    if comparison.pending:
        yield f"{comparison.pending} {of} had not ended"
    if comparison.stopped:
        yield f"{comparison.stopped} {of} were not made, because they were stopped"
    for version in _distinct(run.version for run in done):
        yield f"Checked by ESOTERIC {version}"
    for recipe in comparison.recipes:
        runs = [run for run in done if run.recipe == recipe]
        if not runs:
            continue
        digests = " and ".join(_distinct(run.recipe_digest for run in runs))
        judges = " and ".join(_distinct(run.judge for run in runs))
        models = " and ".join(_distinct(run.language_model for run in runs))
        ended = [run.finished_at for run in runs if run.finished_at]
        days = " to ".join(_distinct(at.date().isoformat() for at in (min(ended), max(ended))))
        yield (
            f"Recipe {recipe}: version {digests or 'not known'}; verdicts by {judges};"
            f" language model: {models or 'none'}; checked on {days}"
        )
    searched = dict.fromkeys(run.corpus for run in done if run.corpus)
    for corpus in sorted(searched, key=lambda one: one.built_at):
        text = f", text of {corpus.text_date}" if corpus.text_date else ""
        built = f", indexed {corpus.built_at}" if corpus.built_at else ""
        yield f"Corpus: {corpus.title}, {counted(corpus.documents, 'document')}{text}{built}"


def _distinct(texts: Iterable[str | None]) -> list[str]:
    return list(dict.fromkeys(filter(None, texts)))


# LaTeX


def _latex(comparison: Comparison, jobs: Sequence[Job], page: str) -> str:
    """One claim as the table of its sentences, several as a table of verdicts."""
    body = _of_one if len(comparison.claims) == 1 else _of_several
    columns = "c" * len(comparison.recipes)
    lines = [
        f"% {_line(page)}{only_here(page)}",
        *(f"% {_line(note)}" for note in _remarks(comparison)),
        rf"\begin{{tabular}}{{p{{0.4\linewidth}}{columns}}}",
        r"\toprule",
        _row("", *map(_escaped, comparison.recipes)),
        r"\midrule",
        *body(comparison),
        r"\bottomrule",
        r"\end{tabular}",
        "",
    ]
    return "\n".join(lines)


def _remarks(comparison: Comparison) -> Iterator[str]:
    if len(comparison.claims) == 1:
        yield f"Claim: {comparison.claims[0].claim}"
        yield "Ranks of sentences in the evidence of each recipe; bold: the verdict rests on it."
    else:
        yield "S: supported, R: refuted, N: not settled; with the confidence."
    yield from _made_by(comparison)
    yield from comparison.notes
    yield "Needs booktabs; for scripts that are not Latin also LuaLaTeX or XeLaTeX."


def _of_one(comparison: Comparison) -> Iterator[str]:
    (claim,) = comparison.claims
    runs = [claim.runs[recipe] for recipe in comparison.recipes]
    for head, values in (
        ("Verdict", [_verdict(run) for run in runs]),
        ("Confidence", [_confidence(run) for run in runs]),
        ("Hops", [run.hops for run in runs]),
        ("Documents", [run.documents for run in runs]),
        ("Seconds", [None if run.seconds is None else f"{run.seconds:.1f}" for run in runs]),
    ):
        yield _row(head, *(_NONE if value is None else str(value) for value in values))
    if claim.sentences:
        yield r"\midrule"
    for sentence in claim.sentences:
        cells = [_rank(sentence.found.get(recipe)) for recipe in comparison.recipes]
        yield _row(_escaped(_begin(f"{sentence.title}: {sentence.sentence}")), *cells)


def _of_several(comparison: Comparison) -> Iterator[str]:
    for claim in comparison.claims:
        runs = [claim.runs.get(recipe) for recipe in comparison.recipes]
        said = f"{claim.claim} ({claim.corpus})" if comparison.corpora > 1 else claim.claim
        yield _row(_escaped(_begin(said)), *map(_short, runs))
    yield r"\midrule"
    counts = [comparison.counts(recipe) for recipe in comparison.recipes]
    for label in LABELS:
        yield _row(VERDICTS[label], *(str(count[label]) for count in counts))
    yield r"\midrule"
    agreement = comparison.agreement
    for group in comparison.measured:
        cells = (_share(group.accuracies.get(recipe)) for recipe in comparison.recipes)
        said = f"Right, {group.kind or 'all'} ({counted(group.claims, 'claim')})"
        yield _row(_escaped(_begin(said)), *cells)
    lines = [f"All recipes agree on {agreement.same} of {agreement.claims} claims"]
    for pair in agreement.pairs:
        beyond = _NONE if pair.kappa is None else f"{pair.kappa:.2f}"
        lines.append(f"{pair.first} and {pair.second}: kappa {beyond}")
    for one in comparison.measured[0].differences if comparison.measured else ():
        either = (
            f"only {one.first} is right on {one.only_first}, only {one.second} on {one.only_second}"
        )
        lines.append(f"{either}, McNemar p = {one.p:.3f}")
    for line in lines:
        yield rf"\multicolumn{{{len(comparison.recipes) + 1}}}{{l}}{{{_escaped(line)}}} \\"


def _share(found: Accuracy | None) -> str:
    if found is None:
        return _NONE
    low, high = (f"{100 * end:.0f}" for end in found.interval)
    return f"{100 * found.share:.1f} ({low} to {high})"


def _verdict(run: Run) -> str:
    return VERDICTS[run.label] if run.label else run.badge.word


def _confidence(run: Run) -> str | None:
    return None if run.percent is None else f"{run.confidence:.2f}"


def _short(run: Run | None) -> str:
    """Return a verdict in one letter, with its confidence."""
    if run is None or run.label is None:
        return _NONE
    return " ".join(filter(None, (VERDICTS[run.label][0], _confidence(run))))


def _begin(text: str) -> str:
    """Return the words of a text that fit a table; the other formats have all of it."""
    return shorten(text, _WIDTH, placeholder=" …")


def _rank(found: Found | None) -> str:
    if found is None:
        return _NONE
    return rf"\textbf{{{found.rank}}}" if found.used else str(found.rank)


def _row(*cells: str) -> str:
    return " & ".join(cells) + r" \\"


def _escaped(text: str) -> str:
    """Return the text on one line, so that LaTeX sets it unchanged."""
    escaped = "".join(_LATEX.get(character, character) for character in _line(text))
    return _LIGATURES.sub(lambda found: _APART[found[0][0]] * len(found[0]), escaped)


def _line(text: str) -> str:
    """Return the text on one line, without control characters, which LaTeX refuses."""
    return "".join(one for one in " ".join(text.split()) if unicodedata.category(one) != "Cc")


# TREC


def _trec(comparison: Comparison, jobs: Sequence[Job], page: str) -> bytes:
    """A zip with ``topics.tsv``, and for each recipe the runs of its documents and sentences.

    ``qrels`` has the right documents and sentences of the claims for which they are known.

    Programs that read runs sort by the score, so it decreases with the rank; the runs in
    ``scores`` have those of the models, by which a sentence that completes another may come later
    than in the evidence. What the runs
    were made by has a file of its own: ``trec_eval`` before version 10 takes a comment in a run for
    a line of it, or refuses the run. The last field of a line stays the name of the recipe, which
    tables of results show.
    """
    numbered = list(enumerate(comparison.claims, 1))
    results = {job.id: job.result for job in jobs if job.result}
    files = {"topics.tsv": "".join(f"{number}\t{claim.claim}\n" for number, claim in numbered)}
    right = {number: claim.gold_evidence for number, claim in numbered if claim.gold_evidence}
    known = _QRELS.format(known=len(right), all=len(numbered)) if right else _NO_QRELS
    about = (f"{page}{only_here(page)}", *_IN_ZIP, known, *_made_by(comparison), *comparison.notes)
    files["about.txt"] = "".join(f"{_line(one)}\n" for one in about)
    if right:
        files["qrels/documents.qrels"] = _qrels(
            (topic, document) for topic, of in right.items() for document, _ in of
        )
        files["qrels/sentences.qrels"] = _qrels(
            (topic, _sentence(*one)) for topic, of in right.items() for one in of
        )
    for recipe in comparison.recipes:
        done = [
            (number, results[run.id])
            for number, claim in numbered
            if (run := claim.runs.get(recipe)) and run.id in results
        ]
        for name, scored in (("documents", _documents), ("sentences", _evidence)):
            runs = [_lines(number, scored(result), recipe) for number, result in done]
            files[f"{recipe}/{name}.run"] = "".join(ranked for ranked, _ in runs)
            files[f"{recipe}/scores/{name}.run"] = "".join(by_score for _, by_score in runs)
    zipped = io.BytesIO()
    with zipfile.ZipFile(zipped, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in files.items():
            archive.writestr(name, content)
    return zipped.getvalue()


def _documents(result: ClaimResult) -> list[tuple[str, float]]:
    return [(document.id, document.score) for document in result.documents]


def _evidence(result: ClaimResult) -> list[tuple[str, float]]:
    return [(_sentence(item.document, item.sentence_id), item.score) for item in result.evidence]


def _sentence(document: str, number: int) -> str:
    return f"{document}#{number}"


def _qrels(right: Iterable[tuple[int, str]]) -> str:
    """Return the lines of what is right, by the numbers of topics."""
    lines = (f"{topic} 0 {_without_spaces(name)} 1\n" for topic, name in right)
    return "".join(dict.fromkeys(lines))


def _lines(topic: int, scored: Sequence[tuple[str, float]], tag: str) -> tuple[str, str]:
    """Return the lines of a topic with scores that count down, and with those of the models."""
    first: dict[str, float] = {}
    for name, score in scored:
        first.setdefault(_without_spaces(name), score)
    ranked = [
        f"{topic} Q0 {name} {rank} {len(first) - rank + 1} {tag}\n"
        for rank, name in enumerate(first, 1)
    ]
    best_first = sorted(first, key=lambda name: -first[name])
    by_score = [
        f"{topic} Q0 {name} {rank} {first[name]} {tag}\n" for rank, name in enumerate(best_first, 1)
    ]
    return "".join(ranked), "".join(by_score)


def _without_spaces(name: str) -> str:
    """Return an id without spaces, which are escaped as in addresses."""
    return _SPACE.sub(lambda space: "".join(f"%{byte:02X}" for byte in space[0].encode()), name)


FILES: dict[str, ComparisonFile] = {
    "csv": ComparisonFile("comparison.csv", "text/csv", _csv),
    "latex": ComparisonFile("comparison.tex", "application/x-tex", _latex),
    "trec": ComparisonFile("comparison-trec.zip", "application/zip", _trec),
    "json": ComparisonFile("comparison.json", "application/json", _json),
}

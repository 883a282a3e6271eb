"""``esoteric evaluate``: runs all systems on all claims, then measures and reports."""

from __future__ import annotations

import json
import math
import unicodedata
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict
from functools import partial
from itertools import combinations
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from research.evaluation.claims import FeverClaim, read_fever_claims
from research.evaluation.measures.esoteric_table import esoteric_table, searches_of
from research.evaluation.measures.scores import (
    FIGURES,
    accuracy_of_most_confident,
    calibration_error,
    confidence_intervals,
    figures_of,
    mean_hops,
    paired_p_values,
    reliability,
    score_matrix,
    sufficiency,
)
from research.evaluation.plots import draw
from research.evaluation.provenance import Evaluation, Provenance, claim_folder, provenance_of
from research.evaluation.report import latex_of, report_of
from research.evaluation.run import Answer, SystemOutcome, has_answered, run_system, write_relevance
from research.evaluation.systems import (
    BASELINES,
    Bench,
    any_reads_report_models,
    folders_used,
    open_system,
    recipe_of,
    system_names,
    with_kept,
)
from retrieval.corpora.wiki.fever import FeverCorpus
from retrieval.errors import BadSource, IndexUnavailable
from retrieval.index.embedded.embedded_index import EmbeddedIndex
from retrieval.index.interface import BuildProgress, DocumentStore, Index, IndexInfo
from retrieval.models.document_encoders import DOCUMENT_ENCODERS
from retrieval.models.encoders import DocumentEncoder
from retrieval.models.folders import ModelFolders
from retrieval.models.packaged import mpnet_folder
from retrieval.models.papers.report_models import REPORT_MODELS, present_models
from retrieval.models.papers.report_networks import ReportNetwork
from retrieval.models.shipped import RELEVANCE_MODEL, VERIFIER, judge_name, reading_models
from retrieval.models.trained_model import read_config, version_of
from retrieval.recipes.recipes import Recipe
from retrieval.system.files import digest_of
from retrieval.system.processes import processes_for
from retrieval.types import LABELS, Document


def evaluate(
    evaluation: Evaluation,
    wiki_pages: Path,
    vectors: str,
    indexes: Path,
    on_pages: Callable[[BuildProgress], None],
    on_claims: Callable[[str, int, int], None],
) -> dict[str, Any]:
    """Measure, write all files below ``out`` and return the content of ``results.json``.

    ``vectors``: the encoder of the pages. ``indexes``: the folder with an index for each set of
    pages. ``on_pages`` receives the progress of the index, ``on_claims`` the system, the
    number of claims done and of all claims. After an interruption, the same evaluation
    continues where it stopped. Systems that answered all these claims before stay in
    the results.

    Raises:
        BadSource: pages or claims cannot be read or do not belong together, or
            ``out`` contains other results.
        ModelUnavailable: a model is missing.
    """
    claims = evaluation.choice.of(read_fever_claims(evaluation.claims), evaluation.claims)
    corpus = FeverCorpus(wiki_pages)
    if evaluation.folders.verifier is None:
        mpnet_folder(evaluation.folders.unpacked)  # a missing model is reported before indexing
    encoder = DOCUMENT_ENCODERS[vectors](evaluation.folders)
    provenance = provenance_of(
        corpus.fingerprint(),
        digest_of(evaluation.claims),
        folders_used(evaluation.systems, evaluation.folders, evaluation.own),
        encoder.name,
    )
    claim_folder(evaluation.out, provenance)
    index = index_of(corpus, vectors, indexes)
    store = indexed(corpus, EmbeddedIndex(index, evaluation.threads), encoder, on_pages)
    _check_evidence(claims, store)

    own = with_kept(evaluation.out, evaluation.own, evaluation.systems)
    bench = Bench(index, indexes, evaluation.folders, own=own)
    outcomes: dict[str, SystemOutcome] = {}
    shown = _shown(evaluation, claims, own)
    for name in shown:
        outcomes[name] = run_system(
            partial(open_system, name, bench),
            name,
            claims,
            evaluation.out / name,
            processes_for(len(claims), evaluation.threads),
            lambda done, name=name: on_claims(name, done, len(claims)),  # type: ignore[misc]
        )
    data = _described(evaluation, claims, store.info(), provenance)
    data |= {
        "models": _models_of(shown, evaluation.folders, own),
        "provenance": asdict(provenance),
        "command": evaluation.command,
    }
    results = results_of(claims, outcomes, data)
    _write(evaluation, claims, results)
    return results


def _shown(
    evaluation: Evaluation, claims: Sequence[FeverClaim], own: Mapping[str, Recipe]
) -> list[str]:
    """Return the systems of the report: the requested ones, and others with all answers."""
    return [
        name
        for name in dict.fromkeys((*system_names(), *own))
        if name in evaluation.systems or has_answered(evaluation.out / name, claims)
    ]


def _models_of(
    systems: Sequence[str], models: ModelFolders, own: Mapping[str, Recipe]
) -> list[str]:
    """Return the names of all models that choose or label a system's evidence.

    Of the recipe ``report`` these are all models of the report, as the lock has them.
    """
    folders = [
        folder
        for name in systems
        for folder in ([VERIFIER] if name in BASELINES else reading_models(recipe_of(name, own)))
    ]
    names = [_version(folder, models) for folder in dict.fromkeys(folders)]
    if any_reads_report_models(systems, own):
        folder = present_models(models.report)
        names += [ReportNetwork(folder, published).version for published in REPORT_MODELS]
    return names


def _version(folder: Path, models: ModelFolders) -> str:
    """Return the version of a shipped model, or of the user's in its place."""
    if folder == VERIFIER:
        return judge_name(models)
    if folder == RELEVANCE_MODEL and models.reranker is not None:
        return models.reranker.version()
    return version_of(read_config(folder))


def index_of(corpus: FeverCorpus, vectors: str, indexes: Path) -> Path:
    """Return the folder below ``indexes`` for these pages and vectors."""
    return indexes / f"{corpus.fingerprint()[:16]}-{vectors}"


def indexed(
    corpus: FeverCorpus,
    index: Index,
    encoder: DocumentEncoder,
    on_pages: Callable[[BuildProgress], None],
) -> DocumentStore:
    """Return the index of the pages; missing parts are built.

    Raises:
        BadSource: the pages cannot be read.
    """
    try:
        store = index.open(encoder.query_encoder)
    except IndexUnavailable:
        index.build(corpus, encoder, on_pages)
        return index.open(encoder.query_encoder)
    if store.info().encoder != encoder.name:
        index.encode(encoder, on_pages)
        return index.open(encoder.query_encoder)
    return store


def _check_evidence(claims: Sequence[FeverClaim], store: DocumentStore) -> None:
    """Raise ``BadSource`` if the page or the sentence of some evidence does not exist."""
    sentences: dict[str, set[int]] = {}
    for claim in claims:
        for page, number in sorted(claim.gold):
            if page not in sentences:
                found = _found(store, page) or _found(store, unicodedata.normalize("NFD", page))
                if found is None:
                    raise _missing(claim, f"the page {page!r}")
                sentences[page] = {sentence.sentence_id for sentence in found.sentences}
            if number not in sentences[page]:
                raise _missing(claim, f"sentence {number} of the page {page!r}")


def _found(store: DocumentStore, page: str) -> Document | None:
    try:
        return store.documents([page])[0]
    except IndexUnavailable:
        return None


def _missing(claim: FeverClaim, what: str) -> BadSource:
    return BadSource(
        "bad_claims",
        f"{claim.where}: its evidence is {what}, which is not in the wiki pages.",
        "Give the wiki pages on which the claims were annotated, or remove that line.",
    )


def _described(
    evaluation: Evaluation,
    claims: Sequence[FeverClaim],
    info: IndexInfo,
    provenance: Provenance,
) -> dict[str, Any]:
    labels = Counter(claim.label for claim in claims)
    return {
        "claims": {
            "file": evaluation.claims.name,
            "sha256": provenance.claims,
            "choice": evaluation.choice.described(),
            "count": len(claims),
            "labels": {label: labels[label] for label in LABELS},
            "multi_page": sum(claim.needs_several_pages for claim in claims),
        },
        "wiki_pages": {
            "documents": info.documents,
            "sentences": info.sentences,
            "sha256": provenance.wiki_pages,
        },
    }


def _write(
    evaluation: Evaluation, claims: Sequence[FeverClaim], results: Mapping[str, Any]
) -> None:
    out = evaluation.out
    write_relevance(out, claims)
    plots = draw(dict(results), out)
    text = json.dumps(results, indent=1, ensure_ascii=False, allow_nan=False)
    (out / "results.json").write_text(text + "\n", encoding="utf-8")
    (out / "report.md").write_text(report_of(results, plots), encoding="utf-8")
    (out / "table.tex").write_text(latex_of(results), encoding="utf-8")


MOST_CONFIDENT = 0.8  # the share that remains without the least confident fifth
# The claims of each subset; undecided claims are in neither, because they need no page.
SUBSETS: dict[str, Callable[[FeverClaim], bool]] = {
    "single_page": lambda claim: bool(claim.evidence) and not claim.needs_several_pages,
    "multi_page": lambda claim: claim.needs_several_pages,
}


def results_of(
    claims: Sequence[FeverClaim], outcomes: Mapping[str, SystemOutcome], data: dict[str, Any]
) -> dict[str, Any]:
    """Return the content of ``results.json``; ``data``: what it was measured on.

    Figures are 0..1, ``None`` if no claim counts for them. Claims that crashed are
    in no figure.
    """
    by_id = {claim.id: claim for claim in claims}
    return {
        "data": data,
        "recipes": {name: _recipe(by_id, outcome) for name, outcome in outcomes.items()},
        "comparisons": [
            _comparison(by_id, first, second, outcomes)
            for first, second in combinations(outcomes, 2)
        ],
    }


def _recipe(claims: Mapping[int, FeverClaim], outcome: SystemOutcome) -> dict[str, Any]:
    asked = [claims[prediction.claim_id] for prediction in outcome.predictions]
    answers = [prediction.answer for prediction in outcome.predictions]
    summary: dict[str, Any] = {
        "claims": len(claims),
        "answered": len(answers),
        "crashes": [asdict(crash) for crash in outcome.crashes],
    }
    if not answers:
        return summary
    scores = score_matrix(asked, answers)
    return summary | {
        **_figures(scores, asked),
        "subsets": {
            name: _figures(
                scores[[belongs(claim) for claim in asked]],
                [claim for claim in asked if belongs(claim)],
            )
            for name, belongs in SUBSETS.items()
        },
        "confusion": {
            gold: {
                label: sum(
                    claim.label == gold and answer.label == label
                    for claim, answer in zip(asked, answers, strict=True)
                )
                for label in LABELS
            }
            for gold in LABELS
        },
        "calibration": _calibration(asked, answers),
        "esoteric_table": esoteric_table(searches_of(asked, answers)),
        "hops": _hops(asked, answers),
        "seconds": _seconds(answers),
    }


def _figures(scores: NDArray[np.float64], claims: Sequence[FeverClaim]) -> dict[str, Any]:
    if not len(scores):
        return {"claims": 0, "figures": {}, "intervals": {}}
    intervals = confidence_intervals(scores, [claim.group for claim in claims])
    return {
        "claims": len(scores),
        "figures": dict(zip(FIGURES, map(_number, figures_of(scores)), strict=True)),
        "intervals": {
            name: [_number(low), _number(high)]
            for name, (low, high) in zip(FIGURES, intervals, strict=True)
        },
    }


def _calibration(claims: Sequence[FeverClaim], answers: Sequence[Answer]) -> dict[str, Any]:
    confidence = np.array([answer.confidence for answer in answers])
    right = np.array([a.label == c.label for c, a in zip(claims, answers, strict=True)])
    most_confident = accuracy_of_most_confident(confidence, right, MOST_CONFIDENT)
    return {
        "error": calibration_error(confidence, right),
        "bins": [asdict(part) for part in reliability(confidence, right)],
        "accuracy_of_the_surest": most_confident,
        "gain_of_leaving_out": most_confident - float(right.mean()),
    }


def _hops(claims: Sequence[FeverClaim], answers: Sequence[Answer]) -> dict[str, Any]:
    known = sufficiency(claims, answers)
    several = [a for c, a in zip(claims, answers, strict=True) if c.needs_several_pages]
    return {
        "mean": mean_hops(answers),
        "mean_multi_page": mean_hops(several),
        "insufficiency": asdict(known) if known else None,
    }


def _seconds(answers: Sequence[Answer]) -> dict[str, dict[str, float]]:
    stages = dict.fromkeys(stage for answer in answers for stage in answer.seconds)
    return {
        stage: {
            "mean": float(spent.mean()),
            "median": float(np.median(spent)),
            "p95": float(np.quantile(spent, 0.95)),
        }
        for stage in stages
        for spent in [np.array([answer.seconds.get(stage, 0.0) for answer in answers])]
    }


def _comparison(
    claims: Mapping[int, FeverClaim],
    first: str,
    second: str,
    outcomes: Mapping[str, SystemOutcome],
) -> dict[str, Any]:
    answers = [
        {p.claim_id: p.answer for p in outcomes[name].predictions} for name in (first, second)
    ]
    both = [number for number in claims if all(number in answered for answered in answers)]
    summary: dict[str, Any] = {"first": first, "second": second, "claims": len(both)}
    if not both:
        return summary
    asked = [claims[number] for number in both]
    one, other = (
        score_matrix(asked, [answered[number] for number in both]) for answered in answers
    )
    differences = figures_of(one) - figures_of(other)
    chances = paired_p_values(one, other, [claim.group for claim in asked])
    return summary | {
        "differences": dict(zip(FIGURES, map(_number, differences), strict=True)),
        "p_values": dict(zip(FIGURES, map(_number, chances), strict=True)),
    }


def _number(value: float) -> float | None:
    return None if math.isnan(value) else float(value)

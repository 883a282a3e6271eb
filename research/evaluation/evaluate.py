"""``esoteric evaluate``: runs all systems on all claims, then measures and reports."""

from __future__ import annotations

import json
import unicodedata
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from functools import partial
from pathlib import Path
from typing import Any

from research.evaluation.choice import Choice
from research.evaluation.claims import FeverClaim, read_fever_claims
from research.evaluation.plots import draw
from research.evaluation.provenance import Provenance, claim_folder, provenance_of
from research.evaluation.report import report_of
from research.evaluation.results import results_of
from research.evaluation.run import SystemOutcome, has_answered, run_system, write_relevance
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
from research.evaluation.tables import latex_of
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


@dataclass(frozen=True, slots=True)
class Evaluation:
    """The claims, pages and systems to measure; ``command`` is shown in the report.

    ``choice``: which of the claims are asked. ``vectors``: the encoder of the pages. ``indexes``:
    the folder with an index for each set of pages. ``own``: recipes from files, by their names,
    which ``systems`` names too.
    """

    wiki_pages: Path
    claims: Path
    out: Path
    systems: Sequence[str]
    choice: Choice
    vectors: str
    indexes: Path
    threads: int
    folders: ModelFolders
    command: str
    own: Mapping[str, Recipe] = field(default_factory=dict)


def evaluate(
    evaluation: Evaluation,
    on_pages: Callable[[BuildProgress], None],
    on_claims: Callable[[str, int, int], None],
) -> dict[str, Any]:
    """Measure, write all files below ``out`` and return the content of ``results.json``.

    ``on_pages`` receives the progress of the index, ``on_claims`` the system, the
    number of claims done and of all claims. After an interruption, the same evaluation
    continues where it stopped. Systems that answered all these claims before stay in
    the results.

    Raises:
        BadSource: pages or claims cannot be read or do not belong together, or
            ``out`` contains other results.
        ModelUnavailable: a model is missing.
    """
    claims = evaluation.choice.of(read_fever_claims(evaluation.claims), evaluation.claims)
    corpus = FeverCorpus(evaluation.wiki_pages)
    if evaluation.folders.verifier is None:
        mpnet_folder(evaluation.folders.unpacked)  # a missing model is reported before indexing
    encoder = DOCUMENT_ENCODERS[evaluation.vectors](evaluation.folders)
    provenance = provenance_of(
        corpus.fingerprint(),
        digest_of(evaluation.claims),
        folders_used(evaluation.systems, evaluation.folders, evaluation.own),
        encoder.name,
    )
    claim_folder(evaluation.out, provenance)
    index = index_of(corpus, evaluation.vectors, evaluation.indexes)
    store = indexed(corpus, EmbeddedIndex(index, evaluation.threads), encoder, on_pages)
    _check_evidence(claims, store)

    own = with_kept(evaluation.out, evaluation.own, evaluation.systems)
    bench = Bench(index, evaluation.indexes, evaluation.folders, own=own)
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

"""``esoteric evaluate --claims`` without pages: claims over the corpus that is served."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from evaluation.corpus_claims import CorpusClaim, read_corpus_claims
from evaluation.measures.calibration import calibration_error
from evaluation.provenance import claim_folder, provenance_of
from evaluation.systems import recipe_of
from retrieval.assembly import open_retriever
from retrieval.document import claim_document
from retrieval.encoders.minilm_encoder import MiniLMEncoder
from retrieval.errors import EsotericError
from retrieval.index.embedded_index import EmbeddedIndex
from retrieval.index.layout import digest_of
from retrieval.models import ModelFolders, models_digest
from retrieval.on_all_cores import in_order
from retrieval.types import NOT_ENOUGH_INFO, REFUTES, SUPPORTS

FIRST = 5  # sentences that evidence recall looks at
SHOWN = 3  # sentences that a reader sees at once


@dataclass(frozen=True, slots=True)
class CorpusEvaluation:
    """Which claims are checked over which index, by which recipes, and where results go."""

    claims: Path
    out: Path
    recipes: Sequence[str]
    limit: int | None
    index: Path
    threads: int
    folders: ModelFolders
    command: str


def evaluate_over_corpus(
    evaluation: CorpusEvaluation, on_claims: Callable[[str, int, int], None]
) -> dict[str, Any]:
    """Check every claim by every recipe, write all below ``out`` and return the results.

    ``on_claims`` receives the recipe, the claims done and all. Written: claim documents with
    ``gold`` in ``RECIPE/predictions.jsonl``, in the order of the claims, ``results.json`` and
    ``report.md``. Interrupted, the same evaluation goes on where it stopped.

    Raises:
        BadSource: the claims cannot be read, or ``out`` holds results of something else.
        IndexUnavailable: there is no index.
        ModelUnavailable: a model is missing.
    """
    claims = read_corpus_claims(evaluation.claims)[: evaluation.limit]
    info = EmbeddedIndex(evaluation.index).open(MiniLMEncoder.name).info()
    built = f"{info.name} {info.documents} {info.built_at}"
    claim_folder(
        evaluation.out,
        provenance_of(
            built,
            digest_of(evaluation.claims),
            models_digest(evaluation.folders),
            info.encoder or "none",
        ),
    )
    results: dict[str, Any] = {
        "command": evaluation.command,
        "claims": len(claims),
        "file": evaluation.claims.name,
        "corpus": {"name": info.name, "documents": info.documents, "built_at": info.built_at},
        "recipes": {},
    }
    for name in evaluation.recipes:
        report = partial(on_claims, name)
        path = evaluation.out / name / "predictions.jsonl"
        documents = _checked(evaluation, name, claims, path, report)
        results["recipes"][name] = corpus_results(claims, documents)
    _write(evaluation.out / "results.json", [json.dumps(results, indent=1, ensure_ascii=False)])
    _write(evaluation.out / "report.md", [report_over_corpus(results)])
    return results


class _Checking:
    """Checks claims by one recipe, in whichever process."""

    def __init__(self, index: Path, threads: int, folders: ModelFolders, name: str) -> None:
        self._retriever = open_retriever(index, threads, folders)
        self._recipe = recipe_of(name)

    def __call__(self, claim: str) -> dict[str, Any]:
        try:
            return claim_document(self._retriever.follow(self._recipe, claim, lambda _: None))
        except EsotericError as error:
            return {"claim": claim, "error": {"code": error.code, "message": error.message}}


def _checked(
    evaluation: CorpusEvaluation,
    name: str,
    claims: Sequence[CorpusClaim],
    path: Path,
    report: Callable[[int, int], None],
) -> list[dict[str, Any]]:
    path.parent.mkdir(parents=True, exist_ok=True)
    documents = _kept(path, claims)
    _write(path, map(_line, documents))  # without a line that was cut off
    report(len(documents), len(claims))
    rest = claims[len(documents) :]
    processes = min(evaluation.threads, len(rest))
    threads = evaluation.threads if processes < 2 else 1
    prepare = partial(_Checking, evaluation.index, threads, evaluation.folders, name)
    with path.open("a", encoding="utf-8") as stream:
        checked = in_order(prepare, [claim.text for claim in rest], processes)
        for claim, document in zip(rest, checked, strict=True):
            documents.append({**document, "gold": _gold(claim)})
            stream.write(f"{_line(documents[-1])}\n")
            stream.flush()
            report(len(documents), len(claims))
    return documents


def _kept(path: Path, claims: Sequence[CorpusClaim]) -> list[dict[str, Any]]:
    """Return the documents of an interrupted run: those of the first claims, in order."""
    documents: list[dict[str, Any]] = []
    if path.exists():
        for line, claim in zip(path.read_text(encoding="utf-8").splitlines(), claims, strict=False):
            try:
                document = json.loads(line)
            except ValueError:
                break
            if document.get("gold") != _gold(claim) or "error" in document:
                break
            documents.append(document)
    return documents


def _gold(claim: CorpusClaim) -> dict[str, Any]:
    return {
        "claim": claim.text,
        "label": claim.label,
        "kind": claim.kind,
        "evidence": [[list(key) for key in group] for group in claim.evidence],
    }


def corpus_results(
    claims: Sequence[CorpusClaim], documents: Sequence[Mapping[str, Any]]
) -> dict[str, Any]:
    """Return the measures of a recipe, of all claims, by label and by kind (all 0 to 1).

    ``label_accuracy``: claims with the right one of three labels. ``evidence_recall@5``: decided
    claims with a whole set of their evidence among the first five sentences.
    ``opposite_stances``: of the first three sentences of decided claims, those whose stance is the
    opposite of the label. ``contradicted``: decided verdicts none of whose selected sentences has
    the verdict's stance, while one has the opposite. ``calibration_error``: expected, ten bins.
    A claim that could not be checked is in no figure; ``failed`` counts these.
    """
    pairs = [
        (claim, document)
        for claim, document in zip(claims, documents, strict=True)
        if "error" not in document
    ]
    results = _measures(pairs)
    results["failed"] = len(claims) - len(pairs)
    for key in ("label", "kind"):
        names = dict.fromkeys(getattr(claim, key) for claim, _ in pairs)
        results[f"by_{key}"] = {
            name: _measures([pair for pair in pairs if getattr(pair[0], key) == name])
            for name in names
        }
    seconds = [document["seconds"]["total"] for _, document in pairs]
    results["seconds"] = {
        "p50": float(np.percentile(seconds, 50)) if seconds else None,
        "p95": float(np.percentile(seconds, 95)) if seconds else None,
    }
    return results


def _measures(pairs: Sequence[tuple[CorpusClaim, Mapping[str, Any]]]) -> dict[str, Any]:
    decided = [pair for pair in pairs if pair[0].label != NOT_ENOUGH_INFO]
    right = [document["verdict"]["label"] == claim.label for claim, document in pairs]
    confidence = [document["verdict"]["confidence"] for _, document in pairs]
    opposite = [
        item["stance"] == _OPPOSITE[claim.label]
        for claim, document in decided
        for item in document["evidence"][:SHOWN]
    ]
    return {
        "claims": len(pairs),
        "label_accuracy": _mean(right),
        f"evidence_recall@{FIRST}": _mean([_found(claim, doc) for claim, doc in decided]),
        "opposite_stances": _mean(opposite),
        "contradicted": sum(contradicted(document) for _, document in pairs),
        "calibration_error": calibration_error(np.array(confidence), np.array(right))
        if pairs
        else None,
    }


_OPPOSITE = {SUPPORTS: REFUTES, REFUTES: SUPPORTS}


def contradicted(document: Mapping[str, Any]) -> bool:
    """Return whether the evidence that is shown speaks against the verdict and none for it."""
    label = document["verdict"]["label"]
    stances = {item["stance"] for item in document["evidence"] if item["selected"]}
    return label != NOT_ENOUGH_INFO and label not in stances and _OPPOSITE[label] in stances


def _found(claim: CorpusClaim, document: Mapping[str, Any]) -> bool:
    """Return whether a whole set is among the first sentences, by number or by text."""
    first = document["evidence"][:FIRST]
    keys = {(item["document"], item["sentence_id"]) for item in first}
    texts = {(item["document"], item["sentence"]) for item in first}
    sets = [
        [
            key in keys or (bool(claim.texts) and (key[0], claim.texts[n][m]) in texts)
            for m, key in enumerate(group)
        ]
        for n, group in enumerate(claim.evidence)
    ]
    return any(all(group) for group in sets)


def _mean(values: Sequence[bool]) -> float | None:
    return sum(values) / len(values) if values else None


def report_over_corpus(results: Mapping[str, Any]) -> str:
    """Return the report, Markdown."""
    about = (
        f"{results['claims']:,} claims of `{results['file']}` over `{results['corpus']['name']}`,"
        f" {results['corpus']['documents']:,} documents. A corpus of this size is easier to search"
        " than all of Wikipedia. Shares in %, expected calibration error 0 to 1."
    )
    lines = ["# Evaluation over the served corpus", "", f"    {results['command']}", "", about]
    for name, recipe in results["recipes"].items():
        lines += ["", f"## {name}", "", _HEAD, "|---|---|---|---|---|---|---|", _row("all", recipe)]
        for key in ("by_label", "by_kind"):
            lines += [_row(group, row) for group, row in recipe[key].items()]
        lines += [
            "",
            f"Seconds a claim: {recipe['seconds']['p50']:.2f} at the median,"
            f" {recipe['seconds']['p95']:.2f} at the 95th percentile."
            if recipe["seconds"]["p50"] is not None
            else "No claim was checked.",
        ]
    return "\n".join(lines)


_HEAD = (
    "| claims | number | label accuracy | evidence recall, first 5 | opposite stance among the"
    " first 3 | contradicted verdicts | calibration error |"
)


def _row(group: str, row: Mapping[str, Any]) -> str:
    shares = (
        _percent(row[key])
        for key in ("label_accuracy", f"evidence_recall@{FIRST}", "opposite_stances")
    )
    error = row["calibration_error"]
    return (
        f"| {group} | {row['claims']} | {' | '.join(shares)} | {row['contradicted']} |"
        f" {'-' if error is None else f'{error:.3f}'} |"
    )


def _percent(share: float | None) -> str:
    return "-" if share is None else f"{100 * share:.1f}"


def _line(document: Mapping[str, Any]) -> str:
    return json.dumps(document, ensure_ascii=False)


def _write(path: Path, lines: Iterable[str]) -> None:
    path.write_text("".join(f"{line}\n" for line in lines), encoding="utf-8")

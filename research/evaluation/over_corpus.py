"""``esoteric evaluate --claims`` without pages: claims against the served corpus."""

from __future__ import annotations

import json
import logging
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Any

from research.evaluation.claims import CorpusClaim, SentenceKey, page_key, read_corpus_claims
from research.evaluation.measures.corpus import (
    Found,
    Judged,
    corpus_results,
    differences,
    language_model_results,
    several_documents,
)
from research.evaluation.measures.esoteric_table import Search, esoteric_table
from research.evaluation.provenance import Evaluation, claim_folder, provenance_of
from research.evaluation.report import corpus_latex_of, corpus_report
from research.evaluation.run import (
    retrieved_of,
    retrieved_record,
    whole_lines,
    write_lines,
)
from research.evaluation.systems import (
    BASELINES,
    Bench,
    folders_used,
    open_system,
    system_names,
    with_kept,
)
from retrieval.corpora.json_lines import encoded_line
from retrieval.errors import IndexUnavailable, InvalidClaim, ModelUnavailable
from retrieval.index.interface import DocumentStore
from retrieval.index.open import open_index
from retrieval.llm_judge.choice import LanguageModelChoice
from retrieval.models.shipped import judge_name
from retrieval.result import ClaimResult, claim_result
from retrieval.system.files import digest_of
from retrieval.system.processes import in_order, processes_for
from retrieval.types import Document, Retrieved

logger = logging.getLogger(__name__)

CRASHED = "crashed"  # error code of claims that are tried again


def evaluate_over_corpus(
    evaluation: Evaluation,
    bench: Bench,
    on_claims: Callable[[str, int, int], None],
) -> dict[str, Any]:
    """Check every claim by every system, write all below ``out`` and return the results.

    ``bench``: the index, and the language model that is asked at the end. ``on_claims`` receives
    the system, the claims done and all. Written: claim documents with ``gold`` and ``retrieved`` in
    ``SYSTEM/predictions.jsonl``, in the order of the claims, ``results.json`` and ``report.md``.
    After an interruption, the same evaluation continues where it stopped. Systems that answered all
    these claims before stay in the results.

    Raises:
        BadSource: the claims cannot be read, or ``out`` contains other results.
        IndexUnavailable: there is no index.
        ModelUnavailable: a model is missing.
    """
    everything = read_corpus_claims(evaluation.claims)
    claims = evaluation.choice.of(everything, evaluation.claims)
    index = open_index(bench.index, bench.snapshots)
    store = index.open(None)  # any vectors will do: each system checks its own
    info, places = store.info(), Places(store)
    built = f"{info.name} {info.documents} {info.built_at}"
    claim_folder(
        evaluation.out,
        provenance_of(
            built,
            digest_of(evaluation.claims),
            folders_used(evaluation.systems, evaluation.folders, evaluation.own),
            info.encoder or "none",
            bench.llm,
        ),
    )
    results: dict[str, Any] = {
        "command": evaluation.command,
        "claims": len(claims),
        "choice": evaluation.choice.described(),
        "file": evaluation.claims.name,
        "sha256": digest_of(evaluation.claims),
        "verifier": judge_name(evaluation.folders),
        "corpus": {"name": info.name, "documents": info.documents, "built_at": info.built_at},
        "recipes": {},
    }
    own = with_kept(evaluation.out, evaluation.own, evaluation.systems)
    given = {}
    for name in dict.fromkeys((*system_names(), *own)):
        answers = KeptDocuments(evaluation.out / name / "predictions.jsonl", everything)
        if name in evaluation.systems:
            _check(bench, name, claims, answers, evaluation.threads, partial(on_claims, name))
        elif not all(map(answers.has, claims)):
            continue
        asked = None if name in BASELINES else bench.llm
        given[name] = [answers.result(claim) for claim in claims]
        results["recipes"][name] = _measured(claims, given[name], answers, places, asked)
    results["differences"] = differences(claims, given)
    text = json.dumps(results, indent=1, ensure_ascii=False)
    (evaluation.out / "results.json").write_text(f"{text}\n", encoding="utf-8")
    (evaluation.out / "report.md").write_text(f"{corpus_report(results)}\n", encoding="utf-8")
    (evaluation.out / "table.tex").write_text(corpus_latex_of(results), encoding="utf-8")
    return results


def _measured(
    claims: Sequence[CorpusClaim],
    given: Sequence[ClaimResult | None],
    answers: KeptDocuments,
    places: Places,
    llm: LanguageModelChoice | None,
) -> dict[str, Any]:
    """Return the figures of a system, ``given`` its results; ``llm``: what it asked."""
    measured = corpus_results(claims, given)
    decided = [
        (claim, one, answers.retrieved(claim))
        for claim, one in zip(claims, given, strict=True)
        if one is not None and claim.evidence
    ]
    measured["esoteric_table"] = esoteric_table(
        [places.search(claim, found, one.seconds) for claim, one, found in decided]
    )
    measured["several_documents"] = several_documents(
        [claim for claim, _, _ in decided],
        [Found.of_result(one, found) for _, one, found in decided],
    )
    if llm is not None:
        measured["language_model"] = language_model_results(
            llm, [claim.right for claim in claims], [_judged(one) for one in given]
        )
    return measured


class KeptDocuments:
    """The claim documents of a file of predictions."""

    def __init__(self, path: Path, claims: Sequence[CorpusClaim]) -> None:
        """Read the documents of ``claims``, without crashed claims and those without an answer."""
        self.path = path
        self._claims = claims
        asked = {_key(claim) for claim in claims}
        self._documents = {
            key: document
            for document in whole_lines(path)
            if (key := json.dumps(document.get("gold"))) in asked
            and document.get("error", {}).get("code") != CRASHED
            and not _waits_for_model(document)
        }

    def has(self, claim: CorpusClaim) -> bool:
        """Return whether the claim has an answer."""
        return _key(claim) in self._documents

    def of(self, claim: CorpusClaim) -> dict[str, Any]:
        """Return the document of a claim that has one."""
        return self._documents[_key(claim)]

    def result(self, claim: CorpusClaim) -> ClaimResult | None:
        """Return the result of the claim, or ``None`` if the claim was refused."""
        return _result(self.of(claim))

    def retrieved(self, claim: CorpusClaim) -> Retrieved:
        """Return what was found for a claim with a result."""
        return retrieved_of(self.of(claim)["retrieved"])

    def add(self, claim: CorpusClaim, document: dict[str, Any]) -> dict[str, Any]:
        """Add the document, and return it as it is written."""
        self._documents[_key(claim)] = {**document, "gold": _gold(claim)}
        return self.of(claim)

    def write(self) -> None:
        """Write all documents in the order of the claims."""
        write_lines(self.path, [self.of(claim) for claim in self._claims if self.has(claim)])


class _Checking:
    """Checks claims by one system, in a worker process."""

    def __init__(self, name: str, bench: Bench) -> None:
        self._system = open_system(name, bench)
        self._system.warm_up()

    def __call__(self, claim: str) -> dict[str, Any]:
        try:
            report = self._system.report(claim)
            retrieved = retrieved_record(report.retrieved)
            return claim_result(report).document() | {"retrieved": retrieved}
        except InvalidClaim as error:
            return {"claim": claim, "error": {"code": error.code, "message": error.message}}
        except (IndexUnavailable, ModelUnavailable):
            raise
        except Exception as error:  # the other claims continue, and the command fails at the end
            logger.exception("a claim crashed: %s", claim)
            message = f"{type(error).__name__}: {error}"
            return {"claim": claim, "error": {"code": CRASHED, "message": message}}


def _check(
    bench: Bench,
    name: str,
    claims: Sequence[CorpusClaim],
    answers: KeptDocuments,
    threads: int,
    report: Callable[[int, int], None],
) -> None:
    """Check the claims without an answer; each answer is written at once."""
    answers.path.parent.mkdir(parents=True, exist_ok=True)
    answers.write()  # without a line that was cut off
    rest = [claim for claim in claims if not answers.has(claim)]
    done = len(claims) - len(rest)
    report(done, len(claims))
    prepare = partial(_Checking, name, bench)
    processes = processes_for(len(rest), threads)
    with answers.path.open("ab") as stream:
        checked = in_order(prepare, [claim.text for claim in rest], processes)
        for claim, document in zip(rest, checked, strict=True):
            stream.write(encoded_line(answers.add(claim, document)))
            stream.flush()
            done += 1
            report(done, len(claims))
    answers.write()


def _waits_for_model(document: dict[str, Any]) -> bool:
    """Return whether a language model was asked and gave no answer, so that it is asked again."""
    result = _result(document)
    if result is None or "explain" not in result.seconds:
        return False
    return len(result.verdict.opinions) < 2


def _judged(result: ClaimResult | None) -> Judged | None:
    if result is None:
        return None
    return Judged(result.verdict, result.usage, result.seconds.get("explain", 0.0))


def _result(document: dict[str, Any]) -> ClaimResult | None:
    return None if "error" in document else ClaimResult.model_validate(document)


def _key(claim: CorpusClaim) -> str:
    return json.dumps(_gold(claim))


def _gold(claim: CorpusClaim) -> dict[str, Any]:
    return {
        "claim": claim.text,
        "label": claim.label_in_file,
        "kind": claim.kind,
        "evidence": [[list(key) for key in group] for group in claim.evidence],
    }


class Places:
    """The sentences of an index as spans of their documents."""

    def __init__(self, store: DocumentStore) -> None:
        """Remember the index that the claims were checked against."""
        self._store = store

    def search(
        self, claim: CorpusClaim, retrieved: Retrieved, seconds: Mapping[str, float]
    ) -> Search:
        """Return the search for a claim; a passage covers the annotated sentences it overlaps."""
        ids = [document_id for document_id, _ in retrieved.documents]
        documents = {page_key(one.id): one for one in self._store.documents(ids)}
        annotated = _annotated(claim, documents)

        def covered(key: SentenceKey) -> frozenset[SentenceKey]:
            page = page_key(key[0])
            span = _span(documents[page], key[1]) if page in documents else None
            return frozenset(
                gold
                for gold, place in annotated.items()
                if gold[0] == page and span and span[0] < place[1] and span[1] > place[0]
            )

        return Search.of(claim, retrieved, seconds, covered)


def _annotated(
    claim: CorpusClaim, documents: Mapping[str, Document]
) -> dict[SentenceKey, tuple[int, int]]:
    """Return the place of each annotated sentence of these documents.

    It is that of its text, where the claim has it and the document contains it, or else that of the
    sentence with its number.
    """
    places: dict[SentenceKey, tuple[int, int]] = {}
    for number, group in enumerate(claim.evidence):
        for position, key in enumerate(group):
            document = documents.get(key[0])
            if document is None:
                continue
            text = claim.texts[number][position] if claim.texts else ""
            start = document.text.find(text) if text else -1
            place = (start, start + len(text)) if start >= 0 else _span(document, key[1])
            if place is not None:
                places[key] = place
    return places


def _span(document: Document, number: int) -> tuple[int, int] | None:
    return next(
        ((s.start, s.end) for s in document.sentences if s.sentence_id == number),
        None,
    )

"""Counts at the end of a campaign what became of all that was accepted: in the database, in the
folder of documents and in the worker's log.
"""

from __future__ import annotations

import json
import re
import sqlite3
from collections import Counter
from collections.abc import Iterable, Mapping
from contextlib import closing
from dataclasses import astuple, dataclass, field
from itertools import pairwise
from pathlib import Path
from typing import Any

from research.benchmarks.faults.language_model import NAME
from research.benchmarks.faults.ledger import Ledger
from retrieval.errors import Problem
from worker.corpora.corpus_store import CorpusStore
from worker.corpora.errors import UnknownCorpus

_DONE = re.compile(r"Claim (\w+) is done")
_SAID = "gave no usable answer"


@dataclass(frozen=True)
class Counts:
    """What became of claims, rows or uploads.

    Each accepted one is in one of ``done`` to ``lost``; ``failed_without``: without a reason.
    ``verifier_alone``: of those that are done, without the language model, and the result says
    why; ``unsaid``: it does not.
    """

    accepted: int = 0
    done: int = 0
    failed: int = 0
    failed_without: int = 0
    cancelled: int = 0
    lost: int = 0
    twice: int = 0
    verifier_alone: int = 0
    unsaid: int = 0

    def __add__(self, other: Counts) -> Counts:
        return Counts(*(a + b for a, b in zip(astuple(self), astuple(other), strict=True)))


@dataclass
class Outcome:
    """What became of what was accepted, by its ids, and of what was refused."""

    ends: dict[str, Counts] = field(default_factory=dict)
    refused_but_kept: list[str] = field(default_factory=list)
    """Claims, not ids."""
    reasons: Counter[str] = field(default_factory=Counter)
    """Codes of the errors of what failed."""


@dataclass(frozen=True)
class _Claim:
    text: str
    state: str
    error: dict[str, Any]
    result: dict[str, Any]


def count(home: Path, ledger: Ledger, language_model: str = NAME) -> Outcome:
    """Read what there is in the home of a service that has ended.

    ``language_model``: the one that it asks, "" for none.
    """
    with closing(sqlite3.connect(home / "esoteric.db")) as database:
        claims = {
            job_id: _Claim(text, state, json.loads(error or "{}"), json.loads(result or "{}"))
            for job_id, text, state, error, result in database.execute(
                "SELECT id, claim, state, error, result FROM claims"
            )
        }
        rows: dict[str, list[tuple[str, str | None]]] = {}
        for list_id, state, job_id in database.execute(
            "SELECT list_id, state, claim_id FROM list_rows"
        ):
            rows.setdefault(list_id, []).append((state, job_id))
        runs = _events(database)
    texts = Counter(claim.text for claim in claims.values())
    twice = _twice(claims, texts, runs, (home / "logs").glob("worker.log*"))
    corpora = CorpusStore(home / "documents", {})
    outcome = Outcome(refused_but_kept=[text for text in ledger.refused if texts[text]])
    for name, accepted in ledger.accepted.items():
        if accepted.kind == "claims":
            ended = _of_claim(claims.get(name), name in twice, language_model, outcome.reasons)
        elif accepted.kind == "rows":
            ended = Counts()
            for state, job_id in rows.get(name, []):
                if state == "cancelled" and name in ledger.cancelled:
                    ended += Counts(1, cancelled=1)
                    continue
                claim = claims.get(job_id or "")
                ended += _of_claim(claim, job_id in twice, language_model, outcome.reasons)
            missing = accepted.rows - ended.accepted
            ended += Counts(accepted=missing, lost=max(0, missing), twice=max(0, -missing))
        else:
            ended = _of_upload(corpora, name, accepted.files, outcome.reasons)
        outcome.ends[name] = ended
    return outcome


def _twice(
    claims: Mapping[str, _Claim],
    texts: Counter[str],
    runs: Mapping[str, list[tuple[str, int]]],
    logs: Iterable[Path],
) -> set[str]:
    logged = Counter(found for log in logs for found in _DONE.findall(log.read_text("utf-8")))
    return {
        job_id
        for job_id, claim in claims.items()
        if texts[claim.text] > 1 or logged[job_id] > 1 or has_two_runs(runs.get(job_id, []))
    }


def _of_claim(
    claim: _Claim | None, twice: bool, language_model: str, reasons: Counter[str]
) -> Counts:
    if claim is not None and claim.state == "done":
        alone, said = _without_model(claim.result, language_model)
        return Counts(1, done=1, twice=twice, verifier_alone=alone and said, unsaid=alone > said)
    if claim is not None and claim.state == "failed":
        reasons[claim.error.get("code", "none")] += 1
        explained = bool(claim.error.get("message") and claim.error.get("hint"))
        return Counts(1, failed=explained, failed_without=not explained, twice=twice)
    return Counts(1, lost=1, twice=twice)


def _without_model(result: Mapping[str, Any], name: str) -> tuple[bool, bool]:
    """Return whether the language model should have had a part and had none, and if that is said.

    It is not asked where no evidence was found.
    """
    opinions = result.get("verdict", {}).get("opinions", ())
    if not name or any(opinion.get("judge", "").startswith(name) for opinion in opinions):
        return False, False
    if not any(piece.get("selected") for piece in result.get("evidence", ())):
        return False, False
    return True, any(_SAID in notice for notice in result.get("notices", ()))


def _of_upload(
    corpora: CorpusStore, name: str, files: Iterable[str], reasons: Counter[str]
) -> Counts:
    try:
        corpus = corpora.get(name.partition("/")[0])
    except UnknownCorpus:
        return Counts(1, lost=1)
    known = {file.name: file.report for file in corpus.files}
    if not known.keys() >= set(files):
        return Counts(1, lost=1)
    twice = corpus.state == "ready" and corpus.documents > len(corpus.files)
    if corpus.state == "failed":
        explained = _is_explained(corpus.problem)
        reasons[corpus.problem.code if corpus.problem else "none"] += 1
        return Counts(1, failed=explained, failed_without=not explained, twice=twice)
    read = [report for file, report in known.items() if file in files and report is not None]
    if corpus.state == "ready" and all(report.passages for report in read):
        return Counts(1, done=1, twice=twice)
    return Counts(1, lost=1, twice=twice)


def _is_explained(problem: Problem | None) -> bool:
    return problem is not None and bool(problem.message and problem.hint)


def has_two_runs(steps: list[tuple[str, int]]) -> bool:
    """Return whether two runs wrote events at a time; each has its stage and its step.

    The steps of one run only rise, and a run that follows another one says so first.
    """
    return any(
        later < earlier and stage != "start" for (_, earlier), (stage, later) in pairwise(steps)
    )


def _events(database: sqlite3.Connection) -> Mapping[str, list[tuple[str, int]]]:
    found: dict[str, list[tuple[str, int]]] = {}
    for job_id, stage, done in database.execute(
        "SELECT claim_id, stage, done FROM events ORDER BY claim_id, n"
    ):
        found.setdefault(job_id, []).append((stage, done))
    return found

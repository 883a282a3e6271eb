"""Counts at the end of a campaign what became of the claims: in the database and in the log."""

from __future__ import annotations

import json
import re
import sqlite3
from collections import Counter
from collections.abc import Iterable, Mapping
from contextlib import closing
from dataclasses import dataclass, field
from itertools import pairwise
from pathlib import Path

_DONE = re.compile(r"Claim (\w+) is done")


@dataclass
class Outcome:
    """What became of the accepted claims: ids, each in one list of ends, or in ``lost``."""

    done: list[str] = field(default_factory=list)
    failed: list[str] = field(default_factory=list)
    failed_without_reason: list[str] = field(default_factory=list)
    lost: list[str] = field(default_factory=list)
    twice: list[str] = field(default_factory=list)
    refused_but_kept: list[str] = field(default_factory=list)
    """Claims, not ids."""
    reasons: dict[str, int] = field(default_factory=dict)
    """Codes of the errors of the failed claims."""


def count(
    database: Path, logs: Iterable[Path], accepted: Iterable[str], refused: Iterable[str]
) -> Outcome:
    """Read the database and the worker's logs; ids in ``accepted``, claims in ``refused``."""
    outcome = Outcome()
    with closing(sqlite3.connect(database)) as opened:
        rows = {
            row[0]: row[1:] for row in opened.execute("SELECT id, claim, state, error FROM claims")
        }
        runs = _events(opened)
    for job_id in accepted:
        _, state, error = rows.get(job_id, (None, None, None))
        if state == "done":
            outcome.done.append(job_id)
        elif state == "failed":
            problem = json.loads(error or "{}")
            explained = problem.get("message") and problem.get("hint")
            (outcome.failed if explained else outcome.failed_without_reason).append(job_id)
            code = problem.get("code", "none")
            outcome.reasons[code] = outcome.reasons.get(code, 0) + 1
        else:
            outcome.lost.append(job_id)
    texts = Counter(claim for claim, _, _ in rows.values())
    logged = Counter(found for log in logs for found in _DONE.findall(log.read_text("utf-8")))
    outcome.twice = [
        job_id
        for job_id, (claim, _, _) in rows.items()
        if texts[claim] > 1 or logged[job_id] > 1 or has_two_runs(runs.get(job_id, []))
    ]
    outcome.refused_but_kept = [claim for claim in refused if texts[claim]]
    return outcome


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

"""The campaign of faults: what it counts, and a short one with the real service."""

from __future__ import annotations

import json
import os
import sqlite3
import subprocess
import sys
from contextlib import closing
from pathlib import Path

import pytest

from research.benchmarks.faults.clients import is_explained
from research.benchmarks.faults.corpus import claim
from research.benchmarks.faults.counting import count, has_two_runs
from settings import CHECKOUT

REASON = json.dumps({"code": "worker_lost", "message": "Its worker ended twice.", "hint": "Again."})
CLAIMS = [
    ("a", "One.", "done", None),
    ("b", "Two.", "failed", REASON),
    ("c", "Three.", "failed", None),
    ("d", "Four.", "running", None),
    ("e", "Five.", "done", None),
    ("f", "Five.", "done", None),
    ("g", "Six.", "done", None),
    ("h", "Seven.", "done", None),
]
# Claim h: a step of its first run comes after the second one has begun.
EVENTS = [
    ("a", "start", 0),
    ("a", "spans", 1),
    ("h", "start", 0),
    ("h", "spans", 1),
    ("h", "start", 0),
    ("h", "verdict", 5),
    ("h", "spans", 1),
]


def test_each_claim_is_counted_by_what_became_of_it(tmp_path: Path) -> None:
    with closing(sqlite3.connect(tmp_path / "db")) as database, database:
        database.execute("CREATE TABLE claims (id, claim, state, error)")
        database.execute("CREATE TABLE events (claim_id, n INTEGER PRIMARY KEY, stage, done)")
        database.executemany("INSERT INTO claims VALUES (?, ?, ?, ?)", CLAIMS)
        database.executemany("INSERT INTO events (claim_id, stage, done) VALUES (?, ?, ?)", EVENTS)
    log = tmp_path / "worker.log"
    log.write_text("Claim a is done\nClaim g is done\nClaim g is done\nClaim h is done\n")

    counted = count(tmp_path / "db", [log], "abcdeghx", ["Four.", "Nine."])

    assert counted.done == ["a", "e", "g", "h"]
    assert (counted.failed, counted.failed_without_reason) == (["b"], ["c"])
    assert counted.reasons == {"worker_lost": 1, "none": 1}
    assert counted.lost == ["d", "x"]
    assert counted.twice == ["e", "f", "g", "h"]
    assert counted.refused_but_kept == ["Four."]


def test_a_second_run_after_the_first_is_no_second_run_at_the_same_time() -> None:
    first, again = [("start", 0), ("spans", 1), ("verdict", 5)], [("start", 0), ("start", 0)]
    assert not has_two_runs([*first, *again, *first])
    assert has_two_runs([*first, ("spans", 1)])


@pytest.mark.parametrize(
    ("status", "body", "explained"),
    [
        (200, "{}", True),
        (503, '{"error": {"code": "a", "message": "b", "hint": "c"}}', True),
        (503, '{"error": {"code": "a", "message": "b", "hint": ""}}', False),
        (503, '<p class="meta">Code: <code>store_unavailable</code></p>', True),
        (503, "Service Unavailable", False),
        (500, '{"error": {"code": "a", "message": "b", "hint": "c"}}', False),
        (404, '{"error": {"code": "a", "message": "b", "hint": "c"}}', False),
        (200, "Traceback (most recent call last):", False),
    ],
)
def test_a_bad_answer_is_one_that_is_not_due_to_the_fault_and_says_so(
    status: int, body: str, explained: bool
) -> None:
    assert is_explained(status, body) is explained


def test_no_two_claims_are_the_same() -> None:
    assert len({claim(number) for number in range(1000)}) == 1000


@pytest.mark.server
@pytest.mark.slow
@pytest.mark.models
def test_six_faults_lose_no_claim_and_do_none_twice(tmp_path: Path, unpacked: Path) -> None:
    # From this seed on the faults are short, and all different.
    arguments = ["--rounds", "6", "--seed", "2557", "--out", str(tmp_path)]
    ended = subprocess.run(
        [sys.executable, "-m", "research.benchmarks.faults", *arguments],
        cwd=CHECKOUT,
        env={**os.environ, "ESOTERIC_HOME": str(unpacked.parent)},
        capture_output=True,
        text=True,
        timeout=500,
        check=False,
    )
    assert ended.returncode == 0, ended.stdout + ended.stderr
    found = json.loads((tmp_path / "faults.json").read_text())
    assert len({played["fault"] for played in found["rounds"]}) == 6
    assert found["findings"] == []
    assert len(found["outcome"]["done"]) >= 6
    assert "| all | 6 |" in (tmp_path / "faults.md").read_text()

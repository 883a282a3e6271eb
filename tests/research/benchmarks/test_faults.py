"""The campaign of faults: what it counts, and a short one with the real service."""

from __future__ import annotations

import json
import os
import shutil
import sqlite3
import subprocess
import sys
import time
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from research.benchmarks.faults.client import is_explained
from research.benchmarks.faults.clocks import OTHERS, WORKER, Clocks
from research.benchmarks.faults.corpus import claim
from research.benchmarks.faults.counting import Counts, count, has_two_runs
from research.benchmarks.faults.ledger import KINDS, Ledger
from research.benchmarks.faults.report import text
from research.benchmarks.faults.results import Finding, Results, Round, read, together
from retrieval.errors import Problem
from settings import CHECKOUT
from tests.support.corpora import for_workers
from worker.corpora.corpus_folders import FileReport, Indexing
from worker.corpora.corpus_store import CorpusStore

REASON = json.dumps({"code": "worker_lost", "message": "Its worker ended twice.", "hint": "Again."})
OWN = {"judge": "MPNet verifier"}
EVIDENCE = {"evidence": [{"selected": True}]}
BOTH = json.dumps({"verdict": {"opinions": [{"judge": "stand-in at 127.0.0.1"}, OWN]}, **EVIDENCE})
ALONE = {"verdict": {"opinions": [OWN]}, **EVIDENCE}
SAID = json.dumps({**ALONE, "notices": ["The language model gave no usable answer: it is away."]})
CLAIMS = [
    ("a", "One.", "done", None, BOTH),
    ("b", "Two.", "failed", REASON, None),
    ("c", "Three.", "failed", None, None),
    ("d", "Four.", "running", None, None),
    ("e", "Five.", "done", None, SAID),
    ("f", "Five.", "done", None, json.dumps(ALONE)),
    ("g", "Six.", "done", None, BOTH),
    ("h", "Seven.", "done", None, BOTH),
    ("r", "Row one.", "done", None, BOTH),
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
ROWS = [
    ("going", "handed", "r"),
    ("going", "handed", "b"),
    ("going", "waiting", None),
    ("stopped", "handed", "a"),
    ("stopped", "cancelled", None),
]
LOG = "Claim a is done\nClaim g is done\nClaim g is done\nClaim h is done\n"


@pytest.fixture
def home(tmp_path: Path) -> Path:
    with closing(sqlite3.connect(tmp_path / "esoteric.db")) as database, database:
        database.execute("CREATE TABLE claims (id, claim, state, error, result)")
        database.execute("CREATE TABLE events (claim_id, n INTEGER PRIMARY KEY, stage, done)")
        database.execute("CREATE TABLE list_rows (list_id, state, claim_id)")
        database.executemany("INSERT INTO claims VALUES (?, ?, ?, ?, ?)", CLAIMS)
        database.executemany("INSERT INTO events (claim_id, stage, done) VALUES (?, ?, ?)", EVENTS)
        database.executemany("INSERT INTO list_rows VALUES (?, ?, ?)", ROWS)
    (tmp_path / "logs").mkdir()
    (tmp_path / "logs" / "worker.log").write_text(LOG)
    return tmp_path


def test_each_claim_is_counted_by_what_became_of_it(home: Path) -> None:
    ledger = Ledger(refused={"Four.": 0, "Nine.": 0})
    for job_id in "abcdefghx":
        ledger.accept(job_id, "claims")
    counted = count(home, ledger)
    assert counted.ends == {
        "a": Counts(1, done=1),
        "b": Counts(1, failed=1),
        "c": Counts(1, failed_without=1),
        "d": Counts(1, lost=1),
        "e": Counts(1, done=1, twice=1, verifier_alone=1),
        "f": Counts(1, done=1, twice=1, unsaid=1),
        "g": Counts(1, done=1, twice=1),
        "h": Counts(1, done=1, twice=1),
        "x": Counts(1, lost=1),
    }
    assert counted.reasons == {"worker_lost": 1, "none": 1}
    assert counted.refused_but_kept == ["Four."]
    assert count(home, ledger, language_model="").ends["f"] == Counts(1, done=1, twice=1)


def test_each_row_of_a_list_is_counted_by_what_became_of_it(home: Path) -> None:
    ledger = Ledger(cancelled={"stopped"})
    ledger.accept("going", "rows", rows=4)
    ledger.accept("stopped", "rows", rows=2)
    ledger.accept("gone", "rows", rows=3)
    assert count(home, ledger).ends == {
        "going": Counts(4, done=1, failed=1, lost=2),
        "stopped": Counts(2, done=1, cancelled=1),
        "gone": Counts(3, lost=3),
    }


def test_each_upload_is_counted_by_what_became_of_its_files(home: Path) -> None:
    corpora = CorpusStore(home / "documents", {})
    ledger = Ledger()

    def upload(title: str, **of_indexing: Any) -> None:
        corpus = corpora.make(title)
        with corpora.receiving() as place:
            (place / "file").write_text("Tea is a drink.")
            corpora.add(corpus, [("tea.txt", place / "file")], ())
        wanted = corpora.corpus(corpus).wanted
        for_workers(corpora).report(corpus, Indexing(of=wanted, **of_indexing))
        ledger.accept(f"{corpus}/{title}", "uploads", files=["tea.txt"])

    upload("Read", step="done", files={"tea.txt": FileReport(passages=1)})
    upload("Empty", step="done", files={"tea.txt": FileReport()})
    upload("Failed", step="failed", problem=Problem("disk_full", "It is full.", "Free some."))
    upload("Going on", step="reading")
    ledger.accept("no-corpus/1", "uploads", files=["tea.txt"])
    counted = count(home, ledger)
    assert {name.rpartition("/")[2]: counts for name, counts in counted.ends.items()} == {
        "Read": Counts(1, done=1),
        "Empty": Counts(1, lost=1),
        "Failed": Counts(1, failed=1),
        "Going on": Counts(1, lost=1),
        "1": Counts(1, lost=1),
    }


def test_what_is_open_has_moved_once_it_has_ended_or_its_list_has_made_a_step() -> None:
    ledger = Ledger()
    for name, kind in (("ended", "claims"), ("waits", "claims"), ("list", "rows")):
        ledger.accept(name, kind)
    ledger.see("list", 1)
    since = time.monotonic()
    ledger.end("ended")
    ledger.see("list", 1)
    assert ledger.unmoved(["ended", "waits", "list"], since) == {"waits", "list"}
    ledger.see("list", 2)
    assert ledger.unmoved(["ended", "waits", "list"], since) == {"waits"}


def test_campaigns_in_parts_have_one_table(tmp_path: Path) -> None:
    for seed, part in enumerate(("one", "two")):
        counts = {
            "claims": Counts(5, done=4, lost=1),
            "rows": Counts(20, done=18, cancelled=2),
            "uploads": Counts(1, done=1),
        }
        played = Round(seed, "worker killed", 0.0, True, 2.0 + seed, 0, 0, counts)
        found = (Finding(seed, "worker killed", "lost: 1 of claims a"),)
        (tmp_path / part).mkdir()
        Results((played,), found, {"worker_lost": 1}, 3, 0).write(tmp_path / part)
    printed = text(together([read(tmp_path / "one"), read(tmp_path / "two")]))
    assert "| worker killed | 2 | 10 | 40 | 2 | 46 | 0 | 0 | 4 | 2 | 0 | 0 | 0 | 0 |" in printed
    assert "| rows | 40 | 36 | 0 | 0 | 4 | 0 | 0 | 0 |" in printed
    assert "worker_lost 2" in printed
    assert "again: `--rounds 1 --seed 1`" in printed


@pytest.mark.server
@pytest.mark.skipif(shutil.which("cc") is None, reason="no C compiler")
def test_a_clock_moves_while_its_process_runs_and_sleeps_stay_as_long(tmp_path: Path) -> None:
    program = (
        "import sys, time\n"
        "for line in sys.stdin:\n"
        "    began = time.monotonic()\n"
        "    time.sleep(0.05)\n"
        "    print(time.time(), time.monotonic() - began, flush=True)\n"
    )
    clocks = Clocks(tmp_path / "clocks")
    with subprocess.Popen(
        [sys.executable, "-c", program, WORKER],
        env={**os.environ, **clocks.environment},
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    ) as process:
        for names, seconds, expected in (
            ([WORKER, OTHERS], 3600, 3600),
            ([WORKER], -20, -20),
            ([OTHERS], 3600, 0),
        ):
            clocks.move(names, seconds)
            assert process.stdin is not None
            assert process.stdout is not None
            process.stdin.write("\n")
            process.stdin.flush()
            shown, slept = map(float, process.stdout.readline().split())
            assert shown - time.time() == pytest.approx(expected, abs=10)
            assert 0.05 <= slept < 10
        process.stdin.close()


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
        (507, '{"error": {"code": "disk_full", "message": "b", "hint": "c"}}', True),
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
@pytest.mark.skipif(shutil.which("cc") is None, reason="no C compiler")
def test_six_faults_lose_no_claim_row_or_upload_and_do_none_twice(
    tmp_path: Path, unpacked: Path
) -> None:
    # From this seed on the faults are short, and all different.
    arguments = ["--rounds", "6", "--seed", "34334", "--out", str(tmp_path)]
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
    found = read(tmp_path)
    assert len({played.fault for played in found.rounds}) == 6
    assert found.findings == ()
    counts = {kind: sum((r.counts[kind] for r in found.rounds), Counts()) for kind in KINDS}
    assert counts["claims"].done >= 6
    assert counts["rows"].accepted >= 20
    assert counts["rows"].accepted == counts["rows"].done + counts["rows"].cancelled
    assert counts["uploads"].done == counts["uploads"].accepted >= 1
    assert "| all | 6 |" in (tmp_path / "faults.md").read_text()

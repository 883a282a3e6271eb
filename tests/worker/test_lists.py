"""Lists of claims: handed to the queue a few at a time, paused, cancelled, and ended."""

from __future__ import annotations

import heapq
import math
import random
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from operator import itemgetter
from pathlib import Path
from threading import Event

import pytest
from sqlalchemy import update

from retrieval.result import ClaimResult
from settings import Settings
from tests.app.claim_documents import claim_document
from tests.app.worker_by_hand import WorkerByHand
from tests.support.waiting import wait_until
from tests.worker.conftest import House, at_once
from worker.broker import Queue
from worker.database import Database
from worker.feedback_store import FeedbackStore, Said
from worker.feeder import Feeder
from worker.job_store import JobStore
from worker.jobs import QueueFull
from worker.list_store import ListStore
from worker.lists import Entry, NewEntry, TooManyRows, UnknownList, seconds_left
from worker.schema import ClaimRow


class Desk:
    """A store with lists, a feeder that looks when a test calls it, and a worker by hand."""

    def __init__(self, home: Path, url: str) -> None:
        settings = Settings.from_environment(
            {"ESOTERIC_HOME": str(home), "ESOTERIC_DATABASE_URL": url}
        )
        self.database = Database(settings.database_url)
        self.jobs = JobStore(self.database)
        self.lists = ListStore(self.database)
        self.queue = Queue(settings, self.jobs)
        self.feeder = Feeder(self.database, self.queue, Event())
        self.worker = WorkerByHand(self.jobs)

    def submit(self, *claims: str) -> str:
        entries = [
            NewEntry(f"Line {number}", claim, {"speaker": f"S{number}"}, None)
            for number, claim in enumerate(claims, 1)
        ]
        return self.lists.create("Speech", "combined", entries, None)

    def entries(self, list_id: str) -> list[Entry]:
        return list(self.lists.all_entries(list_id))

    def states(self, list_id: str) -> list[str]:
        return [entry.state for entry in self.entries(list_id)]

    def finish(self, claim: str) -> None:
        """Check one pending claim."""
        (job,) = [
            one for one in self.jobs.recent(99) if (one.claim, one.state) == (claim, "queued")
        ]
        self.worker.finish(self.jobs.get(job.id), claim_document(claim))


@pytest.fixture
def desk(tmp_path: Path, url: str) -> Iterator[Desk]:
    desk = Desk(tmp_path, url)
    yield desk
    desk.queue.close()
    desk.database.close()


def test_a_claim_that_a_list_has_twice_is_checked_once_for_both_rows(desk: Desk) -> None:
    speech = desk.submit("Tea is hot.", "Tea is hot.", "Ice is cold.", "Tea is hot.")
    other = desk.submit("Tea is hot.", "Snow is white.")
    desk.feeder.look()
    # Two claims are pending, and the rows that repeat the first take nobody's place.
    assert desk.states(speech) == ["queued", "queued", "waiting", "queued"]
    first = desk.entries(speech)[0].claim_id
    assert desk.jobs.get(first).speaker == "S1"  # from the column of this name
    desk.finish("Tea is hot.")
    desk.feeder.look()
    assert desk.states(speech) == ["done", "done", "queued", "done"]
    assert [entry.same_as for entry in desk.entries(speech)] == [None, 1, None, 1]
    assert [entry.same_as for entry in desk.entries(other)] == [None, None]
    found = desk.lists.get(speech)
    assert (found.state, found.counts["supported"]) == ("running", 3)
    desk.finish("Ice is cold.")
    assert desk.feeder.look()
    found = desk.lists.get(speech)
    assert (found.state, found.finished, found.counts["supported"]) == ("done", 4, 4)
    desk.lists.delete(speech)
    with pytest.raises(UnknownList):
        desk.lists.get(speech)
    assert "Ice is cold." in {job.claim for job in desk.jobs.recent(9)}


def test_a_short_list_need_not_wait_for_a_long_one(desk: Desk) -> None:
    long = desk.submit(*(f"Tea {number} is hot." for number in range(9)))
    desk.feeder.look()
    short = desk.submit("Ice is cold.")
    desk.finish("Tea 0 is hot.")
    desk.feeder.look()
    assert desk.states(short) == ["queued"]
    assert desk.states(long)[:3] == ["done", "queued", "waiting"]


def test_a_list_is_paused_goes_on_and_is_cancelled_with_what_it_has(desk: Desk) -> None:
    speech = desk.submit("Tea is hot.", "Ice is cold.", "Snow is white.", "Coal is black.")
    desk.feeder.look()
    desk.lists.pause(speech)
    desk.finish("Tea is hot.")
    desk.feeder.look()
    assert desk.states(speech) == ["done", "queued", "waiting", "waiting"]
    desk.lists.go_on(speech)
    desk.feeder.look()
    assert desk.states(speech) == ["done", "queued", "queued", "waiting"]
    desk.lists.cancel(speech)
    desk.lists.go_on(speech)
    desk.finish("Ice is cold.")
    desk.feeder.look()
    assert desk.states(speech) == ["done", "done", "queued", "cancelled"]
    assert desk.lists.get(speech).state == "cancelled"


def test_more_rows_than_can_wait_are_refused(desk: Desk, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("worker.list_store.MOST_WAITING", 2)
    desk.submit("Tea is hot.", "Ice is cold.")
    with pytest.raises(QueueFull):
        desk.submit("Snow is white.")


def test_lists_that_are_sent_at_once_do_not_pass_the_limit_together(desk: Desk) -> None:
    rows = [NewEntry("Line", f"Tea {number} is hot.", {}, None) for number in range(200)]

    def send(_: int) -> bool:
        try:
            desk.lists.create("Speech", "combined", rows, "anna", most_waiting=500)
        except TooManyRows:
            return False
        return True

    assert sum(at_once(6, send)) == 2
    assert desk.lists.waiting_of("anna") == 400


def test_a_row_whose_claim_was_deleted_says_so_and_does_not_hold_the_list_up(desk: Desk) -> None:
    speech = desk.submit("Tea is hot.")
    desk.feeder.look()
    desk.jobs.delete(desk.entries(speech)[0].claim_id)
    desk.feeder.look()
    assert (desk.states(speech), desk.lists.get(speech).state) == (["deleted"], "done")


def test_a_list_that_is_paused_for_the_days_is_deleted_and_a_running_one_is_not(desk: Desk) -> None:
    running, paused = desk.submit("Tea is hot."), desk.submit("Ice is cold.")
    desk.lists.pause(paused)
    for days, left in ((1, [paused, running]), (0, [running])):
        desk.lists.delete_finished(timedelta(days=days))
        assert [one.id for one in desk.lists.recent(None, 9)] == left


def test_filters_show_and_count_the_same_rows(desk: Desk) -> None:
    sure, unsure = claim_document("Tea is hot."), claim_document("Ice is cold.")
    sure["verdict"]["confidence"] = 0.95
    unsure["verdict"]["confidence"] = 0.6
    unsure["evidence"][1] |= {"stance": "REFUTES", "selected": True}
    speech = desk.submit("Tea is hot.", "Ice is cold.", "Snow is white.")
    desk.feeder.look()
    first, second, _ = (entry.claim_id for entry in desk.entries(speech))
    for claim_id, document in ((first, sure), (second, unsure)):
        desk.worker.finish(desk.jobs.get(claim_id), document)
    said = FeedbackStore(desk.database)
    said.give(first, Said(True, "SUPPORTS", (), "", ""), "ann")
    said.give(second, Said(True, "SUPPORTS", (), "", ""), "ann")
    said.give(second, Said(False, "REFUTES", (), "", ""), "bob")
    counts = desk.lists.get(speech).counts
    some = {"all": 3, "supported": 2, "unsure": 1, "divided": 1, "disputed": 1, "unfinished": 1}
    none = ("refuted", "unsettled", "refused", "failed", "cancelled", "errors")
    assert counts == some | dict.fromkeys(none, 0)
    for shown, number in counts.items():
        assert len(desk.lists.entries(speech, shown, 99, 0)) == number
    for shown in ("unsure", "divided", "disputed"):
        (entry,) = desk.lists.entries(speech, shown, 99, 0)
        assert (entry.claim, entry.others) == ("Ice is cold.", {"speaker": "S2"})
        assert isinstance(entry.result, ClaimResult)
    desk.feeder.look()
    desk.jobs.cancel(desk.entries(speech)[2].claim_id)
    counts = desk.lists.get(speech).counts
    assert [counts[name] for name in ("cancelled", "errors", "unfinished")] == [1, 1, 0]


def test_the_sentence_of_a_text_is_shown_to_the_owner_of_the_first_list_alone(desk: Desk) -> None:
    def text_list(text: str, owner: str | None) -> str:
        rows = [NewEntry("", "Tea is hot.", {}, None, (0, len(text)))]
        return desk.lists.create("Text", "combined", rows, owner, source_text=text)

    first, later = text_list("Tea, Ann says, is hot.", "ann"), text_list("Hot tea!", "ann")
    other, open_to_all = text_list("Bo likes his tea hot.", "bo"), text_list("Tea: hot.", None)
    for _ in range(3):  # two claims at a time
        desk.feeder.look()
        for job in desk.jobs.recent(9):
            if job.state == "queued":
                desk.worker.finish(desk.jobs.get(job.id), claim_document(job.claim))

    def shown(list_id: str, visitor: str | None) -> str:
        (entry,) = desk.entries(list_id)
        assert entry.claim_id is not None
        return desk.lists.text_sentence_of(entry.claim_id, visitor)

    assert [shown(first, who) for who in ("ann", "bo", None)] == ["Tea, Ann says, is hot.", "", ""]
    assert shown(later, "ann") == "Tea, Ann says, is hot."  # one claim for both lists
    assert [shown(other, who) for who in ("ann", "bo")] == ["", "Bo likes his tea hot."]
    assert [shown(open_to_all, who) for who in ("ann", None)] == ["Tea: hot."] * 2


@dataclass(frozen=True)
class Load:
    """What else happens while a list of 200 rows is checked, in seconds from its beginning.

    ``beside``: when other lists come, and how many rows they have. ``slow``: while this is so, a
    check takes three times as long. ``typed``: claims that others type, a second; they come first.
    """

    workers: int = 1
    beside: tuple[tuple[float, int], ...] = ()
    slow: tuple[float, float] = (0, 0)
    typed: float = 0

    def ends(self, rng: random.Random, rows: int) -> list[tuple[float, int | None]]:
        """Return when each check ends, and the number of its list; this list has number 0."""
        lists = ((0.0, rows), *self.beside)
        handed = [0] * len(lists)
        free = [0.0] * self.workers
        typed_at = rng.expovariate(self.typed) if self.typed else math.inf
        ends: list[tuple[float, int | None]] = []
        while handed[0] < rows:
            now = heapq.heappop(free)
            which = None
            if typed_at <= now:
                typed_at += rng.expovariate(self.typed)
            else:  # the lowest number of a row first, as the feeder does it
                come = [
                    at for at, (start, of) in enumerate(lists) if start <= now and handed[at] < of
                ]
                which = min(come, key=lambda at: (handed[at], at))
                handed[which] += 1
            slower = 3 if self.slow[0] <= now < self.slow[1] else 1
            end = now + rng.lognormvariate(0.6, 0.7) * slower
            ends.append((end, which))
            heapq.heappush(free, end)
        return sorted(ends, key=itemgetter(0))


def share_that_is_true(load: Load, since: float, rows: int = 200) -> tuple[float, float]:
    """Return how much of the time after ``since`` an estimate is shown, and is within a third."""
    moments, shown, right = 0, 0, 0
    for seed in range(4):
        ends = load.ends(random.Random(seed), rows)
        end = max(at for at, which in ends if which == 0)
        for now in (end * part / 50 for part in range(50)):
            if now < since:
                continue
            done = Counter(which for at, which in ends if at <= now)
            ahead = sum(
                max(0, min(of, rows) - done[which])
                for which, (start, of) in enumerate(((0.0, rows), *load.beside))
                if start <= now
            )
            last = [
                START + timedelta(seconds=at)
                for at, which in ends
                if at <= now and which is not None
            ]
            left = seconds_left([(START, at) for at in last], ahead, START + timedelta(seconds=now))
            moments += 1
            shown += left is not None
            right += left is not None and abs(left - (end - now)) <= (end - now) / 3
    return shown / moments, right / shown


START = datetime(2026, 11, 28, tzinfo=UTC)


@pytest.mark.parametrize(
    ("load", "known_from", "least"),
    [
        (Load(), 0, 0.75),
        (Load(workers=4), 0, 0.75),
        (Load(typed=0.15), 0, 0.55),  # a third of the time goes to claims that come as they like
        (Load(beside=((0, 60),)), 0, 0.75),
        (Load(beside=((0, 500),)), 0, 0.75),
        # What nobody can know before: another list comes, the machine is busy with something else.
        (Load(beside=((150, 60),)), 150, 0.75),
        (Load(beside=((100, 500), (250, 30))), 250, 0.75),
        (Load(slow=(0, 200)), 200, 0.75),
        (Load(slow=(200, 9999)), 200, 0.7),
    ],
)
def test_the_time_that_is_left_is_within_a_third_of_the_truth_under_changing_load(
    load: Load, known_from: float, least: float
) -> None:
    shown, right = share_that_is_true(load, known_from)
    assert shown > 0.9
    assert right > least


def test_no_time_is_shown_where_it_cannot_be_known() -> None:
    ends = [(START, START + timedelta(seconds=10 * number)) for number in range(1, 6)]
    last = ends[-1][1]
    assert seconds_left(ends, 3, last) == 30
    assert seconds_left(ends, 3, last + timedelta(seconds=4)) == 26
    assert (
        seconds_left(ends, 3, last + timedelta(seconds=25)) == 20
    )  # the next one ends at any time
    assert seconds_left(ends, 3, last + timedelta(seconds=31)) is None  # or hangs
    assert seconds_left(ends[1:], 3, last) is None
    resumed = last + timedelta(hours=1)  # the pause before it took no time
    assert (
        seconds_left(
            [*ends, (resumed, resumed + timedelta(seconds=10))], 3, resumed + timedelta(seconds=10)
        )
        == 30
    )


def test_rows_of_other_lists_that_come_first_count_for_the_time_that_is_left(desk: Desk) -> None:
    first = desk.submit(*(f"Tea {number} is hot." for number in range(12)))
    now = datetime.now(UTC)
    for number in range(6):  # one every hundred seconds, the last one now
        desk.feeder.look()
        desk.finish(f"Tea {number} is hot.")
        at = now - timedelta(seconds=100 * (5 - number))
        done = update(ClaimRow).where(ClaimRow.claim == f"Tea {number} is hot.")
        with desk.database.writing() as session:
            session.execute(done.values(created_at=at - timedelta(seconds=100), finished_at=at))
    assert desk.lists.seconds_left(first) == pytest.approx(
        600, abs=99
    )  # less what has passed since
    desk.submit(*(f"Ice {number} is cold." for number in range(20)))  # of which 12 come before
    assert desk.lists.seconds_left(first) == pytest.approx(1800, abs=99)


@pytest.mark.server
@pytest.mark.rare
def test_a_list_goes_on_where_it_stopped_when_its_worker_is_killed(house: House) -> None:
    house.environment["LEASE_SECONDS"] = "4"
    lists = ListStore(house.store.database)
    claims = [f"Tea {number} is hot." for number in range(6)]
    house.hold("spans", claims[3])
    speech = lists.create("Speech", "combined", [NewEntry("", c, {}, None) for c in claims], None)
    worker = house.start_worker()
    wait_until(lambda: lists.get(speech).finished == 3, "three verdicts")
    worker.kill()
    house.let_go()
    house.start_worker()
    wait_until(lambda: lists.get(speech).state == "done", "the end of the list")
    assert [entry.state for entry in lists.all_entries(speech)] == ["done"] * 6

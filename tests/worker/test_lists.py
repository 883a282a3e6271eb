"""Lists of claims: handed to the queue a few at a time, paused, cancelled, and ended."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from threading import Event

import pytest

from retrieval.result import ClaimResult
from settings import Settings
from tests.app.claim_documents import claim_document
from tests.app.worker_by_hand import WorkerByHand
from tests.worker.conftest import at_once
from worker.broker import Queue
from worker.database import Database
from worker.feedback_store import FeedbackStore, Said
from worker.feeder import Feeder
from worker.job_store import JobStore
from worker.jobs import QueueFull
from worker.list_store import ListStore
from worker.lists import Entry, NewEntry, TooManyRows, UnknownList


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

"""``esoteric users``: tokens are printed once, and users can be listed and removed."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from cli.main import main
from retrieval.result import ClaimResult
from tests.app.claim_documents import claim_document
from tests.support.cases import cases
from worker.corpora.corpus_store import CorpusStore
from worker.database import Database
from worker.feedback_store import FeedbackStore, Said
from worker.job_store import JobStore
from worker.jobs import UnknownJob
from worker.list_store import ListStore
from worker.lists import NewEntry, UnknownList
from worker.run_store import RunStore
from worker.user_store import User, UserStore, owner_of


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("ESOTERIC_HOME", str(tmp_path))
    return tmp_path


def users(*arguments: str) -> Result:
    return CliRunner().invoke(main, ["users", *arguments])


def test_a_user_is_added_listed_and_removed(home: Path) -> None:
    added = users("add", "anna", "--role", "operator")
    assert added.exit_code == 0
    token = added.stdout.strip()
    database = Database(f"sqlite:///{home}/esoteric.db")
    assert UserStore(database).with_token(token) == User("anna", "operator")
    assert UserStore(database).with_token(token + "x") is None
    rotated = users("rotate", "anna")
    assert rotated.exit_code == 0
    assert UserStore(database).with_token(token) is None  # at once
    token = rotated.stdout.strip()
    assert UserStore(database).with_token(token) == User("anna", "operator")
    assert json.loads(users("rotate", "anna", "--json").stdout)["name"] == "anna"
    assert users("rotate", "otto").stderr.startswith("esoteric: There is no user 'otto'.")
    program = json.loads(users("add", "press-room", "--json").stdout)
    assert (program["role"], len(program["token"])) == ("checker", 43)
    assert users("remove", "press-room").exit_code == 0
    listed = users("list")
    assert "anna" in listed.stdout
    assert "operator" in listed.stdout
    assert token not in listed.stdout
    assert users("remove", "anna").exit_code == 0
    assert UserStore(database).with_token(token) is None
    assert json.loads(users("list", "--json").stdout) == {"users": []}
    database.close()


def test_a_user_is_removed_with_all_that_is_hers(home: Path) -> None:
    users("add", "anna")
    database = Database(f"sqlite:///{home}/esoteric.db")
    jobs, lists = JobStore(database), ListStore(database)
    anna, carl = owner_of("anna"), owner_of("carl")
    hers, _ = jobs.submit("Anna has a boat.", "combined", anna)
    his, _ = jobs.submit("Carl has a boat.", "combined", carl)
    for job in (hers, his):
        run = RunStore(database).start(job.id, "a worker")
        assert run is not None
        result = ClaimResult.model_validate(claim_document(job.claim))
        assert RunStore(database).finish(run, result)
    rows = [NewEntry("line 1", "Tea is a drink.", {}, None)]
    list_id = lists.create("Drinks", "combined", rows, anna)
    FeedbackStore(database).give(his.id, Said(agrees=True, label="SUPPORTS"), anna)
    assert "deleted" in users("remove", "anna", "--with-claims").stdout
    with pytest.raises(UnknownJob):
        jobs.get(hers.id)
    with pytest.raises(UnknownList):
        lists.get(list_id)
    assert FeedbackStore(database).about(his.id) == []
    assert jobs.get(his.id).state == "done"
    database.close()


def test_users_are_put_into_groups_and_leave_them(home: Path) -> None:
    assert "There is no group." in users("groups").output
    users("add", "anna")
    users("add", "bert")
    assert users("join", "newsroom", "anna", "bert").exit_code == 0
    assert users("join", "newsroom", "anna").exit_code == 0  # she is in it already
    assert users("join", "law", "bert").exit_code == 0
    assert users("groups").stdout.split() == ["law", "bert", "newsroom", "anna,", "bert"]
    corpora = CorpusStore(home / "documents", {})
    name = corpora.make("Papers", owner=owner_of("anna"))
    corpora.share(name, "group:law")
    users("remove", "bert")
    listed = json.loads(users("groups", "--json").stdout)
    assert listed == {"groups": [{"name": "newsroom", "users": ["anna"]}]}
    assert corpora.corpus(name).shared == "group:law"
    # Its name alone shows the new group nothing of the one before.
    assert users("join", "law", "anna").exit_code == 0
    assert corpora.corpus(name).shared == "owner"
    corpora.share(name, "group:law")
    assert users("leave", "newsroom", "anna").exit_code == 0
    users("add", "carl")
    assert users("join", "law", "carl").exit_code == 0
    assert corpora.corpus(name).shared == "group:law"


@cases("users", "arguments", "status", "says")
def test_what_cannot_be_done_is_said(
    home: Path, arguments: list[str], status: int, says: str
) -> None:
    users("add", "anna")
    failed = users(*arguments)
    assert failed.exit_code == status
    assert says in failed.stderr
    assert failed.stderr.count("\n") == 1

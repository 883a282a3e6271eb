"""The retriever of a worker and its reported state."""

from __future__ import annotations

from pathlib import Path
from threading import Event, Thread

import pytest

from retrieval.errors import IndexUnavailable
from settings import Settings
from tests.support.waiting import wait_until
from tests.worker.fake_retriever import FakeRetriever, open_retriever
from worker import retriever
from worker.retriever import RetrieverSlot


class Opening:
    """Opens fake retrievers and counts them."""

    def __init__(self) -> None:
        self.count = 0

    def __call__(self, settings: Settings) -> FakeRetriever:
        self.count += 1
        return open_retriever(settings)


@pytest.fixture
def settings(tmp_path: Path) -> Settings:
    (tmp_path / "index").mkdir()
    (tmp_path / "index" / "name").write_text("Almanac")
    return Settings.from_environment({"ESOTERIC_HOME": str(tmp_path)})


def test_a_retriever_without_its_index_server_is_kept_and_ready_again_later(
    settings: Settings,
) -> None:
    opening = Opening()
    slot = RetrieverSlot(opening, settings)
    slot.load()
    cut_off = settings.home / "cut-off"
    cut_off.touch()
    with pytest.raises(IndexUnavailable, match="cut off"):
        slot.needs_loading()
    with pytest.raises(IndexUnavailable, match="cut off"), slot.use():
        pass
    assert slot.state == "broken"
    assert slot.problem is not None
    assert slot.problem.code == "index_unreachable"
    cut_off.unlink()
    assert not slot.needs_loading()
    assert (slot.state, slot.problem, opening.count) == ("ready", None, 1)


def test_another_index_is_loaded_after_its_server_did_not_answer(settings: Settings) -> None:
    opening = Opening()
    slot = RetrieverSlot(opening, settings)
    slot.load()
    (settings.home / "cut-off").touch()
    slot.load()
    assert slot.state == "broken"
    (settings.home / "cut-off").unlink()
    (settings.home / "index" / "name").write_text("Gazetteer")
    slot.load()
    assert (slot.state, opening.count) == ("ready", 2)
    assert slot.corpus is not None
    assert slot.corpus.name == "Gazetteer"


@pytest.mark.parametrize("cut_off", ["cut-off", "unreadable"])
def test_the_watch_continues_while_the_server_of_the_index_does_not_answer(
    settings: Settings, monkeypatch: pytest.MonkeyPatch, cut_off: str
) -> None:
    monkeypatch.setattr(retriever, "WATCH_SECONDS", 0.01)
    slot = RetrieverSlot(open_retriever, settings)
    slot.load()
    stop = Event()
    watch = Thread(target=slot.watch, args=[stop])
    watch.start()
    try:
        (settings.home / cut_off).touch()
        wait_until(lambda: slot.state == "broken", "the notice")
        (settings.home / cut_off).unlink()
        wait_until(lambda: slot.state == "ready", "the end of it")
    finally:
        stop.set()
        watch.join()

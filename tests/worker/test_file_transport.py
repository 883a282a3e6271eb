"""The embedded broker loses messages only in a power failure, and reads no incomplete message."""

from __future__ import annotations

import multiprocessing
import os
import stat
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from celery import Celery

from settings import Settings
from worker.broker import QUEUE, make_celery


def celery_in(home: Path) -> Celery:
    return make_celery(Settings.from_environment({"ESOTERIC_HOME": str(home)}))


@pytest.fixture
def celery(tmp_path: Path) -> Iterator[Celery]:
    celery = celery_in(tmp_path)
    yield celery
    celery.pool.force_close_all()


def send(celery: Celery, job_id: str) -> None:
    celery.send_task("check_claim", args=[job_id])


def take(celery: Celery) -> list[str]:
    """Take all messages, and return their ids."""
    ids = []
    with celery.connection_for_read() as connection:
        channel = connection.default_channel
        while True:
            message = channel.basic_get(QUEUE, no_ack=True)
            if message is None:
                return ids
            ids.append(message.payload[0][0])


def send_and_take(home: Path, name: str, results: multiprocessing.Queue[Any]) -> None:
    """Send messages and take them, as a web server and a worker do."""
    celery = celery_in(home)
    taken = []
    for number in range(50):
        send(celery, f"{name}{number}")
        taken.extend(take(celery))
    results.put(taken)


def test_messages_are_delivered_once_and_oldest_first(celery: Celery) -> None:
    for number in range(20):
        send(celery, f"id{number}")
    assert take(celery) == [f"id{number}" for number in range(20)]
    assert take(celery) == []


@pytest.mark.server
def test_many_processes_send_and_take_at_once_without_losing_a_message(tmp_path: Path) -> None:
    context = multiprocessing.get_context("spawn")
    results: multiprocessing.Queue[Any] = context.Queue()
    processes = [
        context.Process(target=send_and_take, args=[tmp_path, name, results]) for name in "abc"
    ]
    for process in processes:
        process.start()
    taken = [job_id for _ in processes for job_id in results.get(timeout=60)]
    for process in processes:
        process.join()
        assert process.exitcode == 0
    taken += take(celery_in(tmp_path))
    assert sorted(taken) == sorted(f"{name}{number}" for name in "abc" for number in range(50))


def test_a_message_is_absent_or_complete(celery: Celery, tmp_path: Path) -> None:
    """Every file that another process can see is a complete message."""
    send(celery, "id")
    (file,) = (tmp_path / "queue" / "messages").iterdir()
    assert file.name.endswith(f".{QUEUE}.msg")
    assert list((tmp_path / "queue").rglob("*.partial")) == []


def test_only_this_user_can_read_the_messages(tmp_path: Path) -> None:
    before = os.umask(0)
    try:
        send(celery_in(tmp_path / "home"), "id")
    finally:
        os.umask(before)
    for folder in (tmp_path / "home", *(tmp_path / "home" / "queue").iterdir()):
        assert stat.S_IMODE(folder.stat().st_mode) == 0o700


def test_a_damaged_message_is_dropped_and_the_next_one_is_delivered(
    celery: Celery, tmp_path: Path
) -> None:
    send(celery, "torn")
    (torn,) = (tmp_path / "queue" / "messages").iterdir()
    torn.write_bytes(torn.read_bytes()[:100] + b"\xff")
    send(celery, "whole")
    assert take(celery) == ["whole"]

"""Each part that is down is named by ``/readyz`` within ten seconds, and forgotten when it is back.

With real processes; that the disk is full, tests/app/monitoring/test_health.py shows.
"""

from __future__ import annotations

import json
import sqlite3
import time
from collections.abc import Iterator
from contextlib import closing

import pytest

from tests.app.web_process import WebProcess
from tests.worker.conftest import House, RedisServer, redis_house, redis_server

__all__ = ["redis_house", "redis_server"]

WITHIN = 10.0  # seconds


@pytest.fixture
def web(redis_house: House) -> Iterator[WebProcess]:
    model = {"ESOTERIC_LLM": "openai:small", "ESOTERIC_LLM_URL": "http://127.0.0.1:9/v1"}
    redis_house.environment |= model
    redis_house.start_worker()
    web = WebProcess(redis_house.home, ESOTERIC_BROKER_URL=redis_house.settings.broker_url, **model)
    wait_for(web, 200, set(), seconds=60)
    yield web
    web.close()


def said(web: WebProcess) -> tuple[int, set[str]]:
    """Return the status of the service, and what is missing or degraded by its codes."""
    status, body = web.get("/readyz")
    found = json.loads(body)
    return status, {one["code"] for key in ("problems", "degraded") for one in found.get(key, ())}


def wait_for(web: WebProcess, status: int, codes: set[str], seconds: float = WITHIN) -> None:
    deadline = time.monotonic() + seconds
    while (now := said(web)) != (status, codes):
        assert time.monotonic() < deadline, now
        time.sleep(0.2)


@pytest.mark.server
@pytest.mark.redis
def test_each_part_that_is_down_is_said_within_ten_seconds(
    web: WebProcess, redis_house: House, redis_server: RedisServer
) -> None:
    redis_server.freeze()
    wait_for(web, 503, {"broker_unavailable"})
    redis_server.thaw()
    wait_for(web, 200, set())

    with closing(sqlite3.connect(redis_house.home / "esoteric.db", isolation_level=None)) as other:
        other.execute("BEGIN IMMEDIATE")
        wait_for(web, 503, {"store_unavailable"})
    wait_for(web, 200, set(), seconds=30)

    redis_house.cut_off()
    wait_for(web, 503, {"index_unreachable"})
    redis_house.reconnect()
    wait_for(web, 200, set())

    no_model = redis_house.home / "no-model"
    no_model.touch()
    wait_for(web, 200, {"language_model_unavailable"})  # the verifier's verdict stays
    no_model.unlink()
    wait_for(web, 200, set())

    redis_house.workers[0].kill()
    wait_for(web, 503, {"no_worker"})
    redis_house.start_worker()
    wait_for(web, 200, set(), seconds=30)

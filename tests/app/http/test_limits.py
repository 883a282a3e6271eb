"""Limits: a client that asks for too much gets a time to come back, and loses nothing."""

from __future__ import annotations

import time
from collections.abc import Iterator
from pathlib import Path

import pytest
from flask import Flask

from app import create_app
from app.services import services_of
from settings import Settings
from tests.app.index import describe_index
from tests.worker.conftest import RedisServer, redis_server

__all__ = ["redis_server"]


@pytest.fixture(params=["memory", pytest.param("redis", marks=pytest.mark.redis)])
def app(tmp_path: Path, request: pytest.FixtureRequest) -> Iterator[Flask]:
    """An open service of three claims a minute, with each kind of queue."""
    describe_index(tmp_path)
    environment = {
        "ESOTERIC_HOME": str(tmp_path),
        "ESOTERIC_ACCESS": "open",
        "ESOTERIC_CLAIMS_PER_MINUTE": "3",
    }
    if request.param == "redis":
        server: RedisServer = request.getfixturevalue("redis_server")
        environment["ESOTERIC_BROKER_URL"] = server.url
    app = create_app(Settings.from_environment(environment))
    yield app
    services_of(app).close()


def test_too_many_claims_are_answered_with_the_time_to_come_back(app: Flask) -> None:
    client = app.test_client()
    for number in range(3):
        body = {"claim": f"Tea {number} is a drink."}
        assert client.post("/api/v1/claims", json=body).status_code == 202
    answer = client.post("/api/v1/claims", json={"claim": "Tea is a drink."})
    assert answer.status_code == 429
    assert 0 < int(answer.headers["Retry-After"]) <= 60
    error = answer.get_json()["error"]
    assert error["code"] == "too_many"
    assert error["message"] == "You have submitted 3 claims within a minute."
    assert answer.headers["Retry-After"] in error["hint"]
    page = client.post("/claims", data={"claim": "Tea is <b>hot</b>."})
    assert page.status_code == 429
    assert 0 < int(page.headers["Retry-After"]) <= 60
    assert "You have submitted 3 claims within a minute." in page.text
    assert "Tea is &lt;b&gt;hot&lt;/b&gt;." in page.text  # still in the form
    other = {"REMOTE_ADDR": "192.0.2.7"}
    body = {"claim": "Tea is a drink."}
    assert client.post("/api/v1/claims", json=body, environ_base=other).status_code == 202


def test_a_clock_that_is_set_back_locks_nobody_out(
    app: Flask, monkeypatch: pytest.MonkeyPatch
) -> None:
    client, now = app.test_client(), time.time

    def statuses(claims: str) -> list[int]:
        bodies = [{"claim": f"{claim} is a drink."} for claim in claims.split()]
        return [client.post("/api/v1/claims", json=body).status_code for body in bodies]

    assert statuses("Tea Milk Water Beer") == [202, 202, 202, 429]
    monkeypatch.setattr("time.time", lambda: now() - 3600)
    assert statuses("Beer Wine Rum Gin") == [202, 202, 202, 429]


def test_a_household_of_ipv6_is_one_client(app: Flask) -> None:
    client = app.test_client()
    statuses = [
        client.post(
            "/api/v1/claims",
            json={"claim": "Tea is a drink."},
            environ_base={"REMOTE_ADDR": f"2001:db8:1:2::{number}"},
        ).status_code
        for number in range(4)
    ]
    assert statuses == [202, 202, 202, 429]


def test_a_full_queue_accepts_no_more_and_keeps_the_claim_in_the_form(tmp_path: Path) -> None:
    describe_index(tmp_path)
    environment = {"ESOTERIC_HOME": str(tmp_path), "ESOTERIC_MOST_QUEUED": "1"}
    app = create_app(Settings.from_environment(environment))
    client = app.test_client()
    assert client.post("/claims", data={"claim": "Tea is a drink."}).status_code == 303
    page = client.post("/claims", data={"claim": "Coffee is a drink."})
    assert (page.status_code, page.headers["Retry-After"]) == (503, "60")
    assert "Coffee is a drink." in page.text
    answer = client.post("/api/v1/claims", json={"claim": "Coffee is a drink."})
    assert (answer.status_code, answer.get_json()["error"]["code"]) == (503, "queue_full")
    page = client.post("/compare", data={"claim": "Tea is hot.", "recipe": ["esoteric", "m3"]})
    assert (page.status_code, page.headers["Retry-After"]) == (503, "60")
    assert "Tea is hot.</textarea>" in page.text
    assert services_of(app).store.counts()["queued"] == 1
    services_of(app).close()


def test_recipes_are_compared_all_or_none_and_the_form_keeps_what_was_typed(app: Flask) -> None:
    client, store = app.test_client(), services_of(app).store
    form = {"claim": "Tea is hot.", "recipe": ["esoteric", "m3"]}
    assert client.post("/compare", data=form | {"claim": "Ice is cold."}).status_code == 303
    page = client.post("/compare", data=form)
    assert page.status_code == 429
    assert 0 < int(page.headers["Retry-After"]) <= 60
    assert "You may submit 3 claims within a minute." in page.text
    assert "Tea is hot.</textarea>" in page.text
    assert store.counts()["queued"] == 2
    page = client.post("/compare", data=form | {"recipe": ["esoteric", "m3", "fer", "admiral"]})
    assert page.status_code == 429
    assert "Submit fewer at once." in page.text
    assert "1 for 2, because you may submit 3 checks a minute." in page.text
    page = client.post("/compare", data=form | {"claim": "Tea is hot.\nIce is cold."})
    assert page.status_code == 422  # it could never be submitted
    assert "2 recipes can be compared on at most 1." in page.text


def with_four_rows(home: Path) -> Flask:
    """Return an application that is open to all, where a client may have four waiting rows."""
    describe_index(home)
    environment = {
        "ESOTERIC_HOME": str(home),
        "ESOTERIC_ACCESS": "open",
        "ESOTERIC_MOST_ROWS": "4",
    }
    return create_app(Settings.from_environment(environment))


def test_the_waiting_rows_of_a_client_are_limited_and_said_before_sending(tmp_path: Path) -> None:
    app = with_four_rows(tmp_path)
    client, lists = app.test_client(), services_of(app).lists
    # The link waits for nothing.
    three = "Tea is hot.\nIce is cold.\nhttps://example.org\nSnow is white."
    sent = client.post("/lists", data={"claims": three})
    assert sent.status_code == 303
    said = "4 rows of your lists may wait at once; 1 more can be sent now."
    assert said in client.get("/lists").text

    page = client.post("/lists", data={"claims": three})
    assert (page.status_code, page.headers["Retry-After"]) == (429, "60")
    assert "3 wait now, and this list has 3 more." in page.text
    assert "or send at most 1 row now" in page.text
    assert "Snow is white.</textarea>" in page.text
    body = {"claims": [f"Tea {number} is hot." for number in range(5)]}
    answer = client.post("/api/v1/lists", json=body)
    assert (answer.status_code, answer.get_json()["error"]["code"]) == (429, "too_many_rows")
    assert "Retry-After" not in answer.headers  # it never fits
    assert "at most 4 rows" in answer.get_json()["error"]["hint"]
    assert len(lists.recent(None, 9)) == 1
    assert 'esoteric_refused_requests_total{limit="rows"} 2.0' in client.get("/metrics").text

    client.post(f"{sent.location}/cancel")
    assert client.post("/lists", data={"claims": three}).status_code == 303
    services_of(app).close()


def test_a_paused_list_locks_nobody_out_and_goes_on_once_its_rows_fit(tmp_path: Path) -> None:
    app = with_four_rows(tmp_path)
    client, neighbour, program = (app.test_client() for _ in range(3))
    three = "Tea is hot.\nIce is cold.\nSnow is white."
    first = client.post("/lists", data={"claims": three}).location
    # Behind one address each browser, and what has no cookie, has its own limit.
    assert neighbour.post("/lists", data={"claims": three}).status_code == 303
    body = {"claims": three.split("\n")}
    statuses = [program.post("/api/v1/lists", json=body).status_code for _ in range(2)]
    assert statuses == [202, 429]

    client.post(f"{first}/pause")
    second = client.post("/lists", data={"claims": three})
    assert second.status_code == 303
    refused = client.post(f"/api/v1{first}/go-on")
    assert (refused.status_code, refused.headers["Retry-After"]) == (429, "60")
    assert "pause or cancel another list" in refused.get_json()["error"]["hint"]
    assert client.post(f"{first}/go-on").status_code == 429
    assert client.get(f"/api/v1{first}").get_json()["state"] == "paused"
    client.post(f"{second.location}/pause")
    assert client.post(f"{first}/go-on").status_code == 303
    assert client.get(f"/api/v1{first}").get_json()["state"] == "running"
    services_of(app).close()


@pytest.mark.models
@pytest.mark.parametrize(
    ("path", "form", "kept"),
    [
        ("/texts", {"text": "Tea is hot."}, "Tea is hot.</textarea>"),
        ("/lists", {"claims": "Tea is hot.\nIce is cold."}, "Tea is hot.\nIce is cold.</textarea>"),
        (
            "/texts/claims",
            {"text": "Tea is hot.", "take": "1", "claim-1": "Tea is warm.", "said-1": "0-11"},
            "Tea is warm.",
        ),
    ],
)
def test_a_list_or_text_beyond_the_limit_stays_in_its_form(
    app: Flask, path: str, form: dict[str, str], kept: str
) -> None:
    client = app.test_client()
    for _ in range(3):
        assert client.post(path, data=form).status_code in (200, 303)
    page = client.post(path, data=form)
    assert page.status_code == 429
    assert 0 < int(page.headers["Retry-After"]) <= 60
    assert "You have submitted 3 claims within a minute." in page.text
    assert kept in page.text


@pytest.mark.redis
def test_while_redis_is_away_claims_are_not_counted(
    tmp_path: Path, redis_server: RedisServer
) -> None:
    settings = Settings.from_environment(
        {
            "ESOTERIC_HOME": str(tmp_path),
            "ESOTERIC_BROKER_URL": redis_server.url,
            "ESOTERIC_CLAIMS_PER_MINUTE": "1",
        }
    )
    app = create_app(settings)
    limits = services_of(app).limits
    redis_server.stop()
    began = time.monotonic()
    with app.test_request_context("/"):
        limits.claim()
        limits.claim()
    assert time.monotonic() - began < 5

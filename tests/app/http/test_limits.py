"""Limits: a client that asks for too much gets a time to come back, and loses nothing."""

from __future__ import annotations

import time
from typing import Any

import pytest

from tests.app.client import Client, refusal
from tests.app.conftest import Start
from tests.worker.conftest import RedisServer, redis_server

__all__ = ["redis_server"]

MINUTE = "You have submitted 3 claims within a minute."
THREE = "Tea is hot.\nIce is cold.\nSnow is white."


def comes_back(answer: Any) -> bool:
    """Return whether an answer names the time to come back."""
    assert answer.status_code == 429
    return 0 < int(answer.headers["Retry-After"]) <= 60


def of_three(start: Start, **more: str) -> Client:
    """Return a client of an open service of three claims a minute."""
    return start(ESOTERIC_ACCESS="open", ESOTERIC_CLAIMS_PER_MINUTE="3", **more)


def statuses(client: Client, claims: str) -> list[int]:
    bodies = [{"claim": f"{claim} is a drink."} for claim in claims.split()]
    return [client.post("/api/v1/claims", json=body).status_code for body in bodies]


@pytest.mark.parametrize("queue", ["memory", pytest.param("redis", marks=pytest.mark.redis)])
def test_too_many_claims_are_answered_with_the_time_to_come_back(
    start: Start, request: pytest.FixtureRequest, queue: str
) -> None:
    in_redis = {}
    if queue == "redis":
        in_redis["ESOTERIC_BROKER_URL"] = request.getfixturevalue("redis_server").url
    client = of_three(start, **in_redis)
    assert statuses(client, "Tea Milk Water") == [202, 202, 202]
    answer = client.post("/api/v1/claims", json={"claim": "Beer is a drink."})
    assert comes_back(answer)
    assert refusal(answer) == (429, "too_many")
    error = answer.get_json()["error"]
    assert error["message"] == MINUTE
    assert answer.headers["Retry-After"] in error["hint"]
    page = client.post("/claims", data={"claim": "Tea is <b>hot</b>."})
    assert comes_back(page)
    assert MINUTE in page.text
    assert "Tea is &lt;b&gt;hot&lt;/b&gt;." in page.text  # still in the form
    # Another address is another client, but a household of IPv6 is one.
    client.environ_base["REMOTE_ADDR"] = "192.0.2.7"
    assert statuses(client, "Tea") == [202]
    household = []
    for number in range(4):
        client.environ_base["REMOTE_ADDR"] = f"2001:db8:1:2::{number}"
        household += statuses(client, "Tea")
    assert household == [202, 202, 202, 429]


def test_a_clock_set_back_locks_nobody_out(start: Start, monkeypatch: pytest.MonkeyPatch) -> None:
    client, now = of_three(start), time.time
    assert statuses(client, "Tea Milk Water Beer") == [202, 202, 202, 429]
    monkeypatch.setattr("time.time", lambda: now() - 3600)
    assert statuses(client, "Beer Wine Rum Gin") == [202, 202, 202, 429]


def test_a_full_queue_accepts_no_more_and_keeps_the_claim_in_the_form(start: Start) -> None:
    client = start(ESOTERIC_MOST_QUEUED="1")
    assert client.post("/claims", data={"claim": "Tea is a drink."}).status_code == 303
    page = client.post("/claims", data={"claim": "Coffee is a drink."})
    assert (page.status_code, page.headers["Retry-After"]) == (503, "60")
    assert "Coffee is a drink." in page.text
    answer = client.post("/api/v1/claims", json={"claim": "Coffee is a drink."})
    assert refusal(answer) == (503, "queue_full")
    page = client.post("/compare", data={"claim": "Tea is hot.", "recipe": ["esoteric", "m3"]})
    assert (page.status_code, page.headers["Retry-After"]) == (503, "60")
    assert "Tea is hot.</textarea>" in page.text
    assert client.store.counts()["queued"] == 1


def test_recipes_are_compared_all_or_none_and_the_form_keeps_what_was_typed(start: Start) -> None:
    client = of_three(start)
    form = {"claim": "Tea is hot.", "recipe": ["esoteric", "m3"]}
    assert client.post("/compare", data=form | {"claim": "Ice is cold."}).status_code == 303
    page = client.post("/compare", data=form)
    assert comes_back(page)
    assert "You may submit 3 claims within a minute." in page.text
    assert "Tea is hot.</textarea>" in page.text
    assert client.store.counts()["queued"] == 2
    page = client.post("/compare", data=form | {"recipe": ["esoteric", "m3", "fer", "admiral"]})
    assert page.status_code == 429
    assert "Submit fewer at once." in page.text
    assert "1 for 2, because you may submit 3 checks a minute." in page.text
    page = client.post("/compare", data=form | {"claim": "Tea is hot.\nIce is cold."})
    assert page.status_code == 422  # it could never be submitted
    assert "2 recipes can be compared on at most 1." in page.text


def test_the_waiting_rows_of_a_client_are_limited_and_said_before_sending(start: Start) -> None:
    client = start(ESOTERIC_ACCESS="open", ESOTERIC_MOST_ROWS="4")
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
    assert refusal(answer) == (429, "too_many_rows")
    assert "Retry-After" not in answer.headers  # it never fits
    assert "at most 4 rows" in answer.get_json()["error"]["hint"]
    assert len(client.services.lists.recent(None, 9)) == 1
    assert 'esoteric_refused_requests_total{limit="rows"} 2.0' in client.get("/metrics").text

    client.post(f"{sent.location}/cancel")
    assert client.post("/lists", data={"claims": three}).status_code == 303


def test_a_paused_list_locks_nobody_out_and_goes_on_once_its_rows_fit(start: Start) -> None:
    client = start(ESOTERIC_ACCESS="open", ESOTERIC_MOST_ROWS="4")
    neighbour, program = client.another(), client.another()
    first = client.post("/lists", data={"claims": THREE}).location
    # Behind one address each browser, and what has no cookie, has its own limit.
    assert neighbour.post("/lists", data={"claims": THREE}).status_code == 303
    body = {"claims": THREE.split("\n")}
    sent = [program.post("/api/v1/lists", json=body).status_code for _ in range(2)]
    assert sent == [202, 429]

    client.post(f"{first}/pause")
    second = client.post("/lists", data={"claims": THREE})
    assert second.status_code == 303
    refused = client.post(f"/api/v1{first}/go-on")
    assert (refused.status_code, refused.headers["Retry-After"]) == (429, "60")
    assert "pause or cancel another list" in refused.get_json()["error"]["hint"]
    assert client.post(f"{first}/go-on").status_code == 429
    assert client.json(f"/api/v1{first}")["state"] == "paused"
    client.post(f"{second.location}/pause")
    assert client.post(f"{first}/go-on").status_code == 303
    assert client.json(f"/api/v1{first}")["state"] == "running"


@pytest.mark.models
def test_a_list_or_text_beyond_the_limit_stays_in_its_form(start: Start) -> None:
    client, text = of_three(start), "Tea is hot."
    of_text = {"text": text, "take": "1", "claim-1": "Tea is warm.", "said-1": "0-11"}
    for number, (path, form, kept) in enumerate(
        (
            ("/texts", {"text": text}, "Tea is hot.</textarea>"),
            ("/lists", {"claims": THREE}, f"{THREE}</textarea>"),
            ("/texts/claims", of_text, "Tea is warm."),
        )
    ):
        client.environ_base["REMOTE_ADDR"] = f"192.0.2.{number}"
        for _ in range(3):
            assert client.post(path, data=form).status_code in (200, 303)
        page = client.post(path, data=form)
        assert comes_back(page)
        assert MINUTE in page.text
        assert kept in page.text


def test_a_client_has_so_many_event_streams_open_until_it_closes_one(start: Start) -> None:
    client = start(ESOTERIC_STREAMS="1")
    events = f"/api/v1/claims/{client.sent('Tea is hot.').id}/events"
    for _ in range(2):
        with client.get(events) as waiting:
            assert waiting.status_code == 200
            assert refusal(client.get(events)) == (429, "too_many")


@pytest.mark.redis
def test_while_redis_is_away_no_claim_is_counted(start: Start, redis_server: RedisServer) -> None:
    client = start(ESOTERIC_BROKER_URL=redis_server.url, ESOTERIC_CLAIMS_PER_MINUTE="1")
    redis_server.stop()
    began = time.monotonic()
    with client.application.test_request_context("/"):
        client.services.limits.claim()
        client.services.limits.claim()
    assert time.monotonic() - began < 5

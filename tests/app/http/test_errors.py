"""Errors for people and for programs, also without the database or the queue."""

from __future__ import annotations

import socket
import time
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest
from flask import Flask
from flask.testing import FlaskClient

from app import create_app
from app.services import services_of
from settings import Settings


@pytest.fixture
def silent_port() -> Iterator[int]:
    """A port that accepts connections and never answers."""
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        listener.listen(16)
        yield listener.getsockname()[1]


def client_of(settings: Settings) -> Iterator[FlaskClient]:
    app = create_app(settings)
    yield app.test_client()
    services_of(app).close()


@pytest.fixture
def without_database(settings: Settings, tmp_path: Path) -> Iterator[FlaskClient]:
    blocked = tmp_path / "blocked"
    blocked.write_text("This is a file, so no database can lie below it.")
    yield from client_of(replace(settings, database_url=f"sqlite:///{blocked}/esoteric.db"))


@pytest.fixture
def without_broker(settings: Settings, silent_port: int) -> Iterator[FlaskClient]:
    yield from client_of(replace(settings, broker_url=f"redis://127.0.0.1:{silent_port}/0"))


def test_people_get_a_page_and_programs_get_json(client: FlaskClient) -> None:
    page = client.get("/nothing", headers={"Accept": "text/html,*/*;q=0.8"})
    assert page.status_code == 404
    assert page.mimetype == "text/html"
    assert "There is nothing at this address." in page.text
    assert "Check the address, or start at the first page." in page.text
    assert "<code>not_found</code>" in page.text
    program = client.get("/nothing", headers={"Accept": "application/json"})
    assert program.status_code == 404
    assert program.get_json() == {
        "error": {
            "code": "not_found",
            "message": "There is nothing at this address.",
            "hint": "Check the address, or start at the first page.",
        }
    }


def test_an_unexpected_error_is_a_page_without_its_details(app: Flask) -> None:
    @app.get("/fault")
    def fault() -> str:
        raise RuntimeError("a detail")

    answer = app.test_client().get("/fault")
    assert answer.status_code == 500
    assert "Something went wrong on our side." in answer.text
    assert "a detail" not in answer.text


def test_without_its_database_every_route_says_so(without_database: FlaskClient) -> None:
    assert without_database.get("/healthz").status_code == 200
    for method, path in (
        *(("GET", "/"), ("GET", "/claims"), ("GET", "/claims/x"), ("POST", "/claims/x/cancel")),
        *(("GET", "/api/v1/claims/x"), ("DELETE", "/api/v1/claims/x"), ("GET", "/readyz")),
    ):
        answer = without_database.open(path, method=method)
        assert answer.status_code == 503
        assert answer.headers.get("Retry-After") == (None if path == "/readyz" else "5")
        programs = path.startswith(("/api", "/readyz"))
        assert answer.mimetype == ("application/json" if programs else "text/html")
        assert "Set ESOTERIC_HOME to a folder that can be written." in answer.text
    api = without_database.post("/api/v1/claims", json={"claim": "Snow is white."})
    assert (api.status_code, api.get_json()["error"]["code"]) == (503, "store_unavailable")
    assert without_database.post("/claims", data={"claim": "Snow is white."}).status_code == 503
    assert "esoteric_database_up 0.0" in without_database.get("/metrics").text


def test_a_broker_that_does_not_answer_is_reported_within_seconds_and_no_claim_is_stored(
    without_broker: FlaskClient,
) -> None:
    began = time.monotonic()
    answer = without_broker.post("/claims", data={"claim": "Snow is white."})
    assert time.monotonic() - began < 8
    assert answer.status_code == 503
    assert "does not answer. New claims are refused" in answer.text
    api = without_broker.post("/api/v1/claims", json={"claim": "Snow is white."})
    assert api.status_code == 503
    assert "Snow is white." not in without_broker.get("/claims").text

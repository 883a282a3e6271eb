"""Sources that the operator named, in the API and the form; nothing is asked of them for this."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

import pytest
from flask import Flask
from flask.testing import FlaskClient

from app import create_app
from app.services import services_of
from retrieval.sources.address import read_sources
from settings import Settings
from worker.job_store import JobStore

CLAIM = {"claim": "Varnby has a harbour."}


@pytest.fixture
def app(settings: Settings) -> Iterator[Flask]:
    app = create_app(replace(settings, sources=read_sources("wikipedia=mediawiki:en")))
    yield app
    services_of(app).close()


def test_a_source_is_listed_with_what_is_sent_to_whom(client: FlaskClient) -> None:
    found = client.get("/api/v1/corpora").json
    assert found is not None
    assert [one["kind"] for one in found["corpora"]] == ["index", "mediawiki"]
    source = found["corpora"][1]
    assert (source["name"], source["title"], source["default"]) == (
        *("wikipedia", "Wikipedia", False),
    )
    assert source["sent"] == "Words and names of the claim are sent to en.wikipedia.org."
    assert "are sent to en.wikipedia.org" in client.get("/").text


def test_a_claim_names_a_source_perhaps_with_a_day_and_no_address_of_its_own(
    client: FlaskClient, store: JobStore
) -> None:
    for names in (["wikipedia"], ["default", "wikipedia@2024-05-01"]):
        taken = client.post("/api/v1/claims", json=CLAIM | {"corpora": names})
        assert taken.status_code == 202
        assert taken.json is not None
        assert store.get(taken.json["id"]).corpora == tuple(names)
        page = client.get(taken.headers["Location"].replace("/api/v1", ""))
        assert page.status_code == 200
    for name, code in (
        ("mediawiki:http://127.0.0.1:8080/api.php", "unknown_corpus"),
        ("zim-search:/etc/passwd", "unknown_corpus"),
        ("wikipedia@2024-13-01", "bad_day"),
    ):
        refused = client.post("/api/v1/claims", json=CLAIM | {"corpora": [name]})
        assert refused.status_code in (404, 422)
        assert refused.json is not None
        assert refused.json["error"]["code"] == code

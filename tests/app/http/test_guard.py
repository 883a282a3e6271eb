"""Requests that are refused before any view, and the headers of every answer."""

from __future__ import annotations

import re

import pytest
from flask.testing import FlaskClient

from worker.job_store import JobStore

CLAIM = "Varnby has a harbour."


@pytest.mark.parametrize(
    "host",
    [
        "evil.example",
        "localhost.evil.example",
        "[",
        "127.0.0.1.nip.example:80",
        "evil.example@localhost",
        "192.0.2.7",  # an address, but not of this machine
        "[2001:db8::7]:8000",
    ],
)
def test_an_unknown_host_name_is_refused(client: FlaskClient, host: str) -> None:
    answer = client.get("/claims", headers={"Host": host})
    assert answer.status_code == 421
    assert "TRUSTED_HOSTS" in answer.text
    assert client.get("/api/v1/openapi.json", headers={"Host": host}).status_code == 421


@pytest.mark.parametrize(
    "host",
    [
        "localhost",
        "LOCALHOST:8000",
        "127.0.0.1:8000",
        "[::1]:8000",
        "127.1.2.3",
        "localhost.",
        "localhost:",
        "",
    ],
)
def test_addresses_and_localhost_are_accepted(client: FlaskClient, host: str) -> None:
    assert client.get("/claims", headers={"Host": host}).status_code == 200


@pytest.mark.parametrize(
    "headers",
    [
        {"Sec-Fetch-Site": "cross-site"},
        {"Sec-Fetch-Site": "same-site"},
        {"Sec-Fetch-Site": "cross-site", "Origin": "http://localhost"},
        {"Origin": "https://elsewhere.example"},
        {"Origin": "http://localhost:81"},
        {"Origin": "https://localhost"},
        {"Origin": "ftp://localhost"},
        {"Origin": "null"},
        {"Origin": "http://["},
    ],
)
def test_forms_of_other_sites_are_refused(
    client: FlaskClient, store: JobStore, headers: dict[str, str]
) -> None:
    job = store.submit(CLAIM, "esoteric")[0]
    refused = [
        client.post("/claims", data={"claim": "Snow is white."}, headers=headers),
        client.post(f"/claims/{job.id}/cancel", headers=headers),
        client.post("/api/v1/claims", json={"claim": "Snow is white."}, headers=headers),
        client.delete(f"/api/v1/claims/{job.id}", headers=headers),
    ]
    assert [answer.status_code for answer in refused] == [403] * 4
    assert "came from a page of another site" in refused[0].text
    assert store.counts()["queued"] == 1
    assert client.get("/claims", headers=headers).status_code == 200


def test_every_route_that_changes_something_refuses_other_sites(client: FlaskClient) -> None:
    routes = [
        (method, re.sub("<[^>]+>", "1", rule.rule))
        for rule in client.application.url_map.iter_rules()
        for method in sorted(rule.methods & {"POST", "PUT", "PATCH", "DELETE"})
    ]
    assert len(routes) > 30
    for method, path in routes:
        answer = client.open(path, method=method, headers={"Sec-Fetch-Site": "cross-site"})
        assert answer.status_code == 403, (method, path)


@pytest.mark.parametrize(
    "headers",
    [
        {},
        {"Sec-Fetch-Site": "same-origin", "Origin": "http://localhost"},
        {"Sec-Fetch-Site": "none"},
        {"Origin": "http://localhost"},
    ],
)
def test_our_own_forms_and_programs_are_accepted(
    client: FlaskClient, headers: dict[str, str]
) -> None:
    answer = client.post("/claims", data={"claim": CLAIM}, headers=headers)
    assert answer.status_code == 303


@pytest.mark.parametrize("path", ["/claims/x/cancel", "/api/v1/claims"])
def test_more_than_64_kib_are_refused(client: FlaskClient, path: str) -> None:
    answer = client.post(path, data=b"claim=" + b"x" * 65_536, content_type="text/plain")
    assert answer.status_code == 413
    assert "The request is too large: 64 KiB at most" in answer.text


def test_a_form_address_takes_only_forms(client: FlaskClient) -> None:
    assert client.post("/claims", json={"claim": CLAIM}).status_code == 415


@pytest.mark.parametrize(
    "path", ["/", "/claims", "/nothing", "/healthz", "/readyz", "/static/style.css", "/metrics"]
)
def test_every_answer_carries_the_headers(client: FlaskClient, path: str) -> None:
    with client.get(path) as answer:
        headers = answer.headers
    assert headers["Content-Security-Policy"] == (
        "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:;"
        " connect-src 'self'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'"
    )
    assert headers["X-Content-Type-Options"] == "nosniff"
    assert headers["Referrer-Policy"] == "same-origin"
    assert headers["Cache-Control"] == "private, no-cache"


def test_static_files_are_kept_by_the_digest_of_their_content(client: FlaskClient) -> None:
    page = client.get("/").text
    assets = re.findall(r'(?:href|src)="(/static/[^"]+)"', page)
    assert len(assets) == 5
    for address in assets:
        assert re.fullmatch(r"/static/\w+\.(css|js|svg)\?v=[0-9a-f]{12}", address)
        with client.get(address) as answer:
            assert answer.status_code == 200
            assert "immutable" in answer.headers["Cache-Control"]

"""Requests that are refused before any view, and the headers of every answer."""

from __future__ import annotations

import gzip
import re

import pytest
from flask.testing import FlaskClient

from tests.support.cases import cases
from worker.job_store import JobStore

CLAIM = "Varnby has a harbour."


@cases("requests", "host", "status")
def test_only_names_of_this_machine_are_answered(
    client: FlaskClient, host: str, status: int
) -> None:
    answer = client.get("/claims", headers={"Host": host})
    assert answer.status_code == status
    assert ("TRUSTED_HOSTS" in answer.text) is (status == 421)
    assert client.get("/api/v1/openapi.json", headers={"Host": host}).status_code == status


@cases("requests", "headers")
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


@cases("requests", "ours")
def test_our_own_forms_and_programs_are_accepted(client: FlaskClient, ours: dict[str, str]) -> None:
    assert client.post("/claims", json={"claim": CLAIM}, headers=ours).status_code == 415
    answer = client.post("/claims", data={"claim": CLAIM}, headers=ours)
    assert answer.status_code == 303


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


GZIP = {"Accept-Encoding": "gzip, br"}


def test_a_page_and_a_static_file_are_compressed_for_those_who_read_it(client: FlaskClient) -> None:
    page = client.get("/").data
    style = re.search(rb'href="(/static/style.css\S*)"', page)
    assert style is not None
    address = style[1].decode()
    with client.get(address) as plain_style:
        assert "Content-Encoding" not in plain_style.headers
        rules = plain_style.data
    for path, plain in (("/", page), (address, rules)):
        answer = client.get(path, headers=GZIP)
        assert answer.headers["Content-Encoding"] == "gzip"
        assert "Accept-Encoding" in answer.headers["Vary"]
        assert int(answer.headers["Content-Length"]) == len(answer.data) < len(plain) / 2
        assert gzip.decompress(answer.data) == plain


def test_who_refuses_gzip_and_what_is_short_is_not_compressed(client: FlaskClient) -> None:
    refused = client.get("/", headers={"Accept-Encoding": "gzip;q=0"})
    assert "Content-Encoding" not in refused.headers
    assert "Content-Encoding" not in client.get("/healthz", headers=GZIP).headers

"""What is refused and how that is said: errors, other sites, wrong values; no path is shown."""

from __future__ import annotations

import gzip
import re
import socket
import time
from collections.abc import Iterator
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path

import pytest

from app.http.server_paths import ServerPaths
from retrieval.errors import ModelUnavailable
from settings import CHECKOUT, Settings
from tests.app.claim_documents import claim_document
from tests.app.client import CLAIM, Client
from tests.app.conftest import Start
from tests.app.index import description_file
from tests.support.cases import cases

SNOW = {"claim": "Snow is white."}
GZIP = {"Accept-Encoding": "gzip, br"}


def test_people_get_a_page_and_programs_get_json(client: Client) -> None:
    def fault() -> str:
        raise RuntimeError("a detail")

    client.application.add_url_rule("/fault", view_func=fault)
    answer = client.get("/fault")
    assert answer.status_code == 500
    assert "Something went wrong on our side." in answer.text
    assert "a detail" not in answer.text
    page = client.get("/nothing", headers={"Accept": "text/html,*/*;q=0.8"})
    assert page.status_code == 404
    assert page.mimetype == "text/html"
    said = "There is nothing at this address."
    hint = "Check the address, or start at the first page."
    for shown in (said, hint, "<code>not_found</code>"):
        assert shown in page.text
    program = client.get("/nothing", headers={"Accept": "application/json"})
    assert program.status_code == 404
    assert program.get_json() == {"error": {"code": "not_found", "message": said, "hint": hint}}


def test_without_its_database_every_route_says_so(
    start: Start, settings: Settings, tmp_path: Path
) -> None:
    blocked = tmp_path / "blocked"
    blocked.write_text("This is a file, so no database can lie below it.")
    client = start(replace(settings, database_url=f"sqlite:///{blocked}/esoteric.db"))
    assert client.get("/healthz").status_code == 200
    for method, path in (
        *(("GET", "/"), ("GET", "/claims"), ("GET", "/claims/x"), ("POST", "/claims/x/cancel")),
        *(("GET", "/api/v1/claims/x"), ("DELETE", "/api/v1/claims/x"), ("GET", "/readyz")),
    ):
        answer = client.open(path, method=method)
        assert answer.status_code == 503
        assert answer.headers.get("Retry-After") == (None if path == "/readyz" else "5")
        programs = path.startswith(("/api", "/readyz"))
        assert answer.mimetype == ("application/json" if programs else "text/html")
        assert "Set ESOTERIC_HOME to a folder that can be written." in answer.text
    api = client.post("/api/v1/claims", json=SNOW)
    assert (api.status_code, api.get_json()["error"]["code"]) == (503, "store_unavailable")
    assert client.post("/claims", data=SNOW).status_code == 503
    assert "esoteric_database_up 0.0" in client.get("/metrics").text


@pytest.fixture
def silent_port() -> Iterator[int]:
    """A port that accepts connections and never answers."""
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        listener.listen(16)
        yield listener.getsockname()[1]


def test_a_broker_that_does_not_answer_is_reported_soon(start: Start, silent_port: int) -> None:
    client = start(ESOTERIC_BROKER_URL=f"redis://127.0.0.1:{silent_port}/0")
    began = time.monotonic()
    answer = client.post("/claims", data=SNOW)
    assert time.monotonic() - began < 8
    assert answer.status_code == 503
    assert "does not answer. New claims are refused" in answer.text
    assert SNOW["claim"] not in client.get("/claims").text


# Other sites


@cases("requests", "host", "status")
def test_only_names_of_this_machine_are_answered(client: Client, host: str, status: int) -> None:
    answer = client.get("/claims", headers={"Host": host})
    assert answer.status_code == status
    assert ("TRUSTED_HOSTS" in answer.text) is (status == 421)
    assert client.get("/api/v1/openapi.json", headers={"Host": host}).status_code == status


@cases("requests", "headers")
def test_forms_of_other_sites_are_refused(client: Client, headers: dict[str, str]) -> None:
    job = client.sent()
    refused = [
        client.post("/claims", data=SNOW, headers=headers),
        client.post(f"/claims/{job.id}/cancel", headers=headers),
        client.post("/api/v1/claims", json=SNOW, headers=headers),
        client.delete(f"/api/v1/claims/{job.id}?forget=1", headers=headers),
    ]
    assert [answer.status_code for answer in refused] == [403] * 4
    assert "came from a page of another site" in refused[0].text
    assert client.store.counts()["queued"] == 1
    assert client.get("/claims", headers=headers).status_code == 200


def test_every_route_that_changes_something_refuses_other_sites(client: Client) -> None:
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
def test_our_own_forms_and_programs_are_accepted(client: Client, ours: dict[str, str]) -> None:
    assert client.post("/claims", json=SNOW, headers=ours).status_code == 415
    assert client.post("/claims", data=SNOW, headers=ours).status_code == 303


# Headers of answers


def test_every_answer_has_the_headers_and_is_compressed_for_who_reads_it(client: Client) -> None:
    policy = (
        "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:;"
        " connect-src 'self'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'"
    )
    for path in (
        *("/", "/claims", "/nothing", "/healthz", "/readyz", "/static/style.css", "/metrics"),
    ):
        with client.get(path) as answer:
            headers = answer.headers
        assert headers["Content-Security-Policy"] == policy, path
        assert headers["X-Content-Type-Options"] == "nosniff"
        assert headers["Referrer-Policy"] == "same-origin"
        assert headers["Cache-Control"] == "private, no-cache"
    page = client.get("/")
    assets = re.findall(r'(?:href|src)="(/static/[^"]+)"', page.text)
    assert len(assets) == 5
    for address in assets:  # are kept by the digest of their content
        assert re.fullmatch(r"/static/\w+\.(css|js|svg)\?v=[0-9a-f]{12}", address)
        with client.get(address) as answer:
            assert answer.status_code == 200
            assert "immutable" in answer.headers["Cache-Control"]
            assert "Content-Encoding" not in answer.headers
            if "style" in address:
                style, rules = address, answer.data
    for path, plain in (("/", page.data), (style, rules)):
        answer = client.get(path, headers=GZIP)
        assert answer.headers["Content-Encoding"] == "gzip"
        assert "Accept-Encoding" in answer.headers["Vary"]
        assert int(answer.headers["Content-Length"]) == len(answer.data) < len(plain) / 2
        assert gzip.decompress(answer.data) == plain
    refused = client.get("/", headers={"Accept-Encoding": "gzip;q=0"})
    assert "Content-Encoding" not in refused.headers
    assert "Content-Encoding" not in client.get("/healthz", headers=GZIP).headers  # is short


# Wrong values in the queries of listings


@cases("queries", "address", "code", "said", "allowed")
def test_a_program_is_told_which_values_are_allowed(
    client: Client, address: str, code: str, said: str, allowed: str
) -> None:
    sent = client.post("/api/v1/lists", json={"claims": ["Tea is hot.", "Ice is cold."]})
    answer = client.get(f"/api/v1/{address.replace('ID', sent.get_json()['id'])}")
    assert answer.status_code == 400
    error = answer.get_json()["error"]
    assert error["code"] == code
    assert said in error["message"]
    assert allowed in error["hint"]


def test_on_a_page_a_wrong_value_counts_as_left_out_and_others_stay(client: Client) -> None:
    listed = client.post("/lists", data={"claims": "Tea is hot.\nIce is cold."}).location
    for wrong in ("page=0", "page=x", "page=1000000", "show=odd", "whose=mine"):
        for address in (listed, "/claims", "/feedback"):
            assert client.get(f"{address}?{wrong}").status_code == 200
        assert "Tea is hot." in client.get(f"{listed}?{wrong}").text
    assert 'value="tea"' in client.get("/claims?q=tea&page=x&verdict=MAYBE").text
    assert "No rows match" in client.get(f"{listed}?show=refuted&page=x").text


# No path of the server is shown


@cases("server_paths", "written", "shown")
def test_a_path_is_shown_by_setting_or_name(settings: Settings, written: str, shown: str) -> None:
    of_srv = replace(settings, home=Path("/srv/home"), verifier=Path("/srv/judge"))
    hidden = ServerPaths(of_srv).hidden_in(written.replace("CHECKOUT", str(CHECKOUT)))
    assert shown in hidden
    assert "/srv" not in hidden.replace("http://host/srv/home/x", "")
    assert "/var" not in hidden
    assert "/opt" not in hidden


def test_what_the_worker_reports_is_shown_without_paths(client: Client) -> None:
    error = ModelUnavailable(
        "model_missing",
        f"The model file {client.home}/models/judge.bin is missing.",
        f"Run: {CHECKOUT}/.venv/bin/esoteric models fetch judge, or see /var/log/esoteric/a.log.",
    )
    failed, waiting = client.sent(), client.sent("Snow is white.")
    client.worker.fail(failed, error)
    client.services.workers.beat("by-hand", datetime.now(UTC), "broken", error)
    noted = client.done(claim_document("Tea.") | {"notices": [f"{error.message} {error.hint}"]})
    export = f"/api/v1/claims/{noted.id}/export"
    paths = [f"/claims/{failed.id}", f"/api/v1/claims/{failed.id}", "/readyz"]
    paths += [f"/claims/{waiting.id}", f"/claims/{noted.id}", f"/api/v1/claims/{noted.id}"]
    shown = [client.get(path).text for path in (*paths, export, f"{export}?format=md")]
    for text in (*shown, client.delete(f"/api/v1/claims/{failed.id}").text):
        text = text.replace("\\", "")
        assert "ESOTERIC_HOME/models/judge.bin" in text
        assert ".venv/bin/esoteric models fetch judge" in text
        for path in (str(client.home), str(CHECKOUT), "/var/log"):
            assert path not in text


def test_what_the_web_process_cannot_do_is_shown_without_paths(
    start: Start, settings: Settings, caplog: pytest.LogCaptureFixture
) -> None:
    (settings.home / "queue").write_text("in the way")
    description_file(settings.home).write_text("not JSON")
    blocked = replace(settings, database_url=f"sqlite:///{settings.home}/queue/esoteric.db")
    for client in (start(), start(blocked)):
        answers = [
            client.post("/claims", data={"claim": CLAIM}),
            client.post("/api/v1/claims", json={"claim": CLAIM}),
            *(client.get(path) for path in ("/", "/claims", "/readyz")),
        ]
        assert [answer.status_code for answer in answers[:2]] == [503, 503]
        for answer in answers:
            assert str(settings.home) not in answer.text
            assert str(CHECKOUT) not in answer.text
    assert f"{settings.home}/queue" in caplog.text

"""Who may do what: everybody on this machine, users with a token, users of a proxy, everybody."""

from __future__ import annotations

import json
import logging
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from flask import Flask, url_for
from flask.testing import FlaskClient

from app import create_app
from app.people.access import RULES
from app.services import services_of
from settings import BadSetting, Settings
from tests.app.claim_documents import claim_document
from tests.app.index import describe_index
from tests.app.worker_by_hand import WorkerByHand
from worker.user_store import Role

CLAIM = "Varnby has a harbour."
Start = Callable[..., Flask]


@pytest.fixture
def start(tmp_path: Path) -> Iterator[Start]:
    """Return a function that starts the application with these settings."""
    apps = []

    def started(**environment: str) -> Flask:
        describe_index(tmp_path)
        settings = Settings.from_environment({"ESOTERIC_HOME": str(tmp_path), **environment})
        apps.append(create_app(settings))
        return apps[-1]

    yield started
    for app in apps:
        services_of(app).close()


def user(app: Flask, name: str, role: Role) -> dict[str, str]:
    """Add a user and return the headers with the token."""
    return {"Authorization": f"Bearer {services_of(app).users.add(name, role)}"}


def submit(client: FlaskClient, headers: dict[str, str], claim: str = CLAIM) -> str:
    answer = client.post("/api/v1/claims", json={"claim": claim}, headers=headers)
    assert answer.status_code == 202, answer.text
    return str(answer.get_json()["id"])


def test_every_route_has_a_rule(start: Start) -> None:
    routes = {rule.endpoint for rule in start().url_map.iter_rules()}
    assert routes - RULES.keys() == set()


def test_a_route_without_a_rule_is_for_operators(
    start: Start, monkeypatch: pytest.MonkeyPatch
) -> None:
    app = start(ESOTERIC_ACCESS="tokens")
    checker, operator = user(app, "carl", "checker"), user(app, "olga", "operator")
    monkeypatch.delitem(RULES, "api.recipes")
    client = app.test_client()
    assert client.get("/api/v1/recipes", headers=checker).status_code == 403
    assert client.get("/api/v1/recipes", headers=operator).status_code == 200


def test_without_a_login_only_health_the_login_and_its_looks_can_be_seen(start: Start) -> None:
    app = start(ESOTERIC_ACCESS="tokens")
    client = app.test_client()
    seen = {}
    for rule in app.url_map.iter_rules():
        address = rule.rule.replace("<job_id>", "0" * 24).replace("<int:number>", "1")
        address = address.replace("<path:filename>", "style.css")
        for method in rule.methods & {"GET", "POST", "DELETE"}:
            with client.open(address, method=method) as answer:
                seen[f"{method} {address}"] = answer.status_code
    open_to_all = {name for name, status in seen.items() if status in (200, 503)}
    assert open_to_all == {"GET /healthz", "GET /readyz", "GET /login", "GET /static/style.css"}
    assert seen["POST /login"] == 401
    assert seen["POST /logout"] == 303
    assert {status for name, status in seen.items() if "/api/v1" in name} == {401}
    assert seen["GET /"] == seen["GET /claims"] == 303
    assert seen["POST /claims"] == 401
    answer = client.get("/api/v1/claims")
    assert answer.headers["WWW-Authenticate"] == "Bearer"
    assert answer.get_json()["error"]["code"] == "not_logged_in"


def test_a_user_logs_in_with_a_token_comes_back_to_the_page_and_logs_out(start: Start) -> None:
    app = start(ESOTERIC_ACCESS="tokens")
    token = services_of(app).users.add("anna", "checker")
    client = app.test_client()
    asked = client.get("/claims?q=tea")
    assert asked.headers["Location"] == "/login?next=/claims?q%3Dtea"
    wrong = client.post("/login", data={"token": "x" * 43, "next": "/claims?q=tea"})
    assert wrong.status_code == 401
    assert 'value="/claims?q=tea"' in wrong.text
    answer = client.post("/login", data={"token": f" {token} ", "next": "/claims?q=tea"})
    assert (answer.status_code, answer.headers["Location"]) == (303, "/claims?q=tea")
    cookie = answer.headers["Set-Cookie"]
    assert "HttpOnly" in cookie
    assert "SameSite=Lax" in cookie
    assert token not in cookie
    assert "anna" in client.get("/claims?q=tea").text
    kept = client.get_cookie("esoteric_session")
    assert kept is not None
    client.post("/logout")
    client.set_cookie("esoteric_session", kept.value)  # somebody has copied it
    assert client.get("/").status_code == 303


def test_a_removed_user_is_logged_out_at_once(start: Start) -> None:
    app = start(ESOTERIC_ACCESS="tokens")
    users = services_of(app).users
    client = app.test_client()
    client.post("/login", data={"token": users.add("anna", "checker")})
    assert client.get("/").status_code == 200
    users.remove("anna")
    assert client.get("/").status_code == 303


@pytest.mark.parametrize("address", ["//evil.example", "https://evil.example", "/\\evil.example"])
def test_the_login_leads_to_no_other_site(start: Start, address: str) -> None:
    app = start(ESOTERIC_ACCESS="tokens")
    token = services_of(app).users.add("anna", "reader")
    answer = app.test_client().post("/login", data={"token": token, "next": address})
    assert answer.headers["Location"] == "/"


def test_guesses_of_tokens_end_with_a_time_to_come_back(start: Start) -> None:
    client = start(ESOTERIC_ACCESS="tokens").test_client()
    statuses = [client.post("/login", data={"token": f"t{n}"}).status_code for n in range(12)]
    assert statuses == [401] * 10 + [429] * 2


def test_a_right_token_passes_after_guesses_of_others_and_is_no_guess_itself(start: Start) -> None:
    app = start(ESOTERIC_ACCESS="tokens")
    token = services_of(app).users.add("anna", "reader")
    client = app.test_client()

    def log_in(token: str) -> int:
        return client.post("/login", data={"token": token}).status_code

    assert [log_in(token) for _ in range(12)] == [303] * 12
    assert [log_in("wrong") for _ in range(6)] == [401] * 6
    wrong, right = ({"Authorization": f"Bearer {one}"} for one in ("wrong", token))
    statuses = [client.get("/api/v1/claims", headers=wrong).status_code for _ in range(6)]
    assert statuses == [401] * 4 + [429] * 2
    assert (log_in("wrong"), log_in(token)) == (429, 303)
    assert client.get("/api/v1/claims", headers=right).status_code == 200


def test_the_database_has_no_token(start: Start, tmp_path: Path) -> None:
    app = start(ESOTERIC_ACCESS="tokens")
    token = services_of(app).users.add("anna", "reader")
    answer = app.test_client().post("/login", data={"token": token})
    cookie = answer.headers["Set-Cookie"].partition("=")[2].partition(";")[0]
    services_of(app).close()
    stored = b"".join(file.read_bytes() for file in tmp_path.glob("esoteric.db*"))
    assert b"anna" in stored
    assert token.encode() not in stored
    assert cookie.encode() not in stored


def test_roles_may_what_they_should(start: Start) -> None:
    app = start(ESOTERIC_ACCESS="tokens")
    anna, carl = user(app, "anna", "checker"), user(app, "carl", "checker")
    rita, olga = user(app, "rita", "reader"), user(app, "olga", "operator")
    client = app.test_client()
    job = submit(client, anna)
    address = f"/api/v1/claims/{job}"
    # A reader sees what is shared with her, and changes nothing.
    assert client.get(address, headers=rita).status_code == 404
    client.put(f"{address}/sharing", json={"shared": "everyone"}, headers=anna)
    assert client.get(address, headers=rita).status_code == 200
    refused = client.post("/api/v1/claims", json={"claim": CLAIM}, headers=rita)
    assert (refused.status_code, refused.get_json()["error"]["code"]) == (403, "not_allowed")
    # Only the owner and operators may end a claim.
    for other in (rita, carl):
        assert client.delete(address, headers=other).status_code == 403
        assert client.post(f"/claims/{job}/delete", headers=other).status_code == 403
    assert client.delete(address, headers=anna).get_json()["state"] == "cancelled"
    assert client.delete(f"{address}?forget=1", headers=olga).status_code == 204
    assert client.delete(address, headers=carl).status_code == 404
    # Lists have one's own claims alone, but an operator's have all.
    submit(client, anna, "Anna has a boat.")
    submit(client, carl, "Carl has a boat.")

    def listed(headers: dict[str, str]) -> list[str]:
        claims = client.get("/api/v1/claims", headers=headers).get_json()["claims"]
        return [one["claim"] for one in claims]

    assert listed(anna) == ["Anna has a boat."]
    assert listed(rita) == []
    assert listed(olga) == ["Carl has a boat.", "Anna has a boat."]
    for page in ("/", "/claims"):
        text = client.get(page, headers=carl).text
        assert "Carl has a boat." in text
        assert "Anna has a boat." not in text


# What is made from what is shared with everybody, and belongs to who makes it.
_MAKE_ONES_OWN = {"pages.search_on", "feedback.give", "api_feedback.give"}


def test_no_route_changes_what_is_of_another_user(start: Start) -> None:
    app = start(ESOTERIC_ACCESS="tokens")
    anna, carl = user(app, "anna", "checker"), user(app, "carl", "checker")
    olga = user(app, "olga", "operator")
    client = app.test_client()
    job = submit(client, anna)
    opinion = {"agrees": False, "label": "REFUTES"}
    store = services_of(app).store
    worker = WorkerByHand(store)
    worker.finish(store.get(job), claim_document(CLAIM))
    given = client.post(f"/api/v1/claims/{job}/feedback", json=opinion, headers=anna)
    rows = {"claims": [CLAIM, "Varnby has a pier."]}
    made = client.post("/api/v1/lists", json=rows, headers=anna).get_json()
    corpus = client.post("/api/v1/corpora", json={"title": "Papers"}, headers=olga).get_json()
    for kind, which, owner in (
        ("claims", job, anna),
        ("lists", made["id"], anna),
        ("corpora", corpus["name"], olga),
    ):
        address = f"/api/v1/{kind}/{which}/sharing"
        assert client.put(address, json={"shared": "everyone"}, headers=owner).status_code == 200
    values = {
        "job_id": job,
        "feedback_id": given.get_json()["id"],
        "list_id": made["id"],
        "name": corpus["name"],
        "file": "a.txt",
        "number": 1,
        "which": job,
    }
    statuses = {}
    for route in app.url_map.iter_rules():
        if not route.arguments or RULES[route.endpoint] != "checker":
            continue
        ids = {name: values[name] for name in route.arguments - {"kind"}}
        ids |= {"kind": "claims"} if "kind" in route.arguments else {}
        with app.test_request_context():
            address = url_for(route.endpoint, **ids)
        for method in route.methods & {"POST", "PUT", "PATCH", "DELETE"}:
            sent = {"shared": "owner"} if "kind" in ids else {"title": "Mine"}
            form = (
                {"data": sent}
                if route.endpoint in ("sharing.switch", "lists.edit")
                else {"json": sent}
            )
            answer = client.open(address, method=method, headers=carl, **form)
            statuses[route.endpoint] = answer.status_code
    others = {name: status for name, status in statuses.items() if name not in _MAKE_ONES_OWN}
    assert len(others) > 20
    assert {name: status for name, status in others.items() if status != 403} == {}


def test_a_reader_deletes_nothing_in_whatever_way(start: Start) -> None:
    app = start(ESOTERIC_ACCESS="tokens")
    client = app.test_client()
    job = submit(client, user(app, "rita", "checker"))
    services_of(app).users.remove("rita")
    reader = user(app, "rita", "reader")
    selected = {"claim": job, "do": "delete"}
    assert client.post("/claims/selected", data=selected, headers=reader).status_code == 403
    assert client.post("/yours/delete", headers=reader).status_code == 403
    assert client.get(f"/api/v1/claims/{job}", headers=reader).status_code == 200


def test_a_user_who_has_logged_in_signs_a_review_with_the_account_alone(start: Start) -> None:
    app = start(ESOTERIC_ACCESS="tokens")
    anna, carl = user(app, "anna", "checker"), user(app, "carl", "checker")
    client = app.test_client()
    job = submit(client, anna)
    store = services_of(app).store
    WorkerByHand(store).finish(store.get(job), claim_document(CLAIM))
    store.share(job, "everyone")
    address, given = f"/api/v1/claims/{job}", {"agrees": True, "name": "Nora Vance"}
    said = client.post(f"{address}/feedback", json=given, headers=carl).get_json()
    assert said["name"] == "carl"
    page = client.get(f"/claims/{job}", headers=anna).text
    assert "ClaimReview by <bdi>carl</bdi>" in page
    assert "Nora Vance" not in page
    review = client.get(f"{address}/export?format=claimreview", headers=anna).get_json()
    assert review["author"] == {"@type": "Person", "name": "carl"}
    # Whose the claim is, where it is another's.
    assert review["itemReviewed"]["contributor"] == {"@type": "Person", "name": "anna"}
    client.post(f"{address}/feedback", json=given, headers=anna)
    own = client.get(f"{address}/export?format=claimreview", headers=anna).get_json()
    assert own["author"]["name"] == "anna"
    assert "contributor" not in own["itemReviewed"]


def test_only_this_machine_may_upload_without_a_word_of_the_operator() -> None:
    assert Settings.from_environment({}).uploads
    for more in ({"ESOTERIC_ACCESS": "open"}, {"HOST": "0.0.0.0"}):
        assert not Settings.from_environment(more).uploads
        assert Settings.from_environment({**more, "ESOTERIC_UPLOADS": "yes"}).uploads


def test_a_proxy_names_the_user_and_nobody_else_can(start: Start) -> None:
    app = start(
        ESOTERIC_ACCESS="proxy", ESOTERIC_PROXIES="10.0.0.0/8", ESOTERIC_USER_HEADER="Remote-User"
    )
    services_of(app).users.add("olga", "operator")
    client = app.test_client()

    def status(address: str, **headers: str) -> int:
        named = {name.replace("_", "-"): value for name, value in headers.items()}
        environment = {"REMOTE_ADDR": address}
        return client.get("/claims", headers=named, environ_base=environment).status_code

    assert status("10.1.2.3", Remote_User="anna@example.org") == 200
    assert status("10.1.2.3") == 401
    assert status("10.1.2.3", Remote_User="two words") == 401
    assert status("127.0.0.1", Remote_User="anna@example.org") == 401
    assert status("11.0.0.1", Remote_User="olga") == 401
    through = {"environ_base": {"REMOTE_ADDR": "10.1.2.3"}}
    anna, olga = {"Remote-User": "anna@example.org"}, {"Remote-User": "olga"}
    job = client.post("/api/v1/claims", json={"claim": CLAIM}, headers=anna, **through).get_json()
    other = {"Remote-User": "carl"}
    address = f"/api/v1/claims/{job['id']}"
    assert client.delete(address, headers=other, **through).status_code == 404
    assert client.delete(address, headers=olga, **through).status_code == 200


def test_the_address_of_a_client_is_believed_from_a_proxy_alone(start: Start) -> None:
    app = start(ESOTERIC_ACCESS="open", ESOTERIC_PROXIES="10.0.0.1", ESOTERIC_CLAIMS_PER_MINUTE="1")
    client = app.test_client()

    def status(address: str, claimed: str) -> int:
        return client.post(
            "/api/v1/claims",
            json={"claim": CLAIM},
            headers={"X-Forwarded-For": claimed},
            environ_base={"REMOTE_ADDR": address},
        ).status_code

    assert [status("10.0.0.1", "192.0.2.1"), status("10.0.0.1", "192.0.2.2")] == [202, 202]
    assert [status("192.0.2.3", "192.0.2.4"), status("192.0.2.3", "192.0.2.5")] == [202, 429]
    # Who prepends an address to the header that the proxy completes gains nothing.
    assert status("10.0.0.1", "198.51.100.1, 192.0.2.1") == 429


def test_where_the_service_is_open_everybody_checks_and_ends_only_own_claims(start: Start) -> None:
    app = start(ESOTERIC_ACCESS="open")
    anna, carl = app.test_client(), app.test_client()
    page = anna.post("/claims", data={"claim": CLAIM}).headers["Location"]
    carl.post("/claims", data={"claim": "Carl has a boat."})
    assert carl.get(page).status_code == 200
    refused = carl.post(f"{page}/cancel")
    assert refused.status_code == 403
    assert "belongs to somebody else" in refused.text
    assert carl.delete(f"/api/v1{page}").status_code == 403
    assert anna.post(f"{page}/cancel").status_code == 303
    program = app.test_client()
    job = submit(program, {}, "Programs have no cookies.")
    assert program.delete(f"/api/v1/claims/{job}").status_code == 200
    assert anna.get("/login").status_code == 404


def test_on_this_machine_alone_nobody_logs_in(start: Start) -> None:
    client = start().test_client()
    assert client.get("/metrics").status_code == 200
    assert client.get("/login").status_code == 404


@pytest.mark.parametrize(
    ("environment", "starts"),
    [
        ({}, True),
        ({"HOST": "localhost"}, True),
        ({"HOST": "127.0.0.2"}, True),
        ({"HOST": "::1"}, True),
        ({"HOST": "0.0.0.0"}, False),
        ({"HOST": "::"}, False),
        ({"HOST": "192.0.2.1"}, False),
        ({"HOST": "news.example"}, False),
        ({"HOST": "0.0.0.0", "ESOTERIC_ACCESS": "open"}, True),
        ({"HOST": "0.0.0.0", "ESOTERIC_ACCESS": "tokens"}, True),
        ({"HOST": "0.0.0.0", "ESOTERIC_PUBLISHED_HOST": "127.0.0.1"}, True),
        ({"ESOTERIC_PUBLISHED_HOST": "0.0.0.0"}, False),
    ],
)
def test_a_server_that_others_can_reach_needs_a_word_on_who_may(
    environment: dict[str, str], starts: bool
) -> None:
    settings = Settings.from_environment(environment)
    if starts:
        settings.check_who_may()
    else:
        with pytest.raises(BadSetting, match="ESOTERIC_ACCESS"):
            settings.check_who_may()


@pytest.mark.parametrize(
    ("environment", "named"),
    [
        ({"ESOTERIC_ACCESS": "yes"}, "tokens, proxy or open"),
        ({"ESOTERIC_ACCESS": "proxy"}, "ESOTERIC_PROXIES"),
        ({"ESOTERIC_PROXIES": "10.0.0.0/99"}, "10.0.0.0/99"),
        ({"ESOTERIC_USER_HEADER": "X User"}, "name of a header"),
    ],
)
def test_settings_that_would_let_in_the_wrong_people_are_refused(
    environment: dict[str, str], named: str
) -> None:
    with pytest.raises(BadSetting, match=named):
        Settings.from_environment(environment)


def test_the_audit_log_says_who_did_what_to_which_claim_and_no_text(
    start: Start, caplog: pytest.LogCaptureFixture
) -> None:
    app = start(ESOTERIC_ACCESS="tokens")
    anna, rita = user(app, "anna", "checker"), user(app, "rita", "reader")
    client = app.test_client()
    with caplog.at_level(logging.INFO, "audit"):
        job = submit(client, anna)
        client.get(f"/api/v1/claims/{job}", headers=anna)
        services_of(app).store.share(job, "everyone")
        client.delete(f"/api/v1/claims/{job}?forget=1", headers=rita)
        client.delete(f"/api/v1/claims/{job}?forget=1", headers=anna)
        client.get("/api/v1/claims")
        client.post("/login", data={"token": anna["Authorization"].removeprefix("Bearer ")})
        client.post("/logout")
    lines = [json.loads(record.getMessage()) for record in caplog.records]
    assert [(line["who"], line["did"], line.get("claim"), line["status"]) for line in lines] == [
        ("anna", "api.submit", job, 202),
        ("rita", "api.cancel", job, 403),
        ("anna", "api.cancel", job, 204),
        ("nobody", "api.claims", None, 401),
        ("anna", "login.log_in", None, 303),
        ("anna", "login.log_out", None, 303),
    ]
    assert "Varnby" not in caplog.text


def test_the_page_of_the_api_says_what_programs_of_this_reader_need(start: Start) -> None:
    app = start(ESOTERIC_ACCESS="tokens", ESOTERIC_CLAIMS_PER_MINUTE="7")
    page = app.test_client().get("/api", headers=user(app, "anna", "checker")).text
    assert "Authorization: Bearer TOKEN" in page
    assert "A client may submit 7 claims in a minute" in page
    assert "Only its owner or an operator can delete it." in page
    alone = start().test_client().get("/api").text
    assert "Bearer" not in alone
    assert "in a minute" not in alone
    assert "Only the browser that submitted it can delete it" in alone


def test_the_refusal_names_an_operator_only_where_there_are_some(start: Start) -> None:
    app = start(ESOTERIC_ACCESS="tokens")
    anna, carl = user(app, "anna", "checker"), user(app, "carl", "checker")
    client = app.test_client()
    job = submit(client, anna)
    services_of(app).store.share(job, "everyone")
    claim = f"/api/v1/claims/{job}"
    refused = client.delete(claim, headers=carl).get_json()["error"]
    assert refused["message"].endswith("Only its owner or an operator can change it.")
    alone = start()
    browser, other = alone.test_client(), alone.test_client()
    page = browser.post("/claims", data={"claim": "Carl has a boat."}).headers["Location"]
    refused = other.delete(f"/api/v1{page}").get_json()["error"]
    assert refused["message"].endswith("Only its owner can change it.")

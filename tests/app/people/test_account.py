"""The page of a user: tokens and sessions, each of which stops at once when it is ended."""

from __future__ import annotations

import re
from collections.abc import Iterator
from datetime import timedelta
from pathlib import Path

import pytest
from flask import Flask
from flask.testing import FlaskClient

from app import create_app
from app.services import services_of
from settings import Settings
from tests.app.index import describe_index
from worker.user_store import MOST_TOKENS, UserStore

FIREFOX = "Mozilla/5.0 (X11; Linux x86_64; rv:140.0) Gecko/20100101 Firefox/140.0"


@pytest.fixture
def app(tmp_path: Path) -> Iterator[Flask]:
    describe_index(tmp_path)
    settings = {"ESOTERIC_HOME": str(tmp_path), "ESOTERIC_ACCESS": "tokens"}
    app = create_app(Settings.from_environment(settings))
    yield app
    services_of(app).close()


def users_of(app: Flask) -> UserStore:
    return services_of(app).users


def logged_in(app: Flask, token: str) -> FlaskClient:
    client = app.test_client()
    answer = client.post("/login", data={"token": token}, headers={"User-Agent": FIREFOX})
    assert answer.status_code == 303
    return client


def status(app: Flask, token: str) -> int:
    headers = {"Authorization": f"Bearer {token}"}
    return app.test_client().get("/api/v1/claims", headers=headers).status_code


def shown_token(page: str) -> str:
    found = re.search(r'class="token">([\w-]{43})<', page)
    assert found is not None
    return found[1]


def test_a_user_makes_a_token_that_ends_by_itself_and_sees_it_once(app: Flask) -> None:
    anna = logged_in(app, users_of(app).add("anna", "checker"))
    made = anna.post("/account/tokens", data={"name": " Press  room ", "days": "30"})
    assert (made.status_code, made.headers["Cache-Control"]) == (200, "no-store")
    token = shown_token(made.text)
    assert status(app, token) == 200
    page = anna.get("/account").text
    assert token not in page
    assert page.count("Press room") == 2  # beside the button too, for who does not see
    assert "Firefox on Linux" in page
    assert page.count("this one") == 1
    mine = users_of(app).credentials("anna")
    assert [(one.kind, one.name) for one in mine] == [
        ("token", "Press room"),
        ("session", "Firefox on Linux"),
        ("token", "first token"),
    ]
    assert mine[0].ends_at is not None
    assert mine[0].ends_at - mine[0].made_at == timedelta(days=30)
    assert mine[0].used_at is not None
    for name, days in (("", "30"), ("x" * 61, "30"), ("x", "0"), ("x", "900"), ("x", "")):
        wrong = anna.post("/account/tokens", data={"name": name, "days": days})
        assert (wrong.status_code, 'role="alert"' in wrong.text) == (422, True)
    for number in range(MOST_TOKENS - 2):
        users_of(app).make_token("anna", f"Token {number}", timedelta(days=1))
    assert anna.post("/account/tokens", data={"name": "x", "days": "7"}).status_code == 422


def test_a_token_lets_nobody_in_after_its_end(app: Flask) -> None:
    users_of(app).add("anna", "reader")
    ended = users_of(app).make_token("anna", "Of yesterday", timedelta(seconds=-1))
    assert status(app, ended) == 401
    assert app.test_client().post("/login", data={"token": ended}).status_code == 401
    assert [one.name for one in users_of(app).credentials("anna")] == ["first token"]


def test_what_a_user_ends_stops_at_once_and_nothing_of_others_can_be_ended(app: Flask) -> None:
    token, other = users_of(app).add("anna", "checker"), users_of(app).add("bert", "checker")
    anna, elsewhere, bert = (logged_in(app, one) for one in (token, token, other))
    spare = users_of(app).make_token("anna", "Spare", timedelta(days=1))
    known = {one.name: one.id for one in users_of(app).credentials("anna")}
    for credential in known.values():
        assert bert.post("/account/end", data={"id": credential}).status_code == 303
    assert [status(app, one) for one in (token, spare)] == [200, 200]
    anna.post("/account/end", data={"id": known["Spare"]})
    assert [status(app, one) for one in (token, spare)] == [200, 401]
    anna.post("/account/end", data={"id": known["first token"]})
    assert status(app, token) == 401
    assert elsewhere.get("/account").status_code == 200  # a session of its own
    cookie = anna.get_cookie("esoteric_session")
    assert cookie is not None
    sessions = users_of(app).credentials("anna", cookie.value)
    (away,) = [one.id for one in sessions if not one.asks]
    anna.post("/account/end", data={"id": away})
    assert elsewhere.get("/account").headers["Location"].startswith("/login")
    (own,) = [one.id for one in users_of(app).credentials("anna", cookie.value) if one.asks]
    anna.post("/account/end", data={"id": own})
    assert anna.get("/claims").headers["Location"].startswith("/login")


def test_an_operator_gives_a_user_a_new_token_and_all_before_it_end(app: Flask) -> None:
    token, operator = users_of(app).add("anna", "checker"), users_of(app).add("olga", "operator")
    spare = users_of(app).make_token("anna", "Spare", timedelta(days=1))
    anna, olga = logged_in(app, token), logged_in(app, operator)
    job = anna.post("/api/v1/claims", json={"claim": "Tea is hot."}).get_json()["id"]
    assert anna.post("/account/rotate", data={"user": "olga"}).status_code == 403
    assert "olga" not in anna.get("/account").text
    assert "anna" in olga.get("/account").text
    made = olga.post("/account/rotate", data={"user": "anna"})
    assert (made.status_code, made.headers["Cache-Control"]) == (200, "no-store")
    assert [status(app, one) for one in (token, spare, operator)] == [401, 401, 200]
    assert anna.get("/claims").headers["Location"].startswith("/login")
    again = logged_in(app, shown_token(made.text))
    assert again.get(f"/claims/{job}").status_code == 200  # the claims stay
    assert olga.post("/account/rotate", data={"user": "otto"}).status_code == 422


def test_a_user_of_a_proxy_has_tokens_once_the_operator_has_added_her(tmp_path: Path) -> None:
    describe_index(tmp_path)
    proxy = {"ESOTERIC_ACCESS": "proxy", "ESOTERIC_PROXIES": "127.0.0.1"}
    app = create_app(Settings.from_environment({"ESOTERIC_HOME": str(tmp_path), **proxy}))
    client = app.test_client()
    client.environ_base["HTTP_X_FORWARDED_USER"] = "vera"
    assert "at the proxy" in client.get("/account").text
    asked = {"name": "Laptop", "days": "7"}
    assert client.post("/account/tokens", data=asked).status_code == 422
    users_of(app).add("vera", "checker")
    assert shown_token(client.post("/account/tokens", data=asked).text)
    services_of(app).close()


def test_where_nobody_logs_in_nobody_has_an_account(tmp_path: Path) -> None:
    describe_index(tmp_path)
    for access in ("", "open"):
        settings = {"ESOTERIC_HOME": str(tmp_path), "ESOTERIC_ACCESS": access}
        app = create_app(Settings.from_environment(settings))
        assert app.test_client().get("/account").status_code == 404
        services_of(app).close()

"""Who may do what: everybody on this machine, users with a token, users of a proxy, everybody.

Also the page of a user: tokens and sessions, each of which stops at once when it is ended.
"""

from __future__ import annotations

import json
import logging
import re
from contextlib import nullcontext
from datetime import timedelta
from pathlib import Path

import pytest
from flask import url_for

from app.people.access import RULES
from settings import BadSetting, Settings
from tests.app.claim_documents import claim_document
from tests.app.client import Client, refusal
from tests.app.conftest import Start
from tests.support.cases import cases
from worker.comparison_store import ComparisonStore, Gold
from worker.user_store import MOST_TOKENS

CLAIM = "Varnby has a harbour."
FIREFOX = "Mozilla/5.0 (X11; Linux x86_64; rv:140.0) Gecko/20100101 Firefox/140.0"


@pytest.fixture
def tokens(start: Start) -> Client:
    """Somebody who has not logged in, where users log in with tokens."""
    return start(ESOTERIC_ACCESS="tokens")


def logged_in(tokens: Client, token: str) -> Client:
    browser = tokens.another()
    answer = browser.post("/login", data={"token": token}, headers={"User-Agent": FIREFOX})
    assert answer.status_code == 303
    return browser


def status(tokens: Client, token: str) -> int:
    headers = {"Authorization": f"Bearer {token}"}
    return tokens.another().get("/api/v1/claims", headers=headers).status_code


def test_what_has_no_rule_is_for_operators(tokens: Client, monkeypatch: pytest.MonkeyPatch) -> None:
    routes = {rule.endpoint for rule in tokens.application.url_map.iter_rules()}
    assert routes - RULES.keys() == set()
    monkeypatch.delitem(RULES, "api.recipes")
    assert tokens.user("carl").get("/api/v1/recipes").status_code == 403
    assert tokens.user("olga", "operator").get("/api/v1/recipes").status_code == 200


def test_without_a_login_only_health_the_login_and_its_looks_can_be_seen(tokens: Client) -> None:
    seen = {}
    for rule in tokens.application.url_map.iter_rules():
        address = rule.rule.replace("<job_id>", "0" * 24).replace("<int:number>", "1")
        address = address.replace("<path:filename>", "style.css")
        for method in rule.methods & {"GET", "POST", "DELETE"}:
            with tokens.open(address, method=method) as answer:
                seen[f"{method} {address}"] = answer.status_code
    open_to_all = {name for name, code in seen.items() if code in (200, 503)}
    assert open_to_all == {"GET /healthz", "GET /readyz", "GET /login", "GET /static/style.css"}
    assert seen["POST /login"] == 401
    assert seen["POST /logout"] == 303
    assert {code for name, code in seen.items() if "/api/v1" in name} == {401}
    assert seen["GET /"] == seen["GET /claims"] == 303
    assert seen["POST /claims"] == 401
    answer = tokens.get("/api/v1/claims")
    assert answer.headers["WWW-Authenticate"] == "Bearer"
    assert refusal(answer) == (401, "not_logged_in")


def test_a_user_logs_in_comes_back_to_the_page_and_logs_out(tokens: Client, tmp_path: Path) -> None:
    token, client = tokens.services.users.add("anna", "checker"), tokens
    asked = client.get("/claims?q=tea")
    assert asked.location == "/login?next=/claims?q%3Dtea"
    wrong = client.post("/login", data={"token": "x" * 43, "next": "/claims?q=tea"})
    assert wrong.status_code == 401
    assert 'value="/claims?q=tea"' in wrong.text
    answer = client.post("/login", data={"token": f" {token} ", "next": "/claims?q=tea"})
    assert (answer.status_code, answer.location) == (303, "/claims?q=tea")
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
    for address in ("//evil.example", "https://evil.example", "/\\evil.example"):
        answer = client.another().post("/login", data={"token": token, "next": address})
        assert answer.location == "/"
    browser = logged_in(tokens, token)
    assert browser.get("/").status_code == 200
    assert browser.get("/", headers={"Authorization": "Bearer wrong"}).status_code == 303
    session = browser.get_cookie("esoteric_session")
    assert session is not None
    stored = b"".join(file.read_bytes() for file in tmp_path.glob("esoteric.db*"))
    assert b"anna" in stored
    for secret in (token, session.value):
        assert secret.encode() not in stored
    sessions = [one for one in tokens.services.users.credentials("anna") if one.kind == "session"]
    assert {one.ends_at and one.ends_at - one.made_at for one in sessions} == {timedelta(days=14)}
    tokens.services.users.remove("anna")
    assert browser.get("/").status_code == 303


def test_guesses_are_limited_and_a_right_token_passes_and_is_none(tokens: Client) -> None:
    token = tokens.services.users.add("anna", "reader")

    def log_in(token: str) -> int:
        return tokens.another().post("/login", data={"token": token}).status_code

    assert [log_in(token) for _ in range(12)] == [303] * 12
    assert [log_in("wrong") for _ in range(6)] == [401] * 6
    assert [status(tokens, "wrong") for _ in range(6)] == [401] * 4 + [429] * 2
    assert (log_in("wrong"), log_in(token)) == (429, 303)
    assert status(tokens, token) == 200


def test_roles_may_what_they_should(tokens: Client) -> None:
    anna, carl = tokens.user("anna"), tokens.user("carl")
    rita, olga = tokens.user("rita", "reader"), tokens.user("olga", "operator")
    job = anna.sent(CLAIM)
    address = f"/api/v1/claims/{job.id}"
    # A reader sees what is shared with her, and changes nothing.
    assert rita.get(address).status_code == 404
    anna.put(f"{address}/sharing", json={"shared": "everyone"})
    assert rita.get(address).status_code == 200
    refused = rita.post("/api/v1/claims", json={"claim": CLAIM})
    assert refusal(refused) == (403, "not_allowed")
    # Only the owner and operators may end a claim.
    for other in (rita, carl):
        assert other.delete(address).status_code == 403
        assert other.post(f"/claims/{job.id}/delete").status_code == 403
    refused = carl.delete(address).get_json()["error"]
    assert refused["message"].endswith("Only its owner or an operator can change it.")
    assert anna.delete(address).get_json()["state"] == "cancelled"
    assert olga.delete(f"{address}?forget=1").status_code == 204
    assert carl.delete(address).status_code == 404
    # Lists have one's own claims alone, but an operator's have all.
    anna.sent("Anna has a boat.")
    carl.sent("Carl has a boat.")

    def listed(client: Client) -> list[str]:
        return [one["claim"] for one in client.json("/api/v1/claims")["claims"]]

    assert listed(anna) == ["Anna has a boat."]
    assert listed(rita) == []
    assert listed(olga) == ["Carl has a boat.", "Anna has a boat."]
    for page in ("/", "/claims"):
        text = carl.get(page).text
        assert "Carl has a boat." in text
        assert "Anna has a boat." not in text


# What is made from what is shared with everybody, and belongs to who makes it.
_MAKE_ONES_OWN = {"pages.search_on", "feedback.give", "api_feedback.give"}


def test_no_route_changes_what_is_of_another_user(tokens: Client) -> None:
    anna, carl, olga = tokens.user("anna"), tokens.user("carl"), tokens.user("olga", "operator")
    job = anna.sent(CLAIM)
    anna.worker.finish(job, claim_document(CLAIM))
    opinion = {"agrees": False, "label": "REFUTES"}
    given = anna.post(f"/api/v1/claims/{job.id}/feedback", json=opinion)
    rows = {"claims": [CLAIM, "Varnby has a pier."]}
    made = anna.post("/api/v1/lists", json=rows).get_json()["id"]
    corpus = olga.post("/api/v1/corpora", json={"title": "Papers"}).get_json()["name"]
    for address, owner in (
        *((f"claims/{job.id}", anna), (f"lists/{made}", anna), (f"corpora/{corpus}", olga)),
    ):
        answer = owner.put(f"/api/v1/{address}/sharing", json={"shared": "everyone"})
        assert answer.status_code == 200
    values = {"job_id": job.id, "which": job.id, "feedback_id": given.get_json()["id"]}
    compared = ComparisonStore(tokens.services.database).create("Mine", {job.id: Gold()})
    values |= {
        "list_id": made,
        "comparison_id": compared,
        "name": corpus,
        "file": "a.txt",
        "number": 1,
    }
    statuses = {}
    for route in tokens.application.url_map.iter_rules():
        if not route.arguments or RULES[route.endpoint] != "checker":
            continue
        ids = {name: values[name] for name in route.arguments - {"kind"}}
        ids |= {"kind": "claims"} if "kind" in route.arguments else {}
        with tokens.application.test_request_context():
            address = url_for(route.endpoint, **ids)
        for method in route.methods & {"POST", "PUT", "PATCH", "DELETE"}:
            sent = {"shared": "owner"} if "kind" in ids else {"title": "Mine"}
            form = route.endpoint in ("sharing.switch", "lists.edit")
            answer = carl.open(address, method=method, **{"data" if form else "json": sent})
            statuses[route.endpoint] = answer.status_code
    others = {name: code for name, code in statuses.items() if name not in _MAKE_ONES_OWN}
    assert len(others) > 20
    assert {name: code for name, code in others.items() if code != 403} == {}


def test_a_reader_deletes_nothing_in_whatever_way(tokens: Client) -> None:
    job = tokens.user("rita").sent(CLAIM)
    tokens.services.users.remove("rita")
    reader = tokens.user("rita", "reader")
    selected = {"claim": job.id, "do": "delete"}
    assert reader.post("/claims/selected", data=selected).status_code == 403
    assert reader.post("/yours/delete").status_code == 403
    assert reader.get(f"/api/v1/claims/{job.id}").status_code == 200


def test_a_user_who_has_logged_in_signs_a_review_with_the_account_alone(tokens: Client) -> None:
    anna, carl = tokens.user("anna"), tokens.user("carl")
    job = anna.sent(CLAIM)
    anna.worker.finish(job, claim_document(CLAIM))
    anna.store.share(job.id, "everyone")
    address, given = f"/api/v1/claims/{job.id}", {"agrees": True, "name": "Nora Vance"}
    said = carl.post(f"{address}/feedback", json=given).get_json()
    assert said["name"] == "carl"
    carl.post(f"/claims/{job.id}/feedback", data={**given, "agrees": "1", "speaker": "Ole"})
    assert not anna.store.get(job.id).speaker  # who said it, its owner says
    page = anna.get(f"/claims/{job.id}").text
    assert "ClaimReview by <bdi>carl</bdi>" in page
    assert "Nora Vance" not in page
    review = anna.json(f"{address}/export?format=claimreview")
    assert review["author"] == {"@type": "Person", "name": "carl"}
    # Whose the claim is, where it is another's.
    assert review["itemReviewed"]["contributor"] == {"@type": "Person", "name": "anna"}
    anna.post(f"{address}/feedback", json=given)
    own = anna.json(f"{address}/export?format=claimreview")
    assert own["author"]["name"] == "anna"
    assert "contributor" not in own["itemReviewed"]


def test_a_proxy_names_the_user_and_nobody_else_can(start: Start) -> None:
    proxy = {"ESOTERIC_PROXIES": "10.0.0.0/8", "ESOTERIC_USER_HEADER": "Remote-User"}
    client = start(ESOTERIC_ACCESS="proxy", **proxy)
    client.services.users.add("olga", "operator")

    def through(address: str, user: str | None = None) -> Client:
        other = client.another()
        other.environ_base["REMOTE_ADDR"] = address
        other.environ_base |= {"HTTP_REMOTE_USER": user} if user else {}
        return other

    for address, user, code in (
        ("10.1.2.3", "anna@example.org", 200),
        ("10.1.2.3", None, 401),
        ("10.1.2.3", "two words", 401),
        ("127.0.0.1", "anna@example.org", 401),
        ("11.0.0.1", "olga", 401),
    ):
        assert through(address, user).get("/claims").status_code == code, (address, user)
    anna, carl, olga = (through("10.1.2.3", one) for one in ("anna@example.org", "carl", "olga"))
    address = f"/api/v1/claims/{anna.sent(CLAIM).id}"
    assert carl.delete(address).status_code == 404
    assert olga.delete(address).status_code == 200


def test_the_address_of_a_client_is_believed_from_a_proxy_alone(start: Start) -> None:
    limit = {"ESOTERIC_PROXIES": "10.0.0.1", "ESOTERIC_CLAIMS_PER_MINUTE": "1"}
    client = start(ESOTERIC_ACCESS="open", **limit)

    def status(address: str, claimed: str) -> int:
        client.environ_base |= {"REMOTE_ADDR": address, "HTTP_X_FORWARDED_FOR": claimed}
        return client.post("/api/v1/claims", json={"claim": CLAIM}).status_code

    assert [status("10.0.0.1", "192.0.2.1"), status("10.0.0.1", "192.0.2.2")] == [202, 202]
    assert [status("192.0.2.3", "192.0.2.4"), status("192.0.2.3", "192.0.2.5")] == [202, 429]
    # Who prepends an address to the header that the proxy completes gains nothing.
    assert status("10.0.0.1", "198.51.100.1, 192.0.2.1") == 429


@cases("who_may", "environment", "refused")
def test_a_server_that_others_can_reach_needs_a_word_on_who_may(
    environment: dict[str, str], refused: str
) -> None:
    said = pytest.raises(BadSetting, match=refused) if refused else nullcontext()
    with said:
        Settings.from_environment(environment).check_who_may()


def test_the_audit_log_says_who_did_what(tokens: Client, caplog: pytest.LogCaptureFixture) -> None:
    anna, rita = tokens.user("anna"), tokens.user("rita", "reader")
    token = anna.environ_base["HTTP_AUTHORIZATION"].removeprefix("Bearer ")
    with caplog.at_level(logging.INFO, "audit"):
        job = anna.sent(CLAIM).id
        anna.get(f"/api/v1/claims/{job}")
        anna.store.share(job, "everyone")
        rita.delete(f"/api/v1/claims/{job}?forget=1")
        anna.delete(f"/api/v1/claims/{job}?forget=1")
        tokens.get("/api/v1/claims")
        tokens.post("/login", data={"token": token})
        tokens.post("/logout")
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


def test_the_page_of_the_api_and_refusals_say_what_is_so_for_their_reader(start: Start) -> None:
    tokens = start(ESOTERIC_ACCESS="tokens", ESOTERIC_CLAIMS_PER_MINUTE="7")
    page = tokens.user("anna").get("/api").text
    assert "Authorization: Bearer TOKEN" in page
    assert "A client may submit 7 claims in a minute" in page
    assert "Only its owner or an operator can delete it." in page
    alone = start()
    page = alone.get("/api").text
    assert "Bearer" not in page
    assert "in a minute" not in page
    assert "Only the browser that submitted it can delete it" in page
    claim = alone.post("/claims", data={"claim": "Carl has a boat."}).location
    refused = alone.another().delete(f"/api/v1{claim}").get_json()["error"]
    assert refused["message"].endswith("Only its owner can change it.")


# The page of a user


def shown_token(page: str) -> str:
    found = re.search(r'class="token">([\w-]{43})<', page)
    assert found is not None
    return found[1]


def test_a_user_makes_a_token_that_ends_by_itself_and_sees_it_once(tokens: Client) -> None:
    users = tokens.services.users
    anna = logged_in(tokens, users.add("anna", "checker"))
    made = anna.post("/account/tokens", data={"name": " Press  room ", "days": "30"})
    assert (made.status_code, made.headers["Cache-Control"]) == (200, "no-store")
    token = shown_token(made.text)
    assert status(tokens, token) == 200
    page = anna.get("/account").text
    assert token not in page
    assert page.count("Press room") == 2  # beside the button too, for who does not see
    assert "Firefox on Linux" in page
    assert page.count("this one") == 1
    mine = users.credentials("anna")
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
    ended = users.make_token("anna", "Of yesterday", timedelta(seconds=-1))
    assert status(tokens, ended) == 401
    assert tokens.post("/login", data={"token": ended}).status_code == 401
    assert "Of yesterday" not in [one.name for one in users.credentials("anna")]
    for number in range(MOST_TOKENS - 2):
        users.make_token("anna", f"Token {number}", timedelta(days=1))
    assert anna.post("/account/tokens", data={"name": "x", "days": "7"}).status_code == 422


def test_what_a_user_ends_stops_at_once_and_nothing_of_others_can_be_ended(tokens: Client) -> None:
    users = tokens.services.users
    token, other = users.add("anna", "checker"), users.add("bert", "checker")
    anna, elsewhere, bert = (logged_in(tokens, one) for one in (token, token, other))
    spare = users.make_token("anna", "Spare", timedelta(days=1))
    known = {one.name: one.id for one in users.credentials("anna")}
    for credential in known.values():
        assert bert.post("/account/end", data={"id": credential}).status_code == 303
    assert [status(tokens, one) for one in (token, spare)] == [200, 200]
    anna.post("/account/end", data={"id": known["Spare"]})
    assert [status(tokens, one) for one in (token, spare)] == [200, 401]
    anna.post("/account/end", data={"id": known["first token"]})
    assert status(tokens, token) == 401
    assert elsewhere.get("/account").status_code == 200  # a session of its own
    cookie = anna.get_cookie("esoteric_session")
    assert cookie is not None
    for own, ended in ((False, elsewhere), (True, anna)):
        sessions = users.credentials("anna", cookie.value)
        (one,) = [one.id for one in sessions if one.asks == own]
        anna.post("/account/end", data={"id": one})
        assert ended.get("/account").location.startswith("/login")


def test_an_operator_gives_a_user_a_new_token_and_all_before_it_end(tokens: Client) -> None:
    users = tokens.services.users
    token, operator = users.add("anna", "checker"), users.add("olga", "operator")
    spare = users.make_token("anna", "Spare", timedelta(days=1))
    anna, olga = logged_in(tokens, token), logged_in(tokens, operator)
    job = anna.sent("Tea is hot.")
    assert anna.post("/account/rotate", data={"user": "olga"}).status_code == 403
    assert "olga" not in anna.get("/account").text
    assert "anna" in olga.get("/account").text
    made = olga.post("/account/rotate", data={"user": "anna"})
    assert (made.status_code, made.headers["Cache-Control"]) == (200, "no-store")
    assert [status(tokens, one) for one in (token, spare, operator)] == [401, 401, 200]
    assert anna.get("/claims").location.startswith("/login")
    again = logged_in(tokens, shown_token(made.text))
    assert again.get(f"/claims/{job.id}").status_code == 200  # the claims stay
    assert olga.post("/account/rotate", data={"user": "otto"}).status_code == 422


def test_a_user_of_a_proxy_has_tokens_once_the_operator_has_added_her(start: Start) -> None:
    client = start(ESOTERIC_ACCESS="proxy", ESOTERIC_PROXIES="127.0.0.1")
    client.environ_base["HTTP_X_FORWARDED_USER"] = "vera"
    assert "at the proxy" in client.get("/account").text
    asked = {"name": "Laptop", "days": "7"}
    assert client.post("/account/tokens", data=asked).status_code == 422
    client.services.users.add("vera", "checker")
    assert shown_token(client.post("/account/tokens", data=asked).text)

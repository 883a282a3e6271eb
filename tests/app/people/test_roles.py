"""Pages show what their visitor may do, and nothing else."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import urlsplit

import pytest
from flask import g

from app.people.asker import Asker
from app.people.hints import ASK, shown_hint
from retrieval.claim import ANYWAY
from retrieval.errors import EsotericError
from tests.app.claim_documents import claim_document
from tests.app.client import Client
from tests.app.conftest import Start
from tests.app.index import description_file
from tests.support.cases import cases
from worker.feedback_store import FeedbackStore, Said
from worker.jobs import Job
from worker.lists import NewEntry
from worker.user_store import owner_of

VISITORS = ("nobody", "reader", "checker", "operator", "proxy", "open", "here")
_MOST_PAGES = 150
START = ("/", "/lists", "/texts", "/documents", "/compare", "/claims?whose=all", "/feedback")


@dataclass
class Form:
    """A form as it is shown; ``buttons``: where each sends it, and what it adds."""

    action: str
    method: str
    fields: list[tuple[str, str]] = field(default_factory=list)
    buttons: list[tuple[str, list[tuple[str, str]]]] = field(default_factory=list)


class Shown(HTMLParser):
    """The links and the forms of a page."""

    def __init__(self, page: str) -> None:
        super().__init__()
        self.links: list[str] = []
        self.forms: list[Form] = []
        self.feed(page)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        has = {name: value or "" for name, value in attrs}
        if tag == "a" and "href" in has:
            self.links.append(has["href"])
        elif tag == "form":
            self.forms.append(Form(has["action"], has.get("method", "get")))
        elif not self.forms:
            return
        elif tag == "button":
            sent = [(has["name"], has.get("value", ""))] if "name" in has else []
            self.forms[-1].buttons.append((has.get("formaction", self.forms[-1].action), sent))
        elif "name" in has and tag in {"input", "textarea", "select"}:
            unticked = has.get("type") in {"checkbox", "radio"} and "checked" not in has
            # An empty text loads no models.
            typed = "Tea is hot." if tag == "textarea" and has["name"] != "text" else ""
            if has.get("type") != "file" and not unticked:
                self.forms[-1].fields.append((has["name"], has.get("value") or typed))


def visited(start: Start, visitor: str) -> Client:
    """Return a client of a service as this visitor finds it."""
    environment = {}
    if visitor != "here":
        environment["ESOTERIC_ACCESS"] = visitor if visitor in {"open", "proxy"} else "tokens"
    if visitor == "proxy":
        environment |= {"ESOTERIC_PROXIES": "127.0.0.1", "ESOTERIC_USER_HEADER": "Remote-User"}
    client = start(**environment)
    if visitor == "proxy":
        client.environ_base["HTTP_REMOTE_USER"] = "vera"
    if visitor in {"reader", "checker", "operator"}:
        client.post("/login", data={"token": client.services.users.add("vera", visitor)})
    return client


def claims_of(client: Client, owner: str) -> list[Job]:
    """Return a claim in each state."""
    done, failed, waits, cancelled = (
        client.store.submit(f"{words} of {owner}.", "combined", owner=owner)[0]
        for words in ("Tea is hot", "Ice is cold", "The sea is wet", "Sand is dry")
    )
    client.worker.finish(done, claim_document(done.claim))
    client.worker.fail(failed, EsotericError("fault", "It broke.", "Run `esoteric doctor`."))
    client.store.cancel(cancelled.id)
    said = Said(True, "SUPPORTS", (), "", "")
    FeedbackStore(client.store.database).give(done.id, said, owner)
    return [done, failed, waits, cancelled]


def follow(client: Client, addresses: list[str]) -> tuple[dict[str, int], list[Form]]:
    """Open these pages and all that they lead to; return the statuses, and the forms."""
    statuses: dict[str, int] = {}
    forms: dict[tuple[str, ...], Form] = {}
    while addresses:
        address = addresses.pop().partition("#")[0]
        if not address.startswith("/") or address in statuses or len(statuses) >= _MOST_PAGES:
            continue
        with client.get(address) as answer:
            statuses[address] = answer.status_code
            if answer.status_code == 303:
                addresses.append(urlsplit(answer.headers["Location"])._replace(netloc="").geturl())
            if answer.mimetype != "text/html":
                continue
            shown = Shown(answer.text)
        addresses += shown.links
        for form in shown.forms:
            names = [name for name, _ in form.fields]
            forms.setdefault((form.action, *names), form)
    return statuses, list(forms.values())


def send(client: Client, form: Form) -> Iterator[tuple[str, int]]:
    """Send a form by each of its buttons."""
    for action, more in form.buttons or [(form.action, [])]:
        data: dict[str, list[str]] = {}
        for name, value in [*form.fields, *more]:
            data.setdefault(name, []).append(value)
        answer = client.open(action, method=form.method.upper(), data=data)
        yield action, answer.status_code


def is_wrong(status: int) -> bool:
    return status in (401, 403, 404) or status >= 500


def order(action: str) -> int:
    """Return a key that puts last what deletes or logs out, the whole after its parts.

    Feedback that is given again replaces the one that was shown, so it is deleted first.
    """
    if action.startswith("/feedback/"):
        return -1
    last = (("lists", "delete"), ("claims", "delete"), ("yours", "delete"), ("", "logout"))
    place = action.split("/")[1] if action.count("/") > 1 else "", action.rpartition("/")[2]
    return last.index(place) + 1 if place in last else 0


@pytest.mark.parametrize("visitor", VISITORS)
def test_no_link_and_no_form_that_is_shown_is_refused(start: Start, visitor: str) -> None:
    client = visited(start, visitor)
    store, lists = client.store, client.services.lists
    logged_in = visitor in {"reader", "checker", "operator", "proxy"}
    own = owner_of("vera") if logged_in else "x" * 64
    jobs = [*claims_of(client, own), *claims_of(client, owner_of("otto"))]
    entries = (NewEntry("Line 1", "Tea is hot.", {}, None),)
    made = [lists.create("Drinks", "combined", entries, owner) for owner in (own, owner_of("otto"))]
    for job in jobs:
        store.share(job.id, "everyone")
    for one in made:
        lists.share(one, "everyone")
    client.services.corpora.make("Papers", None)
    both = ",".join(job.id for job in jobs[:2])
    pages = [f"/claims/{job.id}" for job in jobs] + [f"/lists/{one}" for one in made]
    statuses, forms = follow(client, [*START, f"/compare?claims={both}", *pages])
    assert len(statuses) < _MOST_PAGES  # all were opened
    assert {address: status for address, status in statuses.items() if is_wrong(status)} == {}
    first: dict[str, int] = {}  # what is deleted twice is gone the second time
    # What ends sessions and tokens, test_access has: it would log this visitor out.
    kept = [form for form in forms if not form.action.startswith(("/account/end", "/account/ro"))]
    for form in sorted(kept, key=lambda form: order(form.action)):
        for action, status in send(client, form):
            first.setdefault(action, status)
    log_in = {"/login": 401} if visitor == "nobody" else {}
    assert {action: status for action, status in first.items() if is_wrong(status)} == log_in
    if visitor in {"nobody", "reader"}:
        changes = {form.action for form in forms if form.method == "post"}
        tokens = {"/account/tokens", "/account/end"}
        assert changes <= {"/login", "/logout", "/claims/selected", *tokens}
        prefilled = ("/compare?list=", "/compare?claim=")  # of a form that is not shown
        assert [address for address in statuses if address.startswith(prefilled)] == []
    else:
        assert {"/claims", "/lists", "/texts", "/compare"} <= first.keys()


def test_a_reader_is_told_once_a_page_what_she_may_do(start: Start) -> None:
    tokens = start(ESOTERIC_ACCESS="tokens")
    for role, times in (("reader", 1), ("checker", 0)):
        user = tokens.user(role, role)
        for page in ("/", "/lists", "/texts", "/compare"):
            assert user.get(page).text.count("to make you a checker") == times, page


@cases("hints", "hint", "shown")
def test_a_hint_keeps_what_its_visitor_can_do(start: Start, hint: str, shown: str) -> None:
    with visited(start, "open").application.test_request_context():
        g.asker = Asker(None, "checker")
        assert shown_hint(hint.replace("ANYWAY", ANYWAY)) == shown.replace("ASK", ASK)


@pytest.mark.parametrize(("visitor", "sees"), [("operator", 1), ("here", 1), ("checker", 0)])
def test_commands_are_for_operators(start: Start, tmp_path: Path, visitor: str, sees: int) -> None:
    client = visited(start, visitor)
    description_file(tmp_path).unlink()
    failed = claims_of(client, owner_of("vera"))[1]
    home, stopped = client.get("/").text, client.get(f"/claims/{failed.id}").text
    assert home.count("esoteric index build") == sees
    assert stopped.count("esoteric doctor") == sees
    assert "There is no index yet" in home
    assert ("The operator of this service can put it right." in stopped) == (not sees)

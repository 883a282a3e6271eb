"""Two people on one service: what one of them submits, the other sees only once it is shared."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from contextlib import closing
from io import BytesIO
from pathlib import Path
from threading import Event

import pytest
from flask import Flask
from flask.testing import FlaskClient

from app import create_app
from app.services import services_of
from settings import Settings
from tests.app.claim_documents import claim_document
from tests.app.index import describe_index
from tests.app.worker_by_hand import WorkerByHand
from worker.comparison_store import ComparisonStore, Gold
from worker.feeder import Feeder
from worker.user_store import Role

SECRET = "Ida Holm paid for the Lighthouse of Varn."
ROW = "Varnby has a harbour."


class House:
    """A service where users log in, with a claim and a list of anna."""

    def __init__(self, home: Path) -> None:
        describe_index(home)
        settings = {"ESOTERIC_HOME": str(home), "ESOTERIC_ACCESS": "tokens"}
        self.app = create_app(Settings.from_environment(settings))
        self.services = services_of(self.app)
        self.worker = WorkerByHand(self.services.store)
        self.anna, self.bert = self.client("anna"), self.client("bert")
        self.rita, self.olga = self.client("rita", "reader"), self.client("olga", "operator")

    def client(self, name: str, role: Role = "checker") -> FlaskClient:
        client = self.app.test_client()
        client.environ_base["HTTP_AUTHORIZATION"] = f"Bearer {self.services.users.add(name, role)}"
        return client

    def claim_of(self, client: FlaskClient) -> str:
        answer = client.post("/api/v1/claims", json={"claim": SECRET})
        job = self.services.store.get(answer.get_json()["id"])
        self.worker.finish(job, claim_document(SECRET))
        return job.id

    def list_of(self, client: FlaskClient) -> str:
        given = {"claims": [ROW], "name": "Speech of Monday"}
        found = str(client.post("/api/v1/lists", json=given).get_json()["id"])
        Feeder(self.services.database, self.services.queue, Event()).look()
        return found


@pytest.fixture
def house(tmp_path: Path) -> Iterator[House]:
    house = House(tmp_path)
    yield house
    house.services.close()


def text_of(client: FlaskClient, *addresses: str) -> str:
    return "\n".join(client.get(address).text for address in addresses)


def pages_of_claim(job: str) -> list[str]:
    api = f"/api/v1/claims/{job}"
    exports = [f"{api}/export?format={one}" for one in ("json", "md", "csv")]
    return [f"/claims/{job}", api, f"{api}/progress", f"{api}/events", *exports]


def test_the_claim_of_another_is_as_if_it_did_not_exist(house: House) -> None:
    job, own = house.claim_of(house.anna), house.claim_of(house.bert)
    given = {"agrees": False, "label": "REFUTES", "note": "A name to find"}
    said = house.anna.post(f"/api/v1/claims/{job}/feedback", json=given).get_json()["id"]
    for address in (*pages_of_claim(job), f"/claims/{job}/files/1", f"/api/v1/feedback/{said}"):
        for other in (house.bert, house.rita):
            assert other.get(address).status_code == 404, address
        # The same answer as of an id that there never was.
        missing = house.bert.get(address.replace(job, "0" * 32).replace(said, "0" * 24))
        assert house.bert.get(address).text == missing.text
    sent = (f"/claims/{job}/search-on", f"/claims/{job}/feedback", f"/claims/{job}/delete")
    for address in (*sent, f"/claims/{job}/share"):
        form = {"agrees": "1", "shared": "everyone"}
        assert house.bert.post(address, data=form).status_code == 404, address
    sharing = {"shared": "everyone"}
    assert house.bert.put(f"/api/v1/claims/{job}/sharing", json=sharing).status_code == 404
    assert house.services.store.get(job).shared == "owner"
    # Nor is it in anything that names several.
    found = text_of(
        house.bert,
        *("/", "/claims?whose=all", "/claims?q=holm&whose=all", "/api/v1/claims?q=holm"),
        *("/feedback?whose=all", "/api/v1/feedback", "/api/v1/feedback/export", "/yours.json"),
    )
    assert own in found
    assert job not in found
    assert "A name to find" not in found
    carl = house.client("carl")  # a checker without claims: a reader has no form
    edited, says = f"/?edited_from={job}", "Edited from"
    assert says in house.anna.get(edited).text
    assert says not in carl.get(edited).text
    compared = house.bert.get(f"/api/v1/compare?claims={job},{own}").get_json()
    assert compared["unknown"] == [job]
    chosen = {"claim": [job, own], "do": "json"}
    assert [one["id"] for one in house.bert.post("/claims/selected", data=chosen).get_json()] == [
        own
    ]
    # Somebody who asks the same gets no hint that it was checked before.
    assert job in house.anna.post("/box", data={"claim": SECRET}).text
    assert job not in carl.post("/box", data={"claim": SECRET}).text


def test_its_owner_shares_a_claim_by_a_switch_and_takes_it_back(house: House) -> None:
    job = house.claim_of(house.anna)
    page = house.anna.get(f"/claims/{job}").text
    assert "Who can see this" in page
    assert "Only you and operators" in page
    answer = house.anna.post(f"/claims/{job}/share", data={"shared": "everyone"})
    assert (answer.status_code, answer.headers["Location"]) == (303, f"/claims/{job}")
    for address in pages_of_claim(job):
        with house.bert.get(address) as shown:
            assert shown.status_code == 200, address
    shown = house.bert.get(f"/claims/{job}").text
    assert "Everybody who may use this service can see this" in shown
    assert f"/claims/{job}/share" not in shown  # the switch is its owner's
    refused = house.bert.post(f"/claims/{job}/share", data={"shared": "owner"})
    assert refused.status_code == 403
    assert job in text_of(house.bert, "/claims?whose=all")
    assert job not in text_of(house.bert, "/claims?whose=yours")
    mine = {"shared": "owner"}
    assert house.anna.put(f"/api/v1/claims/{job}/sharing", json=mine).get_json() == mine
    assert house.bert.get(f"/claims/{job}").status_code == 404
    assert house.olga.get(f"/claims/{job}").status_code == 200  # operators see all
    assert house.anna.post(f"/claims/{job}/share", data={"shared": "all"}).status_code == 422
    wrong = house.anna.put(f"/api/v1/claims/{job}/sharing", json={"shared": "all"})
    assert (wrong.status_code, wrong.get_json()["error"]["code"]) == (422, "bad_body")


def test_a_list_is_shared_with_the_claims_that_are_made_for_it(house: House) -> None:
    found = house.list_of(house.anna)
    api = f"/api/v1/lists/{found}"
    pages = [f"/lists/{found}", api, f"{api}/events", f"{api}/results", f"{api}/export?format=csv"]
    (row,) = house.anna.get(f"{api}/results").get_json()["rows"]
    claim = row["links"]["page"]
    for address in (*pages, claim, f"/compare?list={found}"):
        assert house.bert.get(address).status_code == 404, address
    for address in (f"/lists/{found}/pause", f"/lists/{found}/delete", f"/lists/{found}/share"):
        assert house.bert.post(address, data={"shared": "everyone"}).status_code == 404, address
    assert "Speech of Monday" not in text_of(house.bert, "/lists")
    assert "Speech of Monday" in text_of(house.olga, "/lists")
    assert f'action="/lists/{found}/share"' in house.anna.get(f"/lists/{found}").text
    house.anna.post(f"/lists/{found}/share", data={"shared": "everyone"})
    for address in (*pages, claim):
        assert house.bert.get(address).status_code == 200, address
    assert "Speech of Monday" in text_of(house.bert, "/lists")
    # A row that is handed to the queue from now on is shared too.
    more = house.anna.post("/api/v1/lists", json={"claims": ["Ice is cold."]}).get_json()["id"]
    house.services.lists.share(more, "everyone")
    Feeder(house.services.database, house.services.queue, Event()).look()
    (row,) = house.bert.get(f"/api/v1/lists/{more}/results").get_json()["rows"]
    assert house.bert.get(row["links"]["page"]).status_code == 200
    house.anna.put(f"{api}/sharing", json={"shared": "owner"})
    for address in (*pages, claim):
        assert house.bert.get(address).status_code == 404, address


def test_a_corpus_is_seen_and_searched_by_operators_until_it_is_shared(house: House) -> None:
    assert "only you and the other operators" in house.olga.get("/documents").text
    sent = {"title": "Pay rolls", "files": (BytesIO(b"Ida Holm got 40."), "rolls.txt")}
    name = house.olga.post("/documents", data=sent).headers["Location"].rpartition("/")[2]
    describe_index(house.services.corpora.place(name))  # as if it were indexed
    made = house.olga.post("/api/v1/corpora", json={"title": "Letters"}).get_json()["name"]
    assert house.anna.get(f"/api/v1/corpora/{made}").status_code == 404
    asked = {"claim": ROW, "corpora": [name]}
    pages = (f"/documents/{name}", f"/api/v1/corpora/{name}")
    for address in pages:
        assert house.anna.get(address).status_code == 404
    assert "Pay rolls" not in text_of(house.anna, "/documents", "/", "/lists", "/api/v1/corpora")
    answer = house.anna.post("/api/v1/claims", json=asked)
    assert (answer.status_code, answer.get_json()["error"]["code"]) == (404, "unknown_corpus")
    answer = house.olga.post("/api/v1/claims", json=asked)
    assert answer.status_code == 202
    # A claim may be shared without the files that it was checked against.
    result = claim_document(ROW)
    result["documents"][0]["id"] = f"{name}:rolls.txt"
    part = {"name": name, "title": "Pay rolls", "documents": 1, "text_date": None}
    result["corpus"]["parts"] = [part | {"built_at": "2026-11-20T09:30:00Z"}]
    job = house.services.store.get(answer.get_json()["id"])
    house.worker.finish(job, result)
    house.services.store.share(job.id, "everyone")
    file = f"/claims/{job.id}/files/1"
    assert house.anna.get(f"/claims/{job.id}").status_code == 200
    assert house.anna.get(file).status_code == 404
    assert f'action="/documents/{name}/share"' in house.olga.get(f"/documents/{name}").text
    house.olga.post(f"/documents/{name}/share", data={"shared": "everyone"})
    for address in (*pages, file):
        with house.anna.get(address) as shown:
            assert shown.status_code == 200, address
    assert "for everyone" in house.anna.get("/documents").text
    assert "Pay rolls" in house.anna.get("/").text
    assert house.anna.post("/api/v1/claims", json=asked).status_code == 202
    refused = house.anna.put(f"/api/v1/corpora/{name}/sharing", json={"shared": "owner"})
    assert refused.status_code == 403


class Shared:
    """A claim and a list of anna, and a corpus of olga, and who sees which of them where."""

    def __init__(self, house: House) -> None:
        self.house, self.claim = house, house.claim_of(house.anna)
        given = {"agrees": False, "label": "REFUTES", "note": "A name to find"}
        said = house.anna.post(f"/api/v1/claims/{self.claim}/feedback", json=given).get_json()
        self.list = house.list_of(house.anna)
        (row,) = house.anna.get(f"/api/v1/lists/{self.list}/results").get_json()["rows"]
        self.corpus = house.services.corpora.make("Pay rolls", owner="user:olga")
        describe_index(house.services.corpora.place(self.corpus))  # as if it were indexed
        of_list = ("", "/results", "/events", "/export?format=csv")
        self.addresses = [
            *pages_of_claim(self.claim),
            *(f"/api/v1/feedback/{said['id']}", f"/compare?list={self.list}"),
            *(f"/lists/{self.list}", row["links"]["page"]),
            *(f"/api/v1/lists/{self.list}{one}" for one in of_list),
            *(f"/documents/{self.corpus}", f"/api/v1/corpora/{self.corpus}"),
        ]
        claims = ("/", "/claims?whose=all", "/claims?q=holm&whose=all", "/api/v1/claims?q=holm")
        self.listings = {
            self.claim: claims,
            "Speech of Monday": ("/lists",),
            "Pay rolls": ("/documents", "/", "/lists", "/api/v1/corpora"),
        }

    def share(self, shared: str) -> None:
        """Share all three; olga is an operator, who may."""
        for which in (f"claims/{self.claim}", f"lists/{self.list}", f"corpora/{self.corpus}"):
            answer = self.house.olga.put(f"/api/v1/{which}/sharing", json={"shared": shared})
            assert (answer.status_code, answer.get_json()) == (200, {"shared": shared})
            assert self.house.olga.get(f"/api/v1/{which}").get_json()["shared"] == shared

    def seen_by(self, client: FlaskClient) -> bool:
        """Return whether a checker sees them, if all doors say the same."""
        doors = {}
        for address in self.addresses:
            with client.get(address) as answer:
                assert answer.status_code in (200, 404), address
                doors[address] = answer.status_code == 200
        for named, pages in self.listings.items():
            for page in pages:
                doors[f"{named} in {page}"] = named in client.get(page).text
        compared = client.get(f"/api/v1/compare?claims={self.claim}")
        doors["comparison"] = compared.get_json().get("unknown") == []
        chosen = client.post("/claims/selected", data={"claim": [self.claim], "do": "json"})
        doors["selection"] = self.claim in chosen.text
        doors["box"] = self.claim in client.post("/box", data={"claim": SECRET}).text
        asked = {"claim": "Tea is a hot drink.", "corpora": [self.corpus]}
        doors["search"] = client.post("/api/v1/claims", json=asked).status_code == 202
        assert len(set(doors.values())) == 1, doors
        return doors["box"]


def test_what_is_shared_with_a_group_its_members_see_at_every_door_and_nobody_else(
    house: House,
) -> None:
    users, carl, nora = house.services.users, house.client("carl"), house.client("nora")
    users.join("newsroom", ["bert", "carl"])
    users.join("law", ["carl"])
    things = Shared(house)

    def seen() -> list[bool]:
        return [things.seen_by(one) for one in (house.bert, carl, nora)]

    assert seen() == [False, False, False]
    things.share("group:newsroom")
    assert seen() == [True, True, False]
    things.share("group:law")
    assert seen() == [False, True, False]
    users.leave("law", ["carl"])  # it counts from the next request on
    assert seen() == [False, False, False]
    users.join("law", ["nora"])  # another group, whatever its name
    assert house.anna.get(f"/api/v1/claims/{things.claim}").get_json()["shared"] == "owner"
    assert house.anna.get(f"/api/v1/lists/{things.list}").get_json()["shared"] == "owner"
    things.share("group:newsroom")
    users.join("newsroom", ["nora"])
    assert seen() == [True, True, True]
    users.remove("bert")
    users.add("bert", "checker")  # somebody else of this name
    assert users.groups()["newsroom"] == ("carl", "nora")
    things.share("owner")
    assert [things.seen_by(one) for one in (carl, nora)] == [False, False]
    things.share("everyone")
    assert [things.seen_by(one) for one in (carl, nora)] == [True, True]


def test_a_user_shares_with_her_own_groups_by_the_switch_and_an_operator_with_all(
    house: House,
) -> None:
    users, job = house.services.users, house.claim_of(house.anna)
    users.join("newsroom", ["anna", "bert", "rita"])
    users.join("law", ["bert"])
    page = house.anna.get(f"/claims/{job}").text
    offered = ('<option value="group:newsroom">The group newsroom', 'value="group:law"')
    assert [one in page for one in offered] == [True, False]
    assert "anna, bert, rita" in house.anna.get("/account").text
    answer = house.anna.post(f"/claims/{job}/share", data={"shared": "group:newsroom"})
    assert answer.status_code == 303
    chosen = '<option value="group:newsroom" selected>'
    assert chosen in house.anna.get(f"/claims/{job}").text
    seen = "Members of the group <bdi>newsroom</bdi>, its owner and operators can see this"
    assert seen in house.bert.get(f"/claims/{job}").text
    for member in (house.bert, house.rita):
        assert member.get(f"/claims/{job}").status_code == 200
    # Nobody learns whether there is a group that she is not in.
    refused = []
    for group in ("law", "nowhere"):
        asked = {"shared": f"group:{group}"}
        wrong = house.anna.put(f"/api/v1/claims/{job}/sharing", json=asked)
        assert (wrong.status_code, wrong.get_json()["error"]["code"]) == (422, "unknown_group")
        assert house.anna.post(f"/claims/{job}/share", data=asked).status_code == 422
        refused.append(wrong.text.replace(group, "GROUP"))
    assert refused[0] == refused[1]
    for bad in ("group:", "group: law", "group:a\n", "GROUP:law", "law", "", None, ["group:law"]):
        wrong = house.anna.put(f"/api/v1/claims/{job}/sharing", json={"shared": bad})
        assert (wrong.status_code, wrong.get_json()["error"]["code"]) == (422, "bad_body"), bad
    # Who has left a group cannot share with it, and what she shared before stays so.
    users.leave("newsroom", ["anna"])
    asked = {"shared": "group:newsroom"}
    other = house.claim_of(house.anna)
    assert house.anna.put(f"/api/v1/claims/{other}/sharing", json=asked).status_code == 422
    assert house.bert.get(f"/claims/{job}").status_code == 200
    assert "newsroom</bdi>, you and operators" in house.anna.get(f"/claims/{job}").text
    # A group without members is none, also for operators, who share with all others.
    assert house.olga.put(f"/api/v1/claims/{other}/sharing", json=asked).status_code == 200
    users.leave("newsroom", ["bert", "rita"])
    wrong = house.olga.put(f"/api/v1/claims/{other}/sharing", json=asked)
    assert wrong.get_json()["error"]["message"] == "There is no group “newsroom”."
    assert house.bert.get(f"/claims/{job}").status_code == 404


def test_a_claim_that_comes_again_in_a_list_is_seen_by_more_and_never_by_fewer(
    house: House,
) -> None:
    house.services.users.join("newsroom", ["anna", "bert"])

    def pending_in_list(before: str, of_list: str, claim: str) -> str | None:
        job = house.anna.post("/api/v1/claims", json={"claim": claim}).get_json()["id"]
        house.services.store.share(job, before)
        given = {"claims": [claim]}
        found = house.anna.post("/api/v1/lists", json=given).get_json()["id"]
        house.services.lists.share(found, of_list)
        Feeder(house.services.database, house.services.queue, Event()).look()
        done = house.services.store.get(job)
        house.worker.finish(done, claim_document(claim))  # a list has few claims in the queue
        return done.shared

    assert pending_in_list("owner", "group:newsroom", "Tea is hot.") == "group:newsroom"
    assert pending_in_list("group:newsroom", "owner", "Ice is cold.") == "group:newsroom"
    assert pending_in_list("group:newsroom", "everyone", "Milk is white.") == "everyone"
    assert pending_in_list("everyone", "group:newsroom", "Snow is white.") == "everyone"


# Makes of a database of today what a version without sharing left.
_AS_BEFORE = """
ALTER TABLE claims DROP COLUMN shared;
ALTER TABLE claims DROP COLUMN speaker;
ALTER TABLE claims DROP COLUMN appearance;
ALTER TABLE claims DROP COLUMN said_on;
ALTER TABLE lists DROP COLUMN shared;
ALTER TABLE lists DROP COLUMN csv_separator;
ALTER TABLE lists DROP COLUMN csv_decimal_mark;
DROP TABLE compared_checks;
CREATE TABLE sessions (digest VARCHAR(64) PRIMARY KEY, user VARCHAR(50), ends_at DATETIME);
INSERT INTO sessions SELECT digest, user, ends_at FROM credentials WHERE kind = 'session';
ALTER TABLE users ADD COLUMN digest VARCHAR(64);
UPDATE users SET digest =
    (SELECT digest FROM credentials WHERE user = users.name AND kind = 'token');
DROP TABLE credentials;
DROP TABLE group_members;
UPDATE alembic_version SET version_num = 'list_files_0015';
"""


def test_what_an_older_version_left_stays_visible_and_its_tokens_let_in(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    old = House(tmp_path)
    job, found = old.claim_of(old.anna), old.list_of(old.anna)
    token = old.anna.environ_base["HTTP_AUTHORIZATION"]
    cookie = old.app.test_client()
    cookie.post("/login", data={"token": token.removeprefix("Bearer ")})
    name = old.services.corpora.make("Papers")
    old.services.close()
    with closing(sqlite3.connect(tmp_path / "esoteric.db")) as connection, connection:
        connection.executescript(_AS_BEFORE)
    with caplog.at_level("WARNING"):
        app = create_app(
            Settings.from_environment({"ESOTERIC_HOME": str(tmp_path), "ESOTERIC_ACCESS": "tokens"})
        )
        anna, bert = app.test_client(), app.test_client()
        anna.environ_base["HTTP_AUTHORIZATION"] = token
        bert.environ_base["HTTP_AUTHORIZATION"] = old.bert.environ_base["HTTP_AUTHORIZATION"]
        for address in (f"/claims/{job}", f"/lists/{found}", f"/documents/{name}"):
            assert anna.get(address).status_code == 200
            assert bert.get(address).status_code == 200, address
    said = [one for one in caplog.messages if "What was there before stays visible" in one]
    assert len(said) == 1
    # As before, the address opens it and no list names it.
    assert job not in text_of(bert, "/claims?whose=all")
    assert "has the address can see this" in anna.get(f"/claims/{job}").text
    assert anna.post(f"/claims/{job}/share", data={"shared": "owner"}).status_code == 303
    assert bert.get(f"/claims/{job}").status_code == 404
    services_of(app).close()


@pytest.mark.parametrize("access", ["", "open"])
def test_where_nobody_logs_in_everybody_sees_what_is_submitted(tmp_path: Path, access: str) -> None:
    describe_index(tmp_path)
    app: Flask = create_app(
        Settings.from_environment({"ESOTERIC_HOME": str(tmp_path), "ESOTERIC_ACCESS": access})
    )
    one, other = app.test_client(), app.test_client()
    page = one.post("/claims", data={"claim": ROW}).headers["Location"]
    assert other.get(page).status_code == 200
    assert ROW in text_of(other, "/claims?whose=all")
    assert "share" not in one.get(page).text
    answer = one.post(f"{page}/share", data={"shared": "owner"})
    assert (answer.status_code, "Nobody logs in here" in answer.text) == (409, True)
    services_of(app).close()


def test_what_is_private_stays_so_when_the_service_is_opened_to_all(tmp_path: Path) -> None:
    house = House(tmp_path)
    job = house.claim_of(house.anna)
    note = "A name to find"
    given = {"agrees": False, "label": "NOT ENOUGH INFO", "note": note}
    assert house.anna.post(f"/api/v1/claims/{job}/feedback", json=given).status_code == 201
    exported = house.olga.get("/api/v1/feedback/export?format=claims")
    assert SECRET in exported.text
    house.services.close()
    app = create_app(
        Settings.from_environment({"ESOTERIC_HOME": str(tmp_path), "ESOTERIC_ACCESS": "open"})
    )
    assert app.test_client().get(f"/claims/{job}").status_code == 404
    pages = ("/", "/claims?whose=all", "/feedback")
    api = ("/api/v1/claims", "/api/v1/feedback", "/api/v1/feedback/export?format=claims")
    found = text_of(app.test_client(), *pages, *api)
    assert SECRET not in found
    assert note not in found
    services_of(app).close()


def test_the_name_of_a_comparison_does_not_say_a_claim_that_is_not_shared(house: House) -> None:
    secret = house.claim_of(house.anna)
    others = [
        house.anna.post("/api/v1/claims", json={"claim": one}).get_json()["id"]
        for one in ("Tea is hot.", "Ice is cold.")
    ]
    checks = dict.fromkeys((secret, *others), Gold())
    compared = ComparisonStore(house.services.database).create(f"“{SECRET}” and 2 more", checks)
    for one in others:
        house.anna.post(f"/claims/{one}/share", data={"shared": "everyone"})
    addresses = f"/compare?id={compared}", f"/api/v1/compare?id={compared}"
    assert "Tea is hot." in text_of(house.bert, *addresses)
    assert SECRET not in text_of(house.bert, *addresses)
    assert SECRET in house.anna.get(addresses[1]).get_json()["name"]


def test_a_claim_that_left_a_shared_list_is_shared_no_more(house: House) -> None:
    found = house.list_of(house.anna)
    (entry,) = house.services.lists.entries(found, "all", 9, 0)
    assert entry.claim_id
    house.worker.finish(house.services.store.get(entry.claim_id), claim_document(ROW))
    house.anna.post(f"/lists/{found}/share", data={"shared": "everyone"})
    assert house.bert.get(f"/claims/{entry.claim_id}").status_code == 200
    house.anna.post(f"/lists/{found}/rows/1", data={"claim": "Varnby has two harbours."})
    assert house.bert.get(f"/claims/{entry.claim_id}").status_code == 404
    assert house.anna.get(f"/claims/{entry.claim_id}").status_code == 200

"""Two people on one service: what one of them submits, the other sees only once it is shared."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from io import BytesIO
from pathlib import Path

import pytest

from tests.app.claim_documents import claim_document
from tests.app.client import Client, refusal
from tests.app.conftest import Start
from tests.app.index import describe_index
from worker.comparison_store import ComparisonStore, Gold

SECRET = "Ida Holm paid for the Lighthouse of Varn."
ROW = "Varnby has a harbour."


class House:
    """A service where users log in, with a claim and a list of anna."""

    def __init__(self, start: Start) -> None:
        self.tokens = start(ESOTERIC_ACCESS="tokens")
        self.services, self.client = self.tokens.services, self.tokens.user
        self.anna, self.bert = self.client("anna"), self.client("bert")
        self.rita, self.olga = self.client("rita", "reader"), self.client("olga", "operator")

    def claim_of(self, client: Client, claim: str = SECRET) -> str:
        job = client.sent(claim)
        client.worker.finish(job, claim_document(claim))
        return job.id

    def list_of(self, client: Client, row: str = ROW) -> str:
        given = {"claims": [row], "name": "Speech of Monday"}
        found = str(client.post("/api/v1/lists", json=given).get_json()["id"])
        client.worker.feed(self.services)
        return found


@pytest.fixture
def house(start: Start) -> House:
    return House(start)


def text_of(client: Client, *addresses: str) -> str:
    return "\n".join(client.get(address).text for address in addresses)


def pages_of_claim(job: str) -> list[str]:
    api = f"/api/v1/claims/{job}"
    exports = [f"{api}/export?format={one}" for one in ("json", "md", "csv")]
    return [f"/claims/{job}", api, f"{api}/progress", f"{api}/events", *exports]


def test_the_claim_of_another_is_as_if_it_did_not_exist(house: House) -> None:
    job = house.claim_of(house.anna)
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
    feedback = ("/feedback?whose=all", "/api/v1/feedback", "/api/v1/feedback/export")
    found = text_of(house.bert, *feedback, "/yours.json")
    assert job not in found
    assert "A name to find" not in found


def test_its_owner_shares_a_claim_by_a_switch_and_takes_it_back(house: House) -> None:
    job = house.claim_of(house.anna)
    page = house.anna.get(f"/claims/{job}").text
    assert "Who can see this" in page
    assert "Only you and operators" in page
    answer = house.anna.post(f"/claims/{job}/share", data={"shared": "everyone"})
    assert (answer.status_code, answer.location) == (303, f"/claims/{job}")
    shown = house.bert.get(f"/claims/{job}").text
    assert "Everybody who may use this service can see this" in shown
    assert f"/claims/{job}/share" not in shown  # the switch is its owner's
    refused = house.bert.post(f"/claims/{job}/share", data={"shared": "owner"})
    assert refused.status_code == 403
    assert job not in house.bert.get("/claims?whose=yours").text
    mine = {"shared": "owner"}
    assert house.anna.put(f"/api/v1/claims/{job}/sharing", json=mine).get_json() == mine
    assert house.bert.get(f"/claims/{job}").status_code == 404
    assert house.olga.get(f"/claims/{job}").status_code == 200  # operators see all
    assert house.anna.post(f"/claims/{job}/share", data={"shared": "all"}).status_code == 422
    wrong = house.anna.put(f"/api/v1/claims/{job}/sharing", json={"shared": "all"})
    assert refusal(wrong) == (422, "bad_body")


def row_of(client: Client, found: str) -> str:
    """Return the page of the claim of the only row of a list."""
    (row,) = client.json(f"/api/v1/lists/{found}/results")["rows"]
    return str(row["links"]["page"])


def test_a_list_is_shared_with_its_claims_until_they_leave_it(house: House) -> None:
    found = house.list_of(house.anna)
    claim = row_of(house.anna, found)
    for address in (f"/lists/{found}/pause", f"/lists/{found}/delete", f"/lists/{found}/share"):
        assert house.bert.post(address, data={"shared": "everyone"}).status_code == 404, address
    assert "Speech of Monday" in house.olga.get("/lists").text
    assert f'action="/lists/{found}/share"' in house.anna.get(f"/lists/{found}").text
    house.anna.post(f"/lists/{found}/share", data={"shared": "everyone"})
    assert house.bert.get(claim).status_code == 200
    # A row that is handed to the queue from now on is shared too.
    more = house.anna.post("/api/v1/lists", json={"claims": ["Ice is cold."]}).get_json()["id"]
    house.services.lists.share(more, "everyone")
    house.anna.worker.feed(house.services)
    assert house.bert.get(row_of(house.bert, more)).status_code == 200
    house.anna.worker.finish(
        house.services.store.get(claim.rpartition("/")[2]), claim_document(ROW)
    )
    house.anna.post(f"/lists/{found}/rows/1", data={"claim": "Varnby has two harbours."})
    assert house.bert.get(claim).status_code == 404
    assert house.anna.get(claim).status_code == 200


def test_a_corpus_is_seen_and_searched_by_operators_until_it_is_shared(house: House) -> None:
    assert "only you and the other operators" in house.olga.get("/documents").text
    sent = {"title": "Pay rolls", "files": (BytesIO(b"Ida Holm got 40."), "rolls.txt")}
    name = house.olga.post("/documents", data=sent).location.rpartition("/")[2]
    describe_index(house.services.corpora.place(name))  # as if it were indexed
    made = house.olga.post("/api/v1/corpora", json={"title": "Letters"}).get_json()["name"]
    assert house.anna.get(f"/api/v1/corpora/{made}").status_code == 404
    asked = {"claim": ROW, "corpora": [name]}
    answer = house.anna.post("/api/v1/claims", json=asked)
    assert refusal(answer) == (404, "unknown_corpus")
    # A claim may be shared without the files that it was checked against.
    result = claim_document(ROW)
    result["documents"][0]["id"] = f"{name}:rolls.txt"
    part = {"name": name, "title": "Pay rolls", "documents": 1, "text_date": None}
    result["corpus"]["parts"] = [part | {"built_at": "2026-11-20T09:30:00Z"}]
    job = house.olga.sent(ROW, corpora=[name])
    house.olga.worker.finish(job, result)
    house.services.store.share(job.id, "everyone")
    file = f"/claims/{job.id}/files/1"
    assert house.anna.get(f"/claims/{job.id}").status_code == 200
    assert house.anna.get(file).status_code == 404
    assert f'action="/documents/{name}/share"' in house.olga.get(f"/documents/{name}").text
    house.olga.post(f"/documents/{name}/share", data={"shared": "everyone"})
    with house.anna.get(file) as shown:
        assert shown.status_code == 200
    assert "for everyone" in house.anna.get("/documents").text
    refused = house.anna.put(f"/api/v1/corpora/{name}/sharing", json={"shared": "owner"})
    assert refused.status_code == 403


class Shared:
    """A claim and a list of anna, and a corpus of olga, and who sees which of them where."""

    def __init__(self, house: House) -> None:
        self.house, self.claim = house, house.claim_of(house.anna)
        given = {"agrees": False, "label": "REFUTES", "note": "A name to find"}
        said = house.anna.post(f"/api/v1/claims/{self.claim}/feedback", json=given).get_json()
        self.list = house.list_of(house.anna)
        self.corpus = house.services.corpora.make("Pay rolls", owner="user:olga")
        describe_index(house.services.corpora.place(self.corpus))  # as if it were indexed
        of_list = ("", "/results", "/events", "/export?format=csv")
        self.addresses = [
            *pages_of_claim(self.claim),
            *(f"/api/v1/feedback/{said['id']}", f"/compare?list={self.list}"),
            *(f"/lists/{self.list}", row_of(house.anna, self.list)),
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

    def seen_by(self, client: Client) -> bool:
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
        doors["edited"] = "Edited from" in client.get(f"/?edited_from={self.claim}").text
        text = client.get(f"/documents/{self.corpus}/text?file=a.txt").text
        doors["text of a file"] = "No text of this file is searched." in text
        doors["selection"] = self.claim in chosen.text
        doors["box"] = self.claim in client.post("/box", data={"claim": SECRET}).text
        asked = {"claim": "Tea is a hot drink.", "corpora": [self.corpus]}
        doors["search"] = client.post("/api/v1/claims", json=asked).status_code == 202
        assert len(set(doors.values())) == 1, doors
        return doors["box"]


def test_what_is_shared_with_a_group_only_its_members_see_at_every_door(house: House) -> None:
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


def test_a_user_shares_with_her_own_groups_and_an_operator_with_all(house: House) -> None:
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
        assert refusal(wrong) == (422, "unknown_group")
        assert house.anna.post(f"/claims/{job}/share", data=asked).status_code == 422
        refused.append(wrong.text.replace(group, "GROUP"))
    assert refused[0] == refused[1]
    for bad in ("group:", "group: law", "group:a\n", "GROUP:law", "law", "", None, ["group:law"]):
        wrong = house.anna.put(f"/api/v1/claims/{job}/sharing", json={"shared": bad})
        assert refusal(wrong) == (422, "bad_body"), bad
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


def test_a_claim_that_comes_again_in_a_list_is_never_seen_by_fewer(house: House) -> None:
    house.services.users.join("newsroom", ["anna", "bert"])

    def pending_in_list(before: str, of_list: str, claim: str) -> str | None:
        job = house.anna.sent(claim)
        house.services.store.share(job.id, before)
        given = {"claims": [claim]}
        found = house.anna.post("/api/v1/lists", json=given).get_json()["id"]
        house.services.lists.share(found, of_list)
        house.anna.worker.feed(house.services)
        done = house.services.store.get(job.id)
        house.anna.worker.finish(done, claim_document(claim))  # a list has few in the queue
        return done.shared

    assert pending_in_list("owner", "group:newsroom", "Tea is hot.") == "group:newsroom"
    assert pending_in_list("group:newsroom", "owner", "Ice is cold.") == "group:newsroom"
    assert pending_in_list("group:newsroom", "everyone", "Milk is white.") == "everyone"
    assert pending_in_list("everyone", "group:newsroom", "Snow is white.") == "everyone"


def test_what_an_older_version_left_stays_visible_and_its_tokens_let_in(
    house: House, start: Start, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    before = Path(__file__).with_name("without_sharing.sql")
    job, found = house.claim_of(house.anna), house.list_of(house.anna)
    token = house.anna.environ_base["HTTP_AUTHORIZATION"]
    house.tokens.post("/login", data={"token": token.removeprefix("Bearer ")})
    name = house.services.corpora.make("Papers")
    house.services.close()
    with closing(sqlite3.connect(tmp_path / "esoteric.db")) as connection, connection:
        connection.executescript(before.read_text(encoding="utf-8"))
    with caplog.at_level("WARNING"):
        anna = start(ESOTERIC_ACCESS="tokens")
        bert = anna.another()
        anna.environ_base["HTTP_AUTHORIZATION"] = token
        bert.environ_base["HTTP_AUTHORIZATION"] = house.bert.environ_base["HTTP_AUTHORIZATION"]
        for address in (f"/claims/{job}", f"/lists/{found}", f"/documents/{name}"):
            assert anna.get(address).status_code == 200
            assert bert.get(address).status_code == 200, address
    said = [one for one in caplog.messages if "What was there before stays visible" in one]
    assert len(said) == 1
    # As before, the address opens it and no list names it.
    assert job not in bert.get("/claims?whose=all").text
    assert "has the address can see this" in anna.get(f"/claims/{job}").text
    assert anna.post(f"/claims/{job}/share", data={"shared": "owner"}).status_code == 303
    assert bert.get(f"/claims/{job}").status_code == 404


@pytest.mark.parametrize("access", ["", "open"])
def test_where_nobody_logs_in_everybody_sees_what_is_submitted(start: Start, access: str) -> None:
    one = start(ESOTERIC_ACCESS=access)
    other = one.another()
    page = one.post("/claims", data={"claim": ROW}).location
    assert other.get(page).status_code == 200
    assert ROW in other.get("/claims?whose=all").text
    assert "share" not in one.get(page).text
    answer = one.post(f"{page}/share", data={"shared": "owner"})
    assert (answer.status_code, "Nobody logs in here" in answer.text) == (409, True)


def test_what_is_private_stays_so_when_the_service_is_opened(house: House, start: Start) -> None:
    job, note = house.claim_of(house.anna), "A name to find"
    given = {"agrees": False, "label": "NOT ENOUGH INFO", "note": note}
    assert house.anna.post(f"/api/v1/claims/{job}/feedback", json=given).status_code == 201
    exported = "/api/v1/feedback/export?format=claims"
    assert SECRET in house.olga.get(exported).text
    house.services.close()
    everybody = start(ESOTERIC_ACCESS="open")
    assert everybody.get(f"/claims/{job}").status_code == 404
    pages = ("/", "/claims?whose=all", "/feedback", "/api/v1/claims", "/api/v1/feedback", exported)
    found = text_of(everybody, *pages)
    assert SECRET not in found
    assert note not in found


def test_the_name_of_a_comparison_does_not_say_a_claim_that_is_not_shared(house: House) -> None:
    secret = house.claim_of(house.anna)
    others = [house.anna.sent(one).id for one in ("Tea is hot.", "Ice is cold.")]
    checks = dict.fromkeys((secret, *others), Gold())
    compared = ComparisonStore(house.services.database).create(f"“{SECRET}” and 2 more", checks)
    for one in others:
        house.anna.post(f"/claims/{one}/share", data={"shared": "everyone"})
    addresses = f"/compare?id={compared}", f"/api/v1/compare?id={compared}"
    assert "Tea is hot." in text_of(house.bert, *addresses)
    assert SECRET not in text_of(house.bert, *addresses)
    assert SECRET in house.anna.json(addresses[1])["name"]

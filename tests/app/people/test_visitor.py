"""A browser is known by a cookie that it gets with its first claim."""

from __future__ import annotations

import pytest
from flask import Flask
from flask.testing import FlaskClient
from sqlalchemy import select

from app.people.visitor import COOKIE
from worker.job_store import JobStore
from worker.schema import ClaimRow

CLAIM = "The Lighthouse of Varn was built by Ida Holm."


def owners(store: JobStore) -> list[str | None]:
    """Return the owners of all claims, in the order in which they were submitted."""
    with store.database.reading() as session:
        return list(session.scalars(select(ClaimRow.owner).order_by(ClaimRow.number)))


def submit(client: FlaskClient, claim: str = CLAIM) -> str:
    """Submit a claim as a page does, and return its address."""
    answer = client.post("/claims", data={"claim": claim})
    assert answer.status_code == 303
    return answer.headers["Location"]


def test_looking_sets_no_cookie_nor_does_what_is_refused(client: FlaskClient) -> None:
    for path in ("/", "/claims", "/api"):
        assert "Set-Cookie" not in client.get(path).headers
    refused = client.post("/claims", data={"claim": ""})
    assert refused.status_code == 422
    assert "Set-Cookie" not in refused.headers


def test_the_cookie_is_kept_from_scripts_and_other_sites(app: Flask) -> None:
    for address, secure in (("http://localhost", False), ("https://localhost", True)):
        client = app.test_client()
        client.post("/claims", data={"claim": CLAIM}, base_url=address)
        cookie = client.get_cookie(COOKIE)
        assert cookie is not None
        assert (cookie.http_only, cookie.same_site, cookie.secure) == (True, "Lax", secure)
        assert len(cookie.value) == 43  # 32 random bytes


def test_claims_of_one_browser_have_one_owner_by_page_and_by_api(
    app: Flask, store: JobStore
) -> None:
    first, second = app.test_client(), app.test_client()
    submit(first)
    submit(first, "Varnby has a harbour.")
    first.post("/api/v1/claims", json={"claim": "Varnby has a theatre."})
    submit(second)
    assert (
        "Set-Cookie"
        not in app.test_client()
        .post("/api/v1/claims", json={"claim": "Varnby has a pier."})
        .headers
    )
    one, again, by_api, other, nobody = owners(store)
    assert one is not None
    assert (again, by_api, nobody) == (one, one, None)
    assert other not in (one, None)
    cookie = first.get_cookie(COOKIE)
    assert cookie is not None
    assert cookie.value not in one  # the database does not know it


def test_two_visitors_with_one_claim_have_two_jobs(app: Flask) -> None:
    first, second = app.test_client(), app.test_client()
    assert submit(first) != submit(second)
    assert submit(first) == submit(first)


def test_only_its_owner_cancels_or_deletes_a_claim_that_everybody_may_read(
    app: Flask, store: JobStore
) -> None:
    owner, other, program = (app.test_client() for _ in range(3))
    address = submit(owner)
    submit(other, "Varnby has a harbour.")
    for stranger in (other, program):
        assert stranger.get(address).status_code == 200
        for path in ("/cancel", "/delete"):
            page = stranger.post(address + path)
            assert page.status_code == 403
            assert "somebody else" in page.text
        for query in ("", "?forget=1"):
            answer = stranger.delete(f"/api/v1{address}{query}")
            assert answer.json["error"]["code"] == "not_yours"  # type: ignore[index]
    assert store.get(address.rpartition("/")[2]).state == "queued"
    assert owner.post(f"{address}/cancel").status_code == 303
    assert store.get(address.rpartition("/")[2]).state == "cancelled"
    assert owner.delete(f"/api/v1{address}?forget=1").status_code == 204
    assert program.post("/claims/none/cancel").status_code == 404


@pytest.mark.parametrize("value", ["", "a", "a" * 42, "a" * 44, "é" * 43, "a" * 42 + ";"])
def test_a_cookie_that_was_not_made_here_is_nobodys(
    app: Flask, store: JobStore, value: str
) -> None:
    app.test_client().post(
        "/api/v1/claims", json={"claim": CLAIM}, headers={"Cookie": f"{COOKIE}={value}"}
    )
    assert owners(store) == [None]

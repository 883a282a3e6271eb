"""Wrong values in the queries of listings: the same answers everywhere."""

from __future__ import annotations

import pytest
from flask.testing import FlaskClient

from tests.support.cases import cases

PAGES = "Use a whole number from 1 to 999999."
WHOSE = "Use one of: yours, all."


@pytest.fixture
def list_id(client: FlaskClient) -> str:
    sent = client.post("/api/v1/lists", json={"claims": ["Tea is hot.", "Ice is cold."]})
    found: str = sent.get_json()["id"]
    return found


@cases("queries", "address", "code", "said", "allowed")
def test_a_program_is_told_which_values_are_allowed(
    client: FlaskClient, list_id: str, address: str, code: str, said: str, allowed: str
) -> None:
    answer = client.get(f"/api/v1/{address.replace('ID', list_id)}")
    assert answer.status_code == 400
    error = answer.get_json()["error"]
    assert error["code"] == code
    assert said in error["message"]
    assert allowed in error["hint"]


@pytest.mark.parametrize("wrong", ["page=0", "page=x", "page=1000000", "show=odd", "whose=mine"])
def test_on_a_page_a_wrong_value_counts_as_left_out(
    client: FlaskClient, list_id: str, wrong: str
) -> None:
    for address in (f"/lists/{list_id}", "/claims", "/feedback"):
        assert client.get(f"{address}?{wrong}").status_code == 200
    assert "Tea is hot." in client.get(f"/lists/{list_id}?{wrong}").text


def test_a_wrong_value_leaves_the_other_filters_as_they_are(
    client: FlaskClient, list_id: str
) -> None:
    page = client.get("/claims?q=tea&page=x&verdict=MAYBE").text
    assert 'value="tea"' in page
    assert "No rows match" in client.get(f"/lists/{list_id}?show=refuted&page=x").text

"""The page and the API of texts, and the list that a text becomes, with its sentences coloured."""

from __future__ import annotations

import html
import json
import re
from dataclasses import replace
from pathlib import Path

import pytest
from werkzeug.datastructures import MultiDict

from app.filters import Badge
from app.lists.rows import coloured
from app.services import install_services
from retrieval.checkable import kind_rules
from retrieval.checkable.given_text import TextSentence
from retrieval.checkable.reader import ReaderOnDemand, TextsBusy
from retrieval.types import REFUTES, SUPPORTS
from tests.app.client import Client, refusal
from tests.support.cases import cases
from worker.lists import SaidEntry, SourceText

TEXT = "Germany is old, and Berlin is its capital. I love it! He was born in 1500.\n\n<b>So</b>!"


def chosen(**fields: object) -> MultiDict[str, object]:
    """Return the form of a text with two claims of its first sentence."""
    claims = {"claim-1": "Germany is old.", "claim-2": "Berlin is Germany's capital."}
    said = {"said-1": "0-42", "said-2": "0-42"}
    sent: MultiDict[str, object] = MultiDict({"text": TEXT, **claims, **said})
    sent.setlist("take", ["1", "2"])
    for name, value in fields.items():
        sent.setlist(name.replace("_", "-"), value if isinstance(value, list) else [value])
    return sent


@pytest.mark.models
def test_the_page_and_the_api_say_what_can_be_checked_and_what_was_replaced(client: Client) -> None:
    page = client.post("/texts", data={"text": TEXT}).text
    ticked = re.findall(r'name="take" value="(\d)"[^>]* checked', page)
    assert ticked == ["1", "2"]
    assert "Berlin is Germany&#39;s capital." in page
    assert "<bdi>its</bdi> → <bdi>Germany</bdi>" in page
    assert '<span class="tag">Opinion</span>' in page
    assert "who is “he”?" in page
    assert 'Check <span id="count">2 claims</span>' in page
    # The first sentence makes two claims, and of the third the text does not say who is meant.
    assert "2 of 4 sentences can be checked: 3 claims." in page
    assert "1 claim is not ticked" in page
    assert "<b>" not in page

    answer = client.post("/api/v1/texts", json={"text": f"\r\n{TEXT} "})
    assert answer.status_code == 200
    text, sentences = answer.get_json()["text"], answer.get_json()["sentences"]
    assert text == TEXT
    assert [one["kind"] for one in sentences] == ["fact", "opinion", "fact", "fragment"]
    assert [text[one["start"] : one["end"]] for one in sentences] == [
        one["text"] for one in sentences
    ]
    assert sentences[0]["claims"][1] == {
        "text": "Berlin is Germany's capital.",
        "replaced": [{"said": "its", "meant": "Germany"}],
        "unclear": [],
    }
    assert sentences[2]["claims"][0]["unclear"] == ["He"]


@pytest.mark.models
def test_a_plan_is_offered_and_the_page_says_why_it_is_not_ticked(client: Client) -> None:
    text = "The baths opened in 1974. The new pool will open in May 2027. It may close soon."
    page = client.post("/texts", data={"text": text}).text
    assert re.findall(r'name="take" value="(\d)"[^>]* checked', page) == ["1"]
    assert "1 of 3 sentences can be checked: 1 claim." in page
    assert "2 plans or forecasts are not ticked: a document can only say what is planned" in page
    (field,) = re.findall(r'<textarea name="claim-2"[^>]*>', page)
    assert 'aria-describedby="notes-2"' in field
    assert page.count('<span class="tag">Plan or forecast</span>') == 2
    sentences = client.post("/api/v1/texts", json={"text": text}).get_json()["sentences"]
    assert [(one["kind"], one["checkable"]) for one in sentences[1:]] == [("forecast", False)] * 2


def test_what_cannot_be_read_is_refused_and_kept(client: Client) -> None:
    for text, message in (
        ("", "There is no text to read."),
        ("a b " * 5_000 + "c", "20,001 characters long"),
        ("Die Brücke ist alt. Sie wurde gebaut und ist nicht sicher.", "not look like English"),
        ("PK\x03\x04\x14\x00", "not plain text"),
    ):
        for address in ("/texts", "/texts/claims"):
            answer = client.post(address, data={"text": text})
            assert answer.status_code == 422
            assert message in answer.text
            field = re.search(r"<textarea[^>]*>\n(.*?)</textarea>", answer.text, re.S)
            assert field is not None
            assert html.unescape(field[1]) == text
        refused = client.post("/api/v1/texts", json={"text": text})
        assert refused.status_code == 422
        assert message in refused.text
    for body in ("{", "[]", '{"text": 1}', '{"text": "a", "more": 1}'):
        wrong = client.post("/api/v1/texts", data=body, content_type="application/json")
        assert refusal(wrong)[0] in (400, 422)
        assert client.post("/api/v1/texts", data=body).status_code == 415


def test_chosen_claims_become_a_list_that_shows_the_text_coloured(client: Client) -> None:
    answer = client.post("/texts/claims", data=chosen(claim_2="Bern <i>is</i> Germany's capital."))
    assert answer.status_code == 303
    page = client.get(answer.location).text
    assert "0 of 2 claims" in page
    assert re.search(
        r'class="pending[^>]*>.*?Germany is old, and Berlin is its capital\.', page, re.S
    )
    assert "&lt;b&gt;So&lt;/b&gt;!" in page
    client.worker.finish_lists(client.services)
    page = client.get(answer.location).text
    said = re.search(r'<a class="supported[^>]*>(.*?)</a>', page, re.S)
    assert said is not None
    assert "Germany is old, and Berlin is its capital." in said[1]
    assert "<i>" not in page
    rows = client.get(f"/api/v1{answer.location}/export?format=jsonl").text.splitlines()
    sentence = "Germany is old, and Berlin is its capital."
    assert [json.loads(row)["text_sentence"] for row in rows] == [sentence] * 2
    link = json.loads(rows[0])["link"]
    file = f"/api/v1{link.removeprefix('http://localhost')}/export?format=md"
    assert f"In the text: “{sentence[:-1]}" in client.get(file).text
    assert "In the text" not in client.another().get(file).text  # whoever has only the link


@pytest.mark.models
@cases("chosen_claims", "fields", "message")
def test_a_form_that_names_no_claim_of_the_text_is_shown_again_with_its_words(
    client: Client, fields: dict[str, object], message: str
) -> None:
    answer = client.post("/texts/claims", data=chosen(claim_2="My own words.", **fields))
    assert answer.status_code == 422
    assert message in answer.text
    assert "My own words." in answer.text


class BusyReader(ReaderOnDemand):
    """A reader that others use all the time."""

    def statements_of(self, text: str) -> tuple[TextSentence, ...]:
        raise TextsBusy


def test_while_other_texts_are_read_nothing_chosen_is_lost(client: Client) -> None:
    busy = BusyReader(client.services.settings.model_folders.networks, 1)
    install_services(client.application, replace(client.services, texts=busy))
    asked = client.post("/texts", data={"text": TEXT})
    assert (asked.status_code, asked.headers["Retry-After"]) == (503, "5")
    assert html.unescape(asked.text).count(TEXT) == 1
    form = chosen(take=["2"], recipe="unknown")
    form["claim-1"] = "My own <words>."
    form |= {"claim-3": "I love it!", "said-3": "43-53", "kind-3": "opinion"}
    form |= {"claim-4": "Of no text.", "said-4": "7-999", "claim-x": "x", "said-x": "0-4"}
    refused = client.post("/texts/claims", data=form)
    assert (refused.status_code, refused.headers["Retry-After"]) == (503, "5")
    shown = refused.text
    assert "There is no recipe named" in html.unescape(shown)
    assert "Other texts are being read now." in shown
    assert "My own &lt;words&gt;.</textarea>" in shown
    assert re.findall(r'name="take" value="(\d)"[^>]* checked', shown) == ["2"]
    assert '<span class="tag">Opinion</span>' in shown
    assert "Of no text." not in shown
    sent_again = chosen(take=["2"], claim_1="My own <words>.")
    for name, value in re.findall(r'name="(said-\d)" value="([^"]*)"', shown):
        sent_again[name] = value
    assert client.post("/texts/claims", data=sent_again).status_code == 303


def test_of_several_claims_of_a_sentence_the_refuted_one_is_shown() -> None:
    def said(start: int, end: int, label: object, claim: str) -> SaidEntry:
        return SaidEntry(start, end, "done", claim, label, 0.9, None)  # type: ignore[arg-type]

    source = SourceText(
        "Aye. One and two. No.",
        (said(5, 17, SUPPORTS, "a"), said(5, 17, REFUTES, "b"), said(9, 30, SUPPORTS, "c")),
    )
    looks = {SUPPORTS: Badge("supported", "Supported"), REFUTES: Badge("refuted", "Refuted")}
    pieces = coloured(source, lambda one: looks[one.label])  # type: ignore[index]
    assert [piece.text for piece in pieces] == ["Aye. ", "One and two.", " No."]
    assert [piece.claim_id for piece in pieces] == [None, "b", None]
    assert pieces[1].badge == looks[REFUTES]


def test_a_missing_model_is_said(
    client: Client, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setattr(kind_rules.read_model, "__defaults__", (tmp_path,))
    answer = client.post("/api/v1/texts", json={"text": TEXT})
    assert answer.status_code == 503
    assert answer.get_json()["error"]["code"] == "model_missing"

"""A text that is a web page: where links are opened, what is kept of it, and what is refused."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import replace
from html import unescape
from http.server import BaseHTTPRequestHandler
from threading import Event, Thread

import pytest
from werkzeug.test import TestResponse

from app.services import install_services
from app.texts.given_text import signature
from retrieval.web.fetching import Fetcher
from retrieval.web.page_reader import PageReader
from tests.app.client import Client, refusal, words
from tests.app.conftest import Start
from tests.support.web_server import PAGE, WebServer, page, web_server
from worker.lists import SourcePage


@pytest.fixture
def server() -> Iterator[WebServer]:
    with web_server() as server:
        yield server


def opening(client: Client, server: WebServer) -> Client:
    """Let the service of this client open the pages of this server."""
    pages = PageReader(Fetcher(server.reach))
    install_services(client.application, replace(client.services, pages=pages))
    return client


@pytest.fixture
def client(start: Start, server: WebServer) -> Client:
    return opening(start(), server)


def hidden_fields(html: str) -> dict[str, str]:
    return dict(re.findall(r'<input type="hidden" name="([\w-]+)" value="([^"]*)">', html))


@pytest.mark.server
@pytest.mark.models
def test_a_page_becomes_a_list_that_names_it(client: Client, server: WebServer) -> None:
    server.pages["/mill?a=1&b"] = page(PAGE.replace("of Ohre", "of <Ohre>".replace("<", "&lt;")))
    address = f"{server.address}/mill?a=1&b"
    for field in ("text", "claim"):  # of its own page, and of the box
        chosen = client.post("/texts", data={field: f"  {address}\n"})
        assert chosen.status_code == 200
        assert "The mill was built in 1931" in chosen.text
        assert "News" not in chosen.text
    fields = hidden_fields(chosen.text)
    assert fields["page_title"] == "The mill of &lt;Ohre&gt;"
    assert fields["page_address"] == address.replace("&", "&amp;")
    assert "Ohre>" not in chosen.text
    link = f'href="{address.replace("&", "&amp;")}"'
    assert f'<a {link} rel="external noopener nofollow">' in chosen.text
    found = re.search(r'<textarea name="text" hidden>\n(.*?)</textarea>', chosen.text, re.S)
    assert found is not None
    text = unescape(found[1])
    sent = {"take": "1", "claim-1": "The mill was built in 1931.", "said-1": "0-20", "text": text}
    sent |= {"page_title": "The mill of <Ohre>", "page_address": address}
    sent |= {"page_signature": fields["page_signature"]}
    listed = client.post("/texts/claims", data=sent)
    shown = client.get(listed.location).text
    assert '<h1 class="claim"><bdi>The mill of &lt;Ohre&gt;</bdi></h1>' in shown
    assert f"From The mill of <Ohre> {address}" in words(shown)
    again = client.post("/texts", data=sent)
    assert link in again.text
    for wrong in (
        {"page_address": "http://bbc.example/"},
        {"page_title": "BBC News"},
        {"page_signature": ""},
        {"page_signature": "é"},
        {"text": f"{text} It burned down in 1990."},
    ):
        forged = client.post("/texts", data=sent | wrong)
        assert forged.status_code == 200
        assert 'class="from-page"' not in forged.text
        made = client.post("/texts/claims", data=sent | wrong)
        assert 'class="from-page"' not in client.get(made.location).text


@pytest.mark.server
@pytest.mark.models
def test_a_long_page_is_read_as_far_as_a_text_goes(client: Client, server: WebServer) -> None:
    paragraphs = "".join(
        f"<p>Mill {number} was built in 1931 by the town of Ohre on the river Elbe.</p>"
        for number in range(400)
    )
    head = "<head><title>Mills</title></head>"
    server.pages["/long"] = page(f"<html>{head}<body><article>{paragraphs}</article></body></html>")
    address = f"{server.address}/long"
    found = client.post("/api/v1/texts", json={"text": address}).get_json()
    assert 19_000 < len(found["text"]) <= 20_000
    assert found["text"].endswith("on the river Elbe.")
    assert found["page"] == {"title": "Mills", "address": address, "whole": False}


@pytest.mark.server
def test_what_is_wrong_with_a_page_is_said(client: Client, server: WebServer) -> None:
    server.pages["/empty"] = page("<html><body><script>show()</script></body></html>")
    server.pages["/deutsch"] = page(
        "<html><body><article><p>Die alte Brücke ist nicht sicher. Sie wurde von der Stadt gebaut"
        " und ist schön.</p></article></body></html>"
    )
    server.pages["/pdf"] = page("%PDF-1.7", "application/pdf")
    for path, message in (
        ("/empty", "No text could be read from this page"),
        ("/deutsch", "This does not look like English"),
        ("/pdf", "This is no web page but application/pdf."),
    ):
        answer = client.post("/texts", data={"text": f"{server.address}{path}"})
        assert answer.status_code == 422
        assert message in answer.text
        assert f"{server.address}{path}</textarea>" in answer.text
        program = client.post("/api/v1/texts", json={"text": f"{server.address}{path}"})
        assert (program.status_code, message in program.text) == (422, True)
    private = client.post("/texts", data={"text": f"http://127.0.0.2:{server.port}/"})
    assert "127.0.0.2 is not on the public internet" in private.text


def test_the_box_offers_to_read_a_page(client: Client, server: WebServer) -> None:
    for typed in ("https://a.example/mill", " www.a.example "):
        said = client.post("/box", data={"claim": typed}).text
        assert 'data-button="Read this page"' in said
        assert 'data-action="/texts"' in said
        sent = client.post("/claims", data={"claim": typed})  # by a browser without scripts
        assert sent.status_code == 422
        assert 'formaction="/texts"' in sent.text
    for typed in (
        "Claim: https://a.example/mill",
        "https://a.example https://b.example",
        "ftp://a",
    ):
        assert "Read this page" not in client.post("/box", data={"claim": typed}).text
    assert server.asked == []


def test_a_client_opens_one_page_at_a_time_and_ten_a_minute(
    client: Client, server: WebServer
) -> None:
    began, goes_on = Event(), Event()

    def waits(handler: BaseHTTPRequestHandler) -> None:
        began.set()
        goes_on.wait(10)

    def asked(path: str, address: str = "127.0.0.1") -> TestResponse:
        sent = {"text": f"{server.address}{path}"}
        there = {"REMOTE_ADDR": address}
        return client.another().post("/texts", data=sent, environ_overrides=there)

    server.pages["/slow"] = waits
    server.pages["/none"] = page("", status=404)
    first = Thread(target=asked, args=("/slow",))
    first.start()
    assert began.wait(10)
    refused = asked("/none")
    assert (refused.status_code, refused.headers["Retry-After"]) == (429, "5")
    assert "Another web page is being opened for you." in refused.text
    assert asked("/none", "192.0.2.7").status_code == 422  # the other place is for others
    goes_on.set()
    first.join()
    assert asked("/none").status_code == 422
    before = len(server.asked)
    statuses = [asked("/none", "192.0.2.8").status_code for _ in range(11)]
    assert statuses == [*[422] * 10, 429]
    assert len(server.asked) == before + 10


def test_without_the_operator_no_link_is_opened(start: Start, server: WebServer) -> None:
    client, typed = start(), f"{server.address}/mill"
    for path, field in (("/box", "claim"), ("/claims", "claim"), ("/texts", "text")):
        said = words(client.post(path, data={field: typed}).text)
        assert "this service opens no links. Paste the text of the page" in said
        assert "ESOTERIC_FETCH=yes" in said
    refused = client.post("/api/v1/texts", json={"text": typed})
    assert refusal(refused)[1] == "link_not_opened"
    text, of_page = "The mill was built in 1931. It lies at the river Elbe.", "https://bbc.example/"
    with client.application.test_request_context():
        signed = signature(text, SourcePage("BBC News", of_page))
    forged = {"text": text, "take": "1", "claim-1": "The mill was built in 1931.", "said-1": "0-27"}
    forged |= {"page_title": "BBC News", "page_address": of_page, "page_signature": signed}
    listed = client.post("/texts/claims", data=forged)
    assert "bbc.example" not in client.get(listed.location).text
    fetching = start(ESOTERIC_FETCH="yes")
    assert "the address of a web page" in fetching.get("/texts").text
    # The real policy: this computer is never asked.
    for address, why in (
        (f"http://127.0.0.1:{server.port}/mill", "Only the ports 80 and 443"),
        ("http://localhost/mill", "localhost is not on the public internet"),
    ):
        assert why in fetching.post("/texts", data={"text": address}).text
    # A reader cannot have pages opened either.
    reader = opening(start(ESOTERIC_ACCESS="tokens"), server).user("rita", "reader")
    assert reader.post("/texts", data={"text": typed}).status_code == 403
    assert reader.post("/api/v1/texts", json={"text": typed}).status_code == 403
    assert server.asked == []

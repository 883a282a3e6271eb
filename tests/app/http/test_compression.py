"""Answers as gzip."""

from __future__ import annotations

import gzip
import re

from flask.testing import FlaskClient

GZIP = {"Accept-Encoding": "gzip, br"}


def test_a_page_and_a_static_file_are_compressed_for_those_who_read_it(client: FlaskClient) -> None:
    page = client.get("/").data
    style = re.search(rb'href="(/static/style.css\S*)"', page)
    assert style is not None
    address = style[1].decode()
    with client.get(address) as plain_style:
        assert "Content-Encoding" not in plain_style.headers
        rules = plain_style.data
    for path, plain in (("/", page), (address, rules)):
        answer = client.get(path, headers=GZIP)
        assert answer.headers["Content-Encoding"] == "gzip"
        assert "Accept-Encoding" in answer.headers["Vary"]
        assert int(answer.headers["Content-Length"]) == len(answer.data) < len(plain) / 2
        assert gzip.decompress(answer.data) == plain


def test_who_refuses_gzip_and_what_is_short_is_not_compressed(client: FlaskClient) -> None:
    refused = client.get("/", headers={"Accept-Encoding": "gzip;q=0"})
    assert "Content-Encoding" not in refused.headers
    assert "Content-Encoding" not in client.get("/healthz", headers=GZIP).headers

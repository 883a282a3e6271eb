"""The URL of a store."""

from __future__ import annotations

import pytest

from retrieval.index.elastic.location import ElasticLocation


def test_a_url_names_nodes_and_an_index() -> None:
    location = ElasticLocation.read("elasticsearch://es1,es2:9300,[::1]:9400/wiki-en_2026.1")
    assert location.nodes == ("http://es1:9200", "http://es2:9300", "http://[::1]:9400")
    assert location.index == "wiki-en_2026.1"
    assert str(location) == "elasticsearch://es1:9200,es2:9300,[::1]:9400/wiki-en_2026.1"


def test_credentials_are_read_and_not_shown() -> None:
    location = ElasticLocation.read("elasticsearch+https://me:p%40ss%2Fw@es:443/i", ca_file="ca")
    assert location.basic_auth == ("me", "p@ss/w")
    assert (location.nodes, location.ca_file) == (("https://es:443",), "ca")
    assert str(location) == "elasticsearch+https://es:443/i"
    key = ElasticLocation.read("elasticsearch://es/i", api_key="s3cret")
    assert key.api_key == "s3cret"
    assert "p@ss" not in repr(location)
    assert "s3cret" not in repr(key)


@pytest.mark.parametrize(
    ("url", "why"),
    [
        ("http://es:9200/i", "scheme"),
        ("elasticsearch:es/i", "scheme"),
        ("elasticsearch://es:9200", "/INDEX"),
        ("elasticsearch://es:9200/", "/INDEX"),
        ("elasticsearch://es:9200/Wiki", "small letters"),
        ("elasticsearch://es:9200/a/b", "small letters"),
        ("elasticsearch://es:9200/_all", "small letters"),
        ("elasticsearch://es:9200/wiki-lock", "-lock"),
        ("elasticsearch://me:p@ss@es/i", "%40"),
        ("elasticsearch://es:port/i", "not a number"),
        ("elasticsearch://es:99999/i", "not a number"),
        ("elasticsearch:///i", "has no host"),
        ("elasticsearch://es,,es2/i", "has no host"),
        ("elasticsearch://me@es/i", "USER:PASSWORD"),
        ("elasticsearch://me:@es/i", "USER:PASSWORD"),
    ],
)
def test_a_url_that_cannot_be_used_is_refused_with_the_reason(url: str, why: str) -> None:
    with pytest.raises(ValueError, match=why):
        ElasticLocation.read(url)


def test_a_refusal_shows_no_password() -> None:
    with pytest.raises(ValueError) as caught:  # noqa: PT011 - the message is what is looked at
        ElasticLocation.read("elasticsearch://me:s3cret@es:port/i")
    assert "s3cret" not in str(caught.value)


def test_two_kinds_of_credentials_and_a_certificate_without_encryption_are_refused() -> None:
    with pytest.raises(ValueError, match="one of them"):
        ElasticLocation.read("elasticsearch://me:s3cret@es/i", api_key="key")
    with pytest.raises(ValueError, match="https"):
        ElasticLocation.read("elasticsearch://es/i", ca_file="ca.pem")

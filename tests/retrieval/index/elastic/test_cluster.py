"""The URL of a store, and the errors of servers, by small stand-ins."""

import base64
from pathlib import Path

import pytest

from retrieval.errors import IndexUnavailable
from retrieval.index.elastic.elastic_index import ElasticIndex
from retrieval.index.elastic.location import ElasticLocation
from tests.retrieval.index.elastic.node import free_port, stand_in
from tests.support.cases import cases

USER = base64.b64encode(b"elastic:s3cret").decode()


def refusal(url: str, folder: Path, api_key: str = "") -> IndexUnavailable:
    with pytest.raises(IndexUnavailable) as caught:
        ElasticIndex(ElasticLocation.read(url, api_key), folder).open(None)
    return caught.value


@pytest.mark.parametrize("version", ["7.17.0", "8.18.3", "10.0.0"])
def test_other_versions_and_no_elasticsearch_are_named(version: str, tmp_path: Path) -> None:
    with stand_in(version) as host:
        error = refusal(f"elasticsearch://{host}/i", tmp_path)
    assert (error.code, error.hint) == ("store_version", "Use version 8.19 or 9.")
    assert f"is version {version}" in error.message
    with stand_in(version, product=False) as host:
        assert refusal(f"elasticsearch://{host}/i", tmp_path).code == "store_unknown"


def test_a_wrong_password_or_key_is_named_and_never_shown(tmp_path: Path) -> None:
    with stand_in("9.5.3", allowed=f"Basic {USER}") as host:
        errors = [
            refusal(f"elasticsearch://elastic:wr0ng@{host}/i", tmp_path),
            refusal(f"elasticsearch://{host}/i", tmp_path, api_key="wr0ngkey"),
            refusal(f"elasticsearch://{host}/i", tmp_path),
        ]
    for error in errors:
        assert error.code == "store_refused"
        assert "ESOTERIC_STORE" in error.hint
        assert "wr0ng" not in f"{error} {error!r} {error.__cause__!r}"


@pytest.mark.parametrize(
    ("user", "api_key", "sent"),
    [("elastic:s3cret@", "", f"Basic {USER}"), ("", "k3y", "ApiKey k3y")],
)
def test_credentials_are_sent(user: str, api_key: str, sent: str, tmp_path: Path) -> None:
    # Where they are accepted, the version is what is complained about.
    with stand_in("7.0.0", allowed=sent) as host:
        error = refusal(f"elasticsearch://{user}{host}/i", tmp_path, api_key)
    assert error.code == "store_version"


def test_a_server_that_is_not_there_or_does_not_encrypt_is_named(tmp_path: Path) -> None:
    url = f"elasticsearch://127.0.0.1:{free_port()}/i"
    error = refusal(url, tmp_path)
    assert error.code == "store_unreachable"
    assert url in error.message
    assert error.hint == "Check that it runs and that its address is right."
    with stand_in("9.5.3") as host:
        error = refusal(f"elasticsearch+https://{host}/i", tmp_path)
    assert error.code == "store_unreachable"


def test_a_url_names_nodes_an_index_and_credentials_which_are_not_shown() -> None:
    location = ElasticLocation.read("elasticsearch://es1,es2:9300,[::1]:9400/wiki-en_2026.1")
    assert location.nodes == ("http://es1:9200", "http://es2:9300", "http://[::1]:9400")
    assert location.index == "wiki-en_2026.1"
    assert str(location) == "elasticsearch://es1:9200,es2:9300,[::1]:9400/wiki-en_2026.1"
    location = ElasticLocation.read("elasticsearch+https://me:p%40ss%2Fw@es:443/i", ca_file="ca")
    assert location.basic_auth == ("me", "p@ss/w")
    assert (location.nodes, location.ca_file) == (("https://es:443",), "ca")
    assert str(location) == "elasticsearch+https://es:443/i"
    assert "p@ss" not in repr(location)
    assert "s3cret" not in repr(ElasticLocation.read("elasticsearch://es/i", api_key="s3cret"))


@cases("stores", "url", "error")
def test_a_url_that_cannot_be_used_is_refused_with_the_reason(url: str, error: str) -> None:
    with pytest.raises(ValueError, match=error) as refused:
        ElasticLocation.read(url)
    assert "s3cret" not in str(refused.value)


@cases("stores", "url", "api_key", "ca_file", "error")
def test_settings_of_no_url_are_refused(url: str, api_key: str, ca_file: str, error: str) -> None:
    with pytest.raises(ValueError, match=error):
        ElasticLocation.read(url, api_key, ca_file)

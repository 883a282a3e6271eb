from __future__ import annotations

from pathlib import Path

import pytest

from retrieval.elastic.location import ElasticLocation
from settings import TABLE, BadSetting, Settings


class Watched(dict[str, str]):
    """An environment that remembers what it was asked for."""

    def __init__(self) -> None:
        self.asked: set[str] = set()

    def get(self, variable: str, default: str | None = None) -> str | None:  # type: ignore[override]
        self.asked.add(variable)
        return default


def test_the_table_names_what_is_read_and_nothing_else() -> None:
    environment = Watched()
    Settings.from_environment(environment)
    assert environment.asked == {setting.variable for setting in TABLE}


@pytest.mark.parametrize(
    ("variable", "value"),
    [
        ("ESOTERIC_HOME", "~nobody-of-this-name/home"),
        ("PORT", "0"),
        ("PORT", "65536"),
        ("PORT", "many"),
        ("ESOTERIC_THREADS", "²"),
        ("PORT", "9" * 5000),
        ("HOST", "*"),
        ("HOST", "[::1]"),
        ("TRUSTED_HOSTS", "https://facts.example"),
        ("TRUSTED_HOSTS", "facts.example:8443"),
        ("TRUSTED_HOSTS", "good.example, *.example"),
        ("ESOTERIC_HOME", "/tmp/what?"),
        ("ESOTERIC_STORE", "/srv/index"),
        ("ESOTERIC_STORE", "elasticsearch://localhost:9200"),
        ("ESOTERIC_STORE", "elasticsearch://localhost:port/notes"),
        ("ESOTERIC_STORE", "http://localhost:9200/notes"),
        ("ESOTERIC_STORE_CA", "/no/file.pem"),
        ("ESOTERIC_STORE_CA", "~nobody-of-this-name/ca.pem"),
        ("ESOTERIC_BART", "/no/folder"),
        ("ESOTERIC_REPORT_MODELS", "/dev/null"),
        ("ESOTERIC_REPORT_MODELS", "~nobody-of-this-name/models"),
        ("ESOTERIC_BROKER_URL", "amqp://localhost"),
        ("ESOTERIC_BROKER_URL", "redis"),
        ("ESOTERIC_BROKER_URL", "redis://"),
        ("ESOTERIC_BROKER_URL", "redis://[bad"),
        ("ESOTERIC_BROKER_URL", "redis://host:notaport/0"),
        ("ESOTERIC_BROKER_URL", "redis://host/notadatabase"),
    ],
)
def test_a_value_that_cannot_be_used_is_refused_by_its_variable(variable: str, value: str) -> None:
    with pytest.raises(BadSetting, match=variable):
        Settings.from_environment({variable: value})


def test_the_index_is_in_the_home_unless_a_server_is_named(tmp_path: Path) -> None:
    for named in ({}, {"ESOTERIC_STORE": ""}, {"ESOTERIC_STORE": "embedded"}):
        settings = Settings.from_environment({"ESOTERIC_HOME": str(tmp_path), **named})
        assert settings.store == tmp_path / "index"
    (tmp_path / "ca.pem").write_text("")
    settings = Settings.from_environment(
        {
            "ESOTERIC_HOME": str(tmp_path),
            "ESOTERIC_STORE": "elasticsearch+https://es1,es2:9201/notes",
            "ESOTERIC_STORE_API_KEY": "secret",
            "ESOTERIC_STORE_CA": str(tmp_path / "ca.pem"),
        }
    )
    assert isinstance(settings.store, ElasticLocation)
    assert (settings.store.api_key, settings.store.ca_file) == ("secret", f"{tmp_path}/ca.pem")
    assert str(settings.store) == "elasticsearch+https://es1:9200,es2:9201/notes"
    assert "secret" not in repr(settings)
    assert settings.snapshots == tmp_path / "snapshots"


@pytest.mark.parametrize(
    "url",
    [
        "elasticsearch://elastic:secret@localhost:9200/Notes",
        "elasticsearch://elastic:secret@localhost:port/notes",
        "elasticsearch://elastic:secret@/notes",
        "https://elastic:secret@localhost:9200/notes",
    ],
)
def test_a_password_in_a_refused_store_is_not_shown(url: str) -> None:
    with pytest.raises(BadSetting, match="Set it to elasticsearch://HOST:PORT/INDEX") as caught:
        Settings.from_environment({"ESOTERIC_STORE": url})
    assert "secret" not in str(caught.value)


def test_packaged_models_are_unpacked_into_the_home(tmp_path: Path) -> None:
    settings = Settings.from_environment({"ESOTERIC_HOME": str(tmp_path)})
    assert settings.packaged_models == tmp_path / "models"


def test_a_bart_of_ones_own_is_a_folder(tmp_path: Path) -> None:
    assert Settings.from_environment({}).bart is None
    assert Settings.from_environment({"ESOTERIC_BART": str(tmp_path)}).bart == tmp_path


def test_the_models_of_the_report_need_not_be_there_yet(tmp_path: Path) -> None:
    assert Settings.from_environment({}).report_models is None
    folder = tmp_path / "report"
    assert (
        Settings.from_environment({"ESOTERIC_REPORT_MODELS": str(folder)}).report_models == folder
    )


def test_a_bart_among_the_models_of_the_report_serves_unless_another_is_named(
    tmp_path: Path,
) -> None:
    environment = {"ESOTERIC_REPORT_MODELS": str(tmp_path)}
    assert Settings.from_environment(environment).bart is None
    (tmp_path / "bart").mkdir()
    assert Settings.from_environment(environment).bart == tmp_path / "bart"
    assert Settings.from_environment({**environment, "ESOTERIC_BART": "/tmp"}).bart == Path("/tmp")


def test_a_file_is_no_home(tmp_path: Path) -> None:
    (tmp_path / "notes.txt").write_text("mine")
    with pytest.raises(BadSetting, match="no folder"):
        Settings.from_environment({"ESOTERIC_HOME": str(tmp_path / "notes.txt")})


def test_names_are_kept_as_browsers_send_them() -> None:
    names = Settings.from_environment({"TRUSTED_HOSTS": "Facts.example, web_1,b\u00fcro.example"})
    assert names.trusted_hosts[2:] == ("facts.example", "web_1", "xn--bro-hoa.example")


def test_a_password_in_a_refused_address_is_not_shown() -> None:
    with pytest.raises(BadSetting) as caught:
        Settings.from_environment({"ESOTERIC_BROKER_URL": "redis://:secret@host:notaport/0"})
    assert "secret" not in str(caught.value)


@pytest.mark.parametrize(
    "url", ["redis://localhost", "redis://:word@127.0.0.1:6379/2", "rediss://queue.example/0"]
)
def test_addresses_of_redis_are_taken_as_they_are(url: str) -> None:
    assert Settings.from_environment({"ESOTERIC_BROKER_URL": url}).broker_url == url


def test_trusted_hosts_are_localhost_the_host_and_what_is_added(tmp_path: Path) -> None:
    settings = Settings.from_environment(
        {"ESOTERIC_HOME": str(tmp_path), "HOST": "Desk.example", "TRUSTED_HOSTS": "a.example, B"}
    )
    assert settings.trusted_hosts == ("localhost", "desk.example", "a.example", "b")

from __future__ import annotations

from pathlib import Path

import pytest

from retrieval.index.elastic.location import ElasticLocation
from retrieval.llm_judge.choice import Price
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
        ("ESOTERIC_LLM", "mistral"),
        ("ESOTERIC_LLM", "openai:small"),
        ("ESOTERIC_LLM", "anthropic:small"),
        ("ESOTERIC_LLM", "locally:qwen"),
        ("ESOTERIC_LLM", "local:"),
        ("ESOTERIC_VERIFIER", "/no/folder"),
        ("ESOTERIC_VERIFIER", "~nobody-of-this-name/model"),
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


def test_a_misspelt_setting_is_refused_with_the_one_that_is_meant() -> None:
    with pytest.raises(BadSetting, match="ESOTERIC_ACCESS"):
        Settings.from_environment({"ESOTERIC_ACESS": "tokens"})
    Settings.from_environment({"ESOTERIC_OF_ANOTHER_PROGRAM": "yes"})


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


def test_models_of_your_own_are_in_folders(tmp_path: Path) -> None:
    none = Settings.from_environment({"ESOTERIC_HOME": str(tmp_path)})
    assert (none.bart, none.verifier, none.report_models) == (None, None, None)
    assert none.packaged_models == tmp_path / "models"
    named = Settings.from_environment(
        {
            "ESOTERIC_BART": str(tmp_path),
            "ESOTERIC_VERIFIER": str(tmp_path),
            "ESOTERIC_REPORT_MODELS": str(tmp_path / "report"),  # need not be there yet
        }
    )
    assert (named.bart, named.verifier) == (tmp_path, tmp_path)
    assert named.report_models == tmp_path / "report"


def test_the_users_own_reranker_is_a_folder_or_a_name_on_the_hub(tmp_path: Path) -> None:
    def named(value: str) -> str:
        reranker = Settings.from_environment({"ESOTERIC_RERANKER": value}).reranker
        assert reranker is not None
        return reranker.name

    assert Settings.from_environment({}).reranker is None
    assert named(str(tmp_path)) == str(tmp_path)
    assert named("cross-encoder/ms-marco-MiniLM-L6-v2") == "cross-encoder/ms-marco-MiniLM-L6-v2"
    with pytest.raises(BadSetting, match="OWNER/NAME of the Hugging Face hub"):
        named(str(tmp_path / "missing"))


def test_bart_among_the_models_of_the_report_is_used_unless_another_is_named(
    tmp_path: Path,
) -> None:
    environment = {"ESOTERIC_REPORT_MODELS": str(tmp_path)}
    assert Settings.from_environment(environment).bart is None
    (tmp_path / "bart").mkdir()
    assert Settings.from_environment(environment).bart == tmp_path / "bart"
    assert Settings.from_environment({**environment, "ESOTERIC_BART": "/tmp"}).bart == Path("/tmp")


def test_a_file_is_no_home(tmp_path: Path) -> None:
    (tmp_path / "notes.txt").write_text("mine")
    with pytest.raises(BadSetting, match="not a folder"):
        Settings.from_environment({"ESOTERIC_HOME": str(tmp_path / "notes.txt")})


def test_a_password_in_a_refused_address_is_not_shown() -> None:
    with pytest.raises(BadSetting) as caught:
        Settings.from_environment({"ESOTERIC_BROKER_URL": "redis://:secret@host:notaport/0"})
    assert "secret" not in str(caught.value)


@pytest.mark.parametrize(
    "url", ["redis://localhost", "redis://:word@127.0.0.1:6379/2", "rediss://queue.example/0"]
)
def test_addresses_of_redis_are_taken_as_they_are(url: str) -> None:
    assert Settings.from_environment({"ESOTERIC_BROKER_URL": url}).broker_url == url


def test_trusted_hosts_are_localhost_the_host_and_what_is_added_as_browsers_send_it() -> None:
    names = {"HOST": "Desk.example", "TRUSTED_HOSTS": "a.example, B,web_1, b\u00fcro.example"}
    hosts = ("localhost", "desk.example", "a.example", "b", "web_1", "xn--bro-hoa.example")
    assert Settings.from_environment(names).trusted_hosts == hosts


def test_a_language_model_is_named_by_its_provider_and_its_name() -> None:
    choice = Settings.from_environment(
        {
            "ESOTERIC_LLM": "openai:qwen2.5:7b",
            "ESOTERIC_LLM_URL": "http://localhost:11434/v1/",
            "ESOTERIC_LLM_DECIDES": "no",
            "ESOTERIC_LLM_SECONDS": "90",
            "ESOTERIC_LLM_PRICES": "other=1/2, qwen2.5:7b=0.1/0.3",
        }
    ).llm
    assert choice is not None
    assert (choice.model, choice.url) == ("qwen2.5:7b", "http://localhost:11434/v1")
    assert choice.name == "qwen2.5:7b at localhost:11434"
    assert (choice.decides, choice.seconds) == (False, 90)
    assert choice.price == Price(0.1, 0.3)


def test_a_local_language_model_is_ollamas_which_gets_more_time_and_does_not_decide() -> None:
    choice = Settings.from_environment({"ESOTERIC_LLM": "local"}).llm
    assert choice is not None
    assert choice.name == "qwen2.5-coder:1.5b at localhost:11434"
    assert (choice.decides, choice.seconds) == (False, 120)
    changed = {
        "ESOTERIC_LLM_URL": "http://ollama:11434/v1",
        "ESOTERIC_LLM_SECONDS": "5",
        "ESOTERIC_LLM_DECIDES": "yes",
    }
    choice = Settings.from_environment({"ESOTERIC_LLM": "local", **changed}).llm
    assert choice is not None
    assert (choice.host, choice.decides, choice.seconds) == ("ollama:11434", True, 5)
    choice = Settings.from_environment({"ESOTERIC_LLM": "local:qwen3:8b"}).llm
    assert choice is not None
    assert choice.name == "qwen3:8b at localhost:11434"
    assert (choice.decides, choice.seconds) == (True, 120)  # the larger ones were chosen to decide


def test_each_key_is_for_its_own_address() -> None:
    keys = {"MISTRAL_API_KEY": "for-mistral", "ESOTERIC_LLM_KEY": "for-the-url"}
    elsewhere = {"ESOTERIC_LLM_URL": "https://models.example/v1"}
    at_mistral = Settings.from_environment({"ESOTERIC_LLM": "mistral:small", **keys}).llm
    assert at_mistral is not None
    assert (at_mistral.host, at_mistral.key) == ("api.mistral.ai", "for-mistral")
    for provider in ("mistral", "openai"):
        choice = Settings.from_environment(
            {"ESOTERIC_LLM": f"{provider}:small", **elsewhere, **keys}
        ).llm
        assert choice is not None
        assert (choice.host, choice.key) == ("models.example", "for-the-url")
        assert choice.provider == provider
    without = {"ESOTERIC_LLM": "openai:small", **elsewhere, "MISTRAL_API_KEY": "for-mistral"}
    choice = Settings.from_environment(without).llm
    assert choice is not None
    assert choice.key == ""


def test_a_key_comes_from_a_file_and_is_not_shown(tmp_path: Path) -> None:
    file = tmp_path / "key"
    file.write_text("a-secret\n")
    settings = Settings.from_environment(
        {"ESOTERIC_LLM": "mistral:small", "MISTRAL_API_KEY_FILE": str(file)}
    )
    assert settings.llm is not None
    assert settings.llm.key == "a-secret"
    assert "a-secret" not in repr(settings)


@pytest.mark.parametrize(
    ("variable", "value"),
    [
        ("ESOTERIC_LLM_URL", "localhost:11434"),
        ("ESOTERIC_LLM_URL", "http://user:secret@localhost/v1"),
        ("ESOTERIC_LLM_URL", "http://localhost:port/v1"),
        ("ESOTERIC_LLM_URL", "http://localhost/v1?key=secret"),
        ("ESOTERIC_LLM_URL", "http://\u2603.example/v1"),
        ("ESOTERIC_LLM_KEY", "two words"),
        ("ESOTERIC_LLM_KEY_FILE", "/no/key"),
        ("MISTRAL_API_KEY", "k\u00e9y"),
        ("ESOTERIC_LLM_DECIDES", "maybe"),
        ("ESOTERIC_LLM_SECONDS", "0"),
        ("ESOTERIC_LLM_PRICES", "small"),
        ("ESOTERIC_LLM_PRICES", "small=1/-1"),
    ],
)
def test_what_belongs_to_a_language_model_is_refused_where_one_is_named_and_ignored_elsewhere(
    variable: str, value: str
) -> None:
    with pytest.raises(BadSetting, match=variable) as caught:
        Settings.from_environment({"ESOTERIC_LLM": "mistral:small", variable: value})
    assert "secret" not in str(caught.value)
    assert Settings.from_environment({variable: value}).llm is None


def test_mistrals_key_goes_to_mistrals_address_however_it_is_named() -> None:
    for url in ("", "https://api.mistral.ai", "https://api.mistral.ai/v1/"):
        choice = Settings.from_environment(
            {"ESOTERIC_LLM": "mistral:small", "ESOTERIC_LLM_URL": url, "MISTRAL_API_KEY": "a-key"}
        ).llm
        assert choice is not None
        assert (choice.url, choice.key) == ("https://api.mistral.ai/v1", "a-key")

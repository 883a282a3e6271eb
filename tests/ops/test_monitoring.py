"""Alerts and board: all that they ask Prometheus for is there."""

from __future__ import annotations

import json
import re
import shutil
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import promql_parser
import pytest
import yaml
from prometheus_client.parser import text_string_to_metric_families

from app import create_app
from app.services import services_of
from settings import CHECKOUT, Settings
from tests.app.claim_documents import claim_document
from tests.app.index import describe_index
from tests.app.worker_by_hand import WorkerByHand

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

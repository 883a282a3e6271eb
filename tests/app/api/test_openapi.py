"""The OpenAPI document is complete, and answers match it."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import jsonschema  # type: ignore[import-untyped]
import pytest
from flask import Flask
from flask.testing import FlaskClient

from app import create_app
from retrieval.errors import EsotericError
from retrieval.recipes.recipe_files import as_yaml
from retrieval.recipes.recipes import RECIPES
from settings import Settings
from tests.app.claim_documents import (
    claim_document,
    document_kept_from_before,
    document_with_a_long_proof,
    document_with_proof,
    document_without_evidence,
)
from tests.app.worker_by_hand import WorkerByHand
from worker.job_store import JobStore
from worker.worker_store import WorkerStore

Check = Callable[[str, Any], None]


@pytest.fixture(scope="module")
def description(tmp_path_factory: pytest.TempPathFactory) -> Any:
    home = tmp_path_factory.mktemp("home")
    app = create_app(Settings.from_environment({"ESOTERIC_HOME": str(home)}))
    return app.test_client().get("/api/v1/openapi.json").get_json()


@pytest.fixture(scope="module")
def check(description: Any) -> Check:
    """Return a function that validates an answer against one of the schemas."""

    def validate(schema: str, answer: Any) -> None:
        jsonschema.Draft202012Validator(
            {
                "$ref": f"#/components/schemas/{schema}",
                "components": description["components"],
            }
        ).validate(answer)

    return validate


def test_every_route_and_method_is_described_and_nothing_else_is(
    app: Flask, description: Any
) -> None:
    routes = {
        (re.sub(r"<(?:\w+:)?(\w+)>", r"{\1}", rule.rule), method.lower())
        for rule in app.url_map.iter_rules()
        if rule.endpoint != "static"
        for method in (rule.methods or set()) - {"HEAD", "OPTIONS"}
    }
    described = {
        (path, method)
        for path, operations in description["paths"].items()
        for method in operations
        if method != "parameters"
    }
    assert described == routes


def test_every_reference_names_a_schema(description: Any) -> None:
    found = set(re.findall(r"'#/components/schemas/(\w+)'", str(description)))
    assert found <= set(description["components"]["schemas"])
    for schema in description["components"]["schemas"].values():
        jsonschema.Draft202012Validator.check_schema(schema)


def test_answers_are_as_described(
    client: FlaskClient, store: JobStore, worker: WorkerByHand, check: Check
) -> None:
    def answered(path: str, schema: str) -> None:
        check(schema, client.get(path).get_json())

    accepted = client.post("/api/v1/claims", json={"claim": "Varnby has a harbour."}).get_json()
    check("Accepted", accepted)
    job, failing = store.get(accepted["id"]), store.submit("Varnby has a theatre.", "esoteric")[0]
    answered(f"/api/v1/claims/{job.id}", "Job")
    answered("/api/v1/claims", "Claims")
    answered("/readyz", "NotReady")
    WorkerStore(store.database).beat("by-hand", datetime.now(UTC), "ready")
    worker.finish(job, claim_document(job.claim))
    worker.fail(failing, EsotericError("worker_lost", "It is gone.", "Try again."))
    said = {"agrees": False, "label": "REFUTES", "wrong": [1], "note": "No.", "name": "Ida Holm"}
    check("FeedbackGiven", said)
    given = client.post(f"/api/v1/claims/{job.id}/feedback", json=said)
    check("FeedbackItem", given.get_json())
    for path, schema in (
        *((f"claims/{job.id}", "Job"), (f"claims/{failing.id}", "Job"), ("claims", "Claims")),
        *((f"claims/{job.id}/progress", "Progress"), ("claims/none", "Error"), ("none", "Error")),
        (f"compare?claims={job.id},{failing.id},gone", "Comparison"),
        *(("feedback", "FeedbackList"), ("recipes", "Recipes"), ("corpora", "Corpora")),
    ):
        answered(f"/api/v1/{path}", schema)
    answered("/readyz", "Ready")
    check("Error", client.put("/api/v1/claims").get_json())


def test_the_names_of_the_recipes_are_in_the_description_also_those_of_a_folder(
    tmp_path: Path,
) -> None:
    mine = replace(RECIPES["m3"], name="mine")
    (tmp_path / "mine.yaml").write_text(as_yaml(mine))
    environment = {"ESOTERIC_HOME": str(tmp_path), "ESOTERIC_RECIPES": str(tmp_path)}
    client = create_app(Settings.from_environment(environment)).test_client()
    described = client.get("/api/v1/openapi.json").get_json()
    recipe = described["components"]["schemas"]["Submission"]["properties"]["recipe"]
    assert {*RECIPES, "mine", "combined+3", "mine+9", None} < set(recipe["enum"])
    assert "fer+3" not in recipe["enum"]  # has one hop


@pytest.mark.parametrize(
    "result",
    [
        document_with_proof(),
        document_with_a_long_proof(),
        document_without_evidence("Varnby has a harbour."),
        document_kept_from_before("Varnby has a harbour."),
    ],
)
def test_every_result_is_as_described(result: dict[str, Any], check: Check) -> None:
    check("ClaimResult", result)

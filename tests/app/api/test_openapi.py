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
    return app.test_client().get("/api/v1/openapi.json").json


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


def test_a_claim_in_every_state_is_as_described(
    client: FlaskClient, store: JobStore, worker: WorkerByHand, check: Check
) -> None:
    answer = client.post("/api/v1/claims", json={"claim": "Varnby has a harbour."})
    check("Accepted", answer.json)
    assert answer.json is not None
    job_id = answer.json["id"]
    check("Job", client.get(f"/api/v1/claims/{job_id}").json)
    job = store.get(job_id)
    worker.finish(job, claim_document(job.claim))
    done = client.get(f"/api/v1/claims/{job_id}").json
    assert done is not None
    check("Job", done)
    assert done["result"] == claim_document(job.claim)
    check("Progress", client.get(f"/api/v1/claims/{job_id}/progress").json)
    failing = store.submit("Varnby has a theatre.", "esoteric")[0]
    worker.fail(failing, EsotericError("worker_lost", "It is gone.", "Try again."))
    check("Job", client.get(f"/api/v1/claims/{failing.id}").json)


def test_the_lists_of_recipes_claims_and_corpora_are_as_described(
    client: FlaskClient, store: JobStore, worker: WorkerByHand, check: Check
) -> None:
    job = store.submit("Varnby has a harbour.", "esoteric")[0]
    check("Claims", client.get("/api/v1/claims").json)
    worker.finish(job, claim_document(job.claim))
    check("Claims", client.get("/api/v1/claims").json)
    check("Corpora", client.get("/api/v1/corpora").json)
    check("Recipes", client.get("/api/v1/recipes").json)


def test_the_names_of_the_recipes_are_in_the_description_also_those_of_a_folder(
    tmp_path: Path,
) -> None:
    mine = replace(RECIPES["m3"], name="mine")
    (tmp_path / "mine.yaml").write_text(as_yaml(mine))
    environment = {"ESOTERIC_HOME": str(tmp_path), "ESOTERIC_RECIPES": str(tmp_path)}
    client = create_app(Settings.from_environment(environment)).test_client()
    described = client.get("/api/v1/openapi.json").json
    assert described is not None
    recipe = described["components"]["schemas"]["Submission"]["properties"]["recipe"]
    assert {*RECIPES, "mine", "combined+3", "mine+9", None} < set(recipe["enum"])
    assert "fer+3" not in recipe["enum"]  # has one hop


def test_feedback_is_as_described(
    client: FlaskClient, store: JobStore, worker: WorkerByHand, check: Check
) -> None:
    job = store.submit("Varnby has a harbour.", "esoteric")[0]
    worker.finish(job, claim_document(job.claim))
    said = {"agrees": False, "label": "REFUTES", "wrong": [1], "note": "No.", "name": "Ida Holm"}
    check("FeedbackGiven", said)
    check("FeedbackItem", client.post(f"/api/v1/claims/{job.id}/feedback", json=said).json)
    check("FeedbackList", client.get("/api/v1/feedback").json)


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


@pytest.mark.parametrize(
    ("place", "value"),
    [
        ("operator", "entailment"),
        ("evidence", ["Ida Holm", 0, 3]),
        ("evidence", [0, "Ida Holm", 3, 4]),
        ("claim_span", [1]),
    ],
)
def test_a_proof_of_another_form_is_not_as_described(
    place: str, value: object, check: Check
) -> None:
    result = document_with_proof()
    result["proof"][0][place] = value
    with pytest.raises(jsonschema.ValidationError):
        check("ClaimResult", result)


@pytest.mark.parametrize(
    ("method", "path"),
    [("get", "/api/v1/claims/none"), ("get", "/api/v1/none"), ("put", "/api/v1/claims")],
)
def test_errors_are_as_described(client: FlaskClient, method: str, path: str, check: Check) -> None:
    check("Error", client.open(path, method=method.upper()).json)


def test_readiness_is_as_described(client: FlaskClient, store: JobStore, check: Check) -> None:
    check("NotReady", client.get("/readyz").json)
    WorkerStore(store.database).beat("by-hand", datetime.now(UTC), "ready")
    check("Ready", client.get("/readyz").json)


def test_a_new_corpus_is_described_as_the_api_takes_it(description: Any) -> None:
    schema = description["components"]["schemas"]["NewCorpus"]
    assert (schema["properties"].keys(), schema["additionalProperties"]) == (
        {"title", "folder"},
        False,
    )

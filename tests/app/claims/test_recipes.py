"""Pages and API follow the index: which recipes are offered, run and refused."""

from __future__ import annotations

import re
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest
from flask import Flask
from flask.testing import FlaskClient

from app import create_app
from app.services import services_of
from retrieval.errors import BadRecipe, Problem
from retrieval.pipeline.runnable import Runnable
from retrieval.recipes.recipe_files import as_yaml
from retrieval.recipes.recipes import RECIPES
from settings import Settings
from tests.app.index import describe_index, description_file
from tests.retrieval.models.tiny_report import name_models
from worker.reports import SearchedCorpus
from worker.worker_store import WorkerStore

CLAIM = "The Lighthouse of Varn was built by Ida Holm."
DPR = "dpr-ctx_encoder-single-nq-base 3c4d"


def app_of(home: Path, **environment: str) -> Flask:
    return create_app(Settings.from_environment({"ESOTERIC_HOME": str(home), **environment}))


@pytest.fixture
def dpr(tmp_path: Path) -> Flask:
    """The application over an index with vectors of DPR, with the models of the report."""
    describe_index(tmp_path, encoder=DPR)
    return app_of(tmp_path, ESOTERIC_REPORT_MODELS=str(name_models(tmp_path / "models")))


def listed(client: FlaskClient) -> dict[str, Any]:
    answer = client.get("/api/v1/recipes")
    assert answer.status_code == 200
    return {recipe["name"]: recipe for recipe in answer.get_json()["recipes"]}


def posted_by_the_form(page: str) -> dict[str, str]:
    """Return what the first form of a page sends with this claim."""
    form = page[page.index('<form class="ask') : page.index("</form>")]
    checked = re.findall(r'<input type="radio" name="(\w+)"[^>]* value="(\w+)"[^>]* checked', form)
    return {"claim": CLAIM, **dict(checked)}


def test_the_list_says_which_recipes_can_run_and_why_another_cannot(client: FlaskClient) -> None:
    found = listed(client)
    assert list(found) == list(RECIPES)
    assert [name for name, recipe in found.items() if not recipe["can_run"]] == ["report", "card"]
    assert [name for name, recipe in found.items() if recipe["default"]] == ["combined"]
    assert found["combined"]["problem"] is None
    assert found["report"]["problem"]["code"] == "report_models_unset"
    assert found["esoteric"]["hop"][-1] == "verdict"
    assert found["esoteric"]["settings"]["document_limit"] == 6


def test_without_an_index_no_recipe_can_run(client: FlaskClient, settings: Settings) -> None:
    description_file(settings.home).unlink()
    found = listed(client)
    assert {recipe["problem"]["code"] for recipe in found.values()} == {"index_unavailable"}
    assert not any(recipe["can_run"] for recipe in found.values())
    assert client.post("/claims", data={"claim": CLAIM}).status_code == 303  # it waits


def test_over_vectors_of_dpr_the_form_posts_the_recipe_report(dpr: Flask) -> None:
    client, store = dpr.test_client(), services_of(dpr).store
    page = client.get("/").text
    sent = posted_by_the_form(page)
    assert sent["recipe"] == "report"
    assert client.post("/claims", data=sent).status_code == 303
    job = store.get(store.recent(1)[0].id)
    assert (job.claim, job.recipe) == (CLAIM, "report")
    # The examples too, and what programs send.
    assert '<input type="hidden" name="recipe" value="report">' in page
    asked = client.post("/api/v1/claims", json={"claim": "Tea is hot."})
    assert store.get(asked.get_json()["id"]).recipe == "report"
    assert re.findall(r'<input type="radio"[^>]* value="(\w+)"', page) == ["report", "card"]
    others = "<strong>combined, esoteric, admiral, m3, fer</strong>. Vectors of MiniLM are needed"
    assert page.count(f"Cannot run here: {others}") == 1


def test_a_recipe_that_cannot_run_is_refused_at_once_without_a_path(
    tmp_path: Path, dpr: Flask
) -> None:
    client, store = dpr.test_client(), services_of(dpr).store
    answer = client.post("/api/v1/claims", json={"claim": CLAIM, "recipe": "combined"})
    assert answer.status_code == 422
    assert answer.get_json() == {
        "error": {
            "code": "index_encoder",
            "message": "The recipe combined cannot run here. Vectors of MiniLM are needed, and the"
            " index has vectors of DPR.",
            "hint": "Choose another recipe, or run `esoteric index encode`.",
        }
    }
    page = client.post("/claims", data={"claim": CLAIM, "recipe": "combined"})
    assert page.status_code == 422
    assert "The recipe combined cannot run here." in page.text
    assert CLAIM in page.text  # nothing has to be typed again
    assert posted_by_the_form(page.text)["recipe"] == "report"
    assert store.recent(1) == []
    for text in (answer.text, page.text, client.get("/api/v1/recipes").text):
        assert str(tmp_path) not in text


def test_recipes_of_a_folder_are_offered_and_checked_beside_the_shipped_ones(
    tmp_path: Path,
) -> None:
    describe_index(tmp_path)
    judge = tmp_path / "judge"
    judge.mkdir()
    mine = replace(RECIPES["m3"], name="mine", max_hops=1, verifier=str(judge))
    (tmp_path / "mine.yaml").write_text(as_yaml(mine))
    app = app_of(tmp_path, ESOTERIC_RECIPES=str(tmp_path))
    client, store = app.test_client(), services_of(app).store
    found = listed(client)["mine"]
    assert (found["can_run"], found["verifier"], found["language_model"]) == (True, "judge", None)
    assert "Its verifier is judge." in client.get("/recipes").text
    refused = client.post("/claims", data={"claim": "?!", "recipe": "mine"})
    assert refused.status_code == 422
    assert posted_by_the_form(refused.text)["recipe"] == "mine"
    assert 'value="mine"' in client.get("/").text
    sent = client.post("/claims", data={"claim": CLAIM, "recipe": "mine"})
    page = client.get(sent.headers["Location"]).text
    assert store.get(store.recent(1)[0].id).recipe == "mine"
    assert 'data-stage="dense"' in page  # the stages are those of the file,
    assert 'data-stage="titles"' not in page  # and not of the default recipe
    (tmp_path / "mine.yaml").write_text("name: mine\nhop: 3\n")
    with pytest.raises(BadRecipe, match=r"mine\.yaml, line 1: The key 'summary' is missing"):
        app_of(tmp_path, ESOTERIC_RECIPES=str(tmp_path))


def test_a_worker_says_which_recipes_can_run_over_an_index_on_a_server(tmp_path: Path) -> None:
    app = app_of(tmp_path, ESOTERIC_STORE="elasticsearch://127.0.0.1:9/notes")
    store, client = services_of(app).store, app.test_client()
    assert not any(recipe["can_run"] for recipe in listed(client).values())
    problem = Problem("index_encoder", "Other vectors.", "Encode it.")
    here = Runnable("report", {"combined": problem})
    corpus = SearchedCorpus("notes", "folder:x", 12, "2026-11-20T09:30:00Z", recipes=here)
    WorkerStore(store.database).beat("by-hand", datetime.now(UTC), "ready", corpus=corpus)
    assert listed(client)["combined"]["problem"]["message"] == "Other vectors."
    assert listed(client)["report"]["default"]
    refused = client.post("/api/v1/claims", json={"claim": CLAIM, "recipe": "combined"})
    assert refused.status_code == 422

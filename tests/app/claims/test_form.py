"""The box of the first page, its recipes, and what a claim becomes: edited, or searched further."""

from __future__ import annotations

import html
import re
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from retrieval.errors import BadRecipe, Problem, UnknownRecipe
from retrieval.pipeline.runnable import Runnable
from retrieval.recipes.recipe_files import as_yaml
from retrieval.recipes.recipes import RECIPES, recipe_named
from settings import Settings
from tests.app.claim_documents import claim_document, document_with_proof
from tests.app.client import CLAIM, Client, words
from tests.app.conftest import Start
from tests.app.index import describe_index, description_file
from tests.retrieval.models.tiny_report import name_models
from tests.support.cases import cases
from worker.reports import SearchedCorpus

TEXT = "Germany was reunited. Berlin is its capital."


def said(client: Client, text: str, **more: str) -> str:
    answer = client.post("/box", data={"claim": text, **more})
    assert answer.status_code == 200
    return answer.text


@cases("box", "text", "button", "sends", "also")
def test_the_box_says_what_it_will_do(
    client: Client, text: str, button: str, sends: str, also: str
) -> None:
    answer = said(client, text)
    assert f'data-button="{button}"' in answer
    assert f'data-as="{"" if sends == "list" and "list," in also else sends}"' in answer
    assert also in words(answer)
    page = client.get("/", query_string={"q": text}).text
    assert f">{button}</button>" in page
    assert also in words(page)
    assert client.store.recent(9) == []


@cases("box", "text", "kind", "rows")
def test_lines_are_a_list_sentences_a_text(client: Client, text: str, kind: str, rows: int) -> None:
    answer = said(client, text)
    assert f'data-kind="{kind}"' in answer
    counted = {"list": f"Check {rows} claims", "text": f"A text of {rows} sentences."}
    assert counted.get(kind, "") in answer


def test_a_claim_that_was_checked_with_this_recipe_is_shown_first(client: Client) -> None:
    job = client.done(claim_document("Tea is hot."), "combined")
    for text in ("tea  is hot.", "Is tea hot?"):
        answer = said(client, text, recipe="combined")
        assert f'href="/claims/{job.id}"' in answer
        assert "Supported just now · Show the result" in words(answer)
    assert "Check again" in said(client, "Tea is hot.")
    assert "Show the result" not in said(client, "Tea is hot.", recipe="esoteric")
    assert "Show the result" not in said(client, "Tea is hot.", recipe="nonsense")
    for text in ("Is <b>tea</b> hot?", "<i>Tea is hot.</i>\n<b>", "<b>Tea</b> is. <i>Ice</i> is."):
        assert "<b>" not in said(client, text)
        assert "<i>" not in said(client, text)


def test_a_text_or_question_is_checked_as_it_is_only_if_that_is_asked_for(client: Client) -> None:
    offered = client.post("/claims", data={"claim": TEXT})
    assert offered.status_code == 422
    assert 'formaction="/texts">Choose claims</button>' in offered.text
    assert f'<input type="hidden" name="text" value="{TEXT}">' in offered.text
    assert client.store.recent(9) == []
    as_list = client.post("/claims", data={"claim": TEXT, "as": "list"})
    assert "0 of 2 claims" in client.get(as_list.location).text
    as_one = client.post("/claims", data={"claim": TEXT, "as": "claim"})
    assert as_one.location.startswith("/claims/")
    client.post("/claims", data={"claim": "Is tea hot?", "as": "statement"})
    client.post("/claims", data={"claim": "Is tea hot?", "as": "claim"})
    client.post("/claims", data={"claim": "Is tea hot?"})
    submitted = [job.claim for job in client.store.recent(9)]
    assert submitted == ["Is tea hot?", "Tea is hot.", TEXT]


def test_lines_become_a_list_or_stay_in_the_box(client: Client) -> None:
    answer = client.post("/claims", data={"claim": "Tea is hot.\r\nIce is cold.\r\n"})
    assert answer.location.startswith("/lists/")
    assert "0 of 2 claims" in client.get(answer.location).text
    assert client.store.recent(9) == []
    links = "http://a.example\nhttp://b.example"
    refused = client.post("/claims", data={"claim": links})
    assert refused.status_code == 422
    assert "None of these 2 rows is a claim." in refused.text
    assert f"{links}</textarea>" in refused.text
    many = "\n".join(f"Tea {number} is hot." for number in range(5001))
    assert "at most 5,000 claims, and this has 5,001" in words(said(client, many))
    assert client.post("/claims", data={"claim": many}).status_code == 422


@cases("form_claims", "claim", "complaint")
def test_a_wrong_claim_is_shown_again_with_the_reason(
    client: Client, claim: str, complaint: str
) -> None:
    answer = client.post("/claims", data={"claim": claim})
    assert answer.status_code == 422
    problem = re.search(r'<p class="problem" id="claim-problem">(.*?)</p>', answer.text)
    assert problem is not None
    assert complaint in words(problem[1])
    assert 'aria-describedby="claim-help claim-problem" aria-invalid="true"' in answer.text
    kept = re.search(r"<textarea[^>]*>\n(.*?)</textarea>", answer.text, re.DOTALL)
    assert kept is not None
    assert html.unescape(kept[1]) == claim
    assert client.store.recent(1) == []


# A claim leads to another


def test_an_edited_claim_leads_back_to_the_first(client: Client) -> None:
    first = client.done(recipe="combined").id
    page = client.get("/", query_string={"q": CLAIM, "edited_from": first}).text
    assert f'name="edited_from" value="{first}" data-select=""' in page  # nothing is open
    edited = "The Lighthouse of Varn was built by Ole Berg."
    refused = client.post("/claims", data={"claim": "", "edited_from": first})
    assert f'name="edited_from" value="{first}"' in refused.text
    form = {"claim": edited, "edited_from": first}
    address = client.post("/claims", data=form).location
    job = client.job_at(address)
    assert (job.edited_from, job.continued_from) == (first, None)
    client.worker.finish(job, claim_document(edited))
    assert f'Edited from <a href="/claims/{first}">' in client.get(address).text
    assert client.json(f"/api/v1{address}")["edited_from"] == first
    client.store.delete(first)
    assert "Edited from" not in client.get(address).text  # no link that leads nowhere


def test_what_the_evidence_contradicts_is_selected_before_what_is_open(client: Client) -> None:
    result = document_with_proof("REFUTES")
    result["proof"][2]["operator"] = "negation"
    result["proof_label"] = "REFUTES"
    result["hops"][-1] |= {"sufficient": False, "missing": [result["proof"][1]["claim_span"]]}
    for selected in ("by Ida Holm", "was built"):
        job = client.done(result, "combined")
        query = {"q": job.claim, "edited_from": job.id}
        assert f'data-select="{selected}"' in client.get("/", query_string=query).text
        # A proof that does not agree is not believed.
        result["verdict"]["label"] = "NOT ENOUGH INFO"


def test_a_search_goes_on_in_a_new_check_that_names_the_first(client: Client) -> None:
    recipes, previous = [], client.done(recipe="combined").id
    longer = "combined, 3 more hops"
    assert longer not in client.get(f"/claims/{previous}").text
    for _ in range(3):
        assert "/search-on" in client.get(f"/claims/{previous}").text
        address = client.post(f"/claims/{previous}/search-on").location
        job = client.job_at(address)
        assert (job.claim, job.continued_from) == (CLAIM, previous)
        assert client.get(address).status_code == 200  # its progress
        client.worker.finish(job, claim_document(CLAIM) | {"recipe": job.recipe})
        page = client.get(address).text
        assert f'<a href="/claims/{previous}">an earlier check' in page
        recipes.append(job.recipe)
        assert (longer in page) == (job.recipe == "combined+3")
        assert 'name="recipe" value="combined">' in page  # the next claim begins anew
        previous = job.id
    assert recipes == ["combined+3", "combined+6", "combined+9"]
    assert "/search-on" not in client.get(f"/claims/{previous}").text
    assert client.post(f"/claims/{previous}/search-on").status_code == 409
    assert client.post("/claims/none/search-on").status_code == 404
    fer = client.done(recipe="fer").id  # has one hop, and nothing finds documents for a next
    assert client.post(f"/claims/{fer}/search-on").status_code == 409


@cases("searched_on", "label", "confidence", "more", "said")
def test_after_searching_on_the_verdict_is_compared_with_the_earlier_one(
    client: Client, label: str, confidence: float, more: int, said: str
) -> None:
    first = client.done(recipe="combined").id
    address = client.post(f"/claims/{first}/search-on").location
    result = claim_document(CLAIM)
    result["verdict"] |= {"label": label, "confidence": confidence, "leans": None}
    result["hops"][-1]["sentences"] += more
    client.worker.finish(client.job_at(address), result)
    page = words(client.get(address).text)
    assert said in page
    assert ("more sentence" in page) == bool(more)


def test_a_claim_that_may_be_misspelt_is_offered_as_it_may_be_meant(client: Client) -> None:
    meant = {"recipe": "combined+3", "did_you_mean": "The <b>Lighthouse</b> is old."}
    job = client.done(claim_document(CLAIM) | meant, "combined+3")
    page = client.get(f"/claims/{job.id}").text
    assert 'value="combined+3"' not in page  # another claim is searched for from the beginning
    offered = re.search(r'Did you mean <button type="submit" name="claim" value="([^"]*)">', page)
    assert offered is not None
    claim = html.unescape(offered[1])
    assert claim == "The <b>Lighthouse</b> is old."
    assert "<b>Lighthouse" not in page
    form = {"claim": claim, "as": "claim", "edited_from": job.id}
    sent = client.post("/claims", data=form).location
    assert client.job_at(sent).edited_from == job.id


def test_a_recipe_that_goes_on_begins_like_the_first_and_then_reads_more() -> None:
    first, further = RECIPES["combined"], recipe_named("combined+3")
    assert (further.first, further.hop, further.next) == (first.first, first.hop, first.next)
    assert (further.name, further.max_hops, further.ending) == ("combined+3", 5, "never")
    assert further.settings.expansion_sentence_limit == 2 * first.settings.expansion_sentence_limit
    for wrong in ("combined+", "combined+4", "combined+33", "soup+3", "fer+3"):
        with pytest.raises(UnknownRecipe):
            recipe_named(wrong)


# Which recipes are offered, run and refused


@pytest.fixture
def dpr(start: Start, tmp_path: Path) -> Client:
    """A client of an index with vectors of DPR, with the models of the report."""
    describe_index(tmp_path, encoder="dpr-ctx_encoder-single-nq-base 3c4d")
    return start(ESOTERIC_REPORT_MODELS=str(name_models(tmp_path / "models")))


def recipes_of(client: Client) -> dict[str, Any]:
    return {recipe["name"]: recipe for recipe in client.json("/api/v1/recipes")["recipes"]}


def posted_by_the_form(page: str) -> dict[str, str]:
    """Return what the first form of a page sends with this claim."""
    form = page[page.index('<form class="ask') : page.index("</form>")]
    checked = re.findall(r'<input type="radio" name="(\w+)"[^>]* value="(\w+)"[^>]* checked', form)
    return {"claim": CLAIM, **dict(checked)}


def test_the_list_says_which_recipes_can_run(client: Client, settings: Settings) -> None:
    found = recipes_of(client)
    assert list(found) == list(RECIPES)
    assert [name for name, recipe in found.items() if not recipe["can_run"]] == ["report", "card"]
    assert [name for name, recipe in found.items() if recipe["default"]] == ["combined"]
    assert found["combined"]["problem"] is None
    assert found["report"]["problem"]["code"] == "report_models_unset"
    assert found["esoteric"]["hop"][-1] == "verdict"
    assert found["esoteric"]["settings"]["document_limit"] == 6
    description_file(settings.home).unlink()
    found = recipes_of(client)
    assert {recipe["problem"]["code"] for recipe in found.values()} == {"index_unavailable"}
    assert not any(recipe["can_run"] for recipe in found.values())
    assert client.post("/claims", data={"claim": CLAIM}).status_code == 303  # it waits


def test_over_vectors_of_dpr_the_recipe_report_is_posted_and_others_refused(
    tmp_path: Path, dpr: Client
) -> None:
    asked = {"claim": CLAIM, "recipe": "combined"}
    answer, page = dpr.post("/api/v1/claims", json=asked), dpr.post("/claims", data=asked)
    assert (answer.status_code, page.status_code, dpr.store.recent(1)) == (422, 422, [])
    cannot = "The recipe combined cannot run here."
    assert answer.get_json()["error"] == {
        "code": "index_encoder",
        "message": f"{cannot} Vectors of MiniLM are needed, and the index has vectors of DPR.",
        "hint": "Choose another recipe, or run `esoteric index encode`.",
    }
    assert cannot in page.text
    assert CLAIM in page.text  # nothing has to be typed again
    assert posted_by_the_form(page.text)["recipe"] == "report"
    for text in (answer.text, page.text, dpr.get("/api/v1/recipes").text):
        assert str(tmp_path) not in text
    first = dpr.get("/").text
    sent = posted_by_the_form(first)
    assert sent["recipe"] == "report"
    assert dpr.post("/claims", data=sent).status_code == 303
    job = dpr.store.get(dpr.store.recent(1)[0].id)
    assert (job.claim, job.recipe) == (CLAIM, "report")
    # The examples too, and what programs send.
    assert '<input type="hidden" name="recipe" value="report">' in first
    assert dpr.sent("Tea is hot.").recipe == "report"
    assert re.findall(r'<input type="radio"[^>]* value="(\w+)"', first) == ["report", "card"]
    others = "<strong>combined, esoteric, admiral, m3, fer</strong>. Vectors of MiniLM are needed"
    assert first.count(f"Cannot run here: {others}") == 1


def test_recipes_of_a_folder_are_beside_the_shipped_ones(start: Start, tmp_path: Path) -> None:
    judge = tmp_path / "judge"
    judge.mkdir()
    mine = replace(RECIPES["m3"], name="mine", max_hops=1, verifier=str(judge))
    (tmp_path / "mine.yaml").write_text(as_yaml(mine))
    client = start(ESOTERIC_RECIPES=str(tmp_path))
    found = recipes_of(client)["mine"]
    assert (found["can_run"], found["verifier"], found["language_model"]) == (True, "judge", None)
    assert "Its verifier is judge." in client.get("/recipes").text
    refused = client.post("/claims", data={"claim": "?!", "recipe": "mine"})
    assert refused.status_code == 422
    assert posted_by_the_form(refused.text)["recipe"] == "mine"
    assert 'value="mine"' in client.get("/").text
    page = client.get(client.post("/claims", data={"claim": CLAIM, "recipe": "mine"}).location).text
    assert client.store.get(client.store.recent(1)[0].id).recipe == "mine"
    assert 'data-stage="dense"' in page  # the stages are those of the file,
    assert 'data-stage="titles"' not in page  # and not of the default recipe
    (tmp_path / "mine.yaml").write_text("name: mine\nhop: 3\n")
    with pytest.raises(BadRecipe, match=r"mine\.yaml, line 1: The key 'summary' is missing"):
        start(ESOTERIC_RECIPES=str(tmp_path))


def test_a_worker_says_which_recipes_can_run_over_an_index_on_a_server(start: Start) -> None:
    client = start(ESOTERIC_STORE="elasticsearch://127.0.0.1:9/notes")
    assert not any(recipe["can_run"] for recipe in recipes_of(client).values())
    here = Runnable("report", {"combined": Problem("index_encoder", "Other vectors.", "Encode.")})
    corpus = SearchedCorpus("notes", "folder:x", 12, "2026-11-20T09:30:00Z", recipes=here)
    client.services.workers.beat("by-hand", datetime.now(UTC), "ready", corpus=corpus)
    found = recipes_of(client)
    assert found["combined"]["problem"]["message"] == "Other vectors."
    assert found["report"]["default"]
    refused = client.post("/api/v1/claims", json={"claim": CLAIM, "recipe": "combined"})
    assert refused.status_code == 422

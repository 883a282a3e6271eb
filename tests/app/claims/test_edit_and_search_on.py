"""A claim is edited into a new one, or its search goes on; the new check names the first."""

from __future__ import annotations

import html
import re
from urllib.parse import parse_qs, urlsplit

import pytest
from flask.testing import FlaskClient

from retrieval.errors import UnknownRecipe
from retrieval.recipes.recipes import RECIPES, recipe_named
from tests.app.claim_documents import claim_document, document_with_proof
from tests.app.result.test_export import document_with_doubt
from tests.app.test_pages import words as words_of
from tests.app.worker_by_hand import WorkerByHand
from worker.job_store import JobStore

CLAIM = "The Lighthouse of Varn was built by Ida Holm."
CHANGED = (
    "Searching on changed the verdict. It was “Supported” (93%) in an earlier check of this claim."
)
WAS = "an earlier check of this claim, where it was “Supported” (93%)"


def done(store: JobStore, worker: WorkerByHand, recipe: str = "combined") -> str:
    job = store.submit(CLAIM, recipe)[0]
    worker.finish(job, claim_document(CLAIM))
    return job.id


def test_an_edited_claim_leads_back_to_the_first(
    client: FlaskClient, store: JobStore, worker: WorkerByHand
) -> None:
    first = done(store, worker)
    page = client.get("/", query_string={"q": CLAIM, "edited_from": first}).text
    assert f'name="edited_from" value="{first}" data-select=""' in page  # nothing is open
    edited = "The Lighthouse of Varn was built by Ole Berg."
    refused = client.post("/claims", data={"claim": "", "edited_from": first})
    assert f'name="edited_from" value="{first}"' in refused.text
    form = {"claim": edited, "edited_from": first}
    address = client.post("/claims", data=form).headers["Location"]
    job = store.get(address.rpartition("/")[2])
    assert (job.edited_from, job.continued_from) == (first, None)
    worker.finish(job, claim_document(edited))
    assert f'Edited from <a href="/claims/{first}">' in client.get(address).text
    assert client.get(f"/api/v1{address}").json["edited_from"] == first  # type: ignore[index]
    store.delete(first)
    assert "Edited from" not in client.get(address).text  # no link that leads nowhere


def test_what_the_evidence_contradicts_is_selected_before_what_it_leaves_open(
    client: FlaskClient, store: JobStore, worker: WorkerByHand
) -> None:
    result = document_with_proof("REFUTES")
    result["proof"][2]["operator"] = "negation"
    result["proof_label"] = "REFUTES"
    result["hops"][-1] |= {"sufficient": False, "missing": [result["proof"][1]["claim_span"]]}
    for words in ("by Ida Holm", "was built"):
        job = store.submit(result["claim"], "combined")[0]
        worker.finish(job, result)
        query = {"q": job.claim, "edited_from": job.id}
        assert f'data-select="{words}"' in client.get("/", query_string=query).text
        # A proof that does not agree is not believed.
        result["verdict"]["label"] = "NOT ENOUGH INFO"


def test_a_search_goes_on_in_a_new_check_that_names_the_first(
    client: FlaskClient, store: JobStore, worker: WorkerByHand
) -> None:
    recipes, previous = [], done(store, worker)
    said = "combined, 3 more hops"
    assert said not in client.get(f"/claims/{previous}").text
    for _ in range(3):
        assert "/search-on" in client.get(f"/claims/{previous}").text
        address = client.post(f"/claims/{previous}/search-on").headers["Location"]
        job = store.get(address.rpartition("/")[2])
        assert (job.claim, job.continued_from) == (CLAIM, previous)
        assert client.get(address).status_code == 200  # its progress
        worker.finish(job, claim_document(CLAIM) | {"recipe": job.recipe})
        assert f'<a href="/claims/{previous}">an earlier check' in client.get(address).text
        recipes.append(job.recipe)
        assert (said in client.get(address).text) == (job.recipe == "combined+3")
        # The next claim begins anew.
        assert 'name="recipe" value="combined">' in client.get(address).text
        previous = job.id
    assert recipes == ["combined+3", "combined+6", "combined+9"]
    assert "/search-on" not in client.get(f"/claims/{previous}").text
    assert client.post(f"/claims/{previous}/search-on").status_code == 409
    assert client.post("/claims/none/search-on").status_code == 404
    fer = done(store, worker, "fer")  # has one hop, and nothing that finds documents for a next
    assert client.post(f"/claims/{fer}/search-on").status_code == 409


@pytest.mark.parametrize(
    ("label", "confidence", "more", "said"),
    [
        ("NOT ENOUGH INFO", 0.6, 12, f"{CHANGED} 12 more sentences were found. More sentences can"),
        ("REFUTES", 0.9, 0, CHANGED),
        ("SUPPORTS", 0.6, 1, f"The verdict is less sure than in {WAS}. 1 more sentence was found."),
        ("SUPPORTS", 0.97, 0, f"The verdict is surer than in {WAS}."),
        ("SUPPORTS", 0.93, 0, "The verdict is the same as in an earlier check of this claim."),
    ],
)
def test_after_searching_on_the_verdict_is_compared_with_the_earlier_one(
    client: FlaskClient,
    store: JobStore,
    worker: WorkerByHand,
    label: str,
    confidence: float,
    more: int,
    said: str,
) -> None:
    first = done(store, worker)
    address = client.post(f"/claims/{first}/search-on").headers["Location"]
    result = claim_document(CLAIM)
    result["verdict"] |= {"label": label, "confidence": confidence, "leans": None}
    result["hops"][-1]["sentences"] += more
    worker.finish(store.get(address.rpartition("/")[2]), result)
    page = words_of(client.get(address).text)
    assert said in page
    assert ("more sentence" in page) == bool(more)


def test_a_claim_that_may_be_misspelt_is_offered_as_it_may_be_meant(
    client: FlaskClient, store: JobStore, worker: WorkerByHand
) -> None:
    job = store.submit(CLAIM, "combined+3")[0]
    meant = {"recipe": "combined+3", "did_you_mean": "The <b>Lighthouse</b> is old."}
    worker.finish(job, claim_document(CLAIM) | meant)
    page = client.get(f"/claims/{job.id}").text
    assert 'value="combined+3"' not in page  # another claim is searched for from the beginning
    offered = re.search(r'Did you mean <button type="submit" name="claim" value="([^"]*)">', page)
    assert offered is not None
    claim = html.unescape(offered[1])
    assert claim == "The <b>Lighthouse</b> is old."
    assert "<b>Lighthouse" not in page
    form = {"claim": claim, "as": "claim", "edited_from": job.id}
    sent = client.post("/claims", data=form).headers["Location"]
    assert store.get(sent.rpartition("/")[2]).edited_from == job.id


def test_the_actions_lead_to_the_comparison_and_back_to_the_form(
    client: FlaskClient, store: JobStore, worker: WorkerByHand
) -> None:
    claim = "Tea & <b>bread</b> cost 3 % more?"
    job = store.submit(claim, "combined")[0]
    result = document_with_doubt()
    result["claim"] = claim
    worker.finish(job, result)
    page = client.get(f"/claims/{job.id}").text
    for path in ("/?", "/compare?"):
        link = (
            page.split('class="acts"')[1]
            .split(f'href="{path}')[1]
            .split('"')[0]
            .replace("&amp;", "&")
        )
        asked = parse_qs(urlsplit(f"?{link}").query)
        assert claim in (asked.get("q") or asked["claim"])


def test_a_recipe_that_goes_on_begins_like_the_first_and_then_reads_more() -> None:
    first, further = RECIPES["combined"], recipe_named("combined+3")
    assert (further.first, further.hop, further.next) == (first.first, first.hop, first.next)
    assert (further.name, further.max_hops, further.ending) == ("combined+3", 5, "never")
    assert further.settings.expansion_sentence_limit == 2 * first.settings.expansion_sentence_limit
    for wrong in ("combined+", "combined+4", "combined+33", "soup+3", "fer+3"):
        with pytest.raises(UnknownRecipe):
            recipe_named(wrong)

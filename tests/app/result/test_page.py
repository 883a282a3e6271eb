"""The page of a claim: while it waits, and its result; and the words of results in each form."""

from __future__ import annotations

import re
from datetime import UTC, datetime
from typing import Any

from cli.claim_text import as_text
from retrieval.errors import EsotericError
from retrieval.result import ClaimResult
from tests.app import claim_documents
from tests.app.claim_documents import claim_document, document_with_passages
from tests.app.client import CLAIM, Client, words
from tests.app.conftest import PageOf
from tests.support.cases import cases


def test_a_queued_claim_says_what_it_waits_for(client: Client) -> None:
    job = client.store.submit(CLAIM, "a recipe that was removed")[0]
    page = client.get(f"/claims/{job.id}").text
    assert "No worker is running" in words(page)
    assert "<code>esoteric up</code>" in page
    assert 'http-equiv="refresh"' not in page  # without scripts, it reloads only on request
    client.services.workers.beat("by-hand", datetime.now(UTC), "ready")
    assert "It is next." in words(client.get(f"/claims/{job.id}").text)
    later = client.sent("Snow is white.")
    assert "1 claim is before it." in words(client.get(f"/claims/{later.id}").text)


def test_a_failed_claim_says_why_and_can_be_checked_again(client: Client) -> None:
    job = client.sent()
    client.worker.fail(job, EsotericError("worker_lost", "It stopped.", "Submit it again."))
    page = client.get(f"/claims/{job.id}").text
    assert "It stopped. Submit it again." in words(page)
    again = client.post("/claims", data=dict(re.findall(r'name="(\w+)" value="(.*?)"', page)))
    assert again.status_code == 303
    assert client.store.recent(1)[0].claim == CLAIM
    assert client.store.recent(1)[0].id != job.id


@cases("result_words", "label", "confidence", "shown")
def test_the_result_is_at_the_same_address(
    client: Client, label: str, confidence: float, shown: str
) -> None:
    job = client.done(claim_document(CLAIM, label, confidence))
    page = client.get(f"/claims/{job.id}")
    assert page.status_code == 200
    text = words(page.text)
    for said in (
        shown,
        "Wikipedia introductions · recipe esoteric The Lighthouse",
        "Asked Who built the Lighthouse of Varn? and 1 more",
        "Searched again because “Lighthouse” is not settled: Lighthouse of Varn → Ida Holm",
        "The search ended after 2 rounds: the evidence was enough to decide.",
        "Wikipedia introductions: 9,842 documents, the date of this text is not known",
        "known, made searchable on 20 November 2026. Texts from Wikipedia",
        "in 0.81 s",
    ):
        assert said in text
    for name in ("json", "md", "csv"):
        assert f"/api/v1/claims/{job.id}/export?format={name}" in page.text
    assert "export?format=claimreview" not in page.text  # only after a person has confirmed
    assert '<input id="name" name="name" required' in page.text
    assert f'href="http://localhost/claims/{job.id}"' in page.text


def test_a_result_shows_the_claim_as_it_was_written(client: Client) -> None:
    job = client.sent(f"Claim: {CLAIM} <b>")
    client.worker.finish(job, claim_document(CLAIM) | {"claim_as_written": job.claim})
    page = client.get(f"/claims/{job.id}").text
    assert f"As it was written: “Claim: {CLAIM} <b>”" in words(page)
    assert f"Claim: {CLAIM} <b>" not in page


def test_a_sentence_stands_once_in_its_document_with_its_neighbours(page_of: PageOf) -> None:
    page = page_of(claim_document(CLAIM, "REFUTES"))
    evidence = page.split('id="evidence"')[1].split("</section>")[0]
    best = "It was built in 1874 by the engineer Ida Holm, who lived in it until her death."
    assert re.findall(r'id="evidence-(\d)"', evidence) == ["3", "1", "2", "4"]
    assert re.findall(r'<mark class="(\w+)">(.*?)</mark>', evidence) == [
        ("unsettled", "The Lighthouse of Varn stands on a rock off the coast of Ostrea."),
        ("refuted", best),
        ("refuted", "Ida Holm (1831 to 1899) was an Ostrean engineer."),
    ]
    assert evidence.count(best) == 1
    # The best sentence had a part in the verdict with two on each side, which are shown.
    assert "</mark> Its lamp is seen from forty kilometres. A storm took the gallery" in evidence
    text = words(evidence)
    assert "Refutes" in text
    assert "93% sure" in text
    assert "2 more documents read Opened, without a sentence" in text
    # The source opens at the sentence.
    assert "/Ida_Holm#:~:text=Ida%20Holm%20%281831%20to,was%20an%20Ostrean%20engineer." in page
    assert "Ostrea, from en.wikipedia.org" in text


def test_the_passages_of_a_file_are_counted_as_one_document(page_of: PageOf) -> None:
    result = document_with_passages()  # two passages of a report decide it, and it has two others
    assert "2 more documents read" in words(page_of(result))  # an article, other rules
    result["documents"] = [one for one in result["documents"] if "report" in one["id"]]
    result["evidence"] = [one for one in result["evidence"] if "report" in one["document"]]
    assert "More that was read of these documents" in words(page_of(result))


Said = dict[str, dict[str, list[str]]]


def made(builder: str, *arguments: Any, changes: list[tuple[str, Any]]) -> dict[str, Any]:
    """Return the result of a builder with other values at these places, such as hops.-1.missing."""
    result: dict[str, Any] = getattr(claim_documents, builder)(*arguments)
    for place, value in changes:
        *parents, last = place.split(".")
        at: Any = result
        for key in parents:
            at = at[int(key)] if isinstance(at, list) else at[key]
        at[int(last) if isinstance(at, list) else last] = value
    return result


@cases("result_texts", "result", "changes", "said")
def test_a_result_is_told_in_these_words(
    page_of: PageOf, result: list[Any], changes: list[tuple[str, Any]], said: Said
) -> None:
    """``said``: of each part of a form what is shown, absent, shown once, in this order, or all."""
    document = made(*result, changes=changes)
    page, markdown = page_of(document), page_of(document, "md")
    _, _, evidence = page.partition('id="evidence"')
    texts = {
        "page": page,
        "unmarked": re.sub("</?mark.*?>", "", page),
        "words": words(page),
        "verdict": words(page.partition('id="verdict"')[2].partition("</section>")[0]),
        "evidence": words(evidence),
        "first source": words(evidence.partition("</details>")[0]),
        "close": evidence.partition('<details class="more"')[0],
        "trail": page.partition('id="search"')[2],
        "judges": page.partition('id="opinions"')[2],
        "md": markdown,
        "hops": markdown.partition("## Rounds of search\n\n")[2].partition("\n\nChecked by")[0],
        "terminal": " ".join(as_text(ClaimResult.model_validate(document)).split()),
    }
    shown, absent, once, order, whole = (
        [(form, one) for form, several in said.get(how, {}).items() for one in several]
        for how in ("shown", "absent", "once", "order", "whole")
    )
    assert [(form, one) for form, one in shown if one not in texts[form]] == []
    assert [(form, one) for form, one in absent if one in texts[form]] == []
    assert [(form, one) for form, one in once if texts[form].count(one) != 1] == []
    assert [texts[form] for form, _ in whole] == [one for _, one in whole]
    places = [texts[form].index(one) for form, one in order]
    assert places == sorted(places)

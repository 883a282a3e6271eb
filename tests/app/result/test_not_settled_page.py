"""What the page and the files say of a claim that is not settled, or that makes two statements."""

from __future__ import annotations

from typing import Any

from cli.claim_text import as_text
from retrieval.result import ClaimResult
from tests.app.claim_documents import claim_document, statement
from tests.app.conftest import PageOf
from tests.app.test_pages import words

CLAIM = "Ostrea <i>lies</i> at Lake Zorbl."


def undecided(**not_settled: Any) -> dict[str, Any]:
    why = {"absent": [], "open": [], "about": []} | not_settled
    return claim_document(CLAIM, "NOT ENOUGH INFO", 0.9) | {"not_settled": why}


def span(text: str) -> list[int]:
    return [CLAIM.index(text), CLAIM.index(text) + len(text)]


def verdict_of(page: str) -> str:
    return words(page.split('id="verdict"')[1].split("</section>")[0])


def test_a_name_that_no_text_has_is_said_first_and_the_edit_begins_with_it(page_of: PageOf) -> None:
    result = undecided(absent=[span("Lake Zorbl")], open=[span("<i>lies</i>")])
    page = page_of(result)
    said = "“Lake Zorbl” occurs in none of the texts that were searched."
    assert f"Not settled. {said}" in verdict_of(page)
    assert "Add documents to search" in page
    assert said in page_of(result, "md")
    assert said in " ".join(as_text(ClaimResult.model_validate(result)).split())


def test_open_parts_are_quoted_beside_an_undecided_verdict_only(page_of: PageOf) -> None:
    result = undecided(open=[span("<i>lies</i>")], about=["Ostrea"])
    said = "“Ostrea” says nothing about “<i>lies</i>”."
    assert said in verdict_of(page_of(result))
    result["verdict"] |= {"label": "REFUTES"}
    assert "says nothing about" not in words(page_of(result))


def test_the_document_that_the_claim_is_about_comes_first_with_all_that_was_read_of_it(
    page_of: PageOf,
) -> None:
    page = page_of(undecided(about=["Ostrea"]))
    assert "Not settled. “Ostrea” " in verdict_of(page)
    first = words(page.split('id="evidence"')[1].split("</details>")[0])
    assert "All that was read of Ostrea" in first


def test_a_document_that_shares_no_name_with_the_claim_is_not_shown_as_close(
    page_of: PageOf,
) -> None:
    page = page_of(undecided(about=["Ida Holm"]))
    assert "No text that was found is about it." in verdict_of(page)
    close = page.split('id="evidence"')[1].split('<details class="more"')[0]
    assert '<bdi class="title">Ida Holm' not in close


def of_two_statements() -> dict[str, Any]:
    """The second sentence speaks about both statements, and says different things of them."""
    first, second = (
        statement("One.", 0, 3, "SUPPORTS", [1, 2]),
        statement("Two.", 4, 6, "REFUTES", [2]),
    )
    for one, said in ((first, [(1, "SUPPORTS"), (2, "SUPPORTS")]), (second, [(2, "REFUTES")])):
        one["evidence"] = [
            {"evidence": number, "stance": stance, "stance_confidence": 0.75}
            for number, stance in said
        ]
    return claim_document(CLAIM, "REFUTES") | {"statements": [first, second]}


def test_evidence_stands_under_its_statement_with_what_it_says_of_each(page_of: PageOf) -> None:
    page = page_of(of_two_statements())
    text = words(page.split('id="evidence"')[1])
    assert text.index("Statement 1: One.") < text.index("Supports")
    assert "Supports 75% · Statement 2 Refutes 75%" in text
    assert "Statement 2: Two." not in text  # its only sentence stands above
    assert 'id="statement-2"' in page
    assert '<li class="evidence supported refuted">' in page  # shown where one of both is chosen
    assert "Two. Refuted · 90% sure" in verdict_of(page)
    markdown = page_of(of_two_statements(), "md")
    assert "Statement 1: supports (75%).\n   Statement 2: refutes (75%)." in markdown
    shown = as_text(ClaimResult.model_validate(of_two_statements()))
    assert "[supports, 75% (statement 1), refutes, 75% (statement 2)]" in " ".join(shown.split())


def test_how_much_was_read_is_said_in_the_trail_and_not_as_a_notice(page_of: PageOf) -> None:
    said = "Only the first 310 words of the sentences were read together."
    result = undecided() | {"notices": [said, "Something else."]}
    page = page_of(result)
    assert page.count(said) == 1
    assert said in page.split('id="search"')[1]
    assert 'class="notice" dir="auto">Something else.' in page
    assert f'class="notice" dir="auto">{said}' not in page

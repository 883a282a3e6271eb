"""The line that answers a claim, the sentence beside it, and what opposes the verdict."""

from __future__ import annotations

import re
from typing import Any

from app.result.answer import FIXED, Answer, answer_of
from retrieval.result import ClaimResult
from tests.app.claim_documents import claim_document
from tests.app.conftest import PageOf
from tests.support.cases import cases

_WORD = re.compile(r"[\w.,'-]*\w")
OPPOSITE = {"SUPPORTS": "REFUTES", "REFUTES": "SUPPORTS"}


def document_of(case: dict[str, Any]) -> dict[str, Any]:
    """Return the result of a case, each sentence of which is a document of its own."""
    result = claim_document(case["claim"], case["label"], case["confidence"])
    like = result["evidence"][0]
    leans = case.get("leans")
    result["evidence"], result["documents"] = [], []
    for number, (title, sentence, stance, *together) in enumerate(case["found"], 1):
        name = f"{title} {number}"
        result["evidence"].append(
            like
            | {"document": name, "title": title, "sentence": sentence, "stance": stance}
            | {"start": 0, "end": len(sentence), "selected": True, "sentence_id": 0}
            | {"stance_together": together[0] if together else None, "context_after": None}
        )
        read = {"id": name, "title": title, "url": None, "score": 1.0, "found_by": ["title"]}
        result["documents"].append(read | {"hop": 1, "text": sentence})
    said = OPPOSITE.get(leans or case["label"])
    against = [n for n, one in enumerate(result["evidence"], 1) if one["stance"] == said]
    result["verdict"] |= {"leans": leans, "disagreement": against}
    if "rationale" in case:
        judge = result["verdict"]["judge"] + " + quantities"
        result["verdict"] |= {"rationale": case["rationale"], "judge": judge}
    return result


def undecided(claim: str, left_open: list[str], document: list[str]) -> dict[str, Any]:
    title, text = document
    result = claim_document(claim, "NOT ENOUGH INFO", 0.9)
    spans = [[claim.index(words), claim.index(words) + len(words)] for words in left_open]
    read = {"id": title, "title": title, "url": None, "score": 1.0, "found_by": ["title"]}
    result["documents"], result["evidence"] = [read | {"hop": 1, "text": text}], []
    return result | {"not_settled": {"absent": [], "open": spans, "about": [title]}}


def said_words(text: str) -> set[str]:
    return {word.casefold() for word in _WORD.findall(text)}


def assert_nothing_is_invented(answer: Answer, result: ClaimResult) -> None:
    """Each word is one of the claim, of the evidence or its title, or of a fixed phrase."""
    claim = said_words(result.claim)
    evidence = said_words(
        " ".join(
            [item.title + " " + item.sentence for item in result.evidence]
            + [document.title for document in result.documents]
        )
    )
    fixed = said_words(" ".join(FIXED))
    assert said_words(answer.text + " " + answer.lacking) <= claim | evidence | fixed
    for bit in (*answer.bits, *answer.lacks):
        known = {"claim": claim, "evidence": evidence | claim | fixed, "fixed": fixed}
        assert said_words(bit.text) <= known[bit.origin], bit


@cases("answers", "result", "answer", "quoted", "against")
def test_a_claim_is_answered_in_a_line_beside_a_sentence_and_what_opposes(
    result: dict[str, Any], answer: str, quoted: int, against: int | None
) -> None:
    shown = ClaimResult.model_validate(document_of(result))
    found = answer_of(shown)
    assert found.text == answer
    assert found.quoted is not None
    assert found.quoted.rank == quoted
    assert (found.against and found.against.rank) == against
    assert_nothing_is_invented(found, shown)


@cases("lacking", "claim", "left_open", "document", "lacks", "closest")
def test_a_claim_that_is_not_settled_says_what_its_document_lacks(
    claim: str, left_open: list[str], document: list[str], lacks: str, closest: str | None
) -> None:
    result = ClaimResult.model_validate(undecided(claim, left_open, document))
    answer = answer_of(result)
    assert answer.text == "Not settled."
    assert answer.lacking == lacks
    assert (answer.quoted and answer.quoted.sentence) == closest
    assert_nothing_is_invented(answer, result)


def test_only_what_opposes_is_counted_coloured_and_quoted(page_of: PageOf) -> None:
    found = [
        ["Banana", "A banana is by its botany a berry.", "SUPPORTS"],
        ["Fruit", "Bananas and other berries have seeds.", "SUPPORTS"],
        ["Plantain", "Plantains are bananas, and berries.", "SUPPORTS"],
        ["Cooking banana", "Cooking bananas are starchy.", "REFUTES"],
    ]
    case = {"claim": "Bananas are berries.", "label": "SUPPORTS", "confidence": 0.9}
    page = page_of(document_of(case | {"found": found}))
    assert "3 support</p>" in page
    assert page.count('<i class="supported">') == 3
    sources = page.split('id="evidence"')[1].split('id="search"')[0]
    assert "Cooking bananas" in sources
    assert "refute" not in sources.lower()


def test_two_sentences_need_no_meter(page_of: PageOf) -> None:
    found = [
        ["Pier", "The pier is of oak.", "SUPPORTS"],
        ["Oak", "The pier is of oak.", "SUPPORTS"],
    ]
    case = {"claim": "The pier is of oak.", "label": "SUPPORTS", "confidence": 0.9}
    assert 'class="scale"' not in page_of(document_of(case | {"found": found}))


def test_words_of_claim_and_evidence_are_escaped_in_the_answer(page_of: PageOf) -> None:
    case = {
        "claim": "The <i>Varn</i> sank on 12 May 1912.",
        "label": "REFUTES",
        "confidence": 0.9,
        "found": [["<b>Varn</b>", "The i Varn i sank on 15 April 1912.", "REFUTES"]],
    }
    block = page_of(document_of(case)).split('id="verdict"')[1].split('class="acts"')[0]
    assert "<i>" not in block
    assert "<b>" not in block
    assert "15 April 1912" in block
    assert "&lt;b&gt;Varn&lt;/b&gt;" in block

"""What is said about a claim that a small corpus does not settle."""

from __future__ import annotations

from dataclasses import replace

from retrieval.corpora.corpus import Page
from retrieval.stages.ending import why_not_settled
from retrieval.stages.stage import ClaimState
from retrieval.text.english import EnglishParser
from retrieval.types import NOT_ENOUGH_INFO, Evidence, Mutation, Proof, Span
from tests.retrieval.index.in_memory_store import InMemoryStore
from tests.support.cases import cases
from tests.support.evidence import evidence, ranked

TEXTS = {
    "Varnby": "Varnby is a town at a lake. Its mayor is Ida Holm.",
    "Ostrea": "Ostrea is a country. Its towns are old.",
    "Brodric Bay": "It lies in the north.",
}
STORE = InMemoryStore([Page(title, title, None, text) for title, text in TEXTS.items()], None)
MAYOR = replace(evidence("Varnby", "Its mayor is Ida Holm."), selected=True)


def state(parser: EnglishParser, claim: str, *found: Evidence, still_open: str = "") -> ClaimState:
    """A claim after its search; ``still_open``: a part that the proof has left open."""
    start = claim.index(still_open)
    steps = (Mutation((start, start + len(still_open)), "independence", None),)
    proof = Proof(steps, NOT_ENOUGH_INFO) if still_open else None
    return ClaimState(claim, parser.parse(claim), evidence=found, proof=proof)


@cases("not_settled", "claim", "absent")
def test_a_name_that_no_document_contains_is_absent(
    parser: EnglishParser, claim: str, absent: list[str]
) -> None:
    why = why_not_settled(STORE, state(parser, claim))
    assert [claim[start:end] for start, end in why.absent] == absent


def test_a_longer_form_of_a_name_is_not_absent_if_a_sentence_is_about_it(
    parser: EnglishParser,
) -> None:
    made = state(parser, "Ida Varnby Holm is a mayor.", MAYOR)
    assert why_not_settled(STORE, made).absent == ()


@cases("not_settled", "claim", "still_open", "said")
def test_an_open_part_counts_if_it_has_a_word_that_no_sentence_has(
    parser: EnglishParser, claim: str, still_open: str, said: bool
) -> None:
    why = why_not_settled(STORE, state(parser, claim, MAYOR, still_open=still_open))
    assert [claim[start:end] for start, end in why.open] == ([still_open] if said else [])


def test_without_a_proof_the_words_that_no_sentence_has_count(parser: EnglishParser) -> None:
    claim = "Ida Holm keeps bees."
    spans = (Span("Ida Holm", 0, 8, "entity"), Span("bees", 15, 19, "noun chunk"))
    made = replace(state(parser, claim, MAYOR), spans=spans)
    assert [claim[start:end] for start, end in why_not_settled(STORE, made).open] == ["bees"]


def test_the_documents_that_the_claim_is_about_are_named(parser: EnglishParser) -> None:
    claim = "Varnby has nine towers."
    opened = (ranked("Ostrea", TEXTS["Ostrea"]), ranked("Varnby", TEXTS["Varnby"]))
    made = replace(state(parser, claim, still_open="Varnby"), documents=opened)
    why = why_not_settled(STORE, made)
    # What has a document of its own is not open.
    assert (why.about, why.open) == (("Varnby",), ())

from __future__ import annotations

from retrieval.corpora.corpus import Page
from retrieval.hops.mention_expander import MentionExpander
from retrieval.types import Span
from tests.encoders import WordEncoder
from tests.evidence import evidence
from tests.index.in_memory_store import InMemoryStore

STORE = InMemoryStore(
    [
        Page("Lamp", "Lamp", None, "A lamp gives light."),
        Page("Ann_Lee", "Ann Lee", None, "Ann Lee is an inventor."),
        Page("Lee", "Lee", None, "Lee is a name."),
        Page("Oslo", "Oslo", None, "Oslo is a city."),
    ],
    WordEncoder(),
)
LAMP = Span("The lamp", 0, 8, "noun chunk")


def mentioned(text: str, *seen: str) -> list[tuple[str, int]]:
    expander = MentionExpander(STORE)
    found = expander.run([LAMP], [evidence("Lamp", text)], seen, 2)["candidates"]
    return [(candidate.document_id, candidate.hop) for candidate in found]


def test_titles_in_the_evidence_lead_on_longer_names_first() -> None:
    assert mentioned("It was built in Oslo by Ann Lee.") == [
        ("Ann_Lee", 2),
        ("Oslo", 2),
        ("Lee", 2),
    ]


def test_what_was_read_before_is_not_read_again() -> None:
    assert mentioned("It was built in Oslo by Ann Lee.", "Ann_Lee", "Lee") == [("Oslo", 2)]


def test_what_the_claim_names_itself_was_looked_up_before() -> None:
    assert mentioned("The lamp is old.") == []


def test_evidence_without_names_leads_nowhere() -> None:
    assert mentioned("it is very bright") == []


def test_the_number_of_documents_is_bounded() -> None:
    expander = MentionExpander(STORE, limit=1)
    found = expander.run([], [evidence("Lamp", "Ann Lee left Oslo.")], (), 3)["candidates"]
    assert [candidate.document_id for candidate in found] == ["Ann_Lee"]

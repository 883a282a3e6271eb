from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from retrieval.corpora.corpus import Page
from retrieval.stages.find.next import MentionExpander
from retrieval.types import Span, TitleMatch
from tests.retrieval.index.in_memory_store import InMemoryStore
from tests.support.encoders import WordEncoder
from tests.support.evidence import evidence

PAGES = [
    Page("Lamp", "Lamp", None, "A lamp gives light."),
    Page("Ann_Lee", "Ann Lee", None, "Ann Lee is an inventor."),
    Page("Lee", "Lee", None, "Lee is a name."),
    Page("Oslo", "Oslo", None, "Oslo is a city."),
    Page("Danish", "Danish language", None, "Danish is spoken in Denmark."),
    Page("FC", "Everby F.C.", None, "Everby F.C. is a club."),
    Page("iLamp", "iLamp", None, "The iLamp is a lamp."),
    Page("Rowan", "Rowan (film)", None, "Rowan is a film."),
]
STORE = InMemoryStore(PAGES, WordEncoder())
LAMP = Span("The lamp", 0, 8, "noun chunk")


def mentioned(text: str, *seen: str) -> list[tuple[str, int]]:
    expander = MentionExpander(STORE, leads=5, limit=10)
    found = expander.mentioned([LAMP], [evidence("Lamp", text)], seen, 2)
    return [(candidate.document_id, candidate.hop) for candidate in found]


def test_titles_in_the_evidence_lead_on_longer_names_first() -> None:
    assert mentioned("It was built in Oslo by Ann Lee.") == [
        ("Ann_Lee", 2),
        ("Oslo", 2),
        ("Lee", 2),
    ]


def test_a_title_may_end_in_a_common_word_or_a_full_stop_and_begin_small() -> None:
    found = mentioned("He learnt the Danish language at Everby F.C., before the iLamp.")
    assert sorted(document for document, _ in found) == ["Danish", "FC", "iLamp"]


def test_a_title_may_lack_its_words_in_parentheses() -> None:
    assert mentioned("He saw Rowan in a cinema.") == [("Rowan", 2)]


def test_a_part_of_a_title_is_no_title() -> None:
    assert mentioned("He is Danish and lives in Everby.") == []


def test_what_was_read_before_is_not_read_again() -> None:
    assert mentioned("It was built in Oslo by Ann Lee.", "Ann_Lee", "Lee") == [("Oslo", 2)]


def test_what_the_claim_names_itself_was_looked_up_before() -> None:
    assert mentioned("The lamp is old.") == []


def test_evidence_without_names_leads_nowhere() -> None:
    assert mentioned("it is very bright") == []


def test_a_link_leads_on_before_any_mention_and_to_no_other_page_of_that_name() -> None:
    item = evidence("Lamp", "It was made by her in Oslo.")
    linked = replace(item.sentence, links=("Ann Lee", "Nowhere", "Rowan"))
    expander = MentionExpander(STORE, leads=5, limit=10)
    found = expander.mentioned([], [replace(item, sentence=linked)], (), 2)
    assert [(candidate.document_id, candidate.found_by) for candidate in found] == [
        ("Ann_Lee", ("link",)),
        ("Oslo", ("mention",)),
    ]


def test_the_store_is_asked_once_and_each_document_is_led_by_the_first_that_names_it() -> None:
    asked: list[Sequence[str]] = []

    class Noting(InMemoryStore):
        def title_matches(self, names: Sequence[str]) -> list[TitleMatch]:
            asked.append(names)
            return super().title_matches(names)

    first = evidence("Lamp", "Oslo is lit by the iLamp.")
    second = evidence("iLamp", "Ann Lee left Oslo.")
    linked = replace(second, sentence=replace(second.sentence, links=("Rowan (film)", "Lamp")))
    expander = MentionExpander(Noting(PAGES, None), leads=5, limit=10)
    found = expander.mentioned([], [first, linked], {"Lee"}, 2)
    assert [(c.document_id, c.found_by, c.led_by) for c in found] == [
        ("iLamp", ("mention",), first.key),
        ("Oslo", ("mention",), first.key),
        ("Rowan", ("link",), second.key),
        ("Lamp", ("link",), second.key),
        ("Ann_Lee", ("mention",), second.key),
    ]
    assert len(asked) == 1


def test_the_number_of_documents_is_bounded() -> None:
    expander = MentionExpander(STORE, leads=5, limit=1)
    found = expander.mentioned([], [evidence("Lamp", "Ann Lee left Oslo.")], (), 3)
    assert [candidate.document_id for candidate in found] == ["Ann_Lee"]


def test_title_generation_gets_the_titles_of_all_that_is_linked_or_named() -> None:
    item = evidence("Lamp", "It was shown in Rowan.")
    linked = replace(item, sentence=replace(item.sentence, links=("Oslo",)))
    assert MentionExpander(STORE, leads=5, limit=10).titled([linked]) == [
        ("Oslo", "Oslo"),
        ("Rowan", "Rowan (film)"),
    ]

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import replace
from typing import Any

from retrieval.models.encoders import Query
from retrieval.stages.read.paths import PathReader
from retrieval.types import Document, Evidence, RankedDocument, SentenceKey
from tests.support.evidence import document, evidence
from tests.support.opinions import Says


def echo() -> Says:
    """A model that finds everything fully supporting."""
    return Says(lambda *_: (1, 0, 0))


class Places:
    """Gives the same place of each sentence to every lead; none unless they are named."""

    def __init__(self, nearest: Sequence[SentenceKey] = ()) -> None:
        self.nearest = nearest
        self.asked: list[Query] = []

    def warm_up(self) -> None:
        pass

    def orders(
        self,
        queries: Sequence[Query],
        documents: Sequence[Document],
        sentences: Collection[SentenceKey],
    ) -> list[dict[SentenceKey, int]]:
        self.asked += queries
        return [{key: place for place, key in enumerate(self.nearest)} for _ in queries]


CLAIM = "The builder of the pier kept bees."
PIER = evidence("Pier", "It was built by Ann Lee.", 0.6)
BEES = evidence("Ann Lee", "She kept bees.", 0.1)
LAMP = evidence("Lamp", "It is bright.", 0.3)


def opened(title: str, led_by: SentenceKey | None) -> RankedDocument:
    return RankedDocument(document(title, "text"), 1.0, ("mention",), 2, led_by)


def read(
    model: Says,
    found: list[Evidence],
    everything: list[Evidence],
    documents: list[RankedDocument],
    leads: int = 1,
    neighbours: int = 5,
    before: Sequence[Evidence] = (),
    places: Places | None = None,
) -> list[Evidence]:
    nearness: Any = places or Places()
    reader = PathReader(model.model, nearness, leads, neighbours)
    return reader.read(CLAIM, found, everything, documents, list(before))


def test_a_sentence_is_read_with_the_one_that_led_to_its_document() -> None:
    model = echo()
    documents = [opened("Pier", None), opened("Ann Lee", PIER.key)]
    paths = read(model, [PIER], [PIER, BEES], documents, neighbours=1)
    assert model.asked == [
        (CLAIM, "Ann Lee : She kept bees. [SEP] Pier : It was built by Ann Lee.")
    ]
    assert [(p.key, p.path, p.score) for p in paths] == [(BEES.key, (PIER.key,), 1.0)]


def test_known_sentences_are_read_after_the_best_sentence_too_nearest_first() -> None:
    documents = [opened(title, None) for title in ("Pier", "Ann Lee", "Lamp")]
    paths = read(echo(), [PIER], [PIER, BEES, LAMP], documents)
    assert [p.key for p in paths] == [LAMP.key, BEES.key]


def test_sentences_near_to_claim_and_lead_are_read_before_those_with_higher_scores_alone() -> None:
    documents = [opened(title, None) for title in ("Pier", "Ann Lee", "Lamp")]
    oslo = evidence("Oslo", "It is a city.", 0.2)
    places = Places([BEES.key, PIER.key])
    everything = [PIER, BEES, LAMP, oslo]
    paths = read(echo(), [PIER], everything, documents, neighbours=2, places=places)
    # Alone PIER, LAMP, Oslo and Ann Lee say the most in this order; near are Ann Lee, PIER.
    assert [p.key for p in paths] == [BEES.key, LAMP.key]
    assert places.asked == [(CLAIM, [("Pier", "It was built by Ann Lee.")])]


def test_of_the_documents_that_a_lead_led_to_no_more_is_read_than_of_the_others() -> None:
    documents = [opened("Ann Lee", PIER.key), opened("Lamp", PIER.key)]
    paths = read(echo(), [PIER], [PIER, BEES, LAMP], documents, neighbours=1)
    assert [p.key for p in paths] == [LAMP.key]


def test_a_third_hop_reads_the_whole_path_from_its_end() -> None:
    model = echo()
    bees = replace(BEES, path=(PIER.key,))
    documents = [opened("Lamp", BEES.key)]
    everything = [PIER, BEES, LAMP]
    paths = read(model, [bees, PIER], everything, documents, neighbours=1, before=[bees])
    assert model.asked[0][1] == (
        "Lamp : It is bright. [SEP] Ann Lee : She kept bees. [SEP] Pier : It was built by Ann Lee."
    )
    assert paths[0].path == (PIER.key, BEES.key)


def test_a_lead_whose_path_only_the_verifier_read_leads_on_without_it() -> None:
    model = echo()
    bees = replace(BEES, path=(PIER.key,))
    documents = [opened("Lamp", BEES.key)]
    paths = read(model, [bees, PIER], [BEES, LAMP], documents)
    assert model.asked == [(CLAIM, "Lamp : It is bright. [SEP] Ann Lee : She kept bees.")]
    assert paths[0].path == (BEES.key,)


def test_no_path_leads_back_to_its_own_sentences() -> None:
    bees = replace(BEES, path=(PIER.key,))
    assert read(echo(), [bees], [PIER, BEES], [], before=[bees]) == []


def test_every_lead_has_candidates_of_its_own() -> None:
    paths = read(echo(), [PIER, LAMP], [PIER, BEES, LAMP], [], leads=2)
    assert sorted((p.path[0].document_id, p.key.document_id) for p in paths) == [
        ("Lamp", "Ann Lee"),
        ("Lamp", "Pier"),
        ("Pier", "Ann Lee"),
        ("Pier", "Lamp"),
    ]


def test_what_a_lead_led_to_takes_no_place_from_what_is_near() -> None:
    oslo, bell = evidence("Oslo", "It is a city.", 0.2), evidence("Bell", "It rings.", 0.4)
    documents = [opened("Ann Lee", PIER.key), opened("Oslo", PIER.key)]
    everything = [PIER, BEES, oslo, LAMP, bell]
    paths = read(echo(), [PIER], everything, documents, neighbours=1)
    assert [p.key for p in paths] == [oslo.key, bell.key]


def test_a_path_that_was_read_before_is_not_read_again() -> None:
    model = echo()
    first = read(model, [PIER], [PIER, BEES, LAMP], [], neighbours=1)
    second = read(model, [PIER], [PIER, BEES, LAMP], [], neighbours=1, before=first)
    assert [p.key for p in (*first, *second)] == [LAMP.key, BEES.key]


def test_without_evidence_there_is_no_path() -> None:
    assert read(echo(), [], [BEES], []) == []

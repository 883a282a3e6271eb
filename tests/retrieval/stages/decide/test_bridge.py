from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
import pytest

from retrieval.corpora.corpus import Page
from retrieval.recipes.config import RetrievalConfig
from retrieval.stages.decide.bridge import BridgeReader
from retrieval.state import ClaimState
from retrieval.types import NOT_ENOUGH_INFO, REFUTES, Evidence, Opinion
from tests.retrieval.index.in_memory_store import InMemoryStore
from tests.support.encoders import WordEncoder
from tests.support.evidence import evidence
from tests.support.opinions import Says
from tests.support.states import state_of

CLAIM = "The Rowan bridge was planned by a beekeeper."
BEST = replace(evidence("Ann Lee", "Ann Lee planned the Rowan bridge near Oslo."), selected=True)
HALL = evidence("Town hall", "Its bees were kept by Ann Lee.", 0.1)


def scripted(**opinions: Opinion) -> Says:
    """A model that gives opinions to the texts that contain a word; others are unrelated."""
    return Says(
        lambda _, text: next((row for word, row in opinions.items() if word in text), (0, 0, 1))
    )


def after(
    state: ClaimState,
    paths: Says,
    verifier: Says | None = None,
    pages: Sequence[Page] = (),
    limit: int = 5,
) -> ClaimState:
    store = InMemoryStore(
        [Page("Lamp", "Lamp", None, "A lamp gives light."), *pages], WordEncoder()
    )
    agreeing = verifier or scripted(Ann=(0.8, 0.1, 0.1))
    reader = BridgeReader(
        store, paths.model, agreeing.model, RetrievalConfig(selection_limit=limit)
    )
    return reader.run(state).state


def found(best: Evidence = BEST, *read: Evidence) -> ClaimState:
    return state_of(CLAIM, evidence=(best,), read=(best, *read))


def selected(state: ClaimState) -> list[str]:
    return [item.title for item in state.selected]


def test_a_sentence_that_names_the_page_of_the_best_one_is_selected_after_it() -> None:
    state = after(found(BEST, HALL), scripted(bees=(0.6, 0.0, 0.4)))
    assert selected(state) == ["Ann Lee", "Town hall"]
    (_, bridge) = state.evidence
    assert bridge.path == (BEST.key,)
    assert np.allclose(bridge.opinion, (0.8, 0.1, 0.1))
    assert state.readings[(BEST.key,), HALL.key] == bridge.opinion


def test_a_page_that_the_best_sentence_names_is_opened_and_read() -> None:
    oslo = Page("Oslo", "Oslo", None, "Oslo is a city. It has a beekeeper.")
    state = after(found(), scripted(beekeeper=(0.7, 0.0, 0.3)), pages=[oslo])
    assert selected(state) == ["Ann Lee", "Oslo"]
    assert [ranked.document.id for ranked in state.documents] == ["Oslo"]
    assert state.evidence[1].key in {item.key for item in state.read}
    assert state.passages == (state.evidence[1].key,)


def test_a_named_page_without_a_word_of_the_claim_is_opened_but_not_read() -> None:
    oslo = Page("Oslo", "Oslo", None, "Oslo is a city.")
    paths = scripted(city=(0.9, 0.0, 0.1))
    state = after(found(), paths, pages=[oslo])
    assert selected(state) == ["Ann Lee"]
    assert paths.asked == []
    assert [ranked.document.id for ranked in state.ranked_documents()] == ["Oslo"]
    assert state.seen == frozenset()  # the next hop may read it


UNSETTLED = replace(evidence("Ann Lee", BEST.sentence.text, stance=NOT_ENOUGH_INFO), selected=True)
STRANGER = evidence("Per Dahl", "Per Dahl was a beekeeper.", 0.4)


def test_a_sentence_of_no_linked_page_is_not_read_nor_any_where_none_settles_the_claim() -> None:
    for best, other in ((BEST, STRANGER), (UNSETTLED, HALL)):
        paths = scripted(bee=(0.9, 0.0, 0.1))
        assert selected(after(found(best, other), paths)) == ["Ann Lee"]
        assert paths.asked == []


AGREES, AGAINST = scripted(Ann=(0.8, 0.1, 0.1)), scripted(bees=(0.1, 0.8, 0.1))
REFUTED = replace(evidence("Ann Lee", BEST.sentence.text, stance=REFUTES), selected=True)
LEEWARD = evidence("Town hall", "The beekeeper met Ann Leeward.", 0.1)


@pytest.mark.parametrize(
    ("best", "other", "path", "verifier", "limit", "titles"),
    [
        (BEST, HALL, (0.9, 0, 0.1), AGREES, 5, ["Ann Lee", "Town hall"]),
        (BEST, HALL, (0.9, 0, 0.1), AGREES, 1, ["Ann Lee"]),  # there is no more room
        (BEST, HALL, (0.4, 0, 0.6), AGREES, 5, ["Ann Lee"]),  # the pair is hardly evidence
        (BEST, HALL, (0.9, 0, 0.1), AGAINST, 5, ["Ann Lee"]),  # it says something else
        (REFUTED, HALL, (0, 0.9, 0.1), AGAINST, 5, ["Ann Lee", "Town hall"]),
        (BEST, LEEWARD, (0.9, 0, 0.1), AGREES, 5, ["Ann Lee"]),  # a part of a word is no name
    ],
)
def test_a_pair_is_selected_if_it_is_evidence_that_agrees_with_the_best_sentence(
    best: Evidence,
    other: Evidence,
    path: Opinion,
    verifier: Says,
    limit: int,
    titles: list[str],
) -> None:
    state = after(found(best, other), scripted(bee=path), verifier, limit=limit)
    assert selected(state) == titles


def test_a_copy_of_the_best_sentence_is_no_bridge() -> None:
    copy = evidence("Town hall", BEST.sentence.text, 0.9)
    assert selected(after(found(BEST, copy), scripted(planned=(0.9, 0, 0.1)))) == ["Ann Lee"]


def test_evidence_stays_in_the_order_of_its_scores() -> None:
    surer, lesser = evidence("Pier", "It is long.", 0.95), evidence("Lamp", "It is bright.", 0.2)
    before = state_of(CLAIM, evidence=(BEST, surer, lesser), read=(BEST, HALL))
    state = after(before, scripted(bees=(0.6, 0.0, 0.4)))
    assert [item.title for item in state.evidence] == ["Ann Lee", "Pier", "Town hall", "Lamp"]


@pytest.mark.parametrize(
    ("title", "naming"),
    [
        ("The Lamps", "The beekeeper was one of the Lamps."),
        ("Zoë Rae", "The beekeeper met Zoe Rae."),
    ],
)
def test_articles_and_accents_of_a_name_do_not_matter(title: str, naming: str) -> None:
    best = replace(evidence(title, "They planned the Rowan bridge."), selected=True)
    other = evidence("Town hall", naming, 0.1)
    verifier = scripted(Rowan=(0.8, 0.1, 0.1))
    state = after(found(best, other), scripted(beekeeper=(0.9, 0, 0.1)), verifier)
    assert selected(state) == [title, "Town hall"]


def test_a_title_that_is_a_common_word_is_no_link() -> None:
    best = replace(evidence("It", "It has a Rowan bridge."), selected=True)
    other = evidence("Town hall", "It was planned by a beekeeper.", 0.1)
    paths = scripted(beekeeper=(0.9, 0, 0.1))
    assert selected(after(found(best, other), paths, scripted(Rowan=(0.8, 0.1, 0.1)))) == ["It"]

from __future__ import annotations

from dataclasses import replace

from retrieval.types import RankedDocument
from tests.support.evidence import evidence, ranked
from tests.support.states import state_of

SELECTED = replace(evidence("Pier", "It was built by Ann Lee."), selected=True)
OTHER = evidence("Lamp", "It is bright.")


def led_to(title: str) -> RankedDocument:
    return replace(ranked(title, "text"), led_by=SELECTED.key)


def test_documents_of_selected_sentences_come_first_then_those_they_led_to() -> None:
    state = state_of(
        "A claim.",
        documents=(ranked("Rest"), ranked("Lamp"), led_to("Ann Lee"), ranked("Pier")),
        evidence=(OTHER, SELECTED),
    )
    titles = [document.document.title for document in state.ranked_documents()]
    assert titles == ["Pier", "Ann Lee", "Lamp", "Rest"]

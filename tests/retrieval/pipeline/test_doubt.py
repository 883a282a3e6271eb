"""What a check makes of evidence that was copied, that disagrees or is about something else."""

from __future__ import annotations

from pathlib import Path

import pytest

from retrieval.corpora.sources import open_corpus
from retrieval.result import ClaimResult, claim_result
from retrieval.types import NOT_ENOUGH_INFO
from tests.support.retrievers import check, retriever_over

pytestmark = pytest.mark.models

PRESS = "The brewery of Holmstead has 120 employees."
LATER = "The brewery of Holmstead employs 45 people since its second hall was closed."


def checked(claim: str, texts: dict[str, str], folder: Path, unpacked: Path) -> ClaimResult:
    """Return what is found in a folder of these texts, by their titles."""
    source = folder / "texts"
    source.mkdir()
    for number, (title, text) in enumerate(texts.items()):
        (source / f"text{number}.txt").write_text(f"{title}\n\n{text}\n", encoding="utf-8")
    retriever = retriever_over(open_corpus(f"folder:{source}"), folder, unpacked)
    return claim_result(check(retriever, claim))


def test_copies_have_one_place_and_leave_one_for_the_text_that_contradicts_them(
    tmp_path: Path, unpacked: Path
) -> None:
    texts = {f"Morning paper {n}": PRESS for n in range(1, 8)}
    texts["Holmstead weekly"] = LATER
    result = checked("The brewery of Holmstead employs 120 people.", texts, tmp_path, unpacked)
    (press,) = [item for item in result.evidence if item.sentence == PRESS]
    assert (press.copies, press.stance, press.selected) == (7, "SUPPORTS", True)
    (later,) = [item for item in result.evidence if item.sentence == LATER]
    assert (later.copies, later.stance, later.selected) == (1, "REFUTES", True)
    verdict = result.verdict
    against = {"SUPPORTS": later, "REFUTES": press}[verdict.leans or verdict.label]
    assert [result.evidence[number - 1] for number in verdict.disagreement] == [against]


def test_a_text_about_another_town_does_not_decide(tmp_path: Path, unpacked: Path) -> None:
    texts = {
        "Varnby": "Varnby is the capital of the northern part of the island.",
        "Holmstead": "Holmstead is the capital of the southern part of the island.",
    }
    result = checked("Ellesund is the capital of the island.", texts, tmp_path, unpacked)
    assert result.verdict.label == NOT_ENOUGH_INFO
    assert {item.stance for item in result.evidence} <= {NOT_ENOUGH_INFO}

"""Sentences that say something else without their neighbours, from the file to the terminal."""

from __future__ import annotations

from pathlib import Path

import pytest

from cli.claim_text import as_text
from retrieval.corpora.sources import open_corpus
from retrieval.pipeline.assembly import Retriever
from retrieval.result import ClaimResult, claim_result
from tests.support.retrievers import check, retriever_over

pytestmark = pytest.mark.models

FACT_CHECK = """\
<!doctype html><html><head><title>Fact check: the fish market of Ostrell</title></head><body>
<article><h1>Fact check: the fish market of Ostrell</h1>
<p><b>Claim:</b> The mayor of Ostrell sold the fish market to a bank.</p>
<p><b>Rating:</b> False</p>
<p>The land register names the town as the owner.</p></article></body></html>
"""
BRIDGE = "# The Calder bridge\n\nWas the Calder bridge safe in 1990? No.\n"
TOWER = """\
# The tower of Varn

A guide said that the tower of Varn is 90 metres high. In fact it is 60 metres high.
"""


@pytest.fixture(scope="module")
def town(tmp_path_factory: pytest.TempPathFactory, unpacked: Path) -> Retriever:
    folder, home = tmp_path_factory.mktemp("town"), tmp_path_factory.mktemp("home")
    for name, text in {"market.html": FACT_CHECK, "bridge.md": BRIDGE, "tower.md": TOWER}.items():
        (folder / name).write_text(text, encoding="utf-8")
    return retriever_over(open_corpus(f"folder:{folder}"), home, unpacked)


def checked(town: Retriever, claim: str) -> ClaimResult:
    return claim_result(check(town, claim))


def texts(result: ClaimResult) -> dict[str, str]:
    return {document.id: document.text for document in result.documents}


@pytest.mark.parametrize(
    ("claim", "document", "before", "sentence"),
    [
        (
            "The mayor of Ostrell sold the fish market to a bank.",
            "market.html",
            "Claim: The mayor of Ostrell sold the fish market to a bank.",
            "Rating: False",
        ),
        (
            "The Calder bridge was safe in 1990.",
            "bridge.md",
            "Was the Calder bridge safe in 1990?",
            "No.",
        ),
        (
            "The tower of Varn is 90 metres high.",
            "tower.md",
            "A guide said that the tower of Varn is 90 metres high.",
            "In fact it is 60 metres high.",
        ),
    ],
)
def test_what_is_read_together_is_shown_together(
    town: Retriever, claim: str, document: str, before: str, sentence: str
) -> None:
    result = checked(town, claim)
    # One of the two sentences, each the other's context: that which says what is so.
    best = result.selected[0]
    assert (best.document, best.context_before, best.sentence) == (document, before, sentence)
    assert best.context_after is None
    assert f"{before} {sentence}" in result.verdict.rationale
    assert before in texts(result)[document]
    assert not [item for item in result.evidence if item.sentence == before]
    assert f"[{before}] {sentence}" in " ".join(as_text(result).split())


def test_the_answer_decides_what_a_question_only_mentions(town: Retriever) -> None:
    assert checked(town, "The Calder bridge was safe in 1990.").verdict.label == "REFUTES"


def test_a_sentence_that_says_all_by_itself_has_no_context(town: Retriever) -> None:
    result = checked(town, "The town owns the fish market of Ostrell.")
    owner = "The land register names the town as the owner."
    (item,) = [item for item in result.evidence if item.sentence == owner]
    assert (item.context_before, item.context_after) == (None, None)

"""Corpora and claims that nobody hopes for: every recipe answers, and in bounded time."""

from __future__ import annotations

import re
import time
from collections.abc import Iterable
from pathlib import Path

import pytest

from retrieval.corpora.corpus import Page
from retrieval.corpora.sources import open_corpus
from retrieval.index.embedded.embedded_index import EmbeddedIndex
from retrieval.models.folders import ModelFolders
from retrieval.pipeline.assembly import Retriever
from retrieval.result import claim_result
from tests.retrieval.index.pages import ListCorpus
from tests.support.json_lines import write_json_lines
from tests.support.retrievers import check, retriever_over
from tests.support.shipped_recipes import SHIPPED

pytestmark = pytest.mark.models

SECONDS = 60.0  # far more than any claim takes here, far less than what is not bounded
LONG = "The harbour wall of Ostrell was mended again, " * 80 + "and so it stands."
CORPORA = {
    "one document": [("Ostrell", "Ostrell is a harbour town. It was founded by Ida Holm.")],
    "no titles": [("", "Ostrell is a harbour town."), ("", "It was founded by Ida Holm.")],
    "one title for all": [("Ostrell", f"Ostrell is harbour number {n}.") for n in range(2000)],
    "one name for all": [(f"Ostrell ({n})", f"It is harbour number {n}.") for n in range(2000)],
    "prefixes and brackets": [
        ("Ostrell", "Ostrell is a harbour town."),
        ("Ostrell (song)", "Ostrell is a song by Ida Holm."),
        ("Ostrell (", "Ostrell is a fragment."),
        ("Ostrell [draft] (song) (live)", "Ostrell is a recording."),
        ("Ostrell Harbour", "Ostrell Harbour was built by Ida Holm."),
        ("Ida Holm", "Ida Holm was an engineer."),
    ],
    "evidence longer than any window": [("Ostrell", LONG), ("Ida Holm", f"Ida Holm. {LONG}")],
}
CLAIMS = {
    "one word": "Ostrell",
    "two pages": "The founder of Ostrell was an engineer.",
    "sixty words": " ".join(["Ostrell was founded by Ida Holm and"] * 8) + " it is a harbour.",
}


@pytest.fixture(scope="module", params=CORPORA)
def odd(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory, unpacked: Path
) -> Retriever:
    return opened(CORPORA[request.param], tmp_path_factory.mktemp("odd"), unpacked)


def opened(pages: Iterable[tuple[str, str]], folder: Path, unpacked: Path) -> Retriever:
    records = ({"id": f"p{n}", "title": t, "text": text} for n, (t, text) in enumerate(pages))
    source = write_json_lines(folder / "pages.jsonl", *records)
    return retriever_over(open_corpus(f"jsonl:{source}"), folder, unpacked)


# Every recipe with one claim, every claim with one recipe.
@pytest.mark.parametrize(
    ("claim", "recipe"),
    [("two pages", name) for name in SHIPPED]
    + [(name, "combined") for name in CLAIMS if name != "two pages"],
)
def test_every_recipe_answers_in_bounded_time(odd: Retriever, claim: str, recipe: str) -> None:
    odd.warm_up()
    started = time.monotonic()
    document = claim_result(check(odd, CLAIMS[claim], recipe)).document()
    assert time.monotonic() - started < SECONDS
    texts = {entry["id"]: entry["text"] for entry in document["documents"]}
    for item in document["evidence"]:
        assert texts[item["document"]][item["start"] : item["end"]] == item["sentence"]
    for step in document["proof"]:
        assert document["claim"][slice(*step["claim_span"])].strip()
        if step["evidence"]:
            name, _, start, end = step["evidence"]
            assert texts[name][start:end].strip()


def test_a_notice_says_that_evidence_was_too_long_for_a_model(
    tmp_path: Path, unpacked: Path
) -> None:
    retriever = opened([("Ostrell", LONG), ("Runde", "Runde is an isle.")], tmp_path, unpacked)
    (notice,) = check(retriever, "The harbour wall of Ostrell was mended.", "esoteric").notices
    number = re.fullmatch(r"Only the first (\d+) words of the sentences were read .*", notice)
    assert number is not None
    assert 100 < int(number[1]) < len(LONG.split())
    assert check(retriever, "Runde is an isle.", "esoteric").notices == ()


def test_a_notice_says_that_an_index_has_no_vectors(tmp_path: Path, unpacked: Path) -> None:
    corpus = ListCorpus((Page("Runde", "Runde", None, "Runde is an isle."),))
    EmbeddedIndex(tmp_path / "index").build(corpus, None)
    retriever = Retriever(tmp_path / "index", tmp_path, threads=2, folders=ModelFolders(unpacked))
    for recipe in ("combined", "m3"):
        (notice,) = check(retriever, "Runde is an isle.", recipe).notices
        assert "The index has no vectors yet" in notice


def test_a_claim_in_another_script_that_is_longer_than_the_window_is_answered(
    tmp_path: Path, unpacked: Path
) -> None:
    retriever = opened(CORPORA["one document"], tmp_path, unpacked)
    for recipe in SHIPPED:
        assert check(retriever, "灯台" * 240, recipe).claim == "灯台" * 240

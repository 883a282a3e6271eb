"""What all stores do alike in a build: plans, reading on after an interruption, descriptions."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest

from retrieval.corpora.corpus import BadPage, Chunk, Page
from retrieval.errors import IndexUnavailable
from retrieval.index.building import Plan, pages_in, read, updates
from retrieval.index.embedded.layout import write_meta
from retrieval.index.formats.description import Description
from retrieval.index.interface import BuildProgress
from retrieval.index.open import description_of
from tests.app.index import description_file
from tests.retrieval.index.pages import PAGES, ListCorpus
from tests.support.encoders import WordEncoder

# Of 256, 256 and 88 pages.
CORPUS = ListCorpus(tuple(Page(f"p{n}", f"Page {n}", None, "A page.") for n in range(600)))
NOTES = Description(name="notes", source="folder:/notes", encoder="words", documents=3)


def first_id() -> Callable[[Chunk], str]:
    return lambda chunk: pages_in(chunk)[0][0].id


def test_chunks_that_an_earlier_try_has_finished_are_counted_but_not_made_again() -> None:
    reported: list[BuildProgress] = []
    made = list(read(CORPUS, 1, first_id, 1, reported.append, lambda: 7))
    assert made == ["p256", "p512"]
    assert reported == [
        BuildProgress("reading", 0, 600, 0),
        BuildProgress("reading", 512, 600, 7),
        BuildProgress("reading", 600, 600, 7),
    ]


def test_the_same_change_has_the_same_plan_and_another_has_another() -> None:
    plans = [
        Plan.build(ListCorpus(), WordEncoder()),
        Plan.build(ListCorpus(), None),
        Plan.build(ListCorpus(content="2"), WordEncoder()),
        Plan.addition(ListCorpus(), WordEncoder()),
        Plan.vectors(WordEncoder()),
        Plan.removal(["Zoe"]),
    ]
    assert plans[0] == Plan.build(ListCorpus(), WordEncoder())
    assert len({plan.digest(format=1) for plan in plans}) == len(plans)
    assert plans[0].digest(format=1) != plans[0].digest(format=2)
    assert plans[0].work == "a build of list"


def test_pages_that_cannot_be_read_are_kept_apart() -> None:
    bad = BadPage("line 2: not JSON.", "Correct it.")
    assert pages_in([PAGES[0], bad, PAGES[1]]) == ([PAGES[0], PAGES[1]], [bad])


def test_a_build_updates_an_index_of_the_same_kind_of_source_and_encoder_only() -> None:
    newer = ListCorpus(source="folder:/newer notes")
    assert updates(NOTES, newer, WordEncoder())
    assert not updates(NOTES, newer, None)
    assert not updates(NOTES, ListCorpus(source="vital"), WordEncoder())


def test_a_description_is_read_from_an_index_of_any_format(tmp_path: Path) -> None:
    path = description_file(tmp_path)
    with pytest.raises(IndexUnavailable, match="There is no index yet"):
        description_of(tmp_path / "index")
    path.parent.mkdir(parents=True)
    write_meta(path.parent, NOTES)
    assert description_of(tmp_path / "index") == NOTES
    path.write_text(json.dumps({"format": 0, "name": "notes", "source": "list", "pages": 3}))
    assert description_of(tmp_path / "index") == Description(name="notes", source="list")

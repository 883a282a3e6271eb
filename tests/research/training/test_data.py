"""What is read, and what is held out: nothing of a dev claim's pages is read in training."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from research.training.data import TrainingData, load_data
from research.training.sentence_pool import OTHERS, PoolSentence, SentencePool, kept_array
from retrieval.corpora.corpus import Page
from retrieval.errors import BadSource
from tests.research.training.pages import fever_page, pool_of
from tests.retrieval.index.pages import ListCorpus
from tests.support.encoders import WordEncoder
from tests.support.json_lines import write_json_lines

PAGES = {
    "Elm_Pier": ["Elm Pier is a pier of oak .", "It burnt down in a storm ."],
    "Ash_Lamp": ["Ash Lamp is a lamp on Elm Pier .", "Its light is green ."],
    "Fir_Boat": ["Fir Boat is a boat of pine .", "It carried wool to Norway ."],
    "Yew_Hill": [
        "Yew Hill is a hill of chalk .",
        "Sheep graze there in summer .",
        "A king is said to lie below it .",
        "Its highest point has a stone cross .",
        "Nobody lives on it .",
    ],
}


DEV = [("Elm Pier is made of oak.", "SUPPORTS", "Elm_Pier")]
TRAIN = [
    ("Ash Lamp is a boat.", "REFUTES", "Ash_Lamp"),
    ("Elm Pier is made of iron.", "REFUTES", "Elm_Pier"),
    ("Elm Pier was painted by Ida Holm.", "NOT ENOUGH INFO", None),
    ("Fir Boat was painted by Ida Holm.", "NOT ENOUGH INFO", None),
]


ONE_PAGE = ["Fir Boat", "Elm Pier"]


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("data")
    pages = (fever_page(page, *told) for page, told in PAGES.items())
    write_json_lines(folder / "fever-dev/wiki-pages/wiki-001.jsonl", *pages)
    for name, claims in (("dev", DEV), ("train", TRAIN)):
        records = (fever(n, *claim) for n, claim in enumerate(claims))
        write_json_lines(folder / f"fever-dev/{name}.jsonl", *records)
    union: dict[str, Any] = {"claim": "Fir Boat is a boat.", "label": "SUPPORTS"}
    union["evidence_union"] = [["Fir_Boat", 0]]
    write_json_lines(folder / "fever-dev/train-union.jsonl", union)
    write_json_lines(folder / "fm2/train.jsonl", *map(of_one_page, ONE_PAGE))
    return folder


@pytest.fixture(scope="module")
def data(folder: Path, tmp_path_factory: pytest.TempPathFactory) -> TrainingData:
    return load_data(folder, tmp_path_factory.mktemp("vectors"), seed=0)


def fever(number: int, claim: str, label: str, page: str | None) -> dict[str, Any]:
    evidence = [[[number, number, page, 0 if page else None]]]
    return {"id": number, "claim": claim, "label": label, "evidence": evidence}


def of_one_page(title: str) -> dict[str, Any]:
    gold = [{"text": f"{title} is old."}]
    text = {"text": f"{title} is old.", "label": "SUPPORTS", "wikipedia_page": title}
    return text | {"gold_evidence": gold, "retrieved_evidence": gold}


@pytest.mark.models
def test_claims_that_cite_or_name_a_page_of_a_dev_claim_are_left_out(data: TrainingData) -> None:
    assert [claim.text for claim in data.train] == [
        "Ash Lamp is a boat.",
        "Fir Boat was painted by Ida Holm.",
        "Fir Boat is a boat.",
    ]
    assert [claim.title for claim in data.page_claims] == ["Fir Boat"]
    assert data.left_out == 3
    assert "Elm_Pier" in data.dev_pool.by_page
    assert "Elm_Pier" not in data.pool.by_page


@pytest.mark.models
def test_a_missing_file_is_named(tmp_path: Path) -> None:
    with pytest.raises(BadSource, match=r"contains no fever-dev/train\.jsonl"):
        load_data(tmp_path, tmp_path, seed=0)


@pytest.fixture(scope="module")
def release(folder: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The same pages and claims, named as in FEVER's release."""
    release = tmp_path_factory.mktemp("release")
    (release / "wiki-pages").symlink_to(folder / "fever-dev/wiki-pages")
    lost = ("Elm Pier is a mill.", "REFUTES", "No_Page")
    again = (DEV[0][0], "SUPPORTS", "Elm_Pier")
    for name, claims in (("train", [*TRAIN, lost, again]), ("shared_task_dev", DEV)):
        write_json_lines(release / f"{name}.jsonl", *(fever(n, *c) for n, c in enumerate(claims)))
    return release


@pytest.mark.models
def test_of_fevers_release_every_training_claim_with_evidence_on_the_pages_is_read(
    release: Path, tmp_path: Path
) -> None:
    data = load_data(release, tmp_path, seed=0)
    assert [claim.text for claim in data.train] == [text for text, _, _ in TRAIN]
    assert (data.page_claims, data.left_out) == ([], 2)
    assert [claim.text for claim in data.dev] == [DEV[0][0]]
    assert data.pool.by_page.keys() == data.dev_pool.by_page.keys() == PAGES.keys()
    assert list(data.digests) == ["train.jsonl", "shared_task_dev.jsonl"]
    assert data.described.startswith("4 claims of FEVER's training set")


@pytest.mark.models
def test_a_missing_file_of_the_release_is_named(tmp_path: Path) -> None:
    write_json_lines(tmp_path / "shared_task_dev.jsonl", fever(0, *DEV[0]))
    with pytest.raises(BadSource, match=r"contains no train\.jsonl") as caught:
        load_data(tmp_path, tmp_path, seed=0)
    assert "wiki-pages" in caught.value.hint


def test_of_a_large_corpus_the_cited_pages_are_read_and_some_others(tmp_path: Path) -> None:
    pages = [Page(f"P{n}", f"P{n}", None, "", ("Red.",)) for n in range(OTHERS + 50)]
    cited = {"P3", "P10040", "P9"}
    first, again = (
        SentencePool(ListCorpus(tuple(pages)), WordEncoder(), tmp_path, cited) for _ in range(2)
    )
    assert cited < first.by_page.keys()
    assert len(first.by_page) == OTHERS + len(cited)
    assert list(first.by_page) == sorted(first.by_page, key=lambda name: int(name[1:]))
    assert list(first.by_page) == list(again.by_page)
    # 47 are left out, from all over the corpus and not from its end only.
    assert any(f"P{n}" not in first.by_page for n in range(OTHERS // 2))


SPLIT = Page("Pier", "Pier", None, "Oak. Iron.", ("The pier is long.", "", "It is made of oak."))
EMPTY = Page("Empty", "Empty", None, "")
WHOLE = Page("Ida_Holm", "Ida Holm", None, "Ida Holm was an engineer. She kept bees.")
LAST = Page("Boat", "Boat", None, "The boat is blue.")


def test_pages_are_split_by_their_source_or_else_as_an_index_splits_them(tmp_path: Path) -> None:
    corpus = ListCorpus((WHOLE, EMPTY, SPLIT, LAST))
    pool = SentencePool(corpus, WordEncoder(), tmp_path)
    assert pool.sentences == [
        PoolSentence("Ida_Holm", 0, "Ida Holm", "Ida Holm was an engineer."),
        PoolSentence("Ida_Holm", 1, "Ida Holm", "She kept bees."),
        PoolSentence("Pier", 0, "Pier", "The pier is long."),
        PoolSentence("Pier", 2, "Pier", "It is made of oak."),
        PoolSentence("Boat", 0, "Boat", "The boat is blue."),
    ]
    assert pool.by_page == {"Ida_Holm": [0, 1], "Pier": [2, 3], "Boat": [4]}
    assert pool.position["Pier", 2] == 3


def test_a_pool_without_some_pages_finds_what_is_left(tmp_path: Path) -> None:
    pages = {"Pier": ["The pier is long."], "Boat": ["The boat is blue."], "Lamp": ["A blue lamp."]}
    pool = pool_of(pages, WordEncoder(), tmp_path)
    (found,) = pool.nearest(["The blue boat."], 2)
    assert [pool.sentences[i].page for i in found] == ["Boat", "Lamp"]
    rest = pool.without({"Boat"})
    (found,) = rest.nearest(["The blue boat."], 2)
    assert [rest.sentences[i].page for i in found] == ["Lamp", "Pier"]


def test_an_array_is_made_once(tmp_path: Path) -> None:
    made = []

    def make() -> np.ndarray:
        made.append(1)
        return np.array([1.5, 2.5])

    first = kept_array(tmp_path / "below", "array", ["these"], make)
    (tmp_path / "below" / "array.partial").write_bytes(b"half")  # of a run that was stopped
    assert kept_array(tmp_path / "below", "array", ["these"], make).tolist() == [1.5, 2.5]
    assert made == [1]
    assert kept_array(tmp_path / "below", "array", ["others"], make).tolist() == first.tolist()
    assert made == [1, 1]

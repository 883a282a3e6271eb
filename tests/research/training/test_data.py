"""What is held out: nothing of a dev claim's pages is read in training."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from research.training.data import TrainingData, load_data
from research.training.reading_examples import reading_examples
from research.training.relevance_examples import relevance_examples
from retrieval.errors import BadSource
from tests.research.training.pages import fever_page
from tests.support.json_lines import write_json_lines

pytestmark = pytest.mark.models

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


def test_claims_that_cite_or_name_a_page_of_a_dev_claim_are_left_out(data: TrainingData) -> None:
    assert [claim.text for claim in data.train] == [
        "Ash Lamp is a boat.",
        "Fir Boat was painted by Ida Holm.",
        "Fir Boat is a boat.",
    ]
    assert [claim.title for claim in data.page_claims] == ["Fir Boat"]
    assert data.left_out == 3


@pytest.mark.parametrize("seed", range(3))
def test_nothing_that_is_read_comes_from_such_a_page(data: TrainingData, seed: int) -> None:
    read = [
        *reading_examples(data, seed, 1000),
        *relevance_examples(data.train, data.page_claims, data.pool, seed),
    ]
    assert len(read) > 10
    assert not [one for one in read if "Elm Pier :" in one.evidence or "storm" in one.evidence]


def test_a_missing_file_is_named(tmp_path: Path) -> None:
    with pytest.raises(BadSource, match=r"contains no fever-dev/train\.jsonl"):
        load_data(tmp_path, tmp_path, seed=0)

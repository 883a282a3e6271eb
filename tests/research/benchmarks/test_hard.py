"""The pages and claims of the measurement on several-page claims."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from research.benchmarks.hard import claims
from research.benchmarks.hard.claims import write_claims
from research.benchmarks.hard.pages import FEVER, NAMES, OTHERS, write_pages
from retrieval.corpora.wiki.fever import FeverCorpus
from tests.research.training.pages import fever_page as page
from tests.support.json_lines import write_json_lines

# "Plato", "Aristotle" and "Mount Everest" are in the default corpus.
PAGES = [
    page("Plato", "Plato taught ."),
    page("Aristotle", "Aristotle learned ."),
    page("Skerrow_Light_-LRB-lamp-RRB-", "A lamp ."),
]
BOTH = [[[0, 0, "Plato", 0], [0, 0, "Skerrow_Light_-LRB-lamp-RRB-", 0]]]
CLAIMS = [
    {"id": 1, "label": "SUPPORTS", "claim": "Plato had a lamp.", "evidence": BOTH},
    {"id": 2, "label": "REFUTES", "claim": "Plato slept.", "evidence": [[[0, 0, "Plato", 0]]]},
]
EVERYDAY: list[dict[str, Any]] = [
    {
        "claim": "Everest is higher than Aristotle.",
        "label": "SUPPORTS",
        "kind": "two-hop",
        "evidence": [[["Mount Everest", 0], ["Aristotle", 1]]],
    },
    {"claim": "Everest hums.", "label": "NOT ENOUGH INFO", "kind": "unknown", "evidence": []},
]
FOOL_ME_TWICE = {
    "wikipedia_page": "Tidewell",
    "gold_evidence": [{"text": "Tidewell is a port."}],
    "retrieved_evidence": [{"text": "Tidewell is a port."}, {"text": "It has a quay."}],
}
BOX = [
    {"title": "Orrin Vale", "evidence": "Area: 12 acres."},
    {"title": "Mount Everest", "evidence": "Height: 8,849 m."},
    {"title": None, "evidence": "Nobody knows whose this is."},
]


@pytest.fixture
def data(tmp_path: Path) -> Path:
    for name, records in {
        "fever-dev/wiki-pages/wiki-001.jsonl": PAGES,
        "fever-dev/dev.jsonl": CLAIMS,
        "vital/dev.jsonl": EVERYDAY,
        "fm2/train.jsonl": [FOOL_ME_TWICE],
        "pairs/train/infotabs.jsonl": BOX,
        "pairs/train/creak-explanations.jsonl": [{"title": "Ann Lee", "evidence": "A guess."}],
    }.items():
        write_json_lines(tmp_path / "data" / name, *records)
    return tmp_path / "data"


def read(path: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]


def test_every_title_has_one_page_and_that_which_claims_cite_comes_first(data: Path) -> None:
    out = data.parent / "out"
    write_pages(data, out)
    fever = read(out / FEVER / "pages.jsonl")
    # Aristotle's page is the one of the default corpus, since no claim of FEVER cites the other.
    assert [one["id"] for one in fever] == ["Plato", "Skerrow Light (lamp)"]
    assert read(out / OTHERS) == [
        {"id": "Tidewell", "title": "Tidewell", "text": "Tidewell is a port. It has a quay."},
        {"id": "Orrin Vale", "title": "Orrin Vale", "text": "Area: 12 acres."},
    ]


def test_synthetic_pages_get_the_titles_and_texts_of_all_real_ones(data: Path) -> None:
    out = data.parent / "out"
    write_pages(data, out)
    names = {one["id"]: one["text"] for one in read(out / NAMES / "pages.jsonl")}
    assert names["Skerrow_Light_-LRB-lamp-RRB-"] == "A lamp ."
    assert names["Plato"] == "Plato taught ."
    assert names["Orrin_Vale"] == "Area: 12 acres."
    assert "Mount_Everest" in names


def test_claims_that_need_several_pages_name_them_by_title(data: Path, tmp_path: Path) -> None:
    write_claims("fever", data, tmp_path / "fever.jsonl")
    assert read(tmp_path / "fever.jsonl") == [
        {
            "claim": "Plato had a lamp.",
            "label": "SUPPORTS",
            "kind": "fever",
            "evidence": [[["Plato", 0], ["Skerrow Light (lamp)", 0]]],
        }
    ]


def test_of_the_everyday_claims_those_of_two_hops_are_asked(data: Path, tmp_path: Path) -> None:
    write_claims("everyday", data, tmp_path / "everyday.jsonl")
    (claim,) = read(tmp_path / "everyday.jsonl")
    assert (claim["kind"], claim["evidence"]) == ("everyday", EVERYDAY[0]["evidence"])


def test_claims_are_composed_once_for_each_pair_of_pages_that_fever_lacks(
    data: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    defined = page("Pavel Drozd", "Pavel Drozd ( born 3 March 1922 ) is a Czech novelist .")
    composers = page("Los Faroles", "Los Faroles are a Mexican rock band formed in Oaxaca .")
    directed = "{} is a 1994 film directed by Pavel Drozd ."
    write_json_lines(
        tmp_path / "pages.jsonl",
        defined,
        composers,
        page("Night Ferry", directed.format("Night Ferry")),
        page("Plato", directed.format("Plato")),  # FEVER has a page of this title
        page("Copper Moon", "Copper Moon is a song by Los Faroles ."),
    )
    monkeypatch.setattr(claims, "VitalCorpus", lambda: FeverCorpus(tmp_path))
    write_claims("composed", data, tmp_path / "composed")
    made = read(tmp_path / "composed")
    assert made
    pairs = [tuple(sorted(page for page, _ in one["evidence"][0])) for one in made]
    assert len(set(pairs)) == len(pairs)
    assert set(pairs) <= {("Night Ferry", "Pavel Drozd"), ("Copper Moon", "Los Faroles")}
    assert {one["kind"] for one in made} == {"composed"}

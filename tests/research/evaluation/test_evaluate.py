"""The whole command on a small corpus, with the real models."""

from __future__ import annotations

import json
import shutil
from itertools import combinations
from pathlib import Path
from typing import Any

import pytest

from retrieval.recipes.recipes import DEFAULT_RECIPE
from tests.research.training.pages import fever_page
from tests.support.command import Ran, esoteric
from tests.support.islands import TEXTS
from tests.support.json_lines import write_json_lines
from tests.support.shipped_recipes import SHIPPED

pytestmark = pytest.mark.models


SYSTEMS = [*SHIPPED, "bm25", "minilm", "tfidf"]
CLAIMS: list[dict[str, Any]] = [
    {
        "id": 1,
        "label": "SUPPORTS",
        "claim": "Skerrow Light was designed by Ann Lee.",
        "evidence": [[[1, 1, "Skerrow_Light", 1]]],
    },
    {
        "id": 2,
        "label": "REFUTES",
        "claim": "Skerrow Light was first lit in 1790.",
        "evidence": [[[2, 2, "Skerrow_Light", 1]]],
    },
    {
        "id": 3,
        "label": "NOT ENOUGH INFO",
        "claim": "Ann Lee collected stamps from France.",
        "evidence": [[[3, None, None, None]]],
    },
]


@pytest.fixture(scope="module")
def data(tmp_path_factory: pytest.TempPathFactory, unpacked: Path) -> Path:
    """A folder with wiki pages, claims, and the home of finished indexes."""
    folder = tmp_path_factory.mktemp("fever")
    (folder / "home").mkdir()
    (folder / "home" / "models").symlink_to(unpacked)
    pages = (
        fever_page(fever_name(title), *(f"{one}." for one in text.rstrip(".").split(". ")))
        for title, text in TEXTS.items()
    )
    write_json_lines(folder / "pages" / "wiki-001.jsonl", *pages)
    write_json_lines(folder / "claims.jsonl", *CLAIMS)
    return folder


def fever_name(title: str) -> str:
    return title.replace(" ", "_").replace("(", "-LRB-").replace(")", "-RRB-")


def evaluate(data: Path, out: Path, *options: str) -> Ran:
    """Evaluate; options that are given again replace those of the data."""
    arguments = ("--wiki-pages", data / "pages", "--claims", data / "claims.jsonl", "--out", out)
    return esoteric(data / "home", "evaluate", *arguments, *options)


def error_line(run: Ran) -> str:
    assert run.returncode in (1, 2)
    assert "Traceback" not in run.stderr
    return run.stderr.strip().splitlines()[-1]


@pytest.fixture(scope="module")
def out(data: Path) -> Path:
    """The results of every recipe and baseline."""
    run = evaluate(data, data / "out", "--recipe", "all")
    assert run.returncode == 0, run.stderr
    return data / "out"


def test_every_system_has_predictions_that_fevers_scorer_reads(out: Path) -> None:
    for name in SYSTEMS:
        lines = (out / name / "predictions.jsonl").read_text(encoding="utf-8").splitlines()
        records = [json.loads(line) for line in lines]
        assert [record["id"] for record in records] == [1, 2, 3]
        for record in records:
            assert record["predicted_label"] in ("SUPPORTS", "REFUTES", "NOT ENOUGH INFO")
            assert len(record["predicted_evidence"]) <= 5
            assert 0 <= record["confidence"] <= 1
            assert record["seconds"] > 0
            pages = {page for page, _ in record["predicted_evidence"]}
            assert pages <= set(map(fever_name, TEXTS))
        assert "Skerrow_Light" in records[0]["predicted_pages"]


def test_the_figures_are_those_of_the_predictions(out: Path) -> None:
    results = json.loads((out / "results.json").read_text(encoding="utf-8"))
    for name, recipe in results["recipes"].items():
        path = out / name / "predictions.jsonl"
        records = [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]
        right = [p["predicted_label"] == c["label"] for p, c in zip(records, CLAIMS, strict=True)]
        found = [["Skerrow_Light", 1] in p["predicted_evidence"] for p in records]
        assert recipe["figures"]["label_accuracy"] == pytest.approx(sum(right) / 3)
        assert recipe["figures"]["evidence_recall"] == pytest.approx(sum(found[:2]) / 2)
        strict = [r and (f or c["id"] == 3) for r, f, c in zip(right, found, CLAIMS, strict=True)]
        assert recipe["figures"]["fever_score"] == pytest.approx(sum(strict) / 3)
        assert recipe["crashes"] == []
    assert len(results["comparisons"]) == len(list(combinations(SYSTEMS, 2)))
    assert results["data"]["wiki_pages"]["documents"] == len(TEXTS)


def test_the_product_finds_what_the_claims_need(out: Path) -> None:
    results = json.loads((out / "results.json").read_text(encoding="utf-8"))
    assert results["recipes"]["esoteric"]["figures"]["fever_score"] == 1.0


def test_the_report_shows_every_system_the_caveat_and_its_plots(out: Path) -> None:
    report = (out / "report.md").read_text(encoding="utf-8")
    assert f"|  | {' | '.join(SYSTEMS)} |" in report
    assert "FEVER's release has 5,416,537" in report
    assert all(f"\n{name} & " in (out / "table.tex").read_text() for name in SYSTEMS)
    for plot in ("recall.png", "confusion.png", "calibration.png", "seconds.png"):
        assert f"]({plot})" in report
        assert (out / plot).read_bytes().startswith(b"\x89PNG")


def test_the_passages_are_those_of_the_retriever_and_not_the_selected_ones(out: Path) -> None:
    results = json.loads((out / "results.json").read_text(encoding="utf-8"))
    for name in SYSTEMS:
        path = out / name / "predictions.jsonl"
        records = [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]
        for record in records:
            found = [document for document, _ in record["retrieved"]["documents"]]
            assert sorted(found) == sorted(record["predicted_pages"])
            passages = record["retrieved"]["passages"]
            assert {page for page, _ in passages} <= set(found)
            assert all(selected in passages for selected in record["predicted_evidence"])
        text = results["recipes"][name]["esoteric_table"]["text"]
        count = [len(record["retrieved"]["passages"]) for record in records[:2]]
        assert text["passages"] == sum(count) / 2
        assert text["combined_precision"] == 2 / sum(count)


def test_an_evaluation_without_new_claims_only_computes_the_figures_again(
    data: Path, out: Path
) -> None:
    before = (out / DEFAULT_RECIPE / "predictions.jsonl").read_bytes()
    run = evaluate(data, out, "--limit", "2")
    assert run.returncode == 0, run.stderr
    assert run.stdout.startswith(f"{DEFAULT_RECIPE}: label accuracy")
    assert (out / DEFAULT_RECIPE / "predictions.jsonl").read_bytes() == before


def test_a_claim_that_crashes_is_shown_and_fails_the_command(data: Path, tmp_path: Path) -> None:
    other = tmp_path / "data"
    shutil.copytree(data / "pages", other / "pages")
    shutil.copytree(data / "home", other / "home", symlinks=True)
    write_json_lines(other / "claims.jsonl", *CLAIMS, CLAIMS[0] | {"id": 4, "claim": "word " * 120})
    run = evaluate(other, tmp_path / "out")
    assert "Some claims crashed" in error_line(run)
    results = json.loads((tmp_path / "out" / "results.json").read_text(encoding="utf-8"))
    recipe = results["recipes"][DEFAULT_RECIPE]
    assert [crash["claim_id"] for crash in recipe["crashes"]] == [4]
    assert (recipe["answered"], recipe["figures"]["fever_score"]) == (3, 1.0)
    assert "claim 4: The claim is 599 characters long" in (
        tmp_path / "out" / "report.md"
    ).read_text(encoding="utf-8")


def test_a_folder_of_other_things_or_other_results_is_refused(
    data: Path, out: Path, tmp_path: Path
) -> None:
    (tmp_path / "mine").mkdir()
    (tmp_path / "mine" / "notes.txt").write_text("mine")
    assert "not results of an evaluation" in error_line(evaluate(data, tmp_path / "mine"))
    provenance = out / "provenance.json"
    kept = provenance.read_text()
    provenance.write_text(json.dumps(json.loads(kept) | {"claims": "0" * 64}))
    try:
        assert "contains results of other claims" in error_line(evaluate(data, out))
    finally:
        provenance.write_text(kept)


@pytest.mark.parametrize(
    ("page", "sentence", "said"),
    [("Nowhere", 0, "the page 'Nowhere'"), ("Dundee", 9, "sentence 9 of the page 'Dundee'")],
)
def test_evidence_outside_the_pages_is_named_by_its_line(
    data: Path, tmp_path: Path, page: str, sentence: int, said: str
) -> None:
    elsewhere = CLAIMS[1] | {"evidence": [[[1, 1, page, sentence]]]}
    claims = write_json_lines(tmp_path / "claims.jsonl", CLAIMS[0], elsewhere)
    line = error_line(evaluate(data, tmp_path / "out", "--claims", str(claims)))
    assert "claims.jsonl, line 2" in line
    assert said in line

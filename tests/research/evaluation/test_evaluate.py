"""``esoteric evaluate`` on FEVER's pages, over the served index and on pairs, with real models."""

from __future__ import annotations

import json
import shutil
from itertools import combinations
from pathlib import Path
from typing import Any

import pytest

from retrieval.models.shipped import VERIFIER
from retrieval.models.trained_model import read_config, version_of
from retrieval.recipes.recipes import DEFAULT_RECIPE
from tests.research.training.pages import fever_page
from tests.retrieval.llm_judge.chat_server import chat_server, says, verdict
from tests.support.cases import cases
from tests.support.command import Ran, esoteric
from tests.support.islands import TEXTS
from tests.support.json_lines import write_json_lines
from tests.support.shipped_recipes import SHIPPED

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


@pytest.mark.models
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


@pytest.mark.models
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


@pytest.mark.models
def test_the_product_finds_what_the_claims_need(out: Path) -> None:
    results = json.loads((out / "results.json").read_text(encoding="utf-8"))
    assert results["recipes"]["esoteric"]["figures"]["fever_score"] == 1.0


@pytest.mark.models
def test_the_report_shows_every_system_the_caveat_and_its_plots(out: Path) -> None:
    report = (out / "report.md").read_text(encoding="utf-8")
    assert f"|  | {' | '.join(SYSTEMS)} |" in report
    assert "FEVER's release has 5,416,537" in report
    assert all(f"\n{name} & " in (out / "table.tex").read_text() for name in SYSTEMS)
    for plot in ("recall.png", "confusion.png", "calibration.png", "seconds.png"):
        assert f"]({plot})" in report
        assert (out / plot).read_bytes().startswith(b"\x89PNG")


@pytest.mark.models
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


@pytest.mark.models
def test_an_evaluation_without_new_claims_only_computes_the_figures_again(
    data: Path, out: Path
) -> None:
    before = (out / DEFAULT_RECIPE / "predictions.jsonl").read_bytes()
    run = evaluate(data, out, "--limit", "2")
    assert run.returncode == 0, run.stderr
    assert run.stdout.startswith(f"{DEFAULT_RECIPE}: label accuracy")
    assert (out / DEFAULT_RECIPE / "predictions.jsonl").read_bytes() == before


@pytest.mark.models
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


@pytest.mark.models
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


@pytest.mark.models
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


SERVED: list[dict[str, Any]] = [
    {
        "claim": "Skerrow Light was designed by Ann Lee.",
        "label": "SUPPORTS",
        "kind": "one-sentence",
        "evidence": [[["Skerrow_Light", 1]]],
    },
    {
        "claim": "Skerrow Light was first lit in 1790.",
        "label": "REFUTES",
        "kind": "one-sentence",
        "evidence": [[["Skerrow_Light", 1]]],
    },
    {
        "claim": "Ann Lee collected stamps from France.",
        "label": "NOT ENOUGH INFO",
        "kind": "open",
        "evidence": [],
    },
]


PAIRS: list[dict[str, Any]] = [
    {
        "claim": "Skerrow Light was designed by Ann Lee.",
        "label": "SUPPORTS",
        "title": "Skerrow Light",
        "evidence": "It was designed by Ann Lee and was first lit in 1871.",
        "source": "islands",
    },
    {
        "claim": "The designer of Skerrow Light collected stamps from France.",
        "label": "NOT ENOUGH INFO",
        "evidence": [
            {"title": "Skerrow Light", "sentence": "It was designed by Ann Lee."},
            {"title": "Ann Lee", "sentence": "She died in Dundee in 1902."},
        ],
        "source": "islands",
    },
]


def complaint(run: Ran, status: int) -> str:
    assert run.returncode == status, run.stderr
    assert run.stdout == ""
    (line,) = run.stderr.strip().splitlines()
    assert line.startswith("esoteric: ")
    return line


def read(path: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]


@pytest.fixture(scope="module")
def home(index: Path) -> Path:
    return index.parent


@pytest.mark.models
@pytest.mark.server
def test_the_verifier_alone_labels_pairs(home: Path, tmp_path: Path) -> None:
    pairs = write_json_lines(tmp_path / "pairs.jsonl", *PAIRS)
    run = esoteric(home, "evaluate", "--pairs", pairs, "--out", tmp_path / "out")
    assert run.returncode == 0, run.stderr
    assert "Traceback" not in run.stderr
    assert run.stdout.startswith("2 pairs: label accuracy ")
    folder = tmp_path / "out" / "pairs"
    results = json.loads((folder / "results.json").read_text(encoding="utf-8"))
    assert (results["pairs"], results["file"]) == (2, "pairs.jsonl")
    assert results["model"] == version_of(read_config(VERIFIER))
    assert results["command"].startswith("esoteric evaluate --pairs ")
    predictions = read(folder / "predictions.jsonl")
    assert [line["claim"] for line in predictions] == [pair["claim"] for pair in PAIRS]
    right = [line["predicted_label"] == line["label"] for line in predictions]
    assert right[0]
    assert results["accuracy"] == sum(right) / 2
    assert "| islands | 2 |" in (folder / "report.md").read_text(encoding="utf-8")


@pytest.mark.models
@pytest.mark.server
def test_a_language_model_labels_pairs_in_addition_to_the_verifier(
    home: Path, tmp_path: Path
) -> None:
    pairs = write_json_lines(tmp_path / "pairs.jsonl", *PAIRS)
    with chat_server() as chat:
        chat.answers(says(verdict("REFUTES", (1,))), says(verdict("NOT ENOUGH INFO", ())))
        run = esoteric(
            home,
            "evaluate",
            *("--pairs", pairs, "--llm", "--out", tmp_path / "out"),
            ESOTERIC_LLM="openai:small",
            ESOTERIC_LLM_URL=chat.url,
            ESOTERIC_LLM_PRICES="small=1/10",
        )
        assert run.returncode == 0, run.stderr
        assert f"are sent to small at {chat.host}." in run.stderr
        shown = [request.body["messages"][1]["content"] for request in chat.requests]
    assert '"title": "Skerrow Light", "text": "It was designed by Ann Lee and was' in shown[0]
    assert '"number": 2, "title": "Ann Lee", "text": "She died in Dundee' in shown[1]
    folder = tmp_path / "out" / "pairs"
    predictions = read(folder / "predictions.jsonl")
    assert [p["predicted_label"] for p in predictions] == ["REFUTES", "NOT ENOUGH INFO"]
    results = json.loads((folder / "results.json").read_text(encoding="utf-8"))
    model = results["language_model"]
    assert (model["accuracy"], model["verdict_accuracy"], model["opinions"]) == (0.5, 0.5, 2)
    assert model["verifier_accuracy"] == results["accuracy"]
    # Each of two calls read 100 tokens and wrote 20: (200 * 1 + 40 * 10) / 1,000,000.
    assert model["cost"] == pytest.approx(0.0006)
    assert "| the language model | 50.0 |" in (folder / "report.md").read_text(encoding="utf-8")


@pytest.mark.models
@pytest.mark.server
def test_claims_are_checked_over_the_served_index_and_an_interrupted_run_continues(
    home: Path, tmp_path: Path
) -> None:
    claims = write_json_lines(tmp_path / "claims.jsonl", *SERVED)
    command = ("--claims", claims, "--recipe", "esoteric,bm25", "--out", tmp_path / "out")
    run = esoteric(home, "evaluate", *command)
    assert run.returncode == 0, run.stderr
    assert run.stdout.startswith("esoteric: label accuracy ")
    path = tmp_path / "out" / "esoteric" / "predictions.jsonl"
    documents = read(path)
    assert [document["claim"] for document in documents] == [one["claim"] for one in SERVED]
    assert [document["gold"] for document in documents] == SERVED
    results = json.loads((tmp_path / "out" / "results.json").read_text(encoding="utf-8"))
    assert (results["claims"], results["corpus"]["documents"]) == (3, 6)
    right = [
        document["verdict"]["label"] == one["label"]
        for document, one in zip(documents, SERVED, strict=True)
    ]
    assert right[:2] == [True, True]
    assert results["recipes"]["esoteric"]["label_accuracy"] == pytest.approx(sum(right) / 3)
    assert results["recipes"]["esoteric"]["evidence_recall@5"] == 1.0
    assert results["recipes"]["esoteric"]["failed"] == 0
    baseline = read(tmp_path / "out" / "bm25" / "predictions.jsonl")
    assert [document["recipe"] for document in baseline] == ["bm25"] * len(SERVED)
    assert results["recipes"]["bm25"]["evidence_recall@5"] == 1.0
    ranked = [
        document["verdict"]["label"] == one["label"]
        for document, one in zip(baseline, SERVED, strict=True)
    ]
    differs = results["differences"]["bm25"]
    assert differs["from"] == "esoteric"
    assert differs["label_accuracy"] == pytest.approx((sum(ranked) - sum(right)) / 3)
    low, high = differs["interval"]
    assert low <= differs["label_accuracy"] <= high
    assert differs["gained"] == sum(own and not of for own, of in zip(ranked, right, strict=True))
    assert differs["lost"] == sum(of and not own for own, of in zip(ranked, right, strict=True))
    report = (tmp_path / "out" / "report.md").read_text(encoding="utf-8")
    assert "3 claims of `claims.jsonl`" in report
    for name in ("esoteric", "bm25"):
        table = results["recipes"][name]["esoteric_table"]
        assert table["text"]["combined_recall"] == table["by_passage"]["combined_recall"] == 1.0
        # Both decided claims are about one sentence, which is one of the passages of each.
        passages = sum(
            len(document["retrieved"]["passages"])
            for document in read(tmp_path / "out" / name / "predictions.jsonl")[:2]
        )
        assert table["text"]["combined_precision"] == 2 / passages
    assert "| combined recall | 69.3 | 100.0 | 100.0 | 100.0 |" in report
    assert "## Differences from esoteric" in report
    assert "program, by document" in run.stdout

    lines = path.read_bytes().splitlines(keepends=True)
    path.write_bytes(b"".join(lines[:2]) + lines[2][:40])  # as a full disk would leave it
    again = esoteric(home, "evaluate", *command)
    assert again.returncode == 0, again.stderr
    assert again.stdout == run.stdout
    assert path.read_bytes().splitlines(keepends=True)[:2] == lines[:2]
    assert read(path)[2]["verdict"] == documents[2]["verdict"]


@pytest.mark.models
@pytest.mark.server
def test_a_claim_that_cannot_be_checked_is_in_no_figure_and_fails_the_command(
    home: Path, tmp_path: Path
) -> None:
    claims = write_json_lines(tmp_path / "claims.jsonl", SERVED[0] | {"claim": "x" * 501})
    run = esoteric(
        home, "evaluate", "--claims", claims, "--recipe", "esoteric", "--out", tmp_path / "out"
    )
    assert run.returncode == 1
    assert "Traceback" not in run.stderr
    assert "Some claims crashed and are in no figure" in run.stderr.splitlines()[-1]
    assert run.stdout == "esoteric: no claim was answered\n"
    (document,) = read(tmp_path / "out" / "esoteric" / "predictions.jsonl")
    assert document["error"]["code"] == "claim_too_long"


@pytest.mark.models
@pytest.mark.server
@cases("evaluate_usage", "options", "status", "said")
def test_wrong_usage_gets_one_line_and_no_folder(
    home: Path, tmp_path: Path, options: list[str], status: int, said: str
) -> None:
    places = {
        "CLAIMS": write_json_lines(tmp_path / "claims.jsonl", *SERVED),
        "PAIRS": write_json_lines(tmp_path / "pairs.jsonl", *PAIRS),
        "EMPTY": write_json_lines(tmp_path / "empty.jsonl"),
        "FOLDER": tmp_path,
    }
    arguments = [places.get(option, option) for option in options]
    run = esoteric(home, "evaluate", *arguments, "--out", tmp_path / "out")
    assert said in complaint(run, status)
    assert not (tmp_path / "out").exists()


@pytest.mark.models
@pytest.mark.server
def test_without_an_index_the_command_that_builds_one_is_named(tmp_path: Path) -> None:
    claims = write_json_lines(tmp_path / "claims.jsonl", *SERVED)
    run = esoteric(tmp_path, "evaluate", "--claims", claims, "--out", tmp_path / "out")
    assert "esoteric index build --source vital" in complaint(run, 1)
    assert not (tmp_path / "out").exists()

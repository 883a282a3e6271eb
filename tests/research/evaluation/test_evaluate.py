"""``esoteric evaluate`` on FEVER's pages, over the served index and on pairs, with real models."""

import json
import shutil
from itertools import combinations
from pathlib import Path
from typing import Any

import pytest

from retrieval.models.shipped import VERIFIER
from retrieval.models.trained_model import read_config, version_of
from retrieval.recipes.recipes import DEFAULT_RECIPE
from retrieval.types import LABELS
from tests.research.training.pages import fever_page
from tests.retrieval.llm_judge.chat_server import chat_server, says, verdict
from tests.support.cases import rows
from tests.support.command import Ran, esoteric
from tests.support.islands import TEXTS
from tests.support.json_lines import write_json_lines
from tests.support.shipped_recipes import SHIPPED

pytestmark = [pytest.mark.models, pytest.mark.server]

SYSTEMS = [*SHIPPED, "bm25", "minilm", "tfidf"]


def evaluated(*names: str) -> list[dict[str, Any]]:
    found = rows("evaluated", names)
    return [dict(zip(names, given, strict=True)) for _, given, _ in found]


CLAIMS = evaluated("id", "label", "claim", "evidence")
PAIRS = evaluated("claim", "label", "title", "evidence", "source")


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
    return title.translate({ord(" "): "_", ord("("): "-LRB-", ord(")"): "-RRB-"})


def evaluate(data: Path, out: Path, *options: str) -> Ran:
    """Evaluate; options that are given again replace those of the data."""
    arguments = ("--wiki-pages", data / "pages", "--claims", data / "claims.jsonl", "--out", out)
    return esoteric(data / "home", "evaluate", *arguments, *options)


def error_line(run: Ran, status: int = 1) -> str:
    assert (run.returncode, run.stdout) == (status, ""), run.stderr
    assert "Traceback" not in run.stderr
    return run.stderr.strip().splitlines()[-1]


def read(path: Path) -> Any:
    """Return the records of a file of JSON lines, or the one of another file."""
    text = path.read_text(encoding="utf-8")
    return list(map(json.loads, text.splitlines())) if path.suffix == ".jsonl" else json.loads(text)


@pytest.fixture(scope="module")
def out(data: Path) -> Path:
    """The results of every recipe and baseline."""
    run = evaluate(data, data / "out", "--recipe", "all")
    assert run.returncode == 0, run.stderr
    return data / "out"


def test_every_system_has_predictions_with_what_was_retrieved(out: Path) -> None:
    results = read(out / "results.json")
    for name in SYSTEMS:
        records = read(out / name / "predictions.jsonl")
        assert [record["id"] for record in records] == [1, 2, 3]
        for record in records:
            assert record["predicted_label"] in LABELS
            assert len(record["predicted_evidence"]) <= 5
            assert 0 <= record["confidence"] <= 1
            assert record["seconds"] > 0
            pages = {page for page, _ in record["predicted_evidence"]}
            assert pages <= set(map(fever_name, TEXTS))
            # The passages are those of the retriever, not the selected ones.
            found = [document for document, _ in record["retrieved"]["documents"]]
            assert sorted(found) == sorted(record["predicted_pages"])
            passages = record["retrieved"]["passages"]
            assert {page for page, _ in passages} <= set(found)
            assert all(selected in passages for selected in record["predicted_evidence"])
        assert "Skerrow_Light" in records[0]["predicted_pages"]
        text = results["recipes"][name]["esoteric_table"]["text"]
        count = sum(len(record["retrieved"]["passages"]) for record in records[:2])
        assert (text["passages"], text["combined_precision"]) == (count / 2, 2 / count)


def test_the_results_compare_all_systems_without_a_crash(out: Path) -> None:
    results = read(out / "results.json")
    assert {str(recipe["crashes"]) for recipe in results["recipes"].values()} == {"[]"}
    figures, records = results["recipes"]["esoteric"]["figures"], out / "esoteric"
    assert (figures["fever_score"], figures["evidence_recall"]) == (1.0, 1.0)
    labels = [one["predicted_label"] for one in read(records / "predictions.jsonl")]
    assert labels == [claim["label"] for claim in CLAIMS]
    assert len(results["comparisons"]) == len(list(combinations(SYSTEMS, 2)))
    assert results["data"]["wiki_pages"]["documents"] == len(TEXTS)


def test_the_report_shows_every_system_the_caveat_and_its_plots(out: Path) -> None:
    report = (out / "report.md").read_text(encoding="utf-8")
    assert f"|  | {' | '.join(SYSTEMS)} |" in report
    assert "FEVER's release has 5,416,537" in report
    assert all(f"\n{name} & " in (out / "table.tex").read_text() for name in SYSTEMS)
    for plot in ("recall.png", "confusion.png", "calibration.png", "seconds.png"):
        assert f"]({plot})" in report
        assert (out / plot).read_bytes().startswith(b"\x89PNG")


def test_an_evaluation_without_new_claims_computes_figures_alone(data: Path, out: Path) -> None:
    predictions = out / DEFAULT_RECIPE / "predictions.jsonl"
    before = predictions.read_bytes()
    run = evaluate(data, out, "--limit", "2")
    assert run.returncode == 0, run.stderr
    assert run.stdout.startswith(f"{DEFAULT_RECIPE}: label accuracy")
    assert predictions.read_bytes() == before


def test_a_claim_that_crashes_is_shown_and_fails_the_command(data: Path, tmp_path: Path) -> None:
    long = CLAIMS[0] | {"id": 4, "claim": "word " * 120}
    claims, out = write_json_lines(tmp_path / "claims.jsonl", *CLAIMS, long), tmp_path / "out"
    run = evaluate(data, out, "--claims", claims)
    assert run.returncode == 1
    assert "Some claims crashed" in run.stderr.splitlines()[-1]
    recipe = read(out / "results.json")["recipes"][DEFAULT_RECIPE]
    assert [crash["claim_id"] for crash in recipe["crashes"]] == [4]
    assert (recipe["answered"], recipe["figures"]["fever_score"]) == (3, 1.0)
    report = (out / "report.md").read_text(encoding="utf-8")
    assert "claim 4: The claim is 599 characters long" in report


def test_other_results_and_pages_are_refused(data: Path, out: Path, tmp_path: Path) -> None:
    (tmp_path / "mine").mkdir()
    (tmp_path / "mine" / "notes.txt").write_text("mine")
    assert "not results of an evaluation" in error_line(evaluate(data, tmp_path / "mine"))
    shutil.copytree(out, tmp_path / "kept")
    provenance = tmp_path / "kept" / "provenance.json"
    provenance.write_text(json.dumps(read(provenance) | {"claims": "0" * 64}))
    assert "contains results of other claims" in error_line(evaluate(data, tmp_path / "kept"))
    for page, number, said in (
        ("Nowhere", 0, "the page 'Nowhere'"),
        ("Dundee", 9, "sentence 9 of the page 'Dundee'"),
    ):
        elsewhere = CLAIMS[1] | {"evidence": [[[1, 1, page, number]]]}
        claims = write_json_lines(tmp_path / "claims.jsonl", CLAIMS[0], elsewhere)
        line = error_line(evaluate(data, tmp_path / page, "--claims", claims))
        assert "claims.jsonl, line 2" in line
        assert said in line


KINDS, FOUND = ("one-sentence", "one-sentence", "open"), [[["Skerrow_Light", 1]]]
SERVED: list[dict[str, Any]] = [
    {"claim": one["claim"], "label": one["label"], "kind": kind, "evidence": evidence}
    for one, kind, evidence in zip(CLAIMS, KINDS, (FOUND, FOUND, []), strict=True)
]


@pytest.fixture(scope="module")
def home(index: Path) -> Path:
    return index.parent


def test_the_verifier_alone_labels_pairs(home: Path, tmp_path: Path) -> None:
    pairs = write_json_lines(tmp_path / "pairs.jsonl", *PAIRS)
    run = esoteric(home, "evaluate", "--pairs", pairs, "--out", tmp_path / "out")
    assert run.returncode == 0, run.stderr
    assert run.stdout.startswith("2 pairs: label accuracy ")
    folder = tmp_path / "out" / "pairs"
    results = read(folder / "results.json")
    assert (results["pairs"], results["file"]) == (2, "pairs.jsonl")
    assert results["model"] == version_of(read_config(VERIFIER))
    assert results["command"].startswith("esoteric evaluate --pairs ")
    predictions = read(folder / "predictions.jsonl")
    assert [line["claim"] for line in predictions] == [pair["claim"] for pair in PAIRS]
    right = [line["predicted_label"] == line["label"] for line in predictions]
    assert right[0]
    assert results["accuracy"] == sum(right) / 2
    assert "| islands | 2 |" in (folder / "report.md").read_text(encoding="utf-8")


def test_a_language_model_labels_pairs_beside_the_verifier(home: Path, tmp_path: Path) -> None:
    pairs = write_json_lines(tmp_path / "pairs.jsonl", *PAIRS)
    with chat_server() as chat:
        chat.answers(says(verdict("REFUTES", (1,))), says(verdict("NOT ENOUGH INFO", ())))
        model = {"ESOTERIC_LLM": "openai:small", "ESOTERIC_LLM_URL": chat.url}
        model |= {"ESOTERIC_LLM_PRICES": "small=1/10"}
        command = ("evaluate", "--pairs", pairs, "--llm", "--out", tmp_path / "out")
        run = esoteric(home, *command, **model)
        assert run.returncode == 0, run.stderr
        assert f"are sent to small at {chat.host}." in run.stderr
        shown = [request.body["messages"][1]["content"] for request in chat.requests]
    assert '"title": "Skerrow Light", "text": "It was designed by Ann Lee and was' in shown[0]
    assert '"number": 2, "title": "Ann Lee", "text": "She died in Dundee' in shown[1]
    folder = tmp_path / "out" / "pairs"
    predictions = read(folder / "predictions.jsonl")
    assert [p["predicted_label"] for p in predictions] == ["REFUTES", "NOT ENOUGH INFO"]
    results = read(folder / "results.json")
    model = results["language_model"]
    assert (model["accuracy"], model["verdict_accuracy"], model["opinions"]) == (0.5, 0.5, 2)
    assert model["verifier_accuracy"] == results["accuracy"]
    # Each of two calls read 100 tokens and wrote 20: (200 * 1 + 40 * 10) / 1,000,000.
    assert model["cost"] == pytest.approx(0.0006)
    assert "| the language model | 50.0 |" in (folder / "report.md").read_text(encoding="utf-8")


def test_claims_are_checked_over_the_served_index_in_two_runs(home: Path, tmp_path: Path) -> None:
    claims, out = write_json_lines(tmp_path / "claims.jsonl", *SERVED), tmp_path / "out"
    command = ("evaluate", "--claims", claims, "--recipe", "esoteric,bm25", "--out", out)
    run = esoteric(home, *command)
    assert run.returncode == 0, run.stderr
    assert run.stdout.startswith("esoteric: label accuracy ")
    assert "program, by document" in run.stdout
    results = read(out / "results.json")
    assert (results["claims"], results["corpus"]["documents"]) == (3, 6)
    documents, right = {}, {}
    for name in ("esoteric", "bm25"):
        found, figures = read(out / name / "predictions.jsonl"), results["recipes"][name]
        assert [one["claim"] for one in found] == [one["claim"] for one in SERVED]
        assert [one["gold"] for one in found] == SERVED
        assert {one["recipe"] for one in found} == {name}
        right[name] = [one["verdict"]["label"] == one["gold"]["label"] for one in found]
        assert figures["label_accuracy"] == pytest.approx(sum(right[name]) / 3)
        assert (figures["evidence_recall@5"], figures["failed"]) == (1.0, 0)
        table = figures["esoteric_table"]
        assert table["text"]["combined_recall"] == table["by_passage"]["combined_recall"] == 1.0
        # Both decided claims are about one sentence, which is one of the passages of each.
        passages = sum(len(one["retrieved"]["passages"]) for one in found[:2])
        assert table["text"]["combined_precision"] == 2 / passages
        documents[name] = found
    assert right["esoteric"][:2] == [True, True]
    differs, pairs = results["differences"]["bm25"], list(zip(*right.values(), strict=True))
    assert differs["from"] == "esoteric"
    assert differs["label_accuracy"] == pytest.approx(sum(own - of for of, own in pairs) / 3)
    low, high = differs["interval"]
    assert low <= differs["label_accuracy"] <= high
    assert differs["gained"] == pairs.count((False, True))
    assert differs["lost"] == pairs.count((True, False))
    report = (out / "report.md").read_text(encoding="utf-8")
    combined = "| combined recall | 69.3 | 100.0 | 100.0 | 100.0 |"
    for said in ("3 claims of `claims.jsonl`", combined, "## Differences from esoteric"):
        assert said in report

    path = out / "esoteric" / "predictions.jsonl"
    lines = path.read_bytes().splitlines(keepends=True)
    path.write_bytes(b"".join(lines[:2]) + lines[2][:40])  # as a full disk would leave it
    again = esoteric(home, *command)
    assert again.returncode == 0, again.stderr
    assert again.stdout == run.stdout
    assert path.read_bytes().splitlines(keepends=True)[:2] == lines[:2]
    assert read(path)[2]["verdict"] == documents["esoteric"][2]["verdict"]


def test_a_claim_that_cannot_be_checked_fails_the_command(home: Path, tmp_path: Path) -> None:
    claims = write_json_lines(tmp_path / "claims.jsonl", SERVED[0] | {"claim": "x" * 501})
    arguments = ("--claims", claims, "--recipe", "esoteric", "--out", tmp_path / "out")
    run = esoteric(home, "evaluate", *arguments)
    assert (run.returncode, run.stdout) == (1, "esoteric: no claim was answered\n")
    assert "Some claims crashed and are in no figure" in run.stderr.splitlines()[-1]
    (document,) = read(tmp_path / "out" / "esoteric" / "predictions.jsonl")
    assert document["error"]["code"] == "claim_too_long"


def test_wrong_usage_gets_one_line_and_no_folder(home: Path, tmp_path: Path) -> None:
    places = {
        "CLAIMS": write_json_lines(tmp_path / "claims.jsonl", *SERVED),
        "PAIRS": write_json_lines(tmp_path / "pairs.jsonl", *PAIRS),
        "EMPTY": write_json_lines(tmp_path / "empty.jsonl"),
        "FOLDER": tmp_path,
    }
    for why, (options, status), said in rows("evaluate_usage", ["options", "status"], "said"):
        arguments = [places.get(option, option) for option in options]
        run = esoteric(home, "evaluate", *arguments, "--out", tmp_path / "out")
        assert said in error_line(run, status), why
        assert run.stderr.startswith("esoteric: "), why
        assert run.stderr.count("\n") == 1, why
    claims = ("--claims", places["CLAIMS"], "--out", tmp_path / "out")
    no_index = error_line(esoteric(tmp_path, "evaluate", *claims))
    assert "esoteric index build --source vital" in no_index
    assert not (tmp_path / "out").exists()

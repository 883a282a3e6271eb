"""``esoteric evaluate`` over the served index and on pairs, with the real models."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from retrieval.models.shipped import VERIFIER
from retrieval.models.trained_model import read_config, version_of
from tests.retrieval.llm_judge.chat_server import chat_server, says, verdict
from tests.support.cases import cases
from tests.support.command import Ran, esoteric
from tests.support.json_lines import write_json_lines

pytestmark = [pytest.mark.models, pytest.mark.server]


CLAIMS: list[dict[str, Any]] = [
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


def test_claims_are_checked_over_the_served_index_and_an_interrupted_run_continues(
    home: Path, tmp_path: Path
) -> None:
    claims = write_json_lines(tmp_path / "claims.jsonl", *CLAIMS)
    command = ("--claims", claims, "--recipe", "esoteric,bm25", "--out", tmp_path / "out")
    run = esoteric(home, "evaluate", *command)
    assert run.returncode == 0, run.stderr
    assert run.stdout.startswith("esoteric: label accuracy ")
    path = tmp_path / "out" / "esoteric" / "predictions.jsonl"
    documents = read(path)
    assert [document["claim"] for document in documents] == [one["claim"] for one in CLAIMS]
    assert [document["gold"] for document in documents] == CLAIMS
    results = json.loads((tmp_path / "out" / "results.json").read_text(encoding="utf-8"))
    assert (results["claims"], results["corpus"]["documents"]) == (3, 6)
    right = [
        document["verdict"]["label"] == one["label"]
        for document, one in zip(documents, CLAIMS, strict=True)
    ]
    assert right[:2] == [True, True]
    assert results["recipes"]["esoteric"]["label_accuracy"] == pytest.approx(sum(right) / 3)
    assert results["recipes"]["esoteric"]["evidence_recall@5"] == 1.0
    assert results["recipes"]["esoteric"]["failed"] == 0
    baseline = read(tmp_path / "out" / "bm25" / "predictions.jsonl")
    assert [document["recipe"] for document in baseline] == ["bm25"] * len(CLAIMS)
    assert results["recipes"]["bm25"]["evidence_recall@5"] == 1.0
    ranked = [
        document["verdict"]["label"] == one["label"]
        for document, one in zip(baseline, CLAIMS, strict=True)
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


def test_claims_of_hover_are_checked_as_they_are_released(home: Path, tmp_path: Path) -> None:
    facts = [["Skerrow_Light", 1], ["Ann_Lee", 0]]
    told = {"claim": "Skerrow Light was designed by a Scot.", "label": "SUPPORTED", "num_hops": 2}
    stamps = {"claim": CLAIMS[2]["claim"], "label": "NOT_SUPPORTED", "num_hops": 3}
    claims = tmp_path / "hover.json"
    claims.write_text(json.dumps([one | {"supporting_facts": facts} for one in (told, stamps)]))
    run = esoteric(
        home, "evaluate", "--claims", claims, "--recipe", "bm25", "--out", tmp_path / "out"
    )
    assert run.returncode == 0, run.stderr
    first, second = read(tmp_path / "out" / "bm25" / "predictions.jsonl")
    assert second["gold"]["label"] == "NOT_SUPPORTED"
    results = json.loads((tmp_path / "out" / "results.json").read_text(encoding="utf-8"))
    bm25 = results["recipes"]["bm25"]
    assert bm25["with_evidence"] == 2
    right = second["verdict"]["label"] != "SUPPORTS"
    assert bm25["by_label"]["NOT_SUPPORTED"]["label_accuracy"] == right
    supported = first["verdict"]["label"] == "SUPPORTS"
    assert bm25["by_kind"]["2 hops"]["label_accuracy"] == supported
    report = (tmp_path / "out" / "report.md").read_text(encoding="utf-8")
    assert "| 3 hops | 1 |" in report
    assert "both verdicts are right for it" in report


def test_a_claim_that_cannot_be_checked_is_in_no_figure_and_fails_the_command(
    home: Path, tmp_path: Path
) -> None:
    claims = write_json_lines(tmp_path / "claims.jsonl", CLAIMS[0] | {"claim": "x" * 501})
    run = esoteric(
        home, "evaluate", "--claims", claims, "--recipe", "esoteric", "--out", tmp_path / "out"
    )
    assert run.returncode == 1
    assert "Traceback" not in run.stderr
    assert "Some claims crashed and are in no figure" in run.stderr.splitlines()[-1]
    assert run.stdout == "esoteric: no claim was answered\n"
    (document,) = read(tmp_path / "out" / "esoteric" / "predictions.jsonl")
    assert document["error"]["code"] == "claim_too_long"


@cases("evaluate_usage", "options", "status", "said")
def test_wrong_usage_gets_one_line_and_no_folder(
    home: Path, tmp_path: Path, options: list[str], status: int, said: str
) -> None:
    places = {
        "CLAIMS": write_json_lines(tmp_path / "claims.jsonl", *CLAIMS),
        "PAIRS": write_json_lines(tmp_path / "pairs.jsonl", *PAIRS),
        "EMPTY": write_json_lines(tmp_path / "empty.jsonl"),
        "FOLDER": tmp_path,
    }
    arguments = [places.get(option, option) for option in options]
    run = esoteric(home, "evaluate", *arguments, "--out", tmp_path / "out")
    assert said in complaint(run, status)
    assert not (tmp_path / "out").exists()


def test_without_an_index_the_command_that_builds_one_is_named(tmp_path: Path) -> None:
    claims = write_json_lines(tmp_path / "claims.jsonl", *CLAIMS)
    run = esoteric(tmp_path, "evaluate", "--claims", claims, "--out", tmp_path / "out")
    assert "esoteric index build --source vital" in complaint(run, 1)
    assert not (tmp_path / "out").exists()

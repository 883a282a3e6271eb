"""The commands that the recipe ``report`` is used by."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest

from retrieval.models.report.models import RELEVANCE
from tests.support import command
from tests.support.command import Ran
from tests.support.islands import write_source

pytestmark = [pytest.mark.models, pytest.mark.server]

CLAIM = "Skerrow Light was designed by Ann Lee."


@pytest.fixture(scope="module")
def home(tmp_path_factory: pytest.TempPathFactory, tiny_models: Path, unpacked: Path) -> Path:
    """A home whose index has vectors of DPR."""
    home = tmp_path_factory.mktemp("home")
    (home / "models").symlink_to(unpacked)
    write_source(home / "islands.jsonl")
    source = f"jsonl:{home / 'islands.jsonl'}"
    built = esoteric(home, tiny_models, "index", "build", "--source", source, "--vectors", "dpr")
    assert built.returncode == 0, built.stderr
    return home


def esoteric(home: Path, models: Path, *arguments: str) -> Ran:
    return command.esoteric(home, *arguments, ESOTERIC_REPORT_MODELS=models)


def test_check_prints_one_document_and_nothing_else(home: Path, tiny_models: Path) -> None:
    run = esoteric(home, tiny_models, "check", CLAIM, "--recipe", "report", "--json")
    assert (run.returncode, run.stderr) == (0, "")
    document = json.loads(run.stdout)
    assert (document["recipe"], document["verdict"]["label"]) == ("report", "SUPPORTS")


def test_batch_checks_claims_by_it(home: Path, tiny_models: Path, tmp_path: Path) -> None:
    claims, out = tmp_path / "claims.jsonl", tmp_path / "out.jsonl"
    claims.write_text("".join(json.dumps({"claim": c}) + "\n" for c in (CLAIM, "Lee is a song.")))
    run = esoteric(home, tiny_models, "batch", str(claims), "-o", str(out), "--recipe", "report")
    assert run.returncode == 0, run.stderr
    lines = [json.loads(line) for line in out.read_text().splitlines()]
    assert [line["recipe"] for line in lines] == ["report", "report"]


def test_evaluate_measures_it_over_the_served_index(
    home: Path, tiny_models: Path, tmp_path: Path
) -> None:
    claim = {
        "claim": CLAIM,
        "label": "SUPPORTS",
        "kind": "simple",
        "evidence": [[["Skerrow_Light", 1]]],
    }
    (tmp_path / "claims.jsonl").write_text(json.dumps(claim) + "\n")
    arguments = ["--claims", str(tmp_path / "claims.jsonl"), "--out", str(tmp_path / "out")]
    run = esoteric(home, tiny_models, "evaluate", *arguments, "--recipe", "report")
    assert run.returncode == 0, run.stderr
    assert run.stdout.startswith("report: label accuracy 100.0, evidence recall@5 100.0")


def test_an_evaluation_without_a_model_leaves_the_folder_of_results_free(
    home: Path, tiny_models: Path, tmp_path: Path
) -> None:
    models, out = tmp_path / "models", tmp_path / "out"
    shutil.copytree(tiny_models, models)
    shutil.rmtree(models / RELEVANCE.name)
    claim = {"claim": CLAIM, "label": "NOT ENOUGH INFO", "kind": "open", "evidence": []}
    (tmp_path / "claims.jsonl").write_text(json.dumps(claim) + "\n")
    arguments = ["--claims", str(tmp_path / "claims.jsonl"), "--out", str(out)]
    run = esoteric(home, models, "evaluate", *arguments, "--recipe", "report")
    assert run.returncode == 1
    assert f"lacks models of the report: {RELEVANCE.name}." in run.stderr
    assert not out.exists()


def test_the_doctor_finds_nothing_wrong_with_an_index_of_dpr(home: Path, tiny_models: Path) -> None:
    run = esoteric(home, tiny_models, "doctor", "--json")
    findings = {f["subject"]: f for f in json.loads(run.stdout)["findings"]}
    assert findings["index"]["works"]
    assert "vectors of dpr-ctx_encoder-single-nq-base" in findings["index"]["detail"]
    assert findings["models of the report"]["works"]


def test_documents_are_added_with_vectors_of_dpr(
    home: Path, tiny_models: Path, tmp_path: Path
) -> None:
    (tmp_path / "more.jsonl").write_text('{"id": "Runde", "title": "Runde", "text": "An isle."}\n')
    run = esoteric(home, tiny_models, "index", "add", "--source", f"jsonl:{tmp_path}/more.jsonl")
    assert run.returncode == 0, run.stderr
    assert "7 documents" in run.stdout

"""The commands that the recipe ``report`` is used by."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest

from retrieval.models.papers.report_models import RELEVANCE
from tests.support.command import Ran, esoteric
from tests.support.islands import write_source
from tests.support.json_lines import write_json_lines

pytestmark = [pytest.mark.models, pytest.mark.server]

CLAIM = "Skerrow Light was designed by Ann Lee."


@pytest.fixture(scope="module")
def home(tmp_path_factory: pytest.TempPathFactory, tiny_models: Path, unpacked: Path) -> Path:
    """A home whose index has vectors of DPR."""
    home = tmp_path_factory.mktemp("home")
    (home / "models").symlink_to(unpacked)
    write_source(home / "islands.jsonl")
    source = f"jsonl:{home / 'islands.jsonl'}"
    built = run(home, tiny_models, "index", "build", "--source", source, "--vectors", "dpr")
    assert built.returncode == 0, built.stderr
    return home


def run(home: Path, models: Path, *arguments: str) -> Ran:
    return esoteric(home, *arguments, ESOTERIC_REPORT_MODELS=models)


def test_an_evaluation_without_a_model_leaves_the_folder_of_results_free(
    home: Path, tiny_models: Path, tmp_path: Path
) -> None:
    models, out = tmp_path / "models", tmp_path / "out"
    shutil.copytree(tiny_models, models)
    shutil.rmtree(models / RELEVANCE.name)
    claim = {"claim": CLAIM, "label": "NOT ENOUGH INFO", "kind": "open", "evidence": []}
    write_json_lines(tmp_path / "claims.jsonl", claim)
    arguments = ["--claims", str(tmp_path / "claims.jsonl"), "--out", str(out)]
    ended = run(home, models, "evaluate", *arguments, "--recipe", "report")
    assert ended.returncode == 1
    assert f"lacks models of the report: {RELEVANCE.name}." in ended.stderr
    assert not out.exists()


def test_the_doctor_finds_nothing_wrong_with_an_index_of_dpr(home: Path, tiny_models: Path) -> None:
    ended = run(home, tiny_models, "doctor", "--json")
    findings = {f["subject"]: f for f in json.loads(ended.stdout)["findings"]}
    assert findings["index"]["works"]
    assert "vectors of dpr-ctx_encoder-single-nq-base" in findings["index"]["detail"]
    assert findings["models of the report"]["works"]


def test_documents_are_added_with_vectors_of_dpr(
    home: Path, tiny_models: Path, tmp_path: Path
) -> None:
    (tmp_path / "more.jsonl").write_text('{"id": "Runde", "title": "Runde", "text": "An isle."}\n')
    ended = run(home, tiny_models, "index", "add", "--source", f"jsonl:{tmp_path}/more.jsonl")
    assert ended.returncode == 0, ended.stderr
    assert "7 documents" in ended.stdout

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import pytest

from research.evaluation.provenance import Provenance, claim_folder, provenance_of
from retrieval.errors import BadSource
from retrieval.models.folders import ModelFolders

HERE = Provenance("pages", "claims", "a verifier", "models", "words", "code")
SOURCE = "def answer():\n    return 42\n"


@pytest.fixture
def code(tmp_path: Path) -> Path:
    """A checkout in which everything that decides an answer is one line."""
    for place in ("retrieval/stages", "research/evaluation"):
        (tmp_path / place).mkdir(parents=True)
    for name in ("baselines.py", "systems.py"):
        (tmp_path / "research" / "evaluation" / name).write_text(SOURCE)
    (tmp_path / "retrieval" / "stages" / "judge.py").write_text(SOURCE)
    return tmp_path


def here(root: Path) -> Provenance:
    return provenance_of("pages", "claims", ModelFolders(root), "words", root=root)


def test_code_is_other_code_when_it_does_something_else_not_when_it_is_laid_out_anew(
    code: Path,
) -> None:
    before = here(code)
    judge = code / "retrieval" / "stages" / "judge.py"
    judge.write_text("# The answer.\n\n\ndef answer():\n    return (42)\n")
    assert here(code) == before
    judge.write_text("def answer():\n    return 41\n")
    assert here(code).code != before.code


def test_the_same_code_under_another_name_is_other_code(code: Path) -> None:
    before = here(code)
    (code / "retrieval" / "stages" / "judge.py").rename(code / "retrieval" / "judge.py")
    assert here(code).code != before.code


@pytest.mark.parametrize(
    ("other", "said"),
    [
        (replace(HERE, claims="more"), "results of other claims"),
        (replace(HERE, models="more", code="more"), "results of other models and code"),
        (replace(HERE, vectors="none"), "results of other vectors"),
        (replace(HERE, verifier="mine", models="more"), "results of other verifiers and models"),
    ],
)
def test_results_of_something_else_are_named(tmp_path: Path, other: Provenance, said: str) -> None:
    claim_folder(tmp_path, HERE)
    with pytest.raises(BadSource) as caught:
        claim_folder(tmp_path, other)
    assert said in str(caught.value)


def test_a_provenance_with_other_fields_is_refused(tmp_path: Path) -> None:
    (tmp_path / "provenance.json").write_text(json.dumps({"claims": "aa"}))
    with pytest.raises(BadSource, match="cannot be read"):
        claim_folder(tmp_path, HERE)


def test_a_file_in_place_of_the_folder_is_named(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("mine")
    with pytest.raises(BadSource, match="file/results cannot be used for results"):
        claim_folder(tmp_path / "file" / "results", HERE)
    assert (tmp_path / "file").read_text() == "mine"

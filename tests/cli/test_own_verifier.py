"""The user's own verifier on the command line: calibrated, checked by doctor, measured."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from retrieval.models.own_verifier import SequenceClassifier, read_calibration, read_classifier
from tests.retrieval.models.tiny_models import write_tiny_classifier
from tests.support.command import esoteric

pytestmark = [pytest.mark.models, pytest.mark.server]

LABELS = ("SUPPORTS", "REFUTES", "NOT ENOUGH INFO")
PAIRS = [
    {
        "claim": f"Ann Lee designed {n} lighthouses.",
        "label": LABELS[n % 3],
        "title": "Ann Lee",
        "evidence": "She designed four lighthouses and two bridges.",
    }
    for n in range(40)
]


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return write_tiny_classifier(tmp_path / "my-nli")


@pytest.fixture
def pairs(tmp_path: Path) -> Path:
    path = tmp_path / "pairs.jsonl"
    path.write_text("".join(json.dumps(pair) + "\n" for pair in PAIRS), encoding="utf-8")
    return path


def version_in(folder: Path) -> str:
    files = read_classifier(folder)
    return SequenceClassifier(files, read_calibration(files)).version


def verifier_finding(home: Path, folder: Path) -> dict[str, Any]:
    run = esoteric(home, "doctor", "--json", ESOTERIC_VERIFIER=folder)
    findings = json.loads(run.stdout)["findings"]
    found: dict[str, Any] = next(f for f in findings if f["subject"] == "verifier")
    return found


def test_a_verifier_is_calibrated_and_used_with_its_calibration(
    index: Path, folder: Path, pairs: Path, tmp_path: Path
) -> None:
    home = index.parent
    before = verifier_finding(home, folder)
    assert before["works"]
    assert before["detail"].startswith(f"{version_in(folder)}, labels REFUTES, NOT ENOUGH INFO, SU")
    assert f"calibrate --verifier {folder} --data DATA" in before["detail"]

    run = esoteric(home, "calibrate", "--verifier", folder, "--data", pairs)
    assert run.returncode == 0, run.stderr
    assert run.stdout.startswith("temperature ")
    assert run.stderr.strip() == str(folder / "esoteric-calibration.json")
    calibration = json.loads((folder / "esoteric-calibration.json").read_text(encoding="utf-8"))
    assert set(calibration) == {"temperature", "bias", "fitted_to"}

    after = verifier_finding(home, folder)
    assert after["detail"] == f"{version_in(folder)}, labels REFUTES, NOT ENOUGH INFO, SUPPORTS"
    assert "calibrated" in version_in(folder)

    out = tmp_path / "out"
    measured = esoteric(home, "evaluate", "--pairs", pairs, "--out", out, ESOTERIC_VERIFIER=folder)
    assert measured.returncode == 0, measured.stderr
    results = json.loads((out / "pairs" / "results.json").read_text(encoding="utf-8"))
    assert results["model"] == version_in(folder)
    assert version_in(folder) in (out / "pairs" / "report.md").read_text(encoding="utf-8")


def test_a_verifier_that_cannot_be_used_gets_one_line_from_every_command(
    index: Path, folder: Path, pairs: Path, tmp_path: Path
) -> None:
    few = tmp_path / "few.jsonl"
    few.write_text("".join(pairs.read_text().splitlines(keepends=True)[:29]))
    run = esoteric(index.parent, "calibrate", "--verifier", folder, "--data", few)
    assert (run.returncode, run.stdout) == (1, "")
    assert "contains 29 claims with evidence, too few" in run.stderr
    assert not (folder / "esoteric-calibration.json").exists()
    (folder / "model.safetensors").unlink()
    home, broken = index.parent, {"ESOTERIC_VERIFIER": folder}
    commands = [
        ("check", "Skerrow Light was designed by Ann Lee."),
        ("batch", pairs, "-o", tmp_path / "out.jsonl"),
        ("evaluate", "--pairs", pairs, "--out", tmp_path / "out"),
        ("calibrate", "--verifier", folder, "--data", pairs),
    ]
    for command in commands:
        run = esoteric(home, *command, **broken)
        assert (run.returncode, run.stdout) == (1, ""), command
        (line,) = run.stderr.strip().splitlines()
        assert "my-nli contains no model.safetensors." in line
    finding = verifier_finding(home, folder)
    assert not finding["works"]
    assert "tokenizer.json" in finding["mend"]
    nowhere = esoteric(home, "check", "A claim.", ESOTERIC_VERIFIER=tmp_path / "nowhere")
    assert nowhere.returncode == 2
    assert "ESOTERIC_VERIFIER is" in nowhere.stderr

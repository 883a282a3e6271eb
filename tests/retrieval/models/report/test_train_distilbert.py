"""``esoteric train distilbert``, from a small base and a few claims."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest

from retrieval.models.papers.report_models import BASE, LOCK, RELEVANCE, verify
from retrieval.models.papers.report_networks import PairClassifier
from tests.research.training.pages import fever_page
from tests.support.command import Ran, esoteric
from tests.support.json_lines import write_json_lines

pytestmark = pytest.mark.slow


@pytest.fixture
def models(tmp_path: Path, tiny_models: Path) -> Path:
    """A folder that has only the base, placed by hand."""
    shutil.copytree(tiny_models / RELEVANCE.name, tmp_path / "models" / BASE.name)
    return tmp_path / "models"


@pytest.fixture
def data(tmp_path: Path) -> Path:
    """Ten claims, each with a page of four sentences."""
    folder = tmp_path / "fever"
    claims, pages = [], []
    for number in range(10):
        sentences = [f"Light {number} is red .", "It is tall .", "Ann Lee drew it .", "It stands ."]
        pages.append(fever_page(f"Light_{number}", *sentences))
        claims.append(
            {
                "id": number,
                "label": "SUPPORTS",
                "claim": f"Light {number} is red.",
                "evidence": [[[number, number, f"Light_{number}", 0]]],
            }
        )
    write_json_lines(folder / "train.jsonl", *claims)
    write_json_lines(folder / "wiki-pages/wiki-001.jsonl", *pages)
    return folder


def train(models: Path, data: Path) -> Ran:
    command = ("train", "distilbert", "--data", data, "--run", models.parent / "run")
    return esoteric(models.parent / "home", *command, ESOTERIC_REPORT_MODELS=models)


def test_what_it_trains_is_locked_and_read_by_the_recipe_and_is_not_replaced(
    models: Path, data: Path
) -> None:
    run = train(models, data)
    assert run.returncode == 0, run.stderr
    last = run.stdout.splitlines()[-1]
    assert last.startswith("training claims 8, validation claims 1, test claims 1, loss ")
    log = [json.loads(line) for line in (models.parent / "run/log.jsonl").read_text().splitlines()]
    # The figures of each of the three epochs on the validation claim.
    assert [line["epoch"] for line in log] == [1, 2, 3]
    assert {"loss", "accuracy", "precision", "recall"} < log[0].keys()

    verify(models, RELEVANCE.name)
    found = PairClassifier(models, RELEVANCE).probabilities([("Light 1 is red.", "It is tall.")])
    assert found.shape == (1,)

    again = train(models, data)
    assert again.returncode == 1
    assert "distilbert-relevance has a model already." in again.stderr


def test_too_few_claims_are_refused_and_nothing_is_written(models: Path, data: Path) -> None:
    lines = (data / "train.jsonl").read_text().splitlines()
    (data / "train.jsonl").write_text("\n".join(lines[:9]) + "\n")
    run = train(models, data)
    assert run.returncode == 1
    assert "has 9 claims with their evidence on its pages; ten or more are needed." in run.stderr
    assert not (models / RELEVANCE.name).exists()
    assert RELEVANCE.name not in (models / LOCK).read_text()

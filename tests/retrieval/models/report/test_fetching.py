"""``esoteric models fetch report``, from a hub on this machine by the hub's own client."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
from collections.abc import Iterator
from hashlib import sha256
from pathlib import Path

import pytest

from retrieval.models.papers.report_models import (
    ANSWERS,
    DPR_CONTEXTS,
    DPR_QUESTIONS,
    LOCK,
    NAMES,
    RELEVANCE,
    REPORT_MODELS,
)
from tests.retrieval.models.report.hub import COMMIT, Hub, running, with_models

pytestmark = pytest.mark.server

WEIGHTS = "model.safetensors"


def published_in(folder: Path, tiny_models: Path) -> Path:
    """Put all models into a hub's folder, and files beside them that are not to be fetched."""
    for published in REPORT_MODELS:
        shutil.copytree(tiny_models / published.name, folder / published.repository)
        for name in ("pytorch_model.bin", "README.md", "modeling.py"):
            (folder / published.repository / name).write_text("not to be fetched")
    return folder


@pytest.fixture
def hub(tmp_path: Path, tiny_models: Path) -> Iterator[Hub]:
    with running(published_in(tmp_path / "hub", tiny_models)) as hub:
        yield hub


@pytest.fixture
def models(tmp_path: Path) -> Path:
    """The folder of the models, which does not exist yet."""
    return tmp_path / "models"


@pytest.fixture(scope="module")
def all_models(tmp_path_factory: pytest.TempPathFactory, tiny_models: Path) -> Path:
    """A folder that was filled from a hub."""
    folder = tmp_path_factory.mktemp("fetched")
    with running(published_in(folder / "hub", tiny_models)) as hub:
        assert fetch(folder / "models", hub).returncode == 0
    return folder / "models"


@pytest.fixture
def fetched(all_models: Path, models: Path) -> Path:
    """The same for a test that changes it."""
    return Path(shutil.copytree(all_models, models))


def fetch(models: Path, hub: Hub | str, *arguments: str) -> subprocess.CompletedProcess[str]:
    return with_models(models, hub, "models", "fetch", "report", *arguments)


def complaint(run: subprocess.CompletedProcess[str]) -> str:
    assert (run.returncode, run.stdout) == (1, ""), run.stderr
    *names, last = run.stderr.strip().splitlines()
    assert set(names) <= {published.name for published in REPORT_MODELS}
    assert last.startswith("esoteric: ")
    return last


def locked(models: Path) -> dict[str, dict[str, object]]:
    found: dict[str, dict[str, object]] = json.loads((models / LOCK).read_text())["models"]
    return found


def test_the_first_fetch_records_the_commit_and_every_file_and_the_next_asks_nothing(
    models: Path, hub: Hub
) -> None:
    run = fetch(models, hub)
    assert run.returncode == 0, run.stderr
    assert run.stdout == f"The models of the report are in {models}.\n"
    entries = locked(models)
    assert entries[NAMES.name]["repository"] == NAMES.repository
    assert entries[NAMES.name]["revision"] == COMMIT
    assert entries[RELEVANCE.name]["repository"] == "theobaur/relevancy_classification_FEVER"
    for published in REPORT_MODELS:
        files = {path.name: path for path in (models / published.name).iterdir()}
        assert entries[published.name]["files"] == {
            name: sha256(path.read_bytes()).hexdigest() for name, path in files.items()
        }
        assert WEIGHTS in files
        assert not {"pytorch_model.bin", "modeling.py", ".cache"} & files.keys()
    # Where a branch alone has the weights as safetensors, it is fetched.
    assert hub.branches[DPR_CONTEXTS.repository] == "refs/pr/3"
    assert hub.branches[DPR_QUESTIONS.repository] == "refs/pr/2"
    assert hub.branches[RELEVANCE.repository] == "main"
    hub.down = True
    assert fetch(models, hub).returncode == 0


def test_a_classifier_of_ones_own_is_recorded_and_not_replaced(
    models: Path, hub: Hub, tiny_models: Path
) -> None:
    shutil.copytree(tiny_models / RELEVANCE.name, models / RELEVANCE.name)
    assert fetch(models, hub).returncode == 0
    entry = locked(models)[RELEVANCE.name]
    assert (entry["repository"], entry["revision"]) == ("", "")
    assert RELEVANCE.repository not in hub.branches


def test_a_connection_that_is_cut_is_continued_where_it_stopped(models: Path, hub: Hub) -> None:
    # The client keeps whole chunks of ten megabytes.
    hub.cut = f"{ANSWERS.repository}/{WEIGHTS}"
    (hub.folder / hub.cut).write_bytes(os.urandom(24 * 1024**2))
    weights = hub.cut
    run = fetch(models, hub)
    assert run.returncode == 0, run.stderr
    asked = [wanted for path, wanted in hub.asked if path == weights]
    assert asked == [None, f"bytes={10 * 1024**2}-"]


def test_after_a_failure_the_same_commit_is_fetched_and_whole_files_are_kept(
    models: Path, hub: Hub
) -> None:
    hub.cut, hub.for_good = f"{ANSWERS.repository}/{WEIGHTS}", True
    said = complaint(fetch(models, hub))
    assert f"{ANSWERS.repository} cannot be fetched from {hub.url}" in said
    assert locked(models)[ANSWERS.name] == {
        "repository": ANSWERS.repository,
        "revision": COMMIT,
        "files": {},
    }
    hub.down = False
    hub.asked.clear()
    run = fetch(models, hub)
    assert run.returncode == 0, run.stderr
    again = {path.rpartition("/")[0] for path, _ in hub.asked}
    assert ANSWERS.repository in again
    assert NAMES.repository not in again


def test_a_lock_of_others_refuses_what_the_hub_has_changed(
    fetched: Path, hub: Hub, tmp_path: Path
) -> None:
    shared = fetched / LOCK
    again = tmp_path / "again"
    assert fetch(again, hub, "--lock", str(shared)).returncode == 0
    assert (again / LOCK).read_bytes() == shared.read_bytes()

    config = hub.folder / DPR_CONTEXTS.repository / "config.json"
    config.write_text(config.read_text() + " ")
    shutil.rmtree(again / DPR_CONTEXTS.name)
    said = complaint(fetch(again, hub))
    assert f"The model in {again / DPR_CONTEXTS.name} is not the one" in said
    assert "config.json" in said


def test_a_file_that_was_changed_is_refused_before_anything_is_fetched(
    fetched: Path, hub: Hub
) -> None:
    (fetched / NAMES.name / "config.json").write_text("{}")
    assert (
        "delete the folder, or remove the model from the lock if the change is meant"
        in complaint(fetch(fetched, hub))
    )
    assert hub.asked == []


def test_a_hub_that_cannot_be_reached_gets_one_line_that_says_what_to_do(models: Path) -> None:
    said = complaint(fetch(models, "http://127.0.0.1:9"))
    assert f"{NAMES.repository} cannot be fetched from http://127.0.0.1:9" in said
    assert "copy the folders from a computer that can reach it (docs/report-models.md)" in said


def test_folders_that_were_placed_by_hand_need_no_hub(tmp_path: Path, tiny_models: Path) -> None:
    models = tmp_path / "models"
    shutil.copytree(tiny_models, models)
    (models / LOCK).unlink()
    run = fetch(models, "http://127.0.0.1:9")
    assert run.returncode == 0, run.stderr
    assert (models / LOCK).read_bytes() == (tiny_models / LOCK).read_bytes()


def test_weights_that_can_hold_code_are_not_fetched(models: Path, hub: Hub) -> None:
    (hub.folder / NAMES.repository / WEIGHTS).unlink()
    said = complaint(fetch(models, hub))
    assert f"{NAMES.repository} contains no {WEIGHTS} at {COMMIT}" in said
    assert NAMES.name not in locked(models)


def test_a_lock_of_others_stays_when_the_hub_lacks_the_weights(fetched: Path, hub: Hub) -> None:
    before = (fetched / LOCK).read_bytes()
    weights = (fetched / NAMES.name / WEIGHTS).read_bytes()
    (fetched / NAMES.name / WEIGHTS).unlink()
    (hub.folder / NAMES.repository / WEIGHTS).unlink()
    assert f"{NAMES.repository} contains no {WEIGHTS} at {COMMIT}" in complaint(fetch(fetched, hub))
    assert (fetched / LOCK).read_bytes() == before

    (fetched / NAMES.name / WEIGHTS).write_bytes(weights[:-1])
    assert f"names: {WEIGHTS}." in complaint(fetch(fetched, hub))
    (fetched / NAMES.name / WEIGHTS).write_bytes(weights)
    assert fetch(fetched, hub).returncode == 0


def test_the_doctor_looks_at_the_models_only_where_the_setting_names_a_folder(
    models: Path, tiny_models: Path
) -> None:
    def finding(folder: str) -> dict[str, object] | None:
        run = with_models(Path(folder), "http://127.0.0.1:9", "doctor", "--json")
        findings = json.loads(run.stdout)["findings"]
        return next((f for f in findings if f["subject"] == "models of the report"), None)

    missing = finding(str(models))
    assert missing is not None
    assert not missing["works"]
    assert f"lacks models of the report: {NAMES.name}, " in str(missing["detail"])
    whole = finding(str(tiny_models))
    assert whole is not None
    assert whole["works"]

"""``esoteric models fetch report``, from a hub on this machine by the hub's own client."""

from __future__ import annotations

import json
import shutil
from collections.abc import Iterator
from hashlib import sha256
from pathlib import Path

import pytest

from retrieval.models.papers.report_models import (
    ANSWERS,
    DPR_CONTEXTS,
    LOCK,
    NAMES,
    RELEVANCE,
    REPORT_MODELS,
)
from tests.retrieval.models.hub import COMMIT, Hub, running, with_models
from tests.support.command import Ran

pytestmark = pytest.mark.server

WEIGHTS = "model.safetensors"
NOWHERE = "http://127.0.0.1:9"


@pytest.fixture
def hub(tmp_path: Path, tiny_models: Path) -> Iterator[Hub]:
    """A hub with all models, and files beside them that are not to be fetched."""
    for published in REPORT_MODELS:
        folder = tmp_path / "hub" / published.repository
        shutil.copytree(tiny_models / published.name, folder)
        for name in ("pytorch_model.bin", "README.md", "modeling.py"):
            (folder / name).write_text("not to be fetched")
    with running(tmp_path / "hub") as hub:
        yield hub


@pytest.fixture
def models(tmp_path: Path) -> Path:
    """The folder of the models, which does not exist yet."""
    return tmp_path / "models"


def fetch(models: Path, hub: Hub | str, *arguments: str) -> Ran:
    return with_models(models, hub, "models", "fetch", "report", *arguments)


def complaint(run: Ran) -> str:
    assert (run.returncode, run.stdout) == (1, ""), run.stderr
    *names, last = run.stderr.strip().splitlines()
    assert set(names) <= {published.name for published in REPORT_MODELS}
    assert last.startswith("esoteric: ")
    return last


def locked(models: Path) -> dict[str, dict[str, object]]:
    found: dict[str, dict[str, object]] = json.loads((models / LOCK).read_text())["models"]
    return found


def test_the_first_fetch_records_every_file_and_later_ones_refuse_what_has_changed(
    models: Path, hub: Hub, tmp_path: Path
) -> None:
    run = fetch(models, hub)
    assert run.returncode == 0, run.stderr
    assert run.stdout == f"The models of the report are in {models}.\n"
    entries = locked(models)
    for published in REPORT_MODELS:
        files = {path.name: path for path in (models / published.name).iterdir()}
        assert not {"pytorch_model.bin", "modeling.py", ".cache"} & files.keys()
        assert entries[published.name] == {
            "repository": published.repository,
            "revision": COMMIT,
            "files": {n: sha256(path.read_bytes()).hexdigest() for n, path in files.items()},
        }
        # Where a branch alone has the weights as safetensors, it is fetched.
        assert hub.branches[published.repository] == published.branch
    hub.asked.clear()
    assert fetch(models, hub).returncode == 0
    assert hub.asked == []

    again = tmp_path / "again"
    lock = str(models / LOCK)
    assert fetch(again, hub, "--lock", lock).returncode == 0
    assert (again / LOCK).read_bytes() == (models / LOCK).read_bytes()
    config = hub.folder / DPR_CONTEXTS.repository / "config.json"
    config.write_text(config.read_text() + " ")
    shutil.rmtree(again / DPR_CONTEXTS.name)
    said = complaint(fetch(again, hub))
    assert f"The model in {again / DPR_CONTEXTS.name} is not the one" in said
    assert "config.json" in said

    (models / NAMES.name / "config.json").write_text("{}")
    wanted = "delete the folder, or remove the model from the lock if the change is meant"
    assert wanted in complaint(fetch(models, hub))


def test_after_a_failure_what_is_there_is_kept_and_the_rest_is_fetched_at_the_same_commit(
    models: Path, hub: Hub, tiny_models: Path
) -> None:
    # A classifier of one's own is recorded and not replaced.
    shutil.copytree(tiny_models / RELEVANCE.name, models / RELEVANCE.name)
    hub.breaks = f"{ANSWERS.repository}/resolve"
    said = complaint(fetch(models, hub))
    assert f"{ANSWERS.repository} cannot be fetched from {hub.url}" in said
    begun = {"repository": ANSWERS.repository, "revision": COMMIT, "files": {}}
    assert locked(models)[ANSWERS.name] == begun
    hub.breaks = ""
    hub.asked.clear()
    run = fetch(models, hub)
    assert run.returncode == 0, run.stderr
    assert NAMES.repository not in hub.asked
    assert ANSWERS.repository in hub.asked
    assert locked(models)[RELEVANCE.name]["repository"] == ""
    assert RELEVANCE.repository not in hub.branches


def test_folders_that_were_placed_by_hand_need_no_hub(models: Path, tiny_models: Path) -> None:
    said = complaint(fetch(models, NOWHERE))
    assert f"{NAMES.repository} cannot be fetched from {NOWHERE}" in said
    assert "copy the folders from a computer that can reach it (docs/models.md)" in said
    shutil.copytree(tiny_models, models, dirs_exist_ok=True)
    (models / LOCK).unlink()
    run = fetch(models, NOWHERE)
    assert run.returncode == 0, run.stderr
    assert (models / LOCK).read_bytes() == (tiny_models / LOCK).read_bytes()


def test_weights_that_can_hold_code_are_not_fetched_and_a_lock_of_others_stays(
    models: Path, hub: Hub
) -> None:
    weights = hub.folder / NAMES.repository / WEIGHTS
    content = weights.read_bytes()
    weights.unlink()
    said = complaint(fetch(models, hub))
    assert f"{NAMES.repository} contains no {WEIGHTS} at {COMMIT}" in said
    assert NAMES.name not in locked(models)
    weights.write_bytes(content)
    models = models.with_name("others")
    assert fetch(models, hub).returncode == 0
    before = (models / LOCK).read_bytes()
    weights.unlink()
    (models / NAMES.name / WEIGHTS).unlink()
    assert f"{NAMES.repository} contains no {WEIGHTS} at {COMMIT}" in complaint(fetch(models, hub))
    assert (models / LOCK).read_bytes() == before


def test_the_doctor_looks_at_the_models_only_where_the_setting_names_a_folder(
    models: Path, tiny_models: Path
) -> None:
    found = []
    for folder in (models, tiny_models):
        run = with_models(folder, NOWHERE, "doctor", "--json")
        findings = json.loads(run.stdout)["findings"]
        found.append(next(f for f in findings if f["subject"] == "models of the report"))
    assert [one["works"] for one in found] == [False, True]
    assert f"lacks models of the report: {NAMES.name}, " in found[0]["detail"]

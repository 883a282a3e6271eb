"""``esoteric models fetch report``, from a hub on this machine by the hub's own client."""

import hashlib
import json
import re
import shutil
from collections.abc import Iterator
from dataclasses import dataclass, field
from hashlib import sha256
from http.server import BaseHTTPRequestHandler
from pathlib import Path
from urllib.parse import unquote

import pytest

from retrieval.models.papers import report_models as reported
from tests.support.command import Ran, in_a_process
from tests.support.web_server import page, web_server

pytestmark = pytest.mark.server

WEIGHTS = "model.safetensors"
NOWHERE = "http://127.0.0.1:9"
COMMIT = "0123456789abcdef0123456789abcdef01234567"


@dataclass
class Hub:
    """Serves repositories below a folder, each at one commit.

    ``breaks``: the repository at which it breaks off, and answers nothing any more. ``asked``: the
    repository of each file that was read. ``branches``: the branch of each repository that was
    asked for first. ``url``: what ``HF_ENDPOINT`` is set to.
    """

    folder: Path
    url: str = ""
    breaks: str = ""
    asked: list[str] = field(default_factory=list)
    branches: dict[str, str] = field(default_factory=dict)

    def answer(self, handler: BaseHTTPRequestHandler) -> None:
        path = handler.path.partition("?")[0]
        if self.breaks and self.breaks in path:
            return
        if found := re.fullmatch(r"/api/models/(.+)/tree/\w+", path):
            files = sorted((self.folder / found[1]).iterdir())
            about = [(file.name, file.stat().st_size, _etag(file)) for file in files]
            tree = [{"type": "file", "path": n, "size": s, "oid": o} for n, s, o in about]
            send = page(json.dumps(tree), "application/json")
        elif found := re.fullmatch(r"/api/models/(.+)/revision/([^/]+)", path):
            self.branches.setdefault(found[1], unquote(found[2]))
            revision = {"id": found[1], "sha": COMMIT, "siblings": []}
            send = page(json.dumps(revision), "application/json")
        elif found := re.fullmatch(rf"/(.+)/resolve/{COMMIT}/(.+)", path):
            file = self.folder / found[1] / found[2]
            send = page(file.read_bytes(), "", X_Repo_Commit=COMMIT, ETag=f'"{_etag(file)}"')
            self.asked += [found[1]] if handler.command == "GET" else []
        else:
            send = page("", status=404)
        send(handler)


def _etag(file: Path) -> str:
    return hashlib.sha1(file.read_bytes()).hexdigest()


@pytest.fixture
def hub(tmp_path: Path, tiny_models: Path) -> Iterator[Hub]:
    """A hub with all models, and files beside them that are not to be fetched."""
    for published in reported.REPORT_MODELS:
        folder = tmp_path / "hub" / published.repository
        shutil.copytree(tiny_models / published.name, folder)
        for name in ("pytorch_model.bin", "README.md", "modeling.py"):
            (folder / name).write_text("not to be fetched")
    hub = Hub(tmp_path / "hub")
    with web_server(hub.answer) as server:
        hub.url = server.address
        yield hub


@pytest.fixture
def models(tmp_path: Path) -> Path:
    """The folder of the models, which does not exist yet."""
    return tmp_path / "models"


def with_models(models: Path, hub: Hub | str, *arguments: str) -> Ran:
    """Run the command with these models of the report; ``hub``: where it may fetch models."""
    where = {"HF_HOME": models.parent / "hf", "ESOTERIC_REPORT_MODELS": models}
    where |= {"HF_ENDPOINT": hub if isinstance(hub, str) else hub.url, "NO_PROXY": "127.0.0.1"}
    return in_a_process(models.parent / "home", *arguments, **where)


def fetch(models: Path, hub: Hub | str, *arguments: str) -> Ran:
    return with_models(models, hub, "models", "fetch", "report", *arguments)


def complaint(run: Ran) -> str:
    assert (run.returncode, run.stdout) == (1, ""), run.stderr
    *names, last = run.stderr.strip().splitlines()
    assert set(names) <= {published.name for published in reported.REPORT_MODELS}
    assert last.startswith("esoteric: ")
    return last


def locked(models: Path) -> dict[str, dict[str, object]]:
    found: dict[str, dict[str, object]] = json.loads((models / reported.LOCK).read_text())["models"]
    return found


def test_the_first_fetch_records_every_file(models: Path, hub: Hub, tmp_path: Path) -> None:
    run = fetch(models, hub)
    assert run.returncode == 0, run.stderr
    assert run.stdout == f"The models of the report are in {models}.\n"
    entries = locked(models)
    for published in reported.REPORT_MODELS:
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
    lock = str(models / reported.LOCK)
    assert fetch(again, hub, "--lock", lock).returncode == 0
    assert (again / reported.LOCK).read_bytes() == (models / reported.LOCK).read_bytes()
    config = hub.folder / reported.DPR_CONTEXTS.repository / "config.json"
    config.write_text(config.read_text() + " ")
    shutil.rmtree(again / reported.DPR_CONTEXTS.name)
    said = complaint(fetch(again, hub))
    assert f"The model in {again / reported.DPR_CONTEXTS.name} is not the one" in said
    assert "config.json" in said

    (models / reported.NAMES.name / "config.json").write_text("{}")
    wanted = "delete the folder, or remove the model from the lock if the change is meant"
    assert wanted in complaint(fetch(models, hub))


def test_after_a_failure_the_rest_is_fetched(models: Path, hub: Hub, tiny_models: Path) -> None:
    # A classifier of one's own is recorded and not replaced.
    shutil.copytree(tiny_models / reported.RELEVANCE.name, models / reported.RELEVANCE.name)
    hub.breaks = f"{reported.ANSWERS.repository}/resolve"
    said = complaint(fetch(models, hub))
    assert f"{reported.ANSWERS.repository} cannot be fetched from {hub.url}" in said
    begun = {"repository": reported.ANSWERS.repository, "revision": COMMIT, "files": {}}
    assert locked(models)[reported.ANSWERS.name] == begun
    hub.breaks = ""
    hub.asked.clear()
    run = fetch(models, hub)
    assert run.returncode == 0, run.stderr
    assert reported.NAMES.repository not in hub.asked
    assert reported.ANSWERS.repository in hub.asked
    assert locked(models)[reported.RELEVANCE.name]["repository"] == ""
    assert reported.RELEVANCE.repository not in hub.branches
    # Weights that can hold code are not fetched, and the lock of others stays.
    before = (models / reported.LOCK).read_bytes()
    (hub.folder / reported.NAMES.repository / WEIGHTS).unlink()
    (models / reported.NAMES.name / WEIGHTS).unlink()
    assert f"{reported.NAMES.repository} contains no {WEIGHTS} at {COMMIT}" in complaint(
        fetch(models, hub)
    )
    assert (models / reported.LOCK).read_bytes() == before


def test_folders_placed_by_hand_need_no_hub(models: Path, tiny_models: Path) -> None:
    def finding() -> dict[str, object]:
        run = with_models(models, NOWHERE, "doctor", "--json")
        findings = json.loads(run.stdout)["findings"]
        return next(f for f in findings if f["subject"] == "models of the report")

    lacks = finding()
    assert not lacks["works"]
    assert f"lacks models of the report: {reported.NAMES.name}, " in str(lacks["detail"])
    said = complaint(fetch(models, NOWHERE))
    assert f"{reported.NAMES.repository} cannot be fetched from {NOWHERE}" in said
    assert "copy the folders from a computer that can reach it (docs/models.md)" in said
    shutil.copytree(tiny_models, models, dirs_exist_ok=True)
    (models / reported.LOCK).unlink()
    run = fetch(models, NOWHERE)
    assert run.returncode == 0, run.stderr
    assert (models / reported.LOCK).read_bytes() == (tiny_models / reported.LOCK).read_bytes()
    assert finding()["works"]

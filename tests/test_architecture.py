"""The rules that keep the house in order."""

from __future__ import annotations

import ast
import io
import os
import re
import subprocess
import sys
import tokenize
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import pytest

from settings import CHECKOUT

PACKAGES = ("app", "cli", "research", "retrieval", "worker")
# What the application may import of the other packages.
APP_IMPORTS = {
    "app",
    "retrieval.agreement",
    "retrieval.checkable.given_text",
    "retrieval.checkable.reader",
    "retrieval.claim",
    "retrieval.claim_lists.files",
    "retrieval.claim_lists.verdicts",
    "retrieval.compared",
    "retrieval.corpora.cleaning",
    "retrieval.corpora.json_lines",
    "retrieval.errors",
    "retrieval.index.open",
    "retrieval.llm_judge.ollama",
    "retrieval.models.folders",
    "retrieval.pipeline.runnable",
    "retrieval.recipes.recipe_files",
    "retrieval.recipes.recipes",
    "retrieval.result",
    "retrieval.sources.address",
    "retrieval.sources.kept",
    "retrieval.sources.opening",
    "retrieval.system.files",
    "retrieval.system.fixes",
    "retrieval.text.notices",
    "retrieval.text.word_forms",
    "retrieval.types",
    "retrieval.web.page_reader",
    "retrieval.words",
    "settings",
    "worker.broker",
    "worker.comparison_store",
    "worker.corpora.corpus_folders",
    "worker.corpora.corpus_store",
    "worker.corpora.errors",
    "worker.corpora.uploads",
    "worker.database",
    "worker.feedback_store",
    "worker.file_upkeep",
    "worker.health",
    "worker.home_check",
    "worker.job_store",
    "worker.jobs",
    "worker.list_store",
    "worker.lists",
    "worker.logs",
    "worker.reports",
    "worker.sharing",
    "worker.tallies",
    "worker.user_store",
    "worker.worker_store",
}

# Where the service may import PyTorch: models of the user, the models of papers, the making of the
# static encoder, and what training starts from.
WITH_TORCH = {
    "retrieval/models/folders.py",
    "retrieval/models/own_models.py",
    "retrieval/models/own_verifier.py",
    "retrieval/models/packaged.py",
    "retrieval/models/papers/bart.py",
    "retrieval/models/papers/report_networks.py",
    "retrieval/models/runtime.py",
    "retrieval/models/static_encoder.py",
}


def imported_modules(path: Path) -> set[str]:
    """Modules of this repository that a file imports."""
    return {m for m in imports(path) if m.split(".")[0] in {*PACKAGES, "settings"}}


def imports(path: Path) -> set[str]:
    modules = set()
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            modules |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom) and node.module:
            modules.add(node.module)
    return modules


@pytest.mark.server
def test_imports_follow_the_contracts() -> None:
    """The contracts are in ``pyproject.toml``."""
    program = Path(sys.executable).with_name("lint-imports")
    checked = subprocess.run(
        [program, "--no-cache", "--no-logo"],
        cwd=CHECKOUT,
        env={**os.environ, "PYTHONPATH": str(CHECKOUT)},
        capture_output=True,
        text=True,
        check=False,
    )
    assert checked.returncode == 0, checked.stdout


def test_the_application_imports_values_and_the_job_store_alone() -> None:
    wrong = [
        f"{path.relative_to(CHECKOUT)} imports {module}"
        for path in sorted((CHECKOUT / "app").rglob("*.py"))
        for module in sorted(imported_modules(path))
        if module not in APP_IMPORTS and module.split(".")[0] not in APP_IMPORTS
    ]
    assert wrong == []


def test_the_service_imports_pytorch_in_few_places() -> None:
    found = {
        str(path.relative_to(CHECKOUT))
        for package in ("app", "retrieval", "worker")
        for path in (CHECKOUT / package).rglob("*.py")
        if {m.split(".")[0] for m in imports(path)} & {"torch", "transformers"}
    }
    assert found <= WITH_TORCH


def test_only_the_settings_read_the_environment() -> None:
    readers = [
        str(path.relative_to(CHECKOUT))
        for package in ("app", "cli", "retrieval", "worker")
        for path in sorted((CHECKOUT / package).rglob("*.py"))
        if "os.environ" in path.read_text(encoding="utf-8")
        or "os.getenv" in path.read_text(encoding="utf-8")
    ]
    assert set(readers) <= {"cli/up.py"}  # children get a copy


def test_no_file_is_named_for_what_it_does_not_say() -> None:
    vague = {"utils.py", "helpers.py", "common.py", "misc.py"}
    found = [p for package in PACKAGES for p in (CHECKOUT / package).rglob("*.py")]
    assert [path for path in found if path.name in vague] == []


# A module of ours, or a name in it, in full; and a Python file, by its whole path or its end. A
# path that begins with a slash is an address of the service.
MODULE = re.compile(rf"(?<![\w./])(?:{'|'.join(PACKAGES)})(?:\.[A-Za-z_]\w*)+(?![\w/])")
FILE = re.compile(r"(?<![\w./*-])\w[\w./-]*\.py\b")


def test_modules_and_files_that_comments_and_documents_name_exist() -> None:
    files = ["", *(str(path.relative_to(CHECKOUT)) for path in python_files())]
    ends = {"/".join(Path(file).parts[-n:]) for file in files for n in range(1, 9)}
    wrong = []
    for path in python_files():
        for text in remarks(path):
            named = [name for name in MODULE.findall(text) if not name.endswith(".py")]
            missing = [name for name in named if not is_ours(name)]
            missing += [file for file in FILE.findall(text) if file not in ends]
            wrong += [f"{path.relative_to(CHECKOUT)}: {name}" for name in missing]
    reports = CHECKOUT / "research" / "reports"
    for path in sorted([*(CHECKOUT / "docs").rglob("*.md"), *reports.glob("*.md")]):
        quoted = re.findall(r"`([^`\n]+)`", path.read_text(encoding="utf-8"))
        missing = [file for file in quoted if FILE.fullmatch(file) and file not in ends]
        wrong += [f"{path.relative_to(CHECKOUT)}: {file}" for file in missing]
    assert wrong == []


@cache
def python_files() -> list[Path]:
    folders = (*PACKAGES, "examples", "tests")
    inside = (path for folder in folders for path in (CHECKOUT / folder).rglob("*.py"))
    return sorted([*inside, *CHECKOUT.glob("*.py")])


def remarks(path: Path) -> Iterator[str]:
    """Yield the docstrings and the comments of a file that may name a module or a file."""
    source = path.read_text(encoding="utf-8")
    about = "\n".join(re.findall(r'"""[\s\S]*?"""|#.*', source))
    if not MODULE.search(about) and not FILE.search(about):
        return  # most files, and the exact way is slow
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant):
            yield str(node.value.value)
    tokens = tokenize.generate_tokens(io.StringIO(source).readline)
    yield from (token.string for token in tokens if token.type == tokenize.COMMENT)


def is_ours(name: str) -> bool:
    """Return whether this is a package, a module, or a name that a module or package defines."""
    parts = name.split(".")
    place, last = CHECKOUT.joinpath(*parts), CHECKOUT.joinpath(*parts[:-1])
    if place.is_dir() or place.with_suffix(".py").is_file():
        return True
    module = last / "__init__.py" if last.is_dir() else last.with_suffix(".py")
    return module.is_file() and parts[-1] in defined_names(module)


@cache
def defined_names(module: Path) -> set[str]:
    body = ast.parse(module.read_text(encoding="utf-8")).body
    defined = (ast.FunctionDef, ast.ClassDef)
    names = {node.name for node in body if isinstance(node, defined)}
    assigned = (
        target
        for node in body
        if isinstance(node, (ast.Assign, ast.AnnAssign))
        for target in (node.targets if isinstance(node, ast.Assign) else [node.target])
    )
    return names | {target.id for target in assigned if isinstance(target, ast.Name)}

"""The requirements files pin what pyproject.toml declares, and the bill of materials lists it."""

from __future__ import annotations

import json
import re
import shutil
import subprocess
import tomllib
from pathlib import Path

import pytest

from settings import CHECKOUT

PROJECT = tomllib.loads((CHECKOUT / "pyproject.toml").read_text("utf-8"))
EXTRAS = PROJECT["project"]["optional-dependencies"]
GROUPS = PROJECT["dependency-groups"]
DECLARED = {
    "requirements.txt": PROJECT["project"]["dependencies"],
    **{f"requirements-{name}.txt": needs for name, needs in {**EXTRAS, **GROUPS}.items()},
}


def name_of(requirement: str) -> str:
    found = re.match(r"[\w.-]+", requirement)
    assert found
    return found[0]


def pins(file: str) -> dict[str, str]:
    """Return the versions that a file pins, by package; each must have a hash."""
    text = re.sub(r"^\s*#.*\n", "", (CHECKOUT / file).read_text("utf-8"), flags=re.M)
    found = {}
    for line in text.replace("\\\n", "").splitlines():
        pin = re.match(r"([\w.-]+)==(\d[\w.]*)(?: ;[^\\]*?)?\s+--hash=sha256:[0-9a-f]{64}", line)
        assert pin, line
        assert pin[1] not in found
        found[pin[1]] = pin[2]
    return found


@pytest.mark.parametrize("file", DECLARED)
def test_what_is_declared_is_pinned_with_hashes(file: str) -> None:
    missing = {name_of(need) for need in DECLARED[file]} - set(pins(file))
    assert missing == ({"torch"} if file == "requirements-models.txt" else set())


def test_pytorch_is_declared_and_pinned_as_one_version() -> None:
    lines = (CHECKOUT / "requirements-torch.txt").read_text("utf-8").splitlines()
    assert [line for line in lines if not line.startswith("#")] == [EXTRAS["models"][0]]


def test_a_package_in_two_files_has_the_same_version_in_both() -> None:
    found: dict[str, str] = {}
    for file in DECLARED:
        for package, version in pins(file).items():
            assert found.setdefault(package, version) == version


def test_no_file_names_an_index() -> None:
    for path in CHECKOUT.glob("requirements*"):
        assert "://" not in path.read_text("utf-8")


def test_the_service_needs_neither_pytorch_nor_the_tools_of_research() -> None:
    left_out = {"torch", "transformers", "sentence-transformers", "haystack-ai", "scipy", "sympy"}
    assert not left_out & {*pins("requirements.txt")}


def test_the_documentation_says_what_each_package_is_for() -> None:
    text = (CHECKOUT / "docs/packages.md").read_text("utf-8")
    cells = " ".join(re.findall(r"^\| ((?:`[a-z\d-]+`(?:, )?)+) \|", text, re.M))
    cells += " ".join(re.findall(r"^\| `\w+` \| ((?:`[a-z\d-]+`(?:, )?)+) \|", text, re.M))
    named = set(re.findall(r"`([\w-]+)`", cells)) - set(EXTRAS)
    used = [*PROJECT["project"]["dependencies"], GROUPS["weights"][0]]
    product = EXTRAS.keys() - {"servers", "test"}
    used += [need for extra in product for need in EXTRAS[extra]]
    assert named == {name_of(need) for need in used}


@pytest.mark.server
def test_every_pinned_package_is_in_the_bill_with_its_hashes(tmp_path: Path) -> None:
    if shutil.which("make") is None:
        pytest.skip("make is not installed")
    made = tmp_path / "sbom.json"
    # The packages are installed, so their stamp is not looked at.
    command = ["make", "-o", ".venv/.installed-tests", "sbom", f"SBOM={made}"]
    subprocess.run(command, cwd=CHECKOUT, check=True, capture_output=True)
    found = {
        (one["name"], one["version"]): {
            digest["content"]
            for reference in one["externalReferences"]
            for digest in reference.get("hashes", ())
        }
        for one in json.loads(made.read_text())["components"]
    }
    pinned = {}
    for file in ("requirements.txt", "requirements-weights.txt"):
        text = (CHECKOUT / file).read_text().replace("\\\n", " ")
        for name, version, rest in re.findall(r"^([\w.-]+)==([\w.]+)(.*)$", text, re.MULTILINE):
            pinned[name, version] = set(re.findall(r"sha256:([0-9a-f]{64})", rest))
    assert len(pinned) > 100
    assert found == pinned

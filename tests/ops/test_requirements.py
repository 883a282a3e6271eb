"""The requirement files pin every package, and the client of Elasticsearch meets both servers."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from settings import CHECKOUT

FILES = (
    "requirements.txt",
    "requirements-local.txt",
    "requirements-corpora.txt",
    "requirements-zim.txt",
    "requirements-test.txt",
    "requirements-weights.txt",
    "requirements-test-weights.txt",
)


def pins(file: Path) -> dict[str, str]:
    """Return the versions that a file pins, by package."""
    found = {}
    for line in file.read_text("utf-8").splitlines():
        if line and not line.startswith("#"):
            name, version = line.split("==")
            assert name not in found
            found[name] = version
    return found


@pytest.mark.parametrize("name", FILES)
def test_every_package_has_one_version(name: str) -> None:
    found = pins(CHECKOUT / name)
    assert found
    assert all(re.fullmatch(r"\d[\w.]*", version) for version in found.values())


def test_a_package_in_two_files_has_the_same_version_in_both() -> None:
    found: dict[str, str] = {}
    for name in FILES:
        for package, version in pins(CHECKOUT / name).items():
            assert found.setdefault(package, version) == version


def test_the_client_of_elasticsearch_is_one_that_servers_8_and_9_answer() -> None:
    found = pins(CHECKOUT / "requirements.txt")
    assert found["elasticsearch"].startswith("8.19.")
    assert found["elastic-transport"].startswith("8.")


def test_the_documentation_says_what_each_package_is_for() -> None:
    """The first part of the file has the packages that the code uses itself."""
    first_part = (CHECKOUT / "requirements.txt").read_text("utf-8").split("\n\n")[0]
    used = re.findall(r"^([\w-]+)==", first_part, re.M)
    rows = re.findall(r"^\| (`.*?) \|", (CHECKOUT / "docs/packages.md").read_text("utf-8"), re.M)
    assert sorted(re.findall(r"`([\w-]+)`", " ".join(rows))) == sorted(used)

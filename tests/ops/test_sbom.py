"""The bill of materials lists what `make run` installs."""

from __future__ import annotations

import json
import re
import shutil
import subprocess
from pathlib import Path

import pytest

from settings import CHECKOUT

INSTALLED = ("requirements.txt", "requirements-weights.txt")


@pytest.mark.server
def test_every_pinned_package_is_in_it_with_its_hashes(tmp_path: Path) -> None:
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
    for file in INSTALLED:
        text = (CHECKOUT / file).read_text().replace("\\\n", " ")
        for name, version, rest in re.findall(r"^([\w.-]+)==([\w.]+)(.*)$", text, re.MULTILINE):
            pinned[name, version] = set(re.findall(r"sha256:([0-9a-f]{64})", rest))
    assert len(pinned) > 100
    assert found == pinned

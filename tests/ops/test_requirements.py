"""Requirements are pinned and listed, and the wheel works where there is no checkout."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
import sysconfig
import tomllib
import urllib.request
import venv
from pathlib import Path
from shutil import copytree, ignore_patterns

import pytest

from settings import CHECKOUT
from tests.ops.up_process import free_port
from tests.support.json_lines import write_json_lines
from tests.support.shared import start_server
from tests.support.waiting import wait_until

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


def test_what_is_declared_is_pinned_with_hashes_in_one_version_and_no_file_names_an_index() -> None:
    found: dict[str, str] = {}
    for file, declared in DECLARED.items():
        missing = {name_of(need) for need in declared} - set(pins(file))
        assert missing == ({"torch"} if file == "requirements-models.txt" else set())
        for package, version in pins(file).items():
            assert found.setdefault(package, version) == version
    lines = (CHECKOUT / "requirements-torch.txt").read_text("utf-8").splitlines()
    assert [line for line in lines if not line.startswith("#")] == [EXTRAS["models"][0]]
    for path in CHECKOUT.glob("requirements*"):
        assert "://" not in path.read_text("utf-8")
    # The service needs neither PyTorch nor the tools of research.
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


PAGES = (
    {"id": "kettle", "title": "Kettle", "text": "A kettle is a pot. Kettles boil water."},
    {"id": "samovar", "title": "Samovar", "text": "A samovar is a heated urn from Russia."},
)


class Installed:
    """An environment with the wheel alone; other packages are read where the tests have them."""

    def __init__(self, folder: Path, wheel: Path, unpacked: Path) -> None:
        venv.create(folder / "environment", symlinks=True)
        self._bin = folder / "environment" / "bin"
        pip = [sys.executable, "-m", "pip", "--python", str(self._bin / "python")]
        subprocess.run([*pip, "install", "--quiet", "--no-deps", str(wheel)], check=True)
        (packages,) = self._bin.parent.glob("lib/python*/site-packages")
        # Lines of .pth files in this folder are not run: the checkout stays out.
        (packages / "others.pth").write_text(sysconfig.get_path("purelib"))
        self.home = folder / "home"
        self.home.mkdir()
        (self.home / "models").symlink_to(unpacked)
        kept = {k: v for k, v in os.environ.items() if not k.startswith(("ESOTERIC", "PYTHON"))}
        self.environment = {**kept, "ESOTERIC_HOME": str(self.home)}

    def command(self, *arguments: str) -> list[str]:
        return [str(self._bin / "esoteric"), *arguments]

    def run(self, *arguments: str) -> str:
        return self._printed(self.command(*arguments))

    def python(self, program: str) -> str:
        return self._printed([str(self._bin / "python"), "-c", program])

    def _printed(self, command: list[str]) -> str:
        ended = subprocess.run(
            command,
            env=self.environment,
            cwd=self.home,
            capture_output=True,
            text=True,
            timeout=120,
            check=False,
        )
        assert ended.returncode == 0, ended.stderr
        return ended.stdout


@pytest.fixture(scope="module")
def installed(tmp_path_factory: pytest.TempPathFactory, unpacked: Path) -> Installed:
    folder = tmp_path_factory.mktemp("wheel")
    source = folder / "source"
    unneeded = ignore_patterns(".*", "build", "tests", "docs", "__pycache__", "*.egg-info")
    copytree(CHECKOUT, source, ignore=unneeded)
    build = ["wheel", "--quiet", "--no-deps", "--no-build-isolation", "--wheel-dir", str(folder)]
    subprocess.run([sys.executable, "-m", "pip", *build, str(source)], check=True)
    (wheel,) = folder.glob("*.whl")
    return Installed(folder, wheel, unpacked)


@pytest.mark.server
@pytest.mark.models
def test_a_claim_is_checked_and_shown_by_the_wheel_alone(installed: Installed) -> None:
    assert str(CHECKOUT) not in installed.python("import app, retrieval; print(app, retrieval)")
    pages = write_json_lines(installed.home / "pages.jsonl", *PAGES)
    installed.run("index", "build", "--source", f"jsonl:{pages}")
    claim = json.loads(installed.run("check", "--json", "Kettles boil water."))
    assert claim["verdict"]["label"] == "SUPPORTS"

    port, log = free_port(), installed.home / "log"
    start_server(installed.command("up", "--port", str(port)), log, installed.environment)
    wait_until(lambda: "is ready" in log.read_text(), "the line that it is ready")
    address = f"http://127.0.0.1:{port}"
    with urllib.request.urlopen(address, timeout=10) as answer:
        page = answer.read().decode()
    assert "<h1" in page
    style = page.split('rel="stylesheet" href="')[1].split('"')[0]
    with urllib.request.urlopen(address + style, timeout=10) as answer:
        assert answer.headers["Content-Type"].startswith("text/css")

    hint = "from retrieval.system.fixes import install_weights_command as hint; print(hint())"
    requirements = Path(installed.python(hint).split(" -r ")[1].strip())
    assert "all-mpnet" in requirements.read_text()

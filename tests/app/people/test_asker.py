"""Who counts as one client where no user logs in."""

from __future__ import annotations

import stat
from pathlib import Path

import pytest

from tests.support.command import printed

pytestmark = pytest.mark.server

PROGRAM = """
import sys
from app import create_app
from app.people.asker import client
from settings import Settings
app = create_app(Settings.from_environment({"ESOTERIC_HOME": sys.argv[1]}))
for address in ("192.0.2.7", "192.0.2.7", "192.0.2.8"):
    with app.test_request_context(environ_base={"REMOTE_ADDR": address}):
        print(client())
"""


def test_an_address_is_the_same_client_in_all_processes_of_a_home(tmp_path: Path) -> None:
    home, other = tmp_path / "home", tmp_path / "other"
    first = printed(PROGRAM, home)
    assert printed(PROGRAM, home) == first
    assert len({*first, *printed(PROGRAM, other)}) == 4
    (key,) = home.glob("*.key")
    assert stat.S_IMODE(key.stat().st_mode) == 0o600


def test_where_the_home_cannot_be_written_it_is_the_same_in_one_process(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("in the way")
    first, again, other = printed(PROGRAM, tmp_path / "file" / "home")
    assert first == again
    assert other != first

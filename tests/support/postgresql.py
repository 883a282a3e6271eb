"""A real PostgreSQL for the tests, from Debian's programs: started once a run, in its own folder.

Its programs refuse to run as root; then they run as the user that Debian's package makes.
"""

import os
import pwd
import secrets
import shutil
import socket
import subprocess
import time
from contextlib import closing
from pathlib import Path

import psycopg
import pytest

from tests.support.shared import made_once, shared_folder, start_server

_DEBIAN = Path("/usr/lib/postgresql")
_START_SECONDS = 30.0


def new_database() -> str:
    """Return the URL of an empty database on the server that the tests share."""
    server = made_once("postgresql", _start)
    name = f"t{secrets.token_hex(8)}"
    with closing(psycopg.connect(f"{server}/postgres", autocommit=True)) as connection:
        connection.execute(f"CREATE DATABASE {name} TEMPLATE template0".encode())
    return f"{server.replace('postgresql:', 'postgresql+psycopg:')}/{name}"


def programs() -> Path:
    """Return the folder of its programs; without them the test is skipped, or fails in CI."""
    found = shutil.which("initdb")
    folders = sorted(_DEBIAN.glob("*/bin"), key=lambda folder: int(folder.parent.name))
    if found is None and not folders:
        if os.environ.get("CI") == "true":
            pytest.fail("postgresql is not installed")
        pytest.skip("postgresql is not installed")
    return folders[-1] if folders else Path(found or "").parent


def _start(folder: Path) -> str:
    where = programs()
    as_user = (
        []
        if os.geteuid()
        else ["setpriv", "--reuid=postgres", "--regid=postgres", "--clear-groups"]
    )
    data = folder / "data"
    data.mkdir(mode=0o700)
    if as_user:
        user = pwd.getpwnam("postgres")
        os.chown(data, user.pw_uid, user.pw_gid)
        shared_folder().chmod(0o711)  # it is on the way there
    initdb = [where / "initdb", "--pgdata", data, "--username=tests", "--auth=trust", "--no-sync"]
    made = [*as_user, *map(str, initdb), "--encoding=UTF8", "--locale=C.UTF-8"]
    subprocess.run(made, check=True, capture_output=True, cwd="/")
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    settings = (
        f"port={port}",
        "listen_addresses=127.0.0.1",
        "unix_socket_directories=",
        "fsync=off",
    )
    command = [*as_user, str(where / "postgres"), "-D", str(data)]
    start_server(
        [*command, *(part for one in settings for part in ("-c", one))], folder / "log", {}
    )
    url = f"postgresql://tests@127.0.0.1:{port}"
    give_up = time.monotonic() + _START_SECONDS
    while True:
        try:
            psycopg.connect(f"{url}/postgres").close()
        except psycopg.OperationalError:
            if time.monotonic() > give_up:
                raise
            time.sleep(0.05)
        else:
            return url

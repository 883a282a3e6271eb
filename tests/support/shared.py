"""What the processes of one run of the tests share: a folder, and servers that live until its end.

The run's first process makes the folder and removes it; those that it starts, also the ones of
pytest-xdist, find it by an environment variable.
"""

import contextlib
import fcntl
import os
import signal
import subprocess
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from shutil import rmtree
from tempfile import mkdtemp

from settings import CHECKOUT

_VARIABLE = "TESTS_SHARED_FOLDER"
_started: list[subprocess.Popen[bytes]] = []  # Python warns of one that is forgotten while it runs


def make_shared_folder() -> None:
    """Make the folder, unless another process of this run has done so."""
    if "PYTEST_XDIST_WORKER" not in os.environ:
        os.environ[_VARIABLE] = mkdtemp(prefix="esoteric-tests-")


def remove_shared_folder() -> None:
    """End the servers that are left, and remove the folder, in the process that made it."""
    if "PYTEST_XDIST_WORKER" in os.environ:
        return
    for server in _servers().iterdir():
        with contextlib.suppress(ProcessLookupError):
            os.killpg(int(server.name), signal.SIGKILL)
    rmtree(shared_folder(), ignore_errors=True)


def shared_folder() -> Path:
    """Return the folder."""
    return Path(os.environ[_VARIABLE])


@contextlib.contextmanager
def one_at_a_time(name: str) -> Iterator[None]:
    """Let only one process of the run do this at a time."""
    with (shared_folder() / f"{name}.lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        yield


def made_once(name: str, make: Callable[[Path], str]) -> str:
    """Return what ``make`` returned to the first process that asked; it gets an empty folder."""
    folder = shared_folder() / name
    answer = folder / "answer"
    with one_at_a_time(name):
        if not answer.exists():
            rmtree(folder, ignore_errors=True)  # of one that failed
            folder.mkdir()
            answer.write_text(make(folder))
    return answer.read_text()


def start_server(
    command: Sequence[str], log: Path, variables: Mapping[str, str]
) -> subprocess.Popen[bytes]:
    """Start a server in a session of its own, which ends with the run at the latest."""
    with log.open("ab") as output:
        process = subprocess.Popen(
            command,
            cwd=CHECKOUT,
            env={**os.environ, **variables},
            stdout=output,
            stderr=output,
            start_new_session=True,
        )
    _started.append(process)
    (_servers() / str(process.pid)).touch()
    return process


def kill_server(process: subprocess.Popen[bytes]) -> None:
    """End a server at once, as a crash does."""
    process.kill()
    process.wait()
    # Another process may get its number.
    (_servers() / str(process.pid)).unlink(missing_ok=True)


def _servers() -> Path:
    folder = shared_folder() / "servers"
    folder.mkdir(exist_ok=True)
    return folder

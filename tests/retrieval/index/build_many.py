"""Builds an index of many pages in a process of its own, which a test may end where it likes."""

import resource
import signal
import subprocess
import sys
from pathlib import Path

from retrieval.errors import EsotericError
from retrieval.index.elastic.location import ElasticLocation
from retrieval.index.open import IndexLocation, open_index
from settings import CHECKOUT
from tests.retrieval.index.pages import many
from tests.support.encoders import WordEncoder


def start_build(location: IndexLocation, folder: Path, limit: int = 0) -> subprocess.Popen[str]:
    """Start this module, which prints each progress, or the error.

    ``limit``: how many bytes a file may have, as on a full disk; 0 for any.
    """
    command = [sys.executable, "-m", "tests.retrieval.index.build_many", str(location), str(folder)]
    return subprocess.Popen([*command, str(limit)], cwd=CHECKOUT, stdout=subprocess.PIPE, text=True)


if __name__ == "__main__":
    place, folder, limit = sys.argv[1:]
    if int(limit):
        signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
        resource.setrlimit(resource.RLIMIT_FSIZE, (int(limit), int(limit)))
    location = ElasticLocation.read(place) if "://" in place else Path(place)
    try:
        open_index(location, Path(folder), 2).build(
            many(), WordEncoder(), lambda one: print(one.step, one.done, flush=True)
        )
    except EsotericError as error:
        print(type(error).__name__, error)

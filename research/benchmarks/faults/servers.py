"""The servers that the service asks: started, killed and paused by the campaign."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path

from research.benchmarks.row import lasting_port
from settings import CHECKOUT

# A folder with bin/elasticsearch, which takes a version first; Java is that of ES_JAVA_HOME.
ELASTICSEARCH = "ESOTERIC_TEST_ELASTICSEARCH"


class Server:
    """A server with its data in a folder."""

    def __init__(
        self, url: str, command: Sequence[str], folder: Path, variables: Mapping[str, str]
    ) -> None:
        """``url``: where it is, as a setting of ESOTERIC has it."""
        self.url = url
        self.folder = folder
        self._command = command
        self._variables = variables
        self.process: subprocess.Popen[bytes] | None = None

    def start(self) -> None:
        """Start it with the data that it has; it may not answer yet."""
        self.folder.mkdir(exist_ok=True)
        self.process = subprocess.Popen(
            self._command,
            cwd=CHECKOUT,
            env={**os.environ, **self._variables},
            stdout=subprocess.DEVNULL,
            start_new_session=True,
        )

    def kill(self, with_data: bool = False) -> None:
        """End it at once; ``with_data``: what it has is lost too."""
        if self.process is not None:
            self.process.kill()
            self.process.wait()
            self.process = None
        if with_data:
            shutil.rmtree(self.folder)


def redis(folder: Path) -> Server:
    """Return a Redis that writes each message to its file."""
    port = str(lasting_port())
    command = ["redis-server", "--port", port, "--bind", "127.0.0.1", "--dir", str(folder)]
    command += ["--save", "", "--appendonly", "yes"]
    return Server(f"redis://127.0.0.1:{port}/0", command, folder, {})


def elasticsearch(folder: Path) -> Server:
    """Return an Elasticsearch of one node.

    Raises:
        KeyError: the environment does not name the program.
    """
    port = str(lasting_port())
    settings = [f"path.data={folder}", f"http.port={port}", f"transport.port={lasting_port()}"]
    settings += [
        f"cluster.routing.allocation.disk.watermark.{name}=100mb"
        for name in ("low", "high", "flood_stage")
    ]
    command = [f"{os.environ[ELASTICSEARCH]}/bin/elasticsearch", "9.5"]
    command += [part for setting in settings for part in ("-E", setting)]
    heap = {"ES_JAVA_OPTS": "-Xms512m -Xmx512m"}
    return Server(f"elasticsearch://127.0.0.1:{port}/faults", command, folder, heap)


def language_model(folder: Path) -> Server:
    """Return a stand-in for a language model."""
    port = str(lasting_port())
    program = "research.benchmarks.faults.language_model"
    command = [sys.executable, "-m", program, port, str(folder)]
    return Server(f"http://127.0.0.1:{port}/v1", command, folder, {})

"""A hub of models on this machine, and the command with models from it.

The hub has the part of the API that a snapshot is fetched by.
"""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from threading import Thread
from urllib.parse import unquote

from tests.support.command import Ran, in_a_process

COMMIT = "0123456789abcdef0123456789abcdef01234567"


class Hub(ThreadingHTTPServer):
    """Serves repositories below a folder, each at one commit.

    ``breaks``: the repository at which it breaks off, and answers nothing any more. ``asked``: the
    repository of each file that was read. ``branches``: the branch of each repository that was
    asked for first.
    """

    daemon_threads = True

    def __init__(self, folder: Path) -> None:
        """Listen on a free port."""
        super().__init__(("127.0.0.1", 0), _Handler)
        self.folder = folder
        self.breaks = ""
        self.asked: list[str] = []
        self.branches: dict[str, str] = {}

    @property
    def url(self) -> str:
        """What ``HF_ENDPOINT`` is set to."""
        return f"http://127.0.0.1:{self.server_address[1]}"


class _Handler(BaseHTTPRequestHandler):
    server: Hub

    def do_HEAD(self) -> None:
        self.do_GET()

    def do_GET(self) -> None:
        path = self.path.partition("?")[0]
        if self.server.breaks and self.server.breaks in path:
            self.close_connection = True
            return
        if found := re.fullmatch(r"/api/models/(.+)/tree/\w+", path):
            files = sorted((self.server.folder / found[1]).iterdir())
            about = [(file.name, file.stat().st_size, _etag(file)) for file in files]
            self._json([{"type": "file", "path": n, "size": s, "oid": o} for n, s, o in about])
        elif found := re.fullmatch(r"/api/models/(.+)/revision/([^/]+)", path):
            self.server.branches.setdefault(found[1], unquote(found[2]))
            self._json({"id": found[1], "sha": COMMIT, "siblings": []})
        elif found := re.fullmatch(rf"/(.+)/resolve/{COMMIT}/(.+)", path):
            self._file(self.server.folder / found[1] / found[2])
        else:
            self.send_error(404)

    def _json(self, what: object) -> None:
        content = json.dumps(what).encode()
        self.send_response(200)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(content)))
        self.end_headers()
        self.wfile.write(content)

    def _file(self, file: Path) -> None:
        content = file.read_bytes()
        self.send_response(200)
        self.send_header("X-Repo-Commit", COMMIT)
        self.send_header("ETag", f'"{_etag(file)}"')
        self.send_header("Content-Length", str(len(content)))
        self.end_headers()
        if self.command != "HEAD":
            self.server.asked.append(file.parent.relative_to(self.server.folder).as_posix())
            self.wfile.write(content)

    def log_message(self, *_: object) -> None:
        pass


def _etag(file: Path) -> str:
    return hashlib.sha1(file.read_bytes()).hexdigest()


@contextmanager
def running(folder: Path) -> Iterator[Hub]:
    with Hub(folder) as hub:
        thread = Thread(target=hub.serve_forever, args=(0.01,), daemon=True)
        thread.start()
        try:
            yield hub
        finally:
            hub.shutdown()
            thread.join()


def with_models(models: Path, hub: Hub | str, *arguments: str) -> Ran:
    """Run the command with these models of the report; ``hub``: where it may fetch models."""
    return in_a_process(
        models.parent / "home",
        *arguments,
        HF_ENDPOINT=hub if isinstance(hub, str) else hub.url,
        HF_HOME=models.parent / "hf",
        ESOTERIC_REPORT_MODELS=models,
        NO_PROXY="127.0.0.1",
    )

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

    ``cut``: the path of a file whose next answer ends after half of the file; with ``for_good``
    nothing is answered any more. ``asked``: (path, range) of each file that was read. ``branches``:
    the branch of each repository that was asked for first.
    """

    daemon_threads = True

    def __init__(self, folder: Path) -> None:
        """Listen on a free port."""
        super().__init__(("127.0.0.1", 0), _Handler)
        self.folder = folder
        self.cut = ""
        self.for_good = self.down = False
        self.asked: list[tuple[str, str | None]] = []
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
        if self.server.down:
            self.close_connection = True
            return
        path = self.path.partition("?")[0]
        if found := re.fullmatch(r"/api/models/(.+)/tree/\w+", path):
            files = sorted((self.server.folder / found[1]).iterdir())
            self._json(
                [
                    {
                        "type": "file",
                        "path": file.name,
                        "size": file.stat().st_size,
                        "oid": _etag(file),
                    }
                    for file in files
                ]
            )
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
        wanted = self.headers.get("Range")
        start = int(wanted.removeprefix("bytes=").rstrip("-")) if wanted else 0
        self.send_response(206 if wanted else 200)
        self.send_header("X-Repo-Commit", COMMIT)
        self.send_header("ETag", f'"{_etag(file)}"')
        self.send_header("Accept-Ranges", "bytes")
        self.send_header("Content-Length", str(len(content) - start))
        if wanted:
            self.send_header("Content-Range", f"bytes {start}-{len(content) - 1}/{len(content)}")
        self.end_headers()
        if self.command == "HEAD":
            return
        path = file.relative_to(self.server.folder).as_posix()
        self.server.asked.append((path, wanted))
        if path == self.server.cut:
            self.server.cut, self.server.down = "", self.server.for_good
            content = content[: len(content) // 2]
        self.wfile.write(content[start:])
        self.close_connection = True

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

"""A stand-in for a language model's server: speaks the chat API, and can answer badly.

python -m research.benchmarks.faults.language_model PORT FOLDER

It answers each request as the file FOLDER/mode says: ``well`` (also without the file), ``500``,
``nonsense``, or ``half``: the connection ends in the middle of an answer.
"""

from __future__ import annotations

import contextlib
import json
import sys
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any, Literal, TypeAlias

Mode: TypeAlias = Literal["well", "500", "nonsense", "half"]
NAME = "stand-in"


def set_mode(folder: Path, mode: Mode) -> None:
    """Let the server with this folder answer so from now on."""
    partial = folder / "mode.partial"
    partial.write_text(mode, encoding="utf-8")
    partial.replace(folder / "mode")


class _Handler(BaseHTTPRequestHandler):
    folder: Path

    def do_POST(self) -> None:
        asked = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        file = self.folder / "mode"
        mode = file.read_text("utf-8") if file.exists() else "well"
        text = "As a language model, I like dams." if mode == "nonsense" else _answer(asked)
        message = {"role": "assistant", "content": text}
        body = json.dumps(
            {
                "id": "1",
                "object": "chat.completion",
                "created": 0,
                "model": NAME,
                "choices": [{"index": 0, "message": message, "finish_reason": "stop"}],
                "usage": {"prompt_tokens": 1, "completion_tokens": 1, "total_tokens": 2},
            }
        ).encode()
        self.send_response(500 if mode == "500" else 200)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        with contextlib.suppress(ConnectionError):  # who asked may be killed meanwhile
            self.wfile.write(body[: len(body) // 2] if mode == "half" else body)

    def log_message(self, *_: Any) -> None:
        """Say nothing."""


def _answer(asked: Any) -> str:
    """Return the answer that fits the schema of the request: the first piece supports the claim."""
    schema = asked["response_format"]["json_schema"]["schema"]
    first = schema["properties"]["cites"]["items"]["enum"][0]
    answer = {"rationale": "It says so.", "cites": [first], "label": "SUPPORTS", "missing": ""}
    return json.dumps(answer)


def main(port: int, folder: Path) -> None:
    """Serve on 127.0.0.1 until this process is killed."""
    _Handler.folder = folder
    ThreadingHTTPServer(("127.0.0.1", port), _Handler).serve_forever()


if __name__ == "__main__":
    main(int(sys.argv[1]), Path(sys.argv[2]))

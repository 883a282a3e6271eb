"""Ollama on this computer, as a language model that could be set: is it there, with which models?

Only its usual address on this computer is asked, and no claim is sent.
"""

from __future__ import annotations

import json
import time
from dataclasses import dataclass
from urllib.error import URLError
from urllib.request import ProxyHandler, build_opener

ADDRESS = "http://127.0.0.1:11434"
_SECONDS = 0.3  # for an answer; a closed port answers at once
_ASKED_EVERY = 60.0
_MOST_BYTES = 1_000_000
# Models of 4 to 8 billion parameters, in 4 bits, the first one first offered, and about how many GB
# each is to fetch. It takes as much memory and 1 to 2 GB more.
MODELS = {"qwen3:8b": 5.2, "gemma3:4b": 3.3, "ministral-3:8b": 6.0, "qwen3:4b": 2.6}


@dataclass(frozen=True, slots=True)
class Ollama:
    """What Ollama has: the names of its ``models``."""

    models: tuple[str, ...]

    @property
    def offer(self) -> str:
        """How to let one of the named models give the verdict: one line for a shell."""
        for name in MODELS:
            if name in self.models:
                return f"ESOTERIC_LLM=local:{name} esoteric up"
        name = next(iter(MODELS))
        return f"ollama pull {name} && ESOTERIC_LLM=local:{name} esoteric up"


_last: tuple[float, Ollama | None] = (-_ASKED_EVERY, None)


def found(address: str = ADDRESS) -> Ollama | None:
    """Return Ollama, if it runs on this computer; ``None`` where it does not answer."""
    try:
        # Without a proxy, which would be another computer.
        with build_opener(ProxyHandler({})).open(f"{address}/api/tags", timeout=_SECONDS) as answer:
            models = json.loads(answer.read(_MOST_BYTES))["models"]
        return Ollama(tuple(str(one["name"]) for one in models))
    except (URLError, OSError, ValueError, LookupError, TypeError):
        return None


def found_lately() -> Ollama | None:
    """Return what ``found`` returned within the last minute, for pages."""
    global _last
    if time.monotonic() - _last[0] >= _ASKED_EVERY:
        _last = time.monotonic(), found()
    return _last[1]

"""Runs a language model in this process with llama.cpp; reads the first token of its answers."""

from __future__ import annotations

import math
import os
import secrets
from collections.abc import Sequence
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from retrieval.errors import ModelUnavailable
from retrieval.system.fixes import install_local_command

PACKAGE = "xllamacpp"
_CONTEXT = 4096  # tokens of a slot; instructions, examples and five long sentences need 2,500
_LIKELIEST = 200  # tokens whose probabilities are given
_LEAST = 1e-7  # probability of an answer that is not among these


@dataclass(frozen=True, slots=True)
class FirstToken:
    """The probabilities of the first token of an answer.

    ``probabilities``: of the given words; their sum is 1. ``covered``: the total probability of
    these words among all tokens. ``prompt_tokens``: tokens of the prompt, cached ones included.
    """

    probabilities: tuple[float, ...]
    covered: float
    prompt_tokens: int


class PromptRefused(Exception):
    """The prompt is too long for the model, or its runtime failed."""


def check_runtime() -> None:
    """Check that the package that runs the model is installed, without loading it.

    Raises:
        ModelUnavailable: it is missing.
    """
    if find_spec(PACKAGE) is None:
        raise ModelUnavailable(
            "local_runtime_missing",
            f"The package {PACKAGE}, which runs a language model in this process, is not"
            " installed.",
            f"Run: {install_local_command()}",
        )


class GgufModel:
    """A model in a GGUF file, with one slot for each kind of prompt.

    A slot caches its last prompt, so a prompt with the same beginning takes time only for the
    rest.
    """

    def __init__(self, file: Path, threads: int, slots: int) -> None:
        """Load the model, which takes seconds. ``threads``: 0 means one for each core.

        Raises:
            ModelUnavailable: the package is missing, or the file cannot be loaded.
        """
        check_runtime()
        import xllamacpp

        params = xllamacpp.CommonParams()
        params.model.path = str(file)
        params.n_ctx, params.n_parallel, params.verbosity = _CONTEXT * slots, slots, 0
        params.cpuparams.n_threads = threads or os.cpu_count() or 1
        params.cpuparams_batch.n_threads = params.cpuparams.n_threads
        params.cache_ram_mib = 0  # prompts of other claims are not kept
        # It listens on a free loopback port, which is not used; the random key locks others out.
        params.hostnames, params.port = ["127.0.0.1"], 0
        params.api_keys = [secrets.token_hex()]
        try:
            self._server = xllamacpp.Server(params)
        except RuntimeError as error:
            raise ModelUnavailable(
                "local_model_unusable",
                f"The language model {file} cannot be loaded ({str(error).rstrip('.')}).",
                "It needs 2 GB of free memory. If there is enough, fetch it again: delete the"
                " file, and run esoteric models fetch.",
            ) from error

    def first_token(self, slot: int, prompt: str, words: Sequence[str]) -> FirstToken:
        """Return how probable each of ``words`` is as the first token of the answer.

        Other threads can run during the call.

        Raises:
            PromptRefused: the model gives no answer.
        """
        answer: dict[str, Any] = self._server.handle_completions(
            {
                "prompt": prompt,
                "id_slot": slot,
                "max_tokens": 1,
                "logprobs": _LIKELIEST,
                "temperature": 0,
                "cache_prompt": True,
            }
        )
        if error := answer.get("error"):
            too_long = error.get("type") == "exceed_context_size_error"
            raise PromptRefused("the evidence is too long for it" if too_long else "it failed")
        first = answer["choices"][0]["logprobs"]["content"][0]
        likeliest = {token["token"]: math.exp(token["logprob"]) for token in first["top_logprobs"]}
        of_words = [likeliest.get(word, _LEAST) for word in words]
        return FirstToken(
            probabilities=tuple(share / sum(of_words) for share in of_words),
            covered=sum(of_words),
            prompt_tokens=answer["usage"]["prompt_tokens"],
        )

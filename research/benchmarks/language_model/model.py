"""Asks a language model of the packages for the first token of its answer, once a claim."""

from __future__ import annotations

import json
import resource
import sys
import time
from collections.abc import Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import asdict, dataclass
from hashlib import sha256
from multiprocessing import get_context
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from research.benchmarks.language_model.claims import Given
from retrieval.llm_judge.local_model import GgufModel, Wording
from retrieval.llm_judge.local_weights import QWEN, fetch, install_runtime

NAME = "Qwen2.5-Coder-1.5B-Instruct, Q4_K_M"
THREADS = 1  # threads wait for each other in a loop, so a second one only helps on an idle machine


@dataclass(frozen=True, slots=True)
class Answer:
    """The model's answer to one prompt.

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
class KeptModel:
    """The model, whose file and answers are kept in ``folder`` between runs."""

    folder: Path

    def answers(self, wording: Wording, claims: Sequence[Given]) -> list[Answer]:
        """Return an answer for each claim; only prompts that were never asked take time.

        The model runs in a separate process, which frees its memory at the end.

        Raises:
            ModelUnavailable: the model cannot be fetched or loaded.
        """
        prompts = [wording.prompt(given.claim, given.sentences) for given in claims]
        known = self._known()
        new = [prompt for prompt in dict.fromkeys(prompts) if _key(prompt) not in known]
        if new:
            install_runtime()
            file = fetch(QWEN, self.folder, lambda done, of: None)
            with ProcessPoolExecutor(1, mp_context=get_context("spawn")) as process:
                process.submit(_ask, file, self._log, wording.answers, new).result()
            known = self._known()
        return [known[_key(prompt)] for prompt in prompts]

    @property
    def _log(self) -> Path:
        return self.folder / "answers.jsonl"

    def _known(self) -> dict[str, Answer]:
        if not self._log.exists():
            return {}
        records = map(json.loads, self._log.read_text("utf-8").splitlines())
        return {record.pop("prompt"): Answer(**record) for record in records}


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


def _ask(file: Path, log: Path, words: Sequence[str], prompts: Sequence[str]) -> None:
    """Ask the model and append its answers to the log. Runs in a separate process."""
    model = GgufModel(file, THREADS, slots=1)
    with log.open("a", encoding="utf-8") as lines:
        for number, prompt in enumerate(prompts, 1):
            answer = _answer(model, prompt, words)
            print(json.dumps({"prompt": _key(prompt), **asdict(answer)}), file=lines, flush=True)
            print(f"\r{number} of {len(prompts)}", end="", file=sys.stderr, flush=True)
    print(file=sys.stderr)


def _answer(model: GgufModel, prompt: str, words: Sequence[str]) -> Answer:
    started, computed = time.perf_counter(), time.process_time()
    first = model.first_token(0, prompt, words)
    return Answer(
        probabilities=first.probabilities,
        covered=first.covered,
        seconds=time.perf_counter() - started,
        processor=time.process_time() - computed,
        memory=resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024,
    )

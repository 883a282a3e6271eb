"""Compares networks in 8 bits (ONNX Runtime) with float32 (PyTorch): time and labels."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from copy import copy

import numpy as np

from research.benchmarks.corpus import everyday_claims, vital_index
from research.benchmarks.row import Row, percentile
from research.benchmarks.torch_network import TorchNetwork
from retrieval.index.embedded.embedded_index import EmbeddedIndex
from retrieval.models import runtime
from retrieval.models.cross_encoders import CrossEncoder
from retrieval.models.encoders import MiniLMEncoder
from retrieval.models.packaged import MiniLM
from retrieval.models.shipped import path_model, relevance_model, verifier
from retrieval.text.model_texts import evidence_set_text
from settings import Settings

PAIRS = 400  # of ``research/datasets/everyday``, claims with their evidence
ROUNDS = 5
BATCH = 12  # pairs of a timed reading


def measure() -> list[Row]:
    """Read the same pairs with both, alternating."""
    settings = Settings.from_environment()
    runtime.use_threads(settings.threads)
    runtime.keep_in(settings.model_folders.networks)
    pairs = _pairs()
    models = {
        "verifier": verifier(settings.packaged_models, in_search=False),
        "path model": path_model(),
        "relevance model": relevance_model(),
    }
    rows = [row for name, model in models.items() for row in _compared(name, model, pairs)]
    return [*rows, *_encoder([evidence for _, evidence in pairs])]


def _pairs() -> list[tuple[str, str]]:
    """Return claims with their evidence, at equal distances from all."""
    store = EmbeddedIndex(vital_index()).open(MiniLMEncoder.name)
    decided = [claim for claim in everyday_claims() if claim["evidence"]]
    chosen = decided[:: len(decided) // PAIRS][:PAIRS]
    ids = {title for claim in chosen for title, _ in claim["evidence"][0]}
    documents = {document.id: document for document in store.documents(sorted(ids))}
    pairs = []
    for claim in chosen:
        found = [(documents[title], number) for title, number in claim["evidence"][0]]
        texts = [(document.title, document.sentences[number].text) for document, number in found]
        pairs.append((claim["claim"], evidence_set_text(texts)))
    return pairs


def _compared(name: str, model: CrossEncoder, pairs: Sequence[tuple[str, str]]) -> list[Row]:
    in_32 = copy(model)
    base = model._base
    vars(in_32)["_network"] = TorchNetwork(base.torch_body(model._trained_body()), base.padding)
    ours, theirs = model.probabilities(pairs), in_32.probabilities(pairs)
    same = float(np.mean(ours.argmax(axis=1) == theirs.argmax(axis=1)))
    moved = float(np.abs(ours - theirs).max(axis=1).mean())
    some = pairs[:BATCH]
    return [
        _timed(name, lambda: model.probabilities(some), lambda: in_32.probabilities(some)),
        Row(
            f"{name}, same label in both, of {len(pairs)}; mean difference of the probabilities",
            f"{100 * same:.1f} %; {moved:.3f}",
        ),
    ]


def _encoder(texts: Sequence[str]) -> list[Row]:
    encoder = MiniLMEncoder()
    base, in_32 = MiniLM(), MiniLMEncoder()
    vars(in_32)["_network"] = TorchNetwork(base.torch_body(base.weights()), base.padding)
    alike = np.sum(encoder.encode(texts) * in_32.encode(texts), axis=1)
    some = texts[:BATCH]
    return [
        _timed("encoder", lambda: encoder.encode(some), lambda: in_32.encode(some)),
        Row(
            f"encoder, cosine between the two, mean and least of {len(texts)}",
            f"{alike.mean():.4f}, {alike.min():.4f}",
        ),
    ]


def _timed(name: str, in_8: Callable[[], object], in_32: Callable[[], object]) -> Row:
    """Return the median seconds of both, run in turn after a warm-up, and their ratio."""
    times: tuple[list[float], list[float]] = ([], [])
    for _ in range(ROUNDS + 1):
        for work, seconds in zip((in_8, in_32), times, strict=True):
            started = time.perf_counter()
            work()
            seconds.append(time.perf_counter() - started)
    ours, theirs = (percentile(seconds[1:], 50) for seconds in times)
    return Row(
        f"{name}, {BATCH} texts in 8 bits / in float32 by PyTorch, ratio of medians",
        f"{ours:.3f} s / {theirs:.3f} s, {ours / theirs:.2f}",
    )

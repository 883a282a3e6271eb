"""The encoder, in what is fastest on this processor, against sentence-transformers in float32."""

from __future__ import annotations

import time

import numpy as np
import torch
from sentence_transformers import SentenceTransformer

from benchmarks.corpus import claims
from benchmarks.row import Row, percentile
from retrieval.encoders.minilm_encoder import MiniLMEncoder
from retrieval.encoders.minilm_weights import minilm_folder
from settings import Settings

ROUNDS = 7


def measure() -> list[Row]:
    """Encode the claims in turn with both, and compare times and vectors."""
    torch.set_num_threads(Settings.from_environment().threads)
    texts = claims()
    half = MiniLMEncoder()
    half.warm_up()
    full = SentenceTransformer(str(minilm_folder()), device="cpu", local_files_only=True)
    halves, fulls = [], []
    for _ in range(ROUNDS + 1):
        started = time.perf_counter()
        in_half = half.encode(texts)
        halves.append(time.perf_counter() - started)
        started = time.perf_counter()
        in_full = full.encode(texts, show_progress_bar=False, normalize_embeddings=True)
        fulls.append(time.perf_counter() - started)
    ratio = percentile([h / f for h, f in zip(halves[1:], fulls[1:], strict=True)], 50)
    alike = float(np.min(np.sum(in_half * in_full, axis=1)))
    return [
        Row("encoder, time / sentence-transformers' in float32, median of pairs", f"{ratio:.2f}"),
        Row("encoder, least cosine between the two", f"{alike:.4f}"),
    ]

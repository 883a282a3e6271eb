"""Networks: in 8 bits compared with float32, and the time of larger verifiers."""

from __future__ import annotations

import tempfile
import time
from collections.abc import Callable, Mapping, Sequence
from copy import copy
from pathlib import Path
from typing import Any

import numpy as np

from research.benchmarks.row import Row, everyday_claims, percentile, spread, vital_index
from research.benchmarks.torch_network import TorchNetwork
from retrieval.index.embedded.embedded_index import EmbeddedIndex
from retrieval.models import runtime
from retrieval.models.cross_encoders import CrossEncoder, EvidenceModel
from retrieval.models.encoders import MiniLMEncoder
from retrieval.models.own_verifier import SequenceClassifier, read_classifier
from retrieval.models.packaged import MiniLM
from retrieval.models.shipped import path_model, relevance_model, verifier
from retrieval.text.context import evidence_set_text
from settings import Settings

EVERYDAY_PAIRS = 400  # of ``research/datasets/everyday``, claims with their evidence
ROUNDS = 5
BATCH = 12  # pairs of a timed reading


def networks() -> list[Row]:
    """Read the same pairs in 8 bits (ONNX Runtime) and in float32 (PyTorch), alternating."""
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
    chosen = spread(decided, EVERYDAY_PAIRS)
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


TOKENS = 60  # of a pair: a claim with a sentence of common length
PAIRS = 8
VERIFIER_ROUNDS = 6
_CLAIM = "the " * 12
_EVIDENCE = "and " * (TOKENS - 12 - 3)  # special tokens of a pair
_BASE = {"hidden_size": 768, "intermediate_size": 3072, "num_hidden_layers": 12}
_LARGE = {"hidden_size": 1024, "intermediate_size": 4096, "num_hidden_layers": 24}
# DeBERTa v3 in its two sizes, as MoritzLaurer/DeBERTa-v3-base-mnli-fever-anli and larger ones are.
SIZES: Mapping[str, Mapping[str, Any]] = {
    "DeBERTa-v3-base": {**_BASE, "num_attention_heads": 12},
    "DeBERTa-v3-large": {**_LARGE, "num_attention_heads": 16},
}
_SHARED: Mapping[str, Any] = {
    "vocab_size": 128_100,
    "id2label": {0: "entailment", 1: "neutral", 2: "contradiction"},
    "relative_attention": True,
    "position_buckets": 256,
    "norm_rel_ebd": "layer_norm",
    "share_att_key": True,
    "pos_att_type": ["p2c", "c2p"],
    "position_biased_input": False,
    "type_vocab_size": 0,
}


def verifiers() -> list[Row]:
    """Read the same pairs with the shipped verifier and with larger ones of random weights.

    Time does not depend on the weights, so none have to be fetched. Accuracy is not measured here.
    """
    settings = Settings.from_environment()
    runtime.use_threads(settings.threads)
    runtime.keep_in(settings.model_folders.networks)
    shipped = _seconds_of(verifier(settings.packaged_models, in_search=False))
    rows = [_verifier_row("shipped verifier", shipped, shipped)]
    for name, size in SIZES.items():
        with tempfile.TemporaryDirectory() as folder:
            _write_model(Path(folder), size)
            seconds = _seconds_of(SequenceClassifier(read_classifier(Path(folder))))
        rows.append(_verifier_row(f"{name} with random weights", seconds, shipped))
    return rows


def _verifier_row(name: str, seconds: tuple[float, float], shipped: tuple[float, float]) -> Row:
    waited, computed = seconds
    return Row(
        f"{name}, a pair of {TOKENS} tokens, seconds / processor seconds; ratio to the shipped",
        f"{waited:.3f} s / {computed:.3f} s; {computed / shipped[1]:.1f}",
    )


def _seconds_of(model: EvidenceModel) -> tuple[float, float]:
    """Return the seconds and the processor seconds of all threads for a pair.

    Each is the least of several rounds after a warm-up, because other programs may slow any round.
    Processor seconds depend less on other programs.
    """
    pairs = [(_CLAIM, _EVIDENCE)] * PAIRS
    waited, computed = [], []
    for _ in range(VERIFIER_ROUNDS + 1):
        started, began = time.perf_counter(), time.process_time()
        model.probabilities(pairs)
        waited.append((time.perf_counter() - started) / PAIRS)
        computed.append((time.process_time() - began) / PAIRS)
    return min(waited[1:]), min(computed[1:])


def _write_model(folder: Path, size: Mapping[str, Any]) -> None:
    """Write a model of this size, with a tokenizer that makes one token of each word."""
    from tokenizers import Tokenizer
    from tokenizers.models import WordLevel
    from tokenizers.pre_tokenizers import WhitespaceSplit
    from tokenizers.processors import TemplateProcessing
    from transformers import (
        DebertaV2Config,
        DebertaV2ForSequenceClassification,
        PreTrainedTokenizerFast,
    )
    from transformers.utils import logging

    logging.disable_progress_bar()  # type: ignore[no-untyped-call]
    words = ["[PAD]", "[CLS]", "[SEP]", "[UNK]", "the", "and"]
    rust = Tokenizer(
        WordLevel({word: number for number, word in enumerate(words)}, unk_token="[UNK]")
    )
    rust.pre_tokenizer = WhitespaceSplit()
    rust.post_processor = TemplateProcessing(
        pair="[CLS] $A [SEP] $B [SEP]", special_tokens=[("[CLS]", 1), ("[SEP]", 2)]
    )
    tokenizer: Any = PreTrainedTokenizerFast
    tokenizer(tokenizer_object=rust, pad_token="[PAD]", unk_token="[UNK]").save_pretrained(folder)
    DebertaV2ForSequenceClassification(DebertaV2Config(**size, **_SHARED)).save_pretrained(folder)

"""The time of larger verifiers: architectures of public models, with random weights.

Time does not depend on the weights, so none have to be fetched. Accuracy is not measured here.
"""

from __future__ import annotations

import tempfile
import time
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from research.benchmarks.row import Row
from retrieval.models import runtime
from retrieval.models.cross_encoders import EvidenceModel
from retrieval.models.own_verifier import SequenceClassifier, read_classifier
from retrieval.models.shipped import verifier
from settings import Settings

TOKENS = 60  # of a pair: a claim with a sentence of common length
PAIRS = 8
ROUNDS = 6
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


def measure() -> list[Row]:
    """Read the same pairs with the shipped verifier and with each of the others."""
    settings = Settings.from_environment()
    runtime.use_threads(settings.threads)
    runtime.keep_in(settings.model_folders.networks)
    shipped = _seconds(verifier(settings.packaged_models, in_search=False))
    rows = [_row("shipped verifier", shipped, shipped)]
    for name, size in SIZES.items():
        with tempfile.TemporaryDirectory() as folder:
            _write(Path(folder), size)
            seconds = _seconds(SequenceClassifier(read_classifier(Path(folder))))
        rows.append(_row(f"{name} with random weights", seconds, shipped))
    return rows


def _row(name: str, seconds: tuple[float, float], shipped: tuple[float, float]) -> Row:
    waited, computed = seconds
    return Row(
        f"{name}, a pair of {TOKENS} tokens, seconds / processor seconds; ratio to the shipped",
        f"{waited:.3f} s / {computed:.3f} s; {computed / shipped[1]:.1f}",
    )


def _seconds(model: EvidenceModel) -> tuple[float, float]:
    """Return the seconds and the processor seconds of all threads for a pair.

    Each is the least of several rounds after a warm-up, because other programs may slow any round.
    Processor seconds depend less on other programs.
    """
    pairs = [(_CLAIM, _EVIDENCE)] * PAIRS
    waited, computed = [], []
    for _ in range(ROUNDS + 1):
        started, began = time.perf_counter(), time.process_time()
        model.probabilities(pairs)
        waited.append((time.perf_counter() - started) / PAIRS)
        computed.append((time.process_time() - began) / PAIRS)
    return min(waited[1:]), min(computed[1:])


def _write(folder: Path, size: Mapping[str, Any]) -> None:
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

"""Classifiers and a BART, small enough to be made in a test, with random weights."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import torch
from tokenizers import ByteLevelBPETokenizer, Tokenizer
from tokenizers.models import WordLevel
from tokenizers.normalizers import Lowercase
from tokenizers.pre_tokenizers import Whitespace
from tokenizers.processors import TemplateProcessing
from transformers import (
    AutoConfig,
    AutoModelForSequenceClassification,
    BartConfig,
    BartForConditionalGeneration,
    PreTrainedTokenizerFast,
)

from tests.support.islands import TEXTS

NLI = ("contradiction", "neutral", "entailment")
PLACES = 64  # tokens that a row may have
ARCHITECTURES = ("bert", "bart", "roberta", "deberta-v2", "distilbert")
_SIZES = {
    "hidden_size": 16,
    "num_attention_heads": 2,
    "intermediate_size": 32,
    "num_hidden_layers": 2,
    "max_position_embeddings": PLACES,
    "pad_token_id": 1,
    "initializer_range": 0.5,  # so that two texts get opinions that differ
}
_BART = {
    "d_model": 16,
    "encoder_layers": 1,
    "decoder_layers": 2,
    "encoder_attention_heads": 2,
    "decoder_attention_heads": 2,
    "encoder_ffn_dim": 32,
    "decoder_ffn_dim": 32,
    "init_std": 0.5,
}
_OWN: dict[str, dict[str, Any]] = {
    # Its opinion is read at the last end of a text.
    "bart": _BART | {"bos_token_id": 0, "eos_token_id": 2, "forced_eos_token_id": None},
    "distilbert": {"dim": 16, "n_heads": 2, "hidden_dim": 32, "n_layers": 2},
    "roberta": {"max_position_embeddings": PLACES + 2},
    "deberta-v2": {  # as DeBERTa v3 has them
        "relative_attention": True,
        "pos_att_type": ["p2c", "c2p"],
        "position_biased_input": False,
        "type_vocab_size": 0,
    },
}
_SPECIAL = ("[CLS]", "[PAD]", "[SEP]", "[UNK]")  # RoBERTa counts places from that of the padding


def write_tiny_classifier(
    folder: Path,
    architecture: str = "bert",
    labels: Sequence[str] = NLI,
    texts: Sequence[str] = (*TEXTS, *TEXTS.values()),
    seed: int = 0,
) -> Path:
    """Write the files of a model with these labels that knows the words of the texts; return it."""
    tokenizer = _tokenizer(texts)
    torch.manual_seed(seed)
    config = AutoConfig.for_model(
        architecture,
        vocab_size=len(tokenizer),
        id2label=dict(enumerate(labels)),
        label2id={label: number for number, label in enumerate(labels)},
        **_SIZES | _OWN.get(architecture, {}),
    )
    AutoModelForSequenceClassification.from_config(config).save_pretrained(folder)
    tokenizer.save_pretrained(folder)
    return folder


def _tokenizer(texts: Sequence[str]) -> PreTrainedTokenizerFast:
    split = Whitespace()
    words = {word for text in texts for word, _ in split.pre_tokenize_str(text.lower())}
    vocabulary = {word: number for number, word in enumerate([*_SPECIAL, *sorted(words)])}
    tokenizer = Tokenizer(WordLevel(vocabulary, unk_token="[UNK]"))
    tokenizer.normalizer = Lowercase()
    tokenizer.pre_tokenizer = split
    tokenizer.post_processor = TemplateProcessing(
        single="[CLS] $A [SEP]",
        pair="[CLS] $A [SEP] $B:1 [SEP]:1",
        special_tokens=[("[CLS]", 0), ("[SEP]", 2)],
    )
    return PreTrainedTokenizerFast(
        tokenizer_object=tokenizer,
        cls_token="[CLS]",
        pad_token="[PAD]",
        sep_token="[SEP]",
        unk_token="[UNK]",
    )


def write_tiny_bart(folder: Path, texts: Sequence[str]) -> None:
    """Write the files of a BART whose vocabulary is made from the texts."""
    tokenizer = ByteLevelBPETokenizer()
    tokenizer.train_from_iterator(
        texts, vocab_size=300, show_progress=False, special_tokens=["<s>", "<pad>", "</s>", "<unk>"]
    )
    PreTrainedTokenizerFast(
        tokenizer_object=tokenizer._tokenizer,
        bos_token="<s>",
        pad_token="<pad>",
        eos_token="</s>",
        unk_token="<unk>",
    ).save_pretrained(folder)
    torch.manual_seed(0)
    config = BartConfig(
        vocab_size=tokenizer.get_vocab_size(), max_position_embeddings=PLACES, **_BART
    )
    BartForConditionalGeneration(config).save_pretrained(folder)

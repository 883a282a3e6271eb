"""Classifiers and a BART, small enough to be made in a test, with random weights."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

import torch
from tokenizers import ByteLevelBPETokenizer, Tokenizer
from tokenizers.models import WordLevel
from tokenizers.normalizers import Lowercase
from tokenizers.pre_tokenizers import Whitespace
from tokenizers.processors import TemplateProcessing
from transformers import (
    AutoModelForSequenceClassification,
    BartConfig,
    BartForConditionalGeneration,
    BertConfig,
    DebertaV2Config,
    DistilBertConfig,
    PretrainedConfig,
    PreTrainedTokenizerFast,
    RobertaConfig,
)

from tests.support.islands import TEXTS

NLI = ("contradiction", "neutral", "entailment")
PLACES = 64  # tokens that a row may have
_WIDTHS = {"hidden_size": 16, "num_attention_heads": 2, "intermediate_size": 32}
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
    model = AutoModelForSequenceClassification.from_config(
        _config(architecture, len(tokenizer), dict(enumerate(labels)))
    )
    model.save_pretrained(folder)
    tokenizer.save_pretrained(folder)
    return folder


def _config(architecture: str, words: int, id2label: Mapping[int, str]) -> PretrainedConfig:
    shared = {
        "vocab_size": words,
        "num_labels": len(id2label),
        "id2label": id2label,
        "label2id": {label: number for number, label in id2label.items()},
        "initializer_range": 0.5,  # so that two texts get opinions that differ
        "pad_token_id": 1,
        "max_position_embeddings": PLACES,
    }
    if architecture == "distilbert":
        return DistilBertConfig(**shared, dim=16, n_heads=2, hidden_dim=32, n_layers=2)
    shared |= {**_WIDTHS, "num_hidden_layers": 2}
    if architecture == "bart":  # its opinion is read at the last end of a text
        return BartConfig(
            **shared,
            d_model=16,
            encoder_layers=1,
            decoder_layers=1,
            encoder_attention_heads=2,
            decoder_attention_heads=2,
            encoder_ffn_dim=32,
            decoder_ffn_dim=32,
            init_std=0.5,
            bos_token_id=0,
            eos_token_id=2,
            decoder_start_token_id=2,
            forced_eos_token_id=None,
        )
    if architecture == "roberta":
        return RobertaConfig(**shared | {"max_position_embeddings": PLACES + 2})
    if architecture == "deberta-v2":  # as DeBERTa v3 has them
        return DebertaV2Config(
            **shared,
            relative_attention=True,
            pos_att_type=["p2c", "c2p"],
            position_biased_input=False,
            type_vocab_size=0,
        )
    return BertConfig(**shared)


ARCHITECTURES = ("bert", "bart", "roberta", "deberta-v2", "distilbert")


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
        vocab_size=tokenizer.get_vocab_size(),
        d_model=16,
        encoder_layers=1,
        decoder_layers=2,
        encoder_attention_heads=2,
        decoder_attention_heads=2,
        encoder_ffn_dim=32,
        decoder_ffn_dim=32,
        max_position_embeddings=64,
        init_std=0.5,
    )
    BartForConditionalGeneration(config).save_pretrained(folder)

"""A BART that is small enough to be made in a test, with random weights."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import torch
from tokenizers import ByteLevelBPETokenizer
from transformers import BartConfig, BartForConditionalGeneration, PreTrainedTokenizerFast


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

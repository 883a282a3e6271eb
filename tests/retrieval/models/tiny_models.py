"""Classifiers and a BART, small enough to be made in a test, with random weights."""

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import torch
import transformers
from tokenizers import ByteLevelBPETokenizer, Tokenizer
from tokenizers.models import WordLevel
from tokenizers.normalizers import Lowercase
from tokenizers.pre_tokenizers import Whitespace
from tokenizers.processors import TemplateProcessing

from tests.support.islands import TEXTS

NLI = ("contradiction", "neutral", "entailment")
PLACES = 64  # tokens that a row may have
ARCHITECTURES = ("bert", "bart", "roberta", "deberta-v2", "distilbert")
# What makes them small, by architecture; "all" have the sizes of its own name.
_SIZES: dict[str, dict[str, Any]] = json.loads(
    (Path(__file__).parents[2] / "cases" / "tiny_models.json").read_text(encoding="utf-8")
)
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
    config = transformers.AutoConfig.for_model(
        architecture,
        vocab_size=len(tokenizer),
        id2label=dict(enumerate(labels)),
        label2id={label: number for number, label in enumerate(labels)},
        **_SIZES["all"] | _SIZES.get(architecture, {}),
    )
    transformers.AutoModelForSequenceClassification.from_config(config).save_pretrained(folder)
    tokenizer.save_pretrained(folder)
    return folder


def _tokenizer(texts: Sequence[str]) -> transformers.PreTrainedTokenizerFast:
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
    marks = {f"{name}_token": f"[{name.upper()}]" for name in ("cls", "pad", "sep", "unk")}
    return transformers.PreTrainedTokenizerFast(tokenizer_object=tokenizer, **marks)


def write_tiny_bart(folder: Path, texts: Sequence[str]) -> None:
    """Write the files of a BART whose vocabulary is made from the texts."""
    tokenizer = ByteLevelBPETokenizer()
    tokenizer.train_from_iterator(
        texts, vocab_size=300, show_progress=False, special_tokens=["<s>", "<pad>", "</s>", "<unk>"]
    )
    marks = {"bos_token": "<s>", "pad_token": "<pad>", "eos_token": "</s>", "unk_token": "<unk>"}
    fast = transformers.PreTrainedTokenizerFast(tokenizer_object=tokenizer._tokenizer, **marks)
    fast.save_pretrained(folder)
    torch.manual_seed(0)
    config = transformers.BartConfig(vocab_size=tokenizer.get_vocab_size(), **_SIZES["generating"])
    transformers.BartForConditionalGeneration(config).save_pretrained(folder)

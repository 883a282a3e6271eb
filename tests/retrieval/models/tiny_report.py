"""The report's models, small enough to be made in a test: real architectures, made-up weights."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import torch
import transformers
from tokenizers import BertWordPieceTokenizer, SentencePieceUnigramTokenizer
from transformers import BertTokenizerFast, PreTrainedTokenizerFast

from retrieval.models.papers import report_models as reported

LABELS = ["O", "B-PER", "I-PER", "B-ORG", "I-ORG", "B-LOC", "I-LOC", "B-MISC", "I-MISC"]
HIDDEN = 16


def write_tiny_models(folder: Path, texts: Sequence[str], labels: Mapping[str, str]) -> None:
    """Write all models with a vocabulary of these texts, and their lock.

    The NER model labels the words of ``labels`` so, and all others "O". The classifier finds
    every sentence relevant, and all vectors are alike.
    """
    tokenizer = word_pieces(texts, lowercase=False)
    save(folder / reported.NAMES.name, tokenizer, names_model(tokenizer, labels))
    lower = word_pieces(texts, lowercase=True)
    for published in (reported.ANSWERS, reported.QUESTIONS):
        save(folder / published.name, *t5(texts))
    for published in (reported.DPR_QUESTIONS, reported.DPR_CONTEXTS):
        encoder = made(published.architecture, "DPRConfig", **sizes(lower))
        save(folder / published.name, lower, alike(encoder))
    save(folder / reported.RELEVANCE.name, lower, distilbert(lower, labels=2))
    similarity = made(reported.SIMILARITY.architecture, "MPNetConfig", **sizes(lower))
    save(folder / reported.SIMILARITY.name, lower, alike(similarity))
    lock_as_it_is(folder)


def lock_as_it_is(folder: Path) -> None:
    """Lock the models of a folder with the files that they have."""
    locked = {
        published.name: reported.LockedModel(
            repository="", revision="", files=reported.files_of(folder / published.name)
        )
        for published in reported.REPORT_MODELS
    }
    reported.write_lock(folder / reported.LOCK, locked)


def name_models(folder: Path) -> Path:
    """Make a folder with empty weights, which is enough where models are not loaded."""
    for model in reported.REPORT_MODELS:
        (folder / model.name).mkdir(parents=True)
        (folder / model.name / reported.WEIGHTS).touch()
    lock_as_it_is(folder)
    return folder


def save(folder: Path, tokenizer: Any, model: Any) -> None:
    tokenizer.save_pretrained(folder)
    model.save_pretrained(folder)


def made(architecture: str, config: str, **values: Any) -> Any:
    """A model of transformers with random weights, always the same."""
    torch.manual_seed(0)
    return getattr(transformers, architecture)(getattr(transformers, config)(**values))


def word_pieces(texts: Sequence[str], lowercase: bool) -> Any:
    tokenizer = BertWordPieceTokenizer(lowercase=lowercase)
    tokenizer.train_from_iterator(texts, vocab_size=400, min_frequency=1, show_progress=False)
    return BertTokenizerFast(
        tokenizer_object=tokenizer._tokenizer, do_lower_case=lowercase, model_max_length=512
    )


def sizes(tokenizer: Any) -> dict[str, int]:
    layer = {"num_hidden_layers": 1, "num_attention_heads": 2, "intermediate_size": 32}
    return {"vocab_size": len(tokenizer), "hidden_size": HIDDEN, **layer}


def names_model(tokenizer: Any, labels: Mapping[str, str]) -> Any:
    """A BERT whose layer changes nothing: a token's label is written in its embedding."""
    id2label = dict(enumerate(LABELS))
    model = made(reported.NAMES.architecture, "BertConfig", **sizes(tokenizer), id2label=id2label)
    with torch.no_grad():
        for name, parameter in model.named_parameters():
            if not name.endswith("LayerNorm.weight"):
                parameter.zero_()
        words = model.bert.embeddings.word_embeddings.weight
        words[:, 0] = 1
        for word, label in labels.items():
            pieces = tokenizer(word, add_special_tokens=False).input_ids
            words[pieces[0]] = torch.eye(HIDDEN)[LABELS.index(label)]
        model.classifier.weight[:, : len(LABELS)] = torch.eye(len(LABELS))
    return model


def t5(texts: Sequence[str]) -> tuple[Any, Any]:
    tokenizer = SentencePieceUnigramTokenizer()
    marks = {"pad_token": "<pad>", "eos_token": "</s>", "unk_token": "<unk>"}
    special = list(marks.values())
    tokenizer.train_from_iterator(
        texts, vocab_size=200, show_progress=False, special_tokens=special, unk_token="<unk>"
    )
    fast = PreTrainedTokenizerFast(tokenizer_object=tokenizer._tokenizer, **marks)
    small = {"d_model": HIDDEN, "d_kv": 8, "d_ff": 32, "num_layers": 1, "num_heads": 2}
    tokens = {"decoder_start_token_id": 0, "pad_token_id": 0, "eos_token_id": 1}
    architecture = reported.ANSWERS.architecture
    return fast, made(architecture, "T5Config", vocab_size=len(fast), **small, **tokens)


def distilbert(tokenizer: Any, labels: int) -> Any:
    """A classifier that finds every pair in the second class."""
    small = {"dim": HIDDEN, "n_layers": 1, "n_heads": 2, "hidden_dim": 32, "num_labels": labels}
    name = "DistilBertForSequenceClassification"
    model = made(name, "DistilBertConfig", vocab_size=len(tokenizer), **small)
    with torch.no_grad():
        model.classifier.bias[1] = 3
    return model


def alike(model: Any) -> Any:
    """Add the same to each number of all vectors, which makes them alike."""
    last = [p for name, p in model.named_parameters() if name.endswith("output.LayerNorm.bias")]
    with torch.no_grad():
        last[-1].fill_(3.0)
    return model

"""all-MiniLM-L6-v2 as a DistilBERT: the starting point of every classifier here.

MiniLM-L6 is a BERT of six layers, DistilBERT a BERT without token types and
pooler. With the vector of token type 0 added to the position embeddings the two
compute the same, so the packaged weights can start a
``DistilBertForSequenceClassification``.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import torch
from safetensors.torch import load_file
from transformers import (
    AutoTokenizer,
    BertConfig,
    DistilBertConfig,
    DistilBertForSequenceClassification,
    PreTrainedTokenizerBase,
)
from transformers.utils import logging

from retrieval.encoders.minilm_weights import minilm_folder
from retrieval.trained.delta import add_delta
from retrieval.trained.trained_model import read_config

_LAYER_NAMES = {
    "attention.self.query": "attention.q_lin",
    "attention.self.key": "attention.k_lin",
    "attention.self.value": "attention.v_lin",
    "attention.output.dense": "attention.out_lin",
    "attention.output.LayerNorm": "sa_layer_norm",
    "intermediate.dense": "ffn.lin1",
    "output.dense": "ffn.lin2",
    "output.LayerNorm": "output_layer_norm",
}


class FoldedMiniLM:
    """The packaged weights in DistilBERT's shape."""

    def model(self, labels: tuple[str, ...]) -> DistilBertForSequenceClassification:
        """Return them with a fresh head over ``labels``, always the same.

        Raises:
            ModelUnavailable: the packaged weights are missing or damaged.
        """
        logging.disable_progress_bar()  # type: ignore[no-untyped-call]
        bert = BertConfig.from_pretrained(minilm_folder(), local_files_only=True)
        config = DistilBertConfig(
            vocab_size=bert.vocab_size,
            max_position_embeddings=bert.max_position_embeddings,
            dim=bert.hidden_size,
            hidden_dim=bert.intermediate_size,
            n_layers=bert.num_hidden_layers,
            n_heads=bert.num_attention_heads,
            id2label=dict(enumerate(labels)),
            label2id={label: index for index, label in enumerate(labels)},
        )
        with torch.random.fork_rng(devices=[]):
            torch.manual_seed(0)
            model = DistilBertForSequenceClassification(config)
        state: dict[str, Any] = _folded(load_file(minilm_folder() / "model.safetensors"))
        missing, unexpected = model.load_state_dict(state, strict=False)
        head = {name for name in model.state_dict() if not name.startswith("distilbert.")}
        if set(missing) != head or unexpected:
            raise RuntimeError(f"Folding left {missing} unset and {unexpected} unused.")
        return model

    def trained(self, folder: Path) -> DistilBertForSequenceClassification:
        """Return the cross-encoder that was trained from them and lies in this folder.

        For what reads or trains on from its weights; ``CrossEncoder`` asks it.

        Raises:
            ModelUnavailable: it or the packaged weights are missing or damaged.
        """
        config = read_config(folder)
        model = self.model(tuple(config["labels"]))
        add_delta(model, folder / "delta.safetensors", config["sha256"])
        model.train(False)
        return model

    def tokenizer(self) -> PreTrainedTokenizerBase:
        """Return MiniLM's uncased WordPiece tokenizer."""
        return AutoTokenizer.from_pretrained(minilm_folder(), local_files_only=True)


def _folded(bert: dict[str, torch.Tensor]) -> dict[str, torch.Tensor]:
    folded = {
        "distilbert.embeddings.word_embeddings.weight": bert["embeddings.word_embeddings.weight"],
        "distilbert.embeddings.position_embeddings.weight": bert[
            "embeddings.position_embeddings.weight"
        ]
        + bert["embeddings.token_type_embeddings.weight"][0],
        "distilbert.embeddings.LayerNorm.weight": bert["embeddings.LayerNorm.weight"],
        "distilbert.embeddings.LayerNorm.bias": bert["embeddings.LayerNorm.bias"],
    }
    for name, tensor in bert.items():
        if name.startswith("encoder.layer."):
            _, _, layer, *rest = name.split(".")
            module, kind = ".".join(rest[:-1]), rest[-1]
            folded[f"distilbert.transformer.layer.{layer}.{_LAYER_NAMES[module]}.{kind}"] = tensor
    return folded

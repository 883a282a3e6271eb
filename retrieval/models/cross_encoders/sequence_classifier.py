"""A verifier of the user: any sequence-classification model of Hugging Face, in PyTorch."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping, Sequence
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from retrieval.errors import ModelUnavailable
from retrieval.models.cross_encoders.classifier_files import (
    UNCALIBRATED,
    ClassifierFiles,
)
from retrieval.models.cross_encoders.scaling import Scaling, VerdictFit
from retrieval.models.networks import runtime
from retrieval.models.networks.arrays import Array
from retrieval.models.networks.memory import is_out_of_memory, too_little_memory
from retrieval.text.model_texts import SEPARATOR, evidence_text
from retrieval.types import LABELS

if TYPE_CHECKING:
    from torch import nn

_BATCH = 8  # pairs in a batch; in larger ones more padding is computed
_LONGEST = 512  # most tokens of a row, even if the model's window is wider
_TRIALS = (
    ("The pier is long.", evidence_text("Pier", "The pier of Holm is 40 metres long.")),
    ("The pier is long.", evidence_text("Pier", "It is old.")),
)


class SequenceClassifier:
    """Labels evidence as an ``EvidenceModel``; the model is loaded when it is first needed."""

    def __init__(
        self,
        files: ClassifierFiles,
        calibration: Mapping[str, Any] = UNCALIBRATED,
        in_search: bool = False,
    ) -> None:
        """Store the files; ``in_search``: use the calibration for evidence from a search."""
        self._files = files
        self._calibration = calibration
        self._scaling = Scaling.of(calibration, in_search)
        self._columns = [LABELS.index(label) for label in files.labels]

    @property
    def version(self) -> str:
        """See ``EvidenceModel``: the folder's name, and digests of its files and calibration."""
        if self._calibration == UNCALIBRATED:
            return self._files.name
        digest = hashlib.sha256(json.dumps(self._calibration, sort_keys=True).encode())
        return f"{self._files.name}, calibrated {digest.hexdigest()[:8]}"

    @property
    def verdict_fit(self) -> VerdictFit:
        """See ``EvidenceModel``."""
        return self._scaling.verdict

    def warm_up(self) -> None:
        """See ``EvidenceModel``; it is tried on two pairs too."""
        _ = self._network

    def probabilities(self, pairs: Sequence[tuple[str, str]]) -> NDArray[np.float32]:
        """See ``EvidenceModel``. A label that the model lacks has the probability 0.

        If a pair does not fit the model's window, the end of its longer text is cut. Pairs are
        batched by length, to reduce padding.

        Raises:
            ModelUnavailable: what ``warm_up`` raises, or the model fails on these pairs.
        """
        network = self._network
        try:
            return self._opinions(network, pairs)
        except Exception as error:  # the library raises many kinds of errors
            raise self._failure(
                error,
                "model_failed",
                "failed on a claim and its evidence",
                "Check the claim again. If it fails again, use another model.",
            ) from error

    def _opinions(self, network: _Network, pairs: Sequence[tuple[str, str]]) -> NDArray[np.float32]:
        result = np.zeros((len(pairs), len(LABELS)), np.float32)
        rows = network.rows(pairs) if pairs else []
        order = sorted(range(len(rows)), key=lambda row: len(rows[row]["input_ids"]))
        for start in range(0, len(order), _BATCH):
            part = order[start : start + _BATCH]
            logits = np.full((len(part), len(LABELS)), -np.inf, np.float32)
            logits[:, self._columns] = network.logits([rows[row] for row in part])
            result[part] = self._scaling.probabilities(logits)
        return result

    def fits(self, claim: str, evidence: str) -> bool:
        """See ``EvidenceModel``; raises what ``warm_up`` raises."""
        return self._network.fits(claim, evidence)

    @cached_property
    def _network(self) -> _Network:
        from transformers.utils import logging

        logging.disable_progress_bar()  # type: ignore[no-untyped-call]
        logging.set_verbosity_error()  # type: ignore[no-untyped-call]
        runtime.limit_torch()
        try:
            network = _Network(self._files.folder)
            outputs = network.logits(network.rows(_TRIALS)).shape[1]
            if outputs != len(self._columns):
                raise _NotUsable(f"it has {outputs} outputs, and names {len(self._columns)}")
        except Exception as error:  # the library raises many kinds of errors for damaged files
            raise self._failure(
                error,
                "model_damaged",
                "cannot be loaded",
                "Download its files again, or name the folder of another sequence-classification"
                " model of Hugging Face, one that needs no Python code of its own.",
            ) from error
        return network

    def _failure(self, error: Exception, code: str, what: str, hint: str) -> ModelUnavailable:
        folder = self._files.folder
        if is_out_of_memory(error):
            return too_little_memory(f"the verifier in {folder}")
        why = str(error).strip().split("\n")[0].rstrip(".") or type(error).__name__
        return ModelUnavailable(code, f"The verifier in {folder} {what}: {why}.", hint)


class _NotUsable(Exception):
    """The loaded model cannot label evidence; the message says why."""


class _Network:
    """The loaded model with its tokenizer."""

    def __init__(self, folder: Path) -> None:
        """Load both, in float32; no code and no pickle in the folder is run."""
        import torch
        from transformers import AutoModelForSequenceClassification, AutoTokenizer

        safely = {"local_files_only": True, "trust_remote_code": False}
        # The name of a special token in a text is read as text.
        tokenizer: Any = AutoTokenizer.from_pretrained(folder, split_special_tokens=True, **safely)
        loaded: Any = AutoModelForSequenceClassification.from_pretrained(
            folder, use_safetensors=True, dtype=torch.float32, output_loading_info=True, **safely
        )
        model, loading = loaded
        if loading["missing_keys"]:  # those would be random
            missing = ", ".join(sorted(loading["missing_keys"])[:3])
            raise _NotUsable(f"its weights lack {missing}; it was not trained to classify")
        words = model.get_input_embeddings().num_embeddings
        if len(tokenizer) > words:
            raise _NotUsable(f"its tokenizer has {len(tokenizer)} tokens, the model {words}")
        self._tokenizer = tokenizer
        self._marks = {*tokenizer.all_special_ids}
        self._model = model.train(False)
        self._window: int = min(tokenizer.model_max_length, _places(model))

    def rows(self, pairs: Sequence[tuple[str, str]]) -> list[dict[str, list[int]]]:
        """Return (claim, evidence) pairs as the model reads them: premise, then hypothesis."""
        read = self._tokenizer(
            [_premise(evidence) for _, evidence in pairs],
            [claim for claim, _ in pairs],
            truncation="longest_first",
            max_length=self._window,
            return_special_tokens_mask=True,
        )
        read["input_ids"] = [
            self._unmarked(ids, own)
            for ids, own in zip(read["input_ids"], read.pop("special_tokens_mask"), strict=True)
        ]
        return [{name: column[row] for name, column in read.items()} for row in range(len(pairs))]

    def _unmarked(self, ids: Sequence[int], own: Sequence[int]) -> list[int]:
        """Return the tokens with no special token but the tokenizer's own (``own`` is 1).

        A vocabulary may contain its special tokens as words, as that of SentencePiece models does.
        """
        unknown = self._tokenizer.unk_token_id
        return [
            unknown if token in self._marks and not mark and unknown is not None else token
            for token, mark in zip(ids, own, strict=True)
        ]

    def logits(self, rows: Sequence[dict[str, list[int]]]) -> Array:
        """Return the model's outputs, ``(rows, outputs)``, in the model's own order."""
        import torch

        with torch.inference_mode():
            padded = self._tokenizer.pad(list(rows), return_tensors="pt")
            logits: Array = self._model(**padded).logits.numpy()
        return logits

    def fits(self, claim: str, evidence: str) -> bool:
        """Return whether the whole pair fits the model's window."""
        read = self._tokenizer(_premise(evidence), claim, verbose=False)
        return len(read["input_ids"]) <= self._window


def _premise(evidence: str) -> str:
    """Return the evidence as plain text: these models know no separator of sentences."""
    return evidence.replace(SEPARATOR, " ")


def _places(model: nn.Module) -> int:
    """Return the most tokens of a row. Models like RoBERTa count positions from the padding's."""
    config: Any = model.config
    rows = int(getattr(config, "max_position_embeddings", _LONGEST))
    for name, module in model.named_modules():
        padding = getattr(module, "padding_idx", None)
        if name.endswith("position_embeddings") and padding is not None:
            rows -= padding + 1
    return min(rows, _LONGEST)

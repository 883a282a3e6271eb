"""The model that tells which of a claim's candidates a verifier is served by (FER)."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from retrieval.errors import ModelUnavailable
from retrieval.mends import restore_model
from retrieval.trained.trained_model import TrainedModel, read_config

if TYPE_CHECKING:
    from transformers import PreTrainedTokenizerBase

    from retrieval.selection.joint_reading import JointReader


class UtilityModel(TrainedModel["JointReader", "PreTrainedTokenizerBase"]):
    """The reader's weights and the difference that FER's training made to them."""

    def __init__(self, folder: Path, reader: Path) -> None:
        """Read ``folder``, where the difference lies; no weights are loaded yet.

        ``reader`` is the folder of the reader that training began with.

        Raises:
            ModelUnavailable: a ``config.json`` is missing or damaged, or the
                difference belongs to another reader.
        """
        super().__init__(folder)
        self._reader = reader
        if self._config["reader"] != read_config(reader)["sha256"]:
            raise ModelUnavailable(
                "model_damaged",
                f"The model in {folder} belongs to another reader than the one in {reader}.",
                restore_model(folder),
            )

    def _base(self) -> tuple[JointReader, PreTrainedTokenizerBase]:
        from retrieval.cross_encoders.folded_minilm import FoldedMiniLM
        from retrieval.selection.joint_reading import JointReader

        minilm = FoldedMiniLM()
        return JointReader(minilm.trained(self._reader)), minilm.tokenizer()

    def usefulness(
        self, claim: str, sentences: Sequence[tuple[str, str]], relevance: Sequence[float]
    ) -> NDArray[np.float32]:
        """Return the probability of each (title, sentence) that it is useful evidence.

        They are read together, in one pass; ``relevance`` is what is known of each
        before. Shape ``(len(sentences),)``.
        """
        from retrieval.selection.joint_reading import usefulness

        max_tokens = self._config["max_tokens"]
        return usefulness(*self._loaded(), claim, sentences, relevance, max_tokens)

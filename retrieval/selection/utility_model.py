"""The model that tells which of a claim's candidates a verifier is served by (FER)."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from retrieval.cross_encoders.cross_encoder import read_config, version_of
from retrieval.errors import ModelUnavailable
from retrieval.mends import restore_model

if TYPE_CHECKING:
    from transformers import PreTrainedTokenizerBase

    from retrieval.selection.joint_reading import JointReader


class UtilityModel:
    """The reader's weights and the difference that FER's training made to them."""

    def __init__(self, folder: Path, reader: Path) -> None:
        """Read ``folder``, where the difference lies; no weights are loaded yet.

        ``reader`` is the folder of the reader that training began with.

        Raises:
            ModelUnavailable: a ``config.json`` is missing or damaged, or the
                difference belongs to another reader.
        """
        self._folder = folder
        self._reader = reader
        self._config = read_config(folder)
        if self._config["reader"] != read_config(reader)["sha256"]:
            raise ModelUnavailable(
                "model_damaged",
                f"The model in {folder} belongs to another reader than the one in {reader}.",
                restore_model(folder),
            )
        self._network: JointReader | None = None
        self._tokenizer: PreTrainedTokenizerBase | None = None

    @property
    def version(self) -> str:
        """The model's name and version, for results to carry."""
        return version_of(self._config)

    def warm_up(self) -> None:
        """Load the weights, in the precision that is fastest here.

        Raises:
            ModelUnavailable: any of them are missing or damaged.
        """
        if self._network is not None:
            return
        from retrieval.cross_encoders.delta import add_delta
        from retrieval.cross_encoders.folded_minilm import FoldedMiniLM
        from retrieval.precision import fastest_precision
        from retrieval.selection.joint_reading import JointReader, reader_network

        network = JointReader(reader_network(self._reader))
        add_delta(network, self._folder / "delta.safetensors", self._config["sha256"])
        self._tokenizer = FoldedMiniLM().tokenizer()
        self._network = network.train(False).to(fastest_precision())

    def usefulness(
        self, claim: str, sentences: Sequence[tuple[str, str]], relevance: Sequence[float]
    ) -> NDArray[np.float32]:
        """Return the probability of each (title, sentence) that it is useful evidence.

        They are read together, in one pass; ``relevance`` is what is known of each
        before. Shape ``(len(sentences),)``.
        """
        self.warm_up()
        assert self._network is not None
        assert self._tokenizer is not None
        from retrieval.selection.joint_reading import usefulness

        max_tokens = self._config["max_tokens"]
        return usefulness(self._network, self._tokenizer, claim, sentences, relevance, max_tokens)

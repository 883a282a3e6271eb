"""``esoteric train teacher``: a larger model, from whose opinions the shipped one learns.

It is five times as slow as the model that it teaches and is not shipped.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import numpy as np
from numpy.typing import NDArray
from safetensors.torch import load_file, save_file
from transformers import AutoTokenizer, PreTrainedTokenizerBase

from retrieval.errors import ModelUnavailable
from training.data import load_data
from training.figures import DevClaims, probabilities, read_claims, reading_figures
from training.loop import Recipe, train
from training.reading_examples import reading_examples
from training.teacher.mpnet_parts import mpnet_folder
from training.teacher.network import TeacherNetwork, load_mpnet

RECIPE = Recipe(
    epochs=1,
    batch_size=32,
    learning_rate=3e-4,
    weight_decay=0.01,
    warmup=0.06,
    max_tokens=192,
    seed=0,
)
_WEIGHTS = "teacher.safetensors"
QUICK_DEV = 6  # every sixth dev claim: all of them would take twenty minutes


class Teacher:
    """A trained teacher, ready to give opinions."""

    def __init__(self, folder: Path) -> None:
        """Load what ``train_teacher`` wrote.

        Raises:
            ModelUnavailable: there is none, or the packaged base weights are missing.
        """
        try:
            trained = load_file(folder / _WEIGHTS)
        except OSError as error:
            raise ModelUnavailable(
                "model_missing",
                f"There is no trained teacher in {folder}.",
                "Train it with: esoteric train teacher --data DATA",
            ) from error
        base = mpnet_folder(folder)
        self._network = TeacherNetwork(load_mpnet(base)).eval()
        self._network.load_state_dict(trained, strict=False)
        self._tokenizer: PreTrainedTokenizerBase = AutoTokenizer.from_pretrained(base)

    def opinions(self, pairs: Sequence[tuple[str, str]]) -> NDArray[np.float32]:
        """Return the probabilities of the labels, shape ``(len(pairs), labels)``."""
        return probabilities(self._network, self._tokenizer, pairs, RECIPE.max_tokens)


def train_teacher(data_folder: Path, run: Path) -> None:
    """Train the teacher; write its weights, log and checkpoint to ``run``.

    Raises:
        BadSource: the data cannot be read.
        ModelUnavailable: the packaged base weights are missing.
    """
    base = mpnet_folder(run)
    data = load_data(data_folder, run.parent / "vectors", RECIPE.seed)
    tokenizer = AutoTokenizer.from_pretrained(base)
    network = TeacherNetwork(load_mpnet(base))
    dev = DevClaims.of(data, QUICK_DEV)
    train(
        network,
        tokenizer,
        reading_examples(data, RECIPE.seed),
        RECIPE,
        run,
        lambda network: reading_figures(
            read_claims(
                lambda pairs: probabilities(network, tokenizer, pairs, RECIPE.max_tokens), dev
            ),
            dev.claims,
        ),
    )
    trained = {name: w.detach() for name, w in network.named_parameters() if w.requires_grad}
    save_file(trained, run / _WEIGHTS)

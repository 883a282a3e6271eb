"""How often verdicts are right, and how often two judges give the same one, with what chance does.

For comparisons of recipes in the browser and for ``esoteric evaluate``. They are computed without
numpy, which the web process does not load.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from math import comb, sqrt

from retrieval.types import Label

_Z = 1.959964  # of a 95 % interval


def share_interval(hits: int, of: int) -> tuple[float, float]:
    """Return the 95 % interval of a share, both ends 0..1; ``of`` is 1 or more.

    Wilson (1927): also where all or none are hits it is not a point, as a bootstrap's is.
    """
    share, z2 = hits / of, _Z**2
    middle = share + z2 / (2 * of)
    half = _Z * sqrt(share * (1 - share) / of + z2 / (4 * of**2))
    low, high = ((middle + side * half) / (1 + z2 / of) for side in (-1, 1))
    return max(0.0, low), min(1.0, high)


def mcnemar(gained: int, lost: int) -> float:
    """Return how often chance alone makes two systems differ as much, two-sided, 0..1.

    McNemar (1947), exact: ``gained`` and ``lost`` are the claims that only one of them labels
    rightly, which are then as many as the heads and tails of a coin.
    """
    differ, fewer = gained + lost, min(gained, lost)
    tail = sum(comb(differ, number) for number in range(fewer + 1))
    return min(1.0, 2 * tail / (1 << differ))


def kappa(pairs: Sequence[tuple[Label, Label]]) -> float | None:
    """Return the agreement of two judges beyond chance: 1 always, 0 as by chance, and down to -1.

    Cohen (1960). ``pairs``: their labels of the same claims. ``None`` where both always give one
    and the same label, or nothing is labelled by both: then chance explains all.
    """
    if not pairs:
        return None
    same = sum(one == other for one, other in pairs) / len(pairs)
    first, second = (Counter(labels) for labels in zip(*pairs, strict=True))
    chance = sum(first[label] * second[label] for label in first) / len(pairs) ** 2
    return None if chance == 1 else (same - chance) / (1 - chance)

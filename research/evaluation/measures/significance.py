"""Confidence intervals of figures, and the significance of a difference between two systems.

Claims about the same page tend to be right or wrong together, so both measures
draw groups of claims: with single claims the results would be too optimistic.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Sequence

import numpy as np
from numpy.typing import NDArray

from research.evaluation.measures.scores import figures_of

RESAMPLES = 1000
SHUFFLES = 2000
SEED = 0


def confidence_intervals(
    scores: NDArray[np.float64],
    groups: Sequence[Hashable],
    figures: Callable[[NDArray[np.float64]], NDArray[np.float64]] = figures_of,
) -> NDArray[np.float64]:
    """Return 95% intervals of what ``figures`` computes of the rows, shape ``(figures, 2)``.

    Percentile bootstrap (Efron & Tibshirani 1993, chapter 13) over groups of
    claims, from a fixed seed; ``groups`` names the group of each row.
    """
    random = np.random.default_rng(SEED)
    members = group_members(groups)
    resamples = (random.integers(0, len(members), len(members)) for _ in range(RESAMPLES))
    drawn = np.stack(
        [figures(scores[np.concatenate([members[g] for g in chosen])]) for chosen in resamples]
    )
    return np.stack(
        [
            np.quantile(column[~np.isnan(column)], (0.025, 0.975))
            if not np.isnan(column).all()
            else np.full(2, np.nan)
            for column in drawn.T
        ]
    )


def group_members(groups: Sequence[Hashable]) -> list[NDArray[np.intp]]:
    """Return the rows of each group, which ``groups`` names for each row."""
    number = _numbered(groups)
    return [np.flatnonzero(number == group) for group in range(number.max() + 1)]


def paired_p_values(
    first: NDArray[np.float64], second: NDArray[np.float64], groups: Sequence[Hashable]
) -> NDArray[np.float64]:
    """Return, for each of ``FIGURES``, how often chance alone differs as much, two-sided.

    Approximate randomisation over pairs of answers to the same claims (Noreen
    1989; Yeh 2000, "More accurate tests for the statistical significance of
    result differences"), from a fixed seed. Rows must belong to the same
    claims; ``groups`` names the group of each, whose pairs are swapped together.
    """
    random = np.random.default_rng(SEED)
    number = _numbered(groups)
    difference = np.abs(figures_of(first) - figures_of(second))
    as_much = np.ones(len(difference))
    for _ in range(SHUFFLES):
        exchanged = (random.random(number.max() + 1) < 0.5)[number, None]
        one = np.where(exchanged, second, first)
        other = np.where(exchanged, first, second)
        # A rounding error must not count as less than the difference itself.
        as_much += np.abs(figures_of(one) - figures_of(other)) >= difference - 1e-12
    return np.where(np.isnan(difference), np.nan, as_much / (SHUFFLES + 1))


def _numbered(groups: Sequence[Hashable]) -> NDArray[np.intp]:
    """Return the number of each row's group, counted from 0 in order of appearance."""
    known: dict[Hashable, int] = {}
    return np.array([known.setdefault(group, len(known)) for group in groups], dtype=np.intp)

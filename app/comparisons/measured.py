"""How often the recipes of a comparison give the same verdict, and how often the right one."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import combinations
from typing import Annotated, NamedTuple

from pydantic import BaseModel, ConfigDict, Field

from retrieval.agreement import kappa, mcnemar, share_interval
from retrieval.types import Label, Share, Whole


class Part(BaseModel):
    """A part of a comparison, as pages, API and files have it."""

    model_config = ConfigDict(frozen=True, use_attribute_docstrings=True)


class Judged(NamedTuple):
    """The verdicts on a claim by the names of recipes, its right label if known, and its kind."""

    labels: Mapping[str, Label]
    gold: Label | None
    kind: str


class Pair(Part):
    """Two recipes, and on how many claims they give the same verdict."""

    first: str
    second: str
    claims: Whole
    """How many claims both have given a verdict on."""
    same: Whole
    """How many of these verdicts are the same."""
    kappa: Annotated[float, Field(ge=-1, le=1)] | None
    """Cohen's kappa: agreement beyond what chance explains; null where chance explains all."""


class Agreement(Part):
    """How often recipes give the same verdict: SUPPORTS, REFUTES or NOT ENOUGH INFO."""

    claims: Whole
    """How many claims all recipes have given a verdict on."""
    same: Whole
    """On how many of them all verdicts are the same."""
    pairs: tuple[Pair, ...]
    """The same of each two recipes."""


class Accuracy(Part):
    """How often a recipe gives the right verdict."""

    claims: Whole
    """How many claims with a right label it has given a verdict on."""
    right: Whole
    """How many of its verdicts are right."""
    share: Share
    """The share of the right ones."""
    interval: tuple[Share, Share]
    """Its 95 % interval (Wilson)."""


class Difference(Part):
    """Two recipes on the same claims with a right label."""

    first: str
    second: str
    claims: Whole
    """How many of these claims both have given a verdict on."""
    only_first: Whole
    """How many only the first labels rightly."""
    only_second: Whole
    """How many only the second labels rightly."""
    p: Share
    """How often chance alone makes them differ as much (McNemar's exact test, two-sided)."""


class Measured(Part):
    """The recipes against the right labels of some claims."""

    kind: str
    """The kind of these claims; empty: all that have a right label."""
    claims: Whole
    """How many they are."""
    accuracies: dict[str, Accuracy]
    """Of each recipe that has given a verdict on one, by its name."""
    differences: tuple[Difference, ...]
    """Of each two of them."""

    def between(self, pair: Pair) -> Difference | None:
        """Return the difference of the same two recipes, if they were measured."""
        both = pair.first, pair.second
        return next((one for one in self.differences if (one.first, one.second) == both), None)


def agreement(recipes: Sequence[str], claims: Sequence[Judged]) -> Agreement:
    """Return how often these recipes agree, whatever is right."""
    all_done = [one.labels for one in claims if len(one.labels) == len(recipes) > 1]
    pairs = []
    for first, second in combinations(recipes, 2):
        both = [
            (one.labels[first], one.labels[second])
            for one in claims
            if first in one.labels and second in one.labels
        ]
        same = sum(one == other for one, other in both)
        pairs.append(
            Pair(first=first, second=second, claims=len(both), same=same, kappa=kappa(both))
        )
    same = sum(len({*labels.values()}) == 1 for labels in all_done)
    return Agreement(claims=len(all_done), same=same, pairs=tuple(pairs))


def measured(recipes: Sequence[str], claims: Sequence[Judged]) -> tuple[Measured, ...]:
    """Return the recipes against the right labels: of all claims that have one, then by kind."""
    known = [one for one in claims if one.gold]
    kinds = dict.fromkeys(one.kind for one in known)
    groups = {"": known}
    if len(kinds) > 1:
        groups |= {kind: [one for one in known if one.kind == kind] for kind in kinds if kind}
    return tuple(_measured(kind, recipes, group) for kind, group in groups.items() if group)


def _measured(kind: str, recipes: Sequence[str], claims: Sequence[Judged]) -> Measured:
    right = {
        recipe: {
            n: one.labels[recipe] == one.gold
            for n, one in enumerate(claims)
            if recipe in one.labels
        }
        for recipe in recipes
    }
    right = {recipe: found for recipe, found in right.items() if found}
    return Measured(
        kind=kind,
        claims=len(claims),
        accuracies={recipe: _accuracy([*found.values()]) for recipe, found in right.items()},
        differences=tuple(
            _difference(first, second, [(right[first][n], right[second][n]) for n in both])
            for first, second in combinations(right, 2)
            if (both := right[first].keys() & right[second].keys())
        ),
    )


def _accuracy(right: Sequence[bool]) -> Accuracy:
    hits, of = sum(right), len(right)
    interval = share_interval(hits, of)
    return Accuracy(claims=of, right=hits, share=hits / of, interval=interval)


def _difference(first: str, second: str, both: Sequence[tuple[bool, bool]]) -> Difference:
    gained, lost = both.count((True, False)), both.count((False, True))
    return Difference(
        first=first,
        second=second,
        claims=len(both),
        only_first=gained,
        only_second=lost,
        p=mcnemar(gained, lost),
    )

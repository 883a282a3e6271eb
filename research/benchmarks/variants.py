"""How many claims keep their verdict when they are written in another way.

python -m research.benchmarks.variants --claims FILE [--limit N] [--recipe NAME]

A full stop, a capital, quotation marks, "isn't" for "is not" and "2000" for "2,000" change nothing
of what a claim says. Variants that no rule makes, such as the passive, are written by hand: a line
of ``FILE`` may have them under "variants", {name: claim}
(``research/datasets/variants/claims.jsonl``). A variant equal to the claim is not asked.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path

import click

from research.evaluation.claims import labelled_records
from research.training.verifier.pairs import (
    begun_large,
    begun_small,
    contracted,
    in_small_letters,
    quoted,
    with_stop,
    without_stop,
)
from retrieval.claim import in_full
from retrieval.pipeline.assembly import Retriever
from retrieval.recipes.recipes import DEFAULT_RECIPE
from retrieval.types import Label
from settings import Settings

_COMMA = re.compile(r"(?<=\d),(?=\d{3}\b)")


def without_commas(claim: str) -> str:
    """Return the claim with "2000" for "2,000"."""
    return _COMMA.sub("", claim)


BY_RULE: Mapping[str, Callable[[str], str]] = {
    "with a full stop": with_stop,
    "without a full stop": without_stop,
    "with a capital": begun_large,
    "with a small letter": begun_small,
    "in small letters": in_small_letters,
    "in quotation marks": quoted,
    "short forms": contracted,
    "full forms": in_full,
    "numbers without commas": without_commas,
}


@dataclass(frozen=True, slots=True)
class Kept:
    """Of how many claims a variant was asked, and how many of these kept their verdict."""

    asked: int = 0
    kept: int = 0

    def with_one(self, kept: bool) -> Kept:
        """Return the numbers with one more claim."""
        return Kept(self.asked + 1, self.kept + kept)


def variants_of(claim: str, by_hand: Mapping[str, str]) -> dict[str, str]:
    """Return the variants of a claim that differ from it, by their names."""
    by_rule = {name: change(claim) for name, change in BY_RULE.items()}
    return {name: text for name, text in {**by_rule, **by_hand}.items() if text != claim}


def kept_verdicts(
    claims: Mapping[str, Mapping[str, str]], label_of: Callable[[str], Label]
) -> dict[str, Kept]:
    """Return for each variant how many verdicts are kept; under "all" those of whole claims.

    ``claims``: each with its variants by hand. ``label_of`` checks a text.
    """
    result: dict[str, Kept] = {}
    for claim, by_hand in claims.items():
        label = label_of(claim)
        same = {name: label_of(text) == label for name, text in variants_of(claim, by_hand).items()}
        for name, kept in {**same, "all": all(same.values())}.items():
            result[name] = result.get(name, Kept()).with_one(kept)
    return result


@click.command()
@click.option(
    "--claims", "file", type=click.Path(exists=True, dir_okay=False, path_type=Path), required=True
)
@click.option("--limit", type=click.IntRange(min=1), help="Only the first claims.")
@click.option("--recipe", default=DEFAULT_RECIPE, show_default=True)
def main(file: Path, limit: int | None, recipe: str) -> None:
    """Check the claims of FILE and their variants against the served index, print the table."""
    settings = Settings.from_environment()
    retriever = Retriever(
        settings.store, settings.snapshots, settings.threads, settings.model_folders
    )
    lines = [line for _, line, _ in labelled_records(file)][:limit]
    claims = {line["claim"]: line.get("variants", {}) for line in lines}

    def label_of(text: str) -> Label:
        return retriever.check(text, recipe, lambda progress: None).verdict.label

    for name, one in kept_verdicts(claims, label_of).items():
        click.echo(f"{name}: {one.kept} of {one.asked} ({one.kept / one.asked:.1%})")


if __name__ == "__main__":
    main()

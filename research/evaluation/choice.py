"""Which claims of a file are asked: a half, a sample, the first ones."""

from __future__ import annotations

import random
from collections.abc import Sequence
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path
from typing import Literal, TypeAlias, TypeVar, get_args

from research.evaluation.claims import AnnotatedClaim
from retrieval.errors import BadSource

Half: TypeAlias = Literal["fitted", "published"]
HALVES: tuple[Half, ...] = get_args(Half)
_Claim = TypeVar("_Claim", bound=AnnotatedClaim)


def half_of(claim: str) -> Half:
    """Return the half of a claim, by a digest of its text, so that it is the same in every file.

    Thresholds and calibration are fitted to the first half, figures are published on the second.
    """
    return HALVES[sha256(claim.encode()).digest()[0] % 2]


@dataclass(frozen=True, slots=True)
class Choice:
    """Which claims of a file are asked; every claim unless something is set.

    ``half``: only claims of this half. ``several_pages``: only those that need several pages.
    ``sample``: so many decided claims, drawn with ``seed``, or all if there are no more.
    ``limit``: only so many, from the first.
    """

    half: Half | None = None
    several_pages: bool = False
    sample: int | None = None
    seed: int = 1
    limit: int | None = None

    def of(self, claims: Sequence[_Claim], path: Path) -> list[_Claim]:
        """Return the claims of the file ``path`` that are asked, in their order.

        Raises:
            BadSource: there are none.
        """
        chosen = [claim for claim in claims if self.half in (None, half_of(claim.text))]
        if self.several_pages:
            chosen = [claim for claim in chosen if claim.needs_several_pages]
        if self.sample is not None:
            chosen = self._sampled([claim for claim in chosen if claim.evidence])
        if not chosen:
            asked = {
                "--half": f"is in the {self.half} half" if self.half else "",
                "--several-pages": "needs several pages" if self.several_pages else "",
                "--sample": "is decided" if self.sample is not None else "",
            }
            raise BadSource(
                "bad_claims",
                f"No claim in {path} {' and '.join(filter(None, asked.values()))}.",
                f"Leave out {' or '.join(option for option, what in asked.items() if what)}.",
            )
        return chosen[: self.limit]

    def _sampled(self, decided: list[_Claim]) -> list[_Claim]:
        assert self.sample is not None
        drawn = random.Random(self.seed).sample(range(len(decided)), min(self.sample, len(decided)))
        return [decided[number] for number in sorted(drawn)]

    def described(self) -> str:
        """Return a sentence for reports; empty if every claim is asked, or the first ones."""
        several = " that need several pages" if self.several_pages else ""
        if self.sample is not None:
            of = f" of the {self.half} half" if self.half else ""
            return f"A sample of decided claims{of}{several}, drawn with seed {self.seed}."
        if self.half or several:
            return f"Only claims{f' of the {self.half} half' if self.half else ''}{several}."
        return ""

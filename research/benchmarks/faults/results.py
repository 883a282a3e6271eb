"""What a campaign found: its rounds with their counts, as they are written and read again."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass
from pathlib import Path

from research.benchmarks.faults.counting import Counts
from research.benchmarks.faults.ledger import KINDS, Kind

FILE = "faults.json"


@dataclass(frozen=True)
class Round:
    """One fault, and what became of what was accepted in its round.

    ``back_seconds``: from the end of the fault until all claims had ended, and all lists and
    uploads had gone on, that were open when the service said again that it was ready. ``stuck``:
    those that had not (``campaign.STUCK_SECONDS``).
    """

    seed: int
    fault: str
    fault_seconds: float
    ready: bool
    back_seconds: float
    stuck: int
    bad_pages: int
    counts: Mapping[Kind, Counts]

    def all(self) -> Counts:
        """Return the counts of claims, rows and uploads together."""
        return sum(self.counts.values(), Counts())


@dataclass(frozen=True)
class Finding:
    """What must not be, and the seed that repeats its round as the first one."""

    seed: int
    fault: str
    what: str


@dataclass(frozen=True)
class Results:
    """Those of one campaign, or of several together.

    ``reasons``: codes of the errors of what failed. ``refused``: claims that were answered with
    503; ``refused_but_kept``: those of them that were checked all the same.
    """

    rounds: tuple[Round, ...]
    findings: tuple[Finding, ...]
    reasons: Mapping[str, int]
    refused: int
    refused_but_kept: int

    def write(self, folder: Path) -> None:
        """Write them into a folder."""
        (folder / FILE).write_text(json.dumps(asdict(self), indent=1), encoding="utf-8")


def read(folder: Path) -> Results:
    """Return the results in a folder.

    Raises:
        OSError: there are none.
    """
    found = json.loads((folder / FILE).read_text(encoding="utf-8"))
    rounds = tuple(
        Round(**{**one, "counts": {kind: Counts(**one["counts"][kind]) for kind in KINDS}})
        for one in found.pop("rounds")
    )
    findings = tuple(Finding(**one) for one in found.pop("findings"))
    return Results(rounds, findings, **found)


def together(several: Iterable[Results]) -> Results:
    """Return the results of several campaigns as one."""
    all_of = list(several)
    reasons: Counter[str] = Counter()
    for one in all_of:
        reasons.update(one.reasons)
    return Results(
        tuple(played for one in all_of for played in one.rounds),
        tuple(finding for one in all_of for finding in one.findings),
        dict(reasons),
        sum(one.refused for one in all_of),
        sum(one.refused_but_kept for one in all_of),
    )

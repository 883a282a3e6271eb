"""The table of a campaign, and what to run again."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import asdict
from statistics import median
from typing import Any

from research.benchmarks.faults.campaign import Campaign

_HEAD = (
    "fault",
    "rounds",
    "accepted",
    "done",
    "failed with a reason",
    "failed without",
    "lost",
    "twice",
    "stuck",
    "bad pages",
    "all ended after, median (longest)",
)


def findings(campaign: Campaign) -> list[tuple[int, str]]:
    """Return what must not be: the number of the round, and what it was."""
    found = [(number, f"bad page: {what}") for number, what in campaign.ledger.wrong_pages]
    for number, played in enumerate(campaign.rounds):
        found += [(number, f"stuck: claim {job_id}") for job_id in played.stuck]
        if not played.ready:
            found.append((number, "the service was not ready again"))
    outcome, accepted = campaign.outcome, campaign.ledger.accepted
    for what, ids in (
        ("lost", outcome.lost),
        ("twice", outcome.twice),
        ("failed without a reason", outcome.failed_without_reason),
    ):
        found += [(accepted.get(job_id, 0), f"{what}: claim {job_id}") for job_id in ids]
    return sorted(found)


def document(campaign: Campaign) -> dict[str, Any]:
    """Return everything as it goes into faults.json."""
    return {
        "rounds": [asdict(played) for played in campaign.rounds],
        "accepted": len(campaign.ledger.accepted),
        "outcome": asdict(campaign.outcome),
        "findings": [
            {"seed": campaign.rounds[number].seed, "what": what}
            for number, what in findings(campaign)
        ],
    }


def table(campaign: Campaign) -> str:
    """Return a row for each kind of fault, and one for all; a claim counts where it came in."""
    kinds = sorted({played.fault for played in campaign.rounds})
    rows = [_row(campaign, kind, [kind]) for kind in kinds]
    lines = [_HEAD, ["---"] * len(_HEAD), *rows, _row(campaign, "all", kinds)]
    return "".join(f"| {' | '.join(line)} |\n" for line in lines)


def text(campaign: Campaign, command: str, where: str) -> str:
    """Return the report: the command, where it ran, the table, and what was found."""
    outcome, refused = campaign.outcome, len(campaign.ledger.refused)
    reasons = ", ".join(f"{code} {times}" for code, times in sorted(outcome.reasons.items()))
    ends = (
        f"Reasons of failures: {reasons or 'none'}. Submissions answered with 503: {refused},"
        f" checked all the same: {len(outcome.refused_but_kept)}.\n"
    )
    parts = [f"`{command}`; {where}.\n", table(campaign), ends]
    for number, what in findings(campaign):
        played = campaign.rounds[number]
        parts.append(f"- {played.fault}: {what} (again: `--rounds 1 --seed {played.seed}`)\n")
    return "\n".join(parts)


def _row(campaign: Campaign, name: str, kinds: Collection[str]) -> list[str]:
    outcome, ledger = campaign.outcome, campaign.ledger
    numbers = {n for n, played in enumerate(campaign.rounds) if played.fault in kinds}
    rounds = [campaign.rounds[number] for number in sorted(numbers)]
    ours = {job_id for job_id, number in ledger.accepted.items() if number in numbers}
    backs = [one.back_seconds for one in rounds]
    counts = [
        len(rounds),
        len(ours),
        len(ours.intersection(outcome.done)),
        len(ours.intersection(outcome.failed)),
        len(ours.intersection(outcome.failed_without_reason)),
        len(ours.intersection(outcome.lost)),
        len(ours.intersection(outcome.twice)),
        sum(len(one.stuck) for one in rounds),
        sum(number in numbers for number, _ in ledger.wrong_pages),
    ]
    return [name, *map(str, counts), f"{median(backs):.0f} s ({max(backs):.0f} s)"]

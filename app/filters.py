"""Filters of the templates: the looks of labels, addresses, credits and times."""

from __future__ import annotations

import re
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Literal, Protocol, TypeAlias
from urllib.parse import urlsplit

from jinja2 import Environment
from markupsafe import Markup

from retrieval.result import Verdict
from retrieval.types import (
    ALTERNATION,
    EQUIVALENCE,
    INDEPENDENCE,
    NEGATION,
    NOT_ENOUGH_INFO,
    REFUTES,
    SUPPORTS,
    Label,
    Operator,
)
from retrieval.words import (
    OPERATORS,
    STAGES,
    STANCES,
    VERDICTS,
    Level,
    balance_words,
    counted,
    found_by_words,
    level_of,
    verdict_words,
)
from worker.jobs import State

Look: TypeAlias = Literal["supported", "refuted", "unsettled", "pending", "stopped"]

LOOKS: dict[Label, Look] = {
    SUPPORTS: "supported",
    REFUTES: "refuted",
    NOT_ENOUGH_INFO: "unsettled",
}
LOOKS_OF_PARTS: dict[Operator, Look] = {
    EQUIVALENCE: "supported",
    NEGATION: "refuted",
    ALTERNATION: "refuted",
    INDEPENDENCE: "unsettled",
}
_FILE = re.compile(r"(?P<name>.+?)(?:, page \d+)?, modified on (?P<day>\d{4}-\d\d-\d\d)", re.DOTALL)


@dataclass(frozen=True, slots=True)
class Badge:
    """A verdict, a stance or a state in a few words; ``level``: how sure a verdict is."""

    look: Look
    word: str
    level: Level = "settled"


class Listed(Protocol):
    """A job in a list, or in a comparison."""

    @property
    def state(self) -> State: ...

    @property
    def label(self) -> Label | None: ...

    @property
    def confidence(self) -> float | None: ...

    @property
    def leans(self) -> Label | None: ...


_STATES = {
    "queued": Badge("pending", "Waiting"),
    "running": Badge("pending", "Being checked"),
    "failed": Badge("stopped", "Failed"),
    "cancelled": Badge("stopped", "Cancelled"),
}


def install_filters(environment: Environment) -> None:
    """Give the filters to all templates."""
    environment.filters |= {
        "balance": balance_words,
        "counted": counted,
        "credit": credit,
        "day": day,
        "found_by": found_by_words,
        "job": job_badge,
        "look": LOOKS.__getitem__,
        "moment": moment,
        "operator": lambda operator: Badge(LOOKS_OF_PARTS[operator], OPERATORS[operator]),
        "opinion": lambda label: Badge(LOOKS[label], VERDICTS[label], level_of(label, None, None)),
        "safe_url": safe_url,
        "seconds": seconds,
        "stage": lambda name: STAGES.get(name, name),
        "stance": lambda label: Badge(LOOKS[label], STANCES[label]),
        "verdict": verdict_badge,
    }


def verdict_badge(verdict: Verdict) -> Badge:
    """Return a verdict in words that are as sure as it is."""
    return Badge(LOOKS[verdict.label], verdict.words, verdict.level)


def job_badge(job: Listed) -> Badge:
    """Return the verdict of a finished job, or the state of any other."""
    if job.label is None:
        return _STATES[job.state]
    of = job.label, job.confidence, job.leans
    return Badge(LOOKS[job.label], verdict_words(*of), level_of(*of))


def safe_url(url: str | None) -> str | None:
    """Return the address if a page may link to it, else ``None``.

    A corpus may be hostile: ``javascript:`` and similar addresses must not become links.
    """
    if url is None or any(ord(character) <= 32 for character in url):
        return None
    try:
        parts = urlsplit(url)
    except ValueError:
        return None
    return url if parts.scheme in ("http", "https") and parts.hostname else None


def credit(credit: str) -> Markup:
    """Return what a document is credited to; of a file without the page, which its title says."""
    if found := _FILE.fullmatch(credit):
        return Markup("<bdi>{}</bdi>, modified on {}").format(found["name"], day(found["day"]))
    return Markup("<bdi>{}</bdi>").format(credit)


def moment(at: datetime) -> Markup:
    """Return a point in time."""
    at = at.astimezone(UTC)
    iso = at.isoformat(timespec="seconds").replace("+00:00", "Z")
    return _time(iso, f"{at.day} {at:%B %Y}, {at:%H:%M} UTC")


def day(iso: str) -> Markup:
    """Return the day of an ISO 8601 time, or the text itself where it cannot be parsed."""
    try:
        at = datetime.fromisoformat(iso)
    except ValueError:
        return _time(iso, iso)
    return _time(iso, f"{at.day} {at:%B %Y}")


def seconds(value: float) -> str:
    """Return a duration."""
    return f"{value:.2f} s" if value < 10 else f"{value:.0f} s"


def _time(iso: str, text: str) -> Markup:
    return Markup('<time datetime="{}">{}</time>').format(iso, text)

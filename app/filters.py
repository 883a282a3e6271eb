"""Filters of the templates: the looks of labels, addresses, credits and times."""

from __future__ import annotations

import re
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Literal, Protocol, TypeAlias
from urllib.parse import urlsplit

from jinja2 import Environment
from markupsafe import Markup

from retrieval.recipes.recipes import base_and_more_hops
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
    STATES,
    VERDICTS,
    Level,
    balance_words,
    counted,
    day_words,
    found_by_words,
    level_of,
    recipe_words,
    verdict_words,
)
from settings import is_loopback

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
_FILE = re.compile(
    r"(?P<name>.+?)(?:, page \d+)?, (?P<of>modified on|as of) (?P<day>\d{4}-\d\d-\d\d)", re.DOTALL
)


@dataclass(frozen=True, slots=True)
class Badge:
    """A verdict, a stance or a state in a few words; ``level``: how sure a verdict is."""

    look: Look
    word: str
    level: Level = "settled"


class Listed(Protocol):
    """A job in a list, or in a comparison, or a row of a list of claims."""

    @property
    def state(self) -> str: ...

    @property
    def label(self) -> Label | None: ...

    @property
    def confidence(self) -> float | None: ...

    @property
    def leans(self) -> Label | None: ...


_STATES: dict[str, Look] = {
    "queued": "pending",
    "running": "pending",
    "failed": "stopped",
    "cancelled": "stopped",
}


def install_filters(environment: Environment) -> None:
    """Give the filters to all templates."""
    environment.filters |= {
        "ago": ago,
        "balance": balance_words,
        "base_recipe": lambda name: base_and_more_hops(name)[0],
        "counted": counted,
        "credit": credit,
        "day": day,
        "found_by": found_by_words,
        "score": lambda value: f"{value:.2f}".removeprefix("0"),
        "job": job_badge,
        "look": LOOKS.__getitem__,
        "moment": moment,
        "only_here": only_here,
        "operator": lambda operator: Badge(LOOKS_OF_PARTS[operator], OPERATORS[operator]),
        "opinion": lambda label: Badge(LOOKS[label], VERDICTS[label], level_of(label, None, None)),
        "recipe": recipe_words,
        "safe_url": safe_url,
        "seconds": seconds,
        "size": size,
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
        return Badge(_STATES[job.state], STATES[job.state])
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


def only_here(address: str) -> str:
    """Return what follows an address that other computers cannot open; "" for any other."""
    here = is_loopback(urlsplit(address).hostname or "")
    return " (opens only on the computer that made the checks)" if here else ""


def credit(credit: str) -> Markup:
    """Return what a document is credited to; of a file without the page, which its title says."""
    if found := _FILE.fullmatch(credit):
        return Markup("<bdi>{}</bdi>, {} {}").format(found["name"], found["of"], day(found["day"]))
    return Markup("<bdi>{}</bdi>").format(credit)


def ago(at: datetime) -> Markup:
    """Return how long ago a point in time was."""
    minutes = int((datetime.now(UTC) - at).total_seconds() // 60)
    if minutes < 1:
        said = "just now"
    elif minutes < 60:
        said = f"{counted(minutes, 'minute')} ago"
    elif minutes < 24 * 60:
        said = f"{counted(minutes // 60, 'hour')} ago"
    else:
        said = f"{counted(minutes // (24 * 60), 'day')} ago"
    return _time(_utc(at), said)


def moment(at: datetime) -> Markup:
    """Return a point in time."""
    at = at.astimezone(UTC)
    return _time(_utc(at), f"{at.day} {at:%B %Y}, {at:%H:%M} UTC")


def day(iso: str) -> Markup:
    """Return the day of an ISO 8601 time, or the text itself where it cannot be parsed."""
    return _time(iso, day_words(iso))


def seconds(value: float) -> str:
    """Return a duration."""
    return f"{value:.2f} s" if value < 10 else f"{value:.0f} s"


def size(number: int) -> str:
    """Return a number of bytes."""
    for unit, of in (("MB", 1_000_000), ("KB", 1000)):
        if number >= of:
            return f"{number / of:.1f} {unit}".replace(".0 ", " ")
    return counted(number, "byte")


def _utc(at: datetime) -> str:
    return at.astimezone(UTC).isoformat(timespec="seconds").replace("+00:00", "Z")


def _time(iso: str, text: str) -> Markup:
    return Markup('<time datetime="{}">{}</time>').format(iso, text)

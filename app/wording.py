"""The words on the pages for verdicts, stances, operators, states, stages and times."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, datetime

from app.contexts import Badge, Look, Moment
from retrieval.types import (
    ALTERNATION,
    EQUIVALENCE,
    INDEPENDENCE,
    NEGATION,
    NOT_ENOUGH_INFO,
    REFUTES,
    SUPPORTS,
    Label,
)
from retrieval.wording import in_percent, level_of, verdict_words
from worker.jobs import ListedJob

_LOOKS: dict[Label, Look] = {
    SUPPORTS: "supported",
    REFUTES: "refuted",
    NOT_ENOUGH_INFO: "unsettled",
}
STANCES = {
    SUPPORTS: Badge("supported", "Supports"),
    REFUTES: Badge("refuted", "Refutes"),
    NOT_ENOUGH_INFO: Badge("unsettled", "Settles nothing"),
}
STATES = {
    "queued": Badge("pending", "Waiting"),
    "running": Badge("pending", "Being checked"),
    "failed": Badge("stopped", "Failed"),
    "cancelled": Badge("stopped", "Cancelled"),
}
STAGES = {
    "spans": "Find names and phrases in the claim",
    "titles": "Look for documents with these titles",
    "texts": "Look for documents that mention these names",
    "questions": "Turn the claim into questions",
    "ranking": "Choose documents that may answer them",
    "dense": "Look for sentences with a similar meaning",
    "sentences": "Open the documents",
    "relevance": "Rate each sentence",
    "paths": "Read sentences together",
    "semantic": "Pick the closest sentences",
    "fusion": "Rank sentences and paths together",
    "verification": "Label the best sentences",
    "completion": "Read sentences that may complete them",
    "quantities": "Compare numbers, units and dates",
    "comparison": "Look up both sides of a comparison",
    "selection": "Select the evidence",
    "bridge": "Look for what belongs to the best sentence",
    "verdict": "Give the verdict",
    "proof": "Prove the claim part by part",
    "next": "Look for what is missing",
    "explain": "Ask the language model",
    # Only in stored results from before the stage "next".
    "mentions": "Look for what the evidence mentions",
}
OPERATORS = {
    EQUIVALENCE: Badge("supported", "Says the same"),
    NEGATION: Badge("refuted", "Says the opposite"),
    ALTERNATION: Badge("refuted", "Gives a different answer"),
    INDEPENDENCE: Badge("unsettled", "Nothing found yet"),
}
LEGEND: dict[Look, str] = {
    "supported": "Proved: the evidence says the same",
    "refuted": "Contradicted: the evidence says the opposite or gives a different answer",
    "unsettled": "Open: none of the selected sentences settles it",
}
_FOUND_BY = {
    "title": "its title",
    "disambiguation": "a title with words in parentheses",
    "text": "a phrase in its text",
    "words": "words in its text",
    "link": "a link in earlier evidence",
    "mention": "a mention in earlier evidence",
    "generation": "a title predicted from the evidence",
    "dense": "a sentence similar in meaning",
}


def verdict_badge(
    label: Label, confidence: float | None = None, leans: Label | None = None
) -> Badge:
    """Return a verdict as ``verdict_words`` says it, with its look."""
    return Badge(
        _LOOKS[label],
        verdict_words(label, confidence, leans),
        level_of(label, confidence, leans),
    )


def confidence_in(label: Label, value: float) -> int | None:
    """Return how sure a label is, in percent.

    ``None`` for NOT ENOUGH INFO: it is never called certain.
    """
    return None if label == NOT_ENOUGH_INFO else in_percent(value)


def moment(at: datetime) -> Moment:
    """Return a point in time as the pages show it."""
    at = at.astimezone(UTC)
    return Moment(
        at.isoformat(timespec="seconds").replace("+00:00", "Z"),
        f"{at.day} {at:%B %Y}, {at:%H:%M} UTC",
    )


def day(iso: str) -> Moment:
    """Return the day of an ISO 8601 time, or the text itself where it cannot be parsed."""
    try:
        at = datetime.fromisoformat(iso)
    except ValueError:
        return Moment(iso, iso)
    return Moment(iso, f"{at.day} {at:%B %Y}")


def job_badge(job: ListedJob) -> Badge:
    """Return the verdict of a finished job, or the state of any other."""
    if job.label is None:
        return STATES[job.state]
    return verdict_badge(job.label, job.confidence, job.leans)


def found_by(names: Sequence[str]) -> str:
    """Return how a document was found."""
    return listed([_FOUND_BY.get(name, name) for name in names])


def listed(words: Sequence[str]) -> str:
    """Return words as a list within a sentence."""
    if len(words) < 2:
        return "".join(words)
    return f"{', '.join(words[:-1])} and {words[-1]}"


def seconds(value: float) -> str:
    """Return a duration as text."""
    return f"{value:.2f} s" if value < 10 else f"{value:.0f} s"


def elapsed(whole_seconds: int) -> str:
    """Return how long a claim has taken so far; ``static/progress.js`` uses the same words."""
    minutes, rest = divmod(whole_seconds, 60)
    return f"{minutes} min {rest} s" if minutes else f"{rest} s"


def counted(number: int, noun: str) -> str:
    """Return a number with its noun."""
    return f"{number} {noun}" if number == 1 else f"{number} {noun}s"

"""How a claim is or was checked: what was looked for, asked, opened and read, hop by hop.

The page shows the same lines while the claim runs and beside its evidence afterwards.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Literal, NamedTuple, TypeAlias, cast

from app.result.highlighting import Highlight, Segment, segments
from retrieval.recipes.recipes import Recipe
from retrieval.result import ClaimResult, Document
from retrieval.types import (
    NOT_ENOUGH_INFO,
    Findings,
    FoundBy,
    FoundDocument,
    FoundSentence,
    Label,
    Span,
)
from retrieval.words import begins_statement, counted
from worker.jobs import Event

Kind: TypeAlias = Literal["statement", "looked", "asked", "opened", "read", "hop", "model"]
State: TypeAlias = Literal["done", "running", "waiting", "skipped"]

# The stages of the first hop belong together like this; all others read and decide.
_GROUPS: dict[str, Kind] = {
    "spans": "looked",
    "titles": "looked",
    "texts": "looked",
    "questions": "asked",
    "ranking": "opened",
    "dense": "opened",
    "sentences": "opened",
}
# The stages that need sentences of an earlier hop, and the one that prepares the next hop.
_FROM_THE_SECOND_HOP = ("paths", "fusion")
_BEFORE_THE_LAST_HOP = "next"
# After the last hop a language model may be asked.
_CLOSING = "explain"


@dataclass(frozen=True, slots=True)
class Stage:
    """A stage; ``message`` and ``seconds`` are known once it is done.

    It is skipped if a later one is done and this one was not needed.
    """

    name: str
    state: State
    message: str = ""
    seconds: float | None = None


@dataclass(frozen=True, slots=True)
class Group:
    """A line of the trail, with all that its stages have found.

    ``number``: of the line, from 1. ``message``: what the last stage says. ``open``: the words of
    the claim because of which a later hop was made; all of such a hop is one group. ``spans``:
    those that lie in no other.
    """

    number: int
    kind: Kind
    hop: int
    stages: tuple[Stage, ...] = ()
    message: str = ""
    spans: tuple[str, ...] = ()
    questions: tuple[str, ...] = ()
    documents: tuple[FoundDocument, ...] = ()
    sentences: tuple[FoundSentence, ...] = ()
    open: tuple[str, ...] = ()

    @property
    def state(self) -> State:
        """Done when all its stages are, skipped if none of them was needed."""
        states = {stage.state for stage in self.stages} - {"skipped"}
        if not states:
            return "skipped" if self.stages else "done"
        if states == {"done"}:
            return "done"
        return "waiting" if states == {"waiting"} else "running"

    @property
    def seconds(self) -> float | None:
        """How long its stages took so far, as far as known."""
        known = [stage.seconds for stage in self.stages if stage.seconds is not None]
        return sum(known) if known else None

    @property
    def leads(self) -> tuple[FoundDocument, ...]:
        """The documents to which another one led."""
        return tuple(found for found in self.documents if found.led_by)


class Steps(NamedTuple):
    """Which hop runs, how many of its stages are done, and how many it has."""

    hop: int
    done: int
    of: int


def trail(
    events: Sequence[Event], recipe: Recipe, *, running: bool, asks: bool = False
) -> tuple[Group, ...]:
    """Return the lines of a check, from its events.

    ``running``: a worker is at the last one; else a later stage is not to come. ``asks``: a
    language model is asked after the last hop.
    """
    groups: list[Group] = []
    sections = _sections(events)
    for number, section in enumerate(sections, 1):
        last = number == len(sections)
        if section.statement:
            groups.append(Group(0, "statement", 1, message=section.statement))
        groups += _groups(section, recipe, running=running and last, asks=asks)
    numbered = (replace(group, number=number) for number, group in enumerate(groups, 1))
    return tuple(group for group in numbered if group.state != "skipped")


def trail_of(result: ClaimResult) -> tuple[Group, ...]:
    """Return the lines of a check whose events are not known, from its result."""
    stages = {
        name: Stage(name, "done", seconds=seconds)
        for name, seconds in result.seconds.items()
        if name != "total"
    }
    groups = []
    for hop in result.hops:
        read = _best_first([_found(one, result) for one in result.documents if one.hop == hop.hop])
        found = f"{counted(hop.sentences, 'sentence')} about the claim"
        if hop.hop > 1:
            words = (result.words_at(span) for span in result.hops[hop.hop - 2].missing)
            still_open = tuple(filter(None, words))
            groups.append(Group(0, "hop", hop.hop, message=found, documents=read, open=still_open))
            continue
        asked = tuple(question.text for question in result.questions)
        groups += [
            _with_stages(Group(0, "asked", 1, questions=asked), stages),
            _with_stages(Group(0, "opened", 1, documents=read), stages),
            _with_stages(Group(0, "read", 1, message=found), stages),
        ]
    kept = [one for one in groups if one.kind != "asked" or one.questions]
    return tuple(replace(group, number=number) for number, group in enumerate(kept, 1))


def has_findings(events: Sequence[Event]) -> bool:
    """Return whether the events say what was found; those of older versions do not."""
    return any(event.found is not None for event in events)


def steps_of(groups: Sequence[Group]) -> Steps:
    """Return how far the last hop is."""
    hop = max((group.hop for group in groups), default=1)
    states = [stage.state for group in groups if group.hop == hop for stage in group.stages]
    return Steps(hop, sum(state in ("done", "skipped") for state in states), len(states))


def stances(groups: Sequence[Group]) -> dict[Label, int]:
    """Return how many of the sentences that were labelled support or refute the claim so far."""
    labelled = {found.text: found.stance for group in groups for found in group.sentences}
    counts = Counter(stance for stance in labelled.values() if stance is not None)
    return {stance: number for stance, number in counts.items() if stance != NOT_ENOUGH_INFO}


def drawn(claim: str, groups: Sequence[Group]) -> tuple[Segment, ...]:
    """Return the claim, cut where spans were found in it."""
    marks = [
        Highlight(number, start, start + len(words), "pending")
        for number, words in enumerate((words for group in groups for words in group.spans), 1)
        if (start := claim.find(words)) >= 0
    ]
    return segments(claim, marks)


@dataclass(frozen=True, slots=True)
class _Section:
    """The events of one statement, with the time of its beginning."""

    statement: str
    began: datetime | None
    events: list[Event]


def _sections(events: Sequence[Event]) -> list[_Section]:
    """Return the events by statements; those of an attempt that was given up are left out."""
    sections = [_Section("", None, [])]
    for event in events:
        if event.stage == "start":
            statement = event.message if begins_statement(event.message) else ""
            section = _Section(statement, event.at, [])
            # With nothing done it starts again, or for the first time.
            sections = [*sections, section] if event.done else [section]
        elif event.stage != "done":
            sections[-1].events.append(event)
    return [one for one in sections if one.events or one is sections[-1]]


def _groups(section: _Section, recipe: Recipe, *, running: bool, asks: bool) -> list[Group]:
    closing = [event for event in section.events if event.stage == _CLOSING]
    searching = [event for event in section.events if event.stage != _CLOSING]
    hops = _hops(searching, recipe.stages_per_hop[0])
    groups: list[Group] = []
    before = section.began
    shown: set[tuple[str, Label | None]] = set()
    still_open: tuple[str, ...] = ()
    for number, reported in enumerate(hops, 1):
        names = _stages_of(recipe, number)
        at_work = running and number == len(hops) and not closing
        stages = _stages(names, reported, before, at_work=at_work, over=not at_work)
        before = reported[-1].at if reported else before
        found = [event.found for event in reported if event.found is not None]
        if number == 1:
            groups += _first(stages, found)
        else:
            message = reported[-1].message if reported else ""
            whole = Group(0, "hop", number, stages, message, open=still_open)
            groups.append(_with(whole, found))
        groups = [_unseen(group, shown) for group in groups]
        still_open = next((one.open for one in reversed(found) if one.open), ())
    if asks or closing:
        groups.append(_asked(closing, before, len(hops)))
    return groups


def _hops(events: Sequence[Event], opening: str) -> list[list[Event]]:
    """Return the events by hops; a hop begins with the stage ``opening``."""
    hops: list[list[Event]] = [[]]
    for event in events:
        if event.stage == opening and any(one.stage == opening for one in hops[-1]):
            hops.append([])
        hops[-1].append(event)
    return hops


def _stages_of(recipe: Recipe, hop: int) -> list[str]:
    stages = list(recipe.stages_per_hop)
    if hop == 1:
        stages = [*recipe.stages_first, *(s for s in stages if s not in _FROM_THE_SECOND_HOP)]
    if hop == recipe.max_hops:
        stages = [stage for stage in stages if stage != _BEFORE_THE_LAST_HOP]
    return stages


def _stages(
    names: Sequence[str],
    events: Sequence[Event],
    before: datetime | None,
    *,
    at_work: bool,
    over: bool,
) -> tuple[Stage, ...]:
    """Return the stages of a hop; an event means that its stage is done."""
    said: dict[str, Stage] = {}
    for event in events:
        spent = None if before is None else (event.at - before).total_seconds()
        earlier = said[event.stage].seconds if event.stage in said else None
        total = spent if earlier is None or spent is None else spent + earlier
        said[event.stage] = Stage(event.stage, "done", event.message, total)
        before = event.at
    reached = max((number for number, name in enumerate(names) if name in said), default=-1)
    stages = []
    for number, name in enumerate(names):
        state: State = "waiting"
        if number < reached or (over and events):
            state = "skipped"
        elif at_work and number == reached + 1:
            state = "running"
        stages.append(said.get(name, Stage(name, state)))
    return tuple(stages)


def _first(stages: Sequence[Stage], found: Sequence[Findings]) -> list[Group]:
    """Return the four groups of the first hop."""
    groups = []
    for kind in ("looked", "asked", "opened", "read"):
        of = tuple(stage for stage in stages if _GROUPS.get(stage.name, "read") == kind)
        said = [stage.message for stage in of if stage.message and stage.name != "next"]
        group = _with(Group(0, kind, 1, of, said[-1] if said else ""), found)
        groups.append(
            replace(
                group,
                spans=group.spans if kind == "looked" else (),
                questions=group.questions if kind == "asked" else (),
                documents=group.documents if kind == "opened" else (),
                sentences=group.sentences if kind == "read" else (),
            )
        )
    return groups


def _with(group: Group, found: Sequence[Findings]) -> Group:
    """Return the group with what was found last of every kind."""
    spans = next((one.spans for one in reversed(found) if one.spans), ())
    return replace(
        group,
        spans=_outermost(spans),
        questions=next((one.questions for one in reversed(found) if one.questions), ()),
        documents=_best_first(next((one.documents for one in found if one.documents), ())),
        sentences=next((one.sentences for one in reversed(found) if one.sentences), ()),
    )


def _best_first(documents: Sequence[FoundDocument]) -> tuple[FoundDocument, ...]:
    return tuple(sorted(documents, key=lambda found: -found.score))


def _outermost(spans: Sequence[Span]) -> tuple[str, ...]:
    kept = [
        span
        for span in spans
        if not any(
            other is not span and other.start <= span.start and span.end <= other.end
            for other in spans
        )
    ]
    return tuple(dict.fromkeys(span.text for span in kept))


def _unseen(group: Group, shown: set[tuple[str, Label | None]]) -> Group:
    """Return a later hop without the sentences that an earlier one shows with the same label."""
    keys = {(found.text, found.stance) for found in group.sentences}
    if group.kind == "hop":
        fresh = [found for found in group.sentences if (found.text, found.stance) not in shown]
        group = replace(group, sentences=tuple(fresh))
    shown |= keys
    return group


def _asked(events: Sequence[Event], before: datetime | None, hop: int) -> Group:
    """Return the line of the language model, whose stage also sends events while it waits."""
    stage = Stage(_CLOSING, "waiting")
    for earlier, event in zip([None, *events], events, strict=False):
        waits = earlier is None or event.done == earlier.done
        state: State = "running" if waits else "done"
        spent = None if before is None else (event.at - before).total_seconds()
        stage = Stage(_CLOSING, state, event.message, None if waits else spent)
    return Group(0, "model", hop, (stage,), stage.message)


def _with_stages(group: Group, stages: dict[str, Stage]) -> Group:
    of = [one for name, one in stages.items() if _GROUPS.get(name, "read") == group.kind]
    return replace(group, stages=tuple(of))


def _found(document: Document, result: ClaimResult) -> FoundDocument:
    found_by = cast("tuple[FoundBy, ...]", document.found_by)
    led_by = "" if document.led_by is None else result.cited(document.led_by).title
    return FoundDocument(document.reference, document.score, found_by, led_by)

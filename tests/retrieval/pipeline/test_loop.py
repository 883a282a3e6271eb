"""The loop over stages, with stages that find what the tests say. No model is loaded."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any

import pytest
from spacy.tokens import Doc

from retrieval.errors import Cancelled
from retrieval.pipeline.check import Pipeline, findings
from retrieval.pipeline.claim_parser import ClaimParser, ParsedClaim, ParsedStatement
from retrieval.recipes.recipes import Ending, Recipe, RetrievalConfig
from retrieval.stages.stage import ClaimState, Stage, Step
from retrieval.text.english import EnglishParser
from retrieval.text.statement_cutter import CutStatement
from retrieval.types import (
    INDEPENDENCE,
    NOT_ENOUGH_INFO,
    REFUTES,
    SUPPORTS,
    Candidate,
    Document,
    Evidence,
    Findings,
    FoundDocument,
    FoundSentence,
    Label,
    Mutation,
    Progress,
    Proof,
    Question,
    RankedDocument,
    Report,
    Sentence,
    SentenceKey,
    Span,
    Verdict,
)
from tests.retrieval.index.in_memory_store import InMemoryStore
from tests.support.cases import cases
from tests.support.encoders import WordEncoder
from tests.support.evidence import evidence
from tests.support.states import state_of

CLAIM = "The pier is old."
CORPUS = InMemoryStore([], WordEncoder())
PIER, BOAT = evidence("Pier", "It was built in 1801.", 0.9), evidence("Boat", "It is new.", 0.8)


class Words(EnglishParser):
    """A parser that only splits words and sentences."""

    def warm_up(self) -> None:
        pass

    def parse(self, text: str) -> Doc:
        return state_of(text).parsed


@dataclass
class Reads(Stage):
    """Finds for each hop the evidence that it was made with, all of it selected."""

    hops: Sequence[Sequence[Evidence]]

    def run(self, state: ClaimState) -> Step:
        found = tuple(replace(item, selected=True) for item in self.hops[state.hop - 1])
        selection = frozenset(item.key for item in found)
        return Step(replace(state, evidence=found, selection=selection), "read")


@dataclass
class Decides(Stage):
    """Gives each hop its verdict."""

    labels: Sequence[Label]

    def run(self, state: ClaimState) -> Step:
        verdict = Verdict(self.labels[state.hop - 1], 0.7, "a judge", "because")
        return Step(replace(state, verdict=verdict), "decided")


@dataclass
class Proves(Stage):
    """Leaves the first part of the claim open until the hop ``sufficient``."""

    sufficient: int

    def run(self, state: ClaimState) -> Step:
        whole = Proof((), SUPPORTS)
        part = Proof((Mutation((0, 8), INDEPENDENCE, None),), NOT_ENOUGH_INFO)
        return Step(replace(state, proof=whole if state.hop >= self.sufficient else part), "proved")


@dataclass
class Finds(Stage):
    """Finds so many documents for the next hop, each time."""

    counts: Iterator[int]

    def run(self, state: ClaimState) -> Step:
        found = [Candidate(f"d{n}", ("mention",), 1.0, state.hop) for n in range(next(self.counts))]
        return Step(replace(state, candidates=tuple(found)), "found")


def recipe(ending: Ending = "decided", max_hops: int = 3, **settings: float) -> Recipe:
    return Recipe(
        "test",
        "",
        first=(),
        hop=("read", "proof", "verdict"),
        next=(),
        ending=ending,
        max_hops=max_hops,
        settings=RetrievalConfig(**settings),  # type: ignore[arg-type]
    )


def check(
    by: Recipe,
    hops: Sequence[Sequence[Evidence]],
    labels: Sequence[Label],
    sufficient: int = 9,
    found: Sequence[int] = (1, 1, 1),
    events: list[Progress] | None = None,
) -> Report:
    made = {**stages(hops, labels, sufficient), "next": Finds(iter(found))}
    seen: list[Progress] = [] if events is None else events
    return Pipeline(by, made, ClaimParser(Words()), CORPUS).check(CLAIM, seen.append)


def endings(report: Report) -> list[str | None]:
    return [hop.stopped for hop in report.hops]


@cases("endings", "ending", "max_hops", "selected", "labels", "new", "stopped")
def test_a_search_ends_as_its_recipe_says(
    ending: Ending,
    max_hops: int,
    selected: list[list[str]],
    labels: list[Label],
    new: list[int],
    stopped: list[str | None],
) -> None:
    hops = [[{"pier": PIER, "boat": BOAT}[name] for name in hop] for hop in selected]
    report = check(recipe(ending, max_hops), hops, labels, found=new)
    assert endings(report) == stopped
    sufficient = stopped[-1] in ("decided", "unchanged")
    assert [hop.sufficient for hop in report.hops] == [*[False] * (len(stopped) - 1), sufficient]
    assert report.verdict.label == labels[-1]
    assert report.verdict.opinions[0].cites == tuple(range(1, len(hops[-1]) + 1))
    assert [item.key for item in report.evidence] == [item.key for item in hops[-1]]


def test_a_proof_without_an_open_part_or_too_much_time_ends_the_search() -> None:
    report = check(recipe("proved"), [[PIER], [BOAT]], [SUPPORTS] * 2, sufficient=2)
    assert endings(report) == [None, "proved"]
    assert [hop.missing for hop in report.hops] == [((0, 8),), ()]
    # Not where the verdict is another.
    labels = [REFUTES, NOT_ENOUGH_INFO, SUPPORTS]
    report = check(recipe("proved"), [[PIER], [BOAT], [PIER, BOAT]], labels, sufficient=1)
    assert endings(report) == [None, None, "proved"]
    assert [hop.sufficient for hop in report.hops] == [False, False, True]
    report = check(recipe(seconds=0.0), [[PIER]], [NOT_ENOUGH_INFO])
    assert endings(report) == ["time"]
    assert "took very long" in report.notices[-1]


def test_progress_names_the_stages_in_order_and_a_listener_cancels_between_any_two() -> None:
    def told(until: str = "") -> list[Progress]:
        """What a listener is told that cancels at a stage."""

        class Listener(list[Progress]):
            def append(self, progress: Progress) -> None:
                super().append(progress)
                if progress.stage == until:
                    raise Cancelled

        events = Listener()
        check(recipe(max_hops=2), [[PIER], [BOAT]], [NOT_ENOUGH_INFO] * 2, events=events)
        return events

    hop = ["read", "proof", "verdict"]
    assert [event.stage for event in told()] == ["start", *hop, "next", *hop, "done"]
    assert [event.done for event in told()] == [0, 1, 2, 3, 4, 5, 6, 7, 7]
    assert {event.of for event in told()} == {7}
    for stage in ("start", *hop, "next"):
        with pytest.raises(Cancelled):
            told(stage)


class Halves(ClaimParser):
    """Cuts every claim into the same two statements."""

    def parse(self, text: str) -> ParsedClaim:
        parts = [CutStatement(f"Part {n}.", 0, 0, ()) for n in (1, 2)]
        halves = (ParsedStatement(part, Words().parse(part.text)) for part in parts)
        return ParsedClaim(super().parse(text).read, tuple(halves))


def stages(hops: Sequence[Sequence[Evidence]], labels: Sequence[Label], sufficient: int = 1) -> Any:
    found = {"proof": Proves(sufficient), "next": Finds(iter(()))}
    return {"read": Reads(hops), "verdict": Decides(labels), **found}


def test_each_statement_goes_through_the_recipe_and_progress_ends_with_all_done() -> None:
    events: list[Progress] = []
    by, made = recipe(max_hops=1), stages([[PIER]], [SUPPORTS])
    report = Pipeline(by, made, Halves(Words()), CORPUS).check(CLAIM, events.append)
    one = ["read", "proof", "verdict"]
    assert [event.stage for event in events] == ["start", "start", *one, "start", *one, "done"]
    assert [event.done for event in events] == [0, 0, 1, 2, 3, 3, 4, 5, 6, 6]
    assert {event.of for event in events[1:]} == {6}
    assert events[5].message == "Statement 2 of 2: Part 2."
    assert [one.text for one in report.statements] == ["Part 1.", "Part 2."]
    assert report.claim == CLAIM
    # 0.7 * 0.7 = 0.49 is too little to decide.
    assert (report.verdict.label, report.verdict.leans) == (NOT_ENOUGH_INFO, SUPPORTS)
    assert report.verdict.confidence == pytest.approx(0.51)


# --- what a stage has found, from the states before and after it

WATCHED = state_of("Ida Holm built it.")
HOLM = Span("Ida Holm", 0, 8, "entity")
SAID = Sentence("varn", 0, "She built it.", 0, 13)
VARN = Document("varn", "Varn", None, "She built it.", (SAID,), section="History")
READ = Evidence(SAID, "Varn", None, (0.71236, 0.1, 0.18764), 1)


def test_a_stage_has_found_what_is_new_in_its_state() -> None:
    def found(stage: str, before: ClaimState, hop: int = 1, **new: Any) -> Findings | None:
        return findings(stage, replace(before, hop=hop), replace(before, hop=hop, **new))

    assert found("titles", WATCHED, exact=()) is None
    spans = replace(WATCHED, spans=(HOLM,))
    assert found("spans", WATCHED, spans=(HOLM,)) == Findings(1, spans=(HOLM,))
    asked = found("questions", spans, questions=(Question("Who built it?", None, "wh"),))
    assert asked == Findings(1, questions=("Who built it?",))
    # What is open is named before the next hop.
    assert found("next", spans) == Findings(1, open=("Ida Holm",))
    # An opened document names the one that led to it.
    first = RankedDocument(VARN, 0.5, ("title",), 1)
    holm = replace(VARN, id="holm", title="Ida Holm", section=None)
    second = RankedDocument(holm, 0.123456, ("mention",), 2, SentenceKey("varn", 0))
    before = replace(WATCHED, opened=(first,), documents=(first,))
    opened = found("sentences", before, 2, opened=(second,), documents=(first, second))
    led = FoundDocument("Ida Holm", 0.1235, ("mention",), "Varn, History")
    assert opened == Findings(2, documents=(led,))
    # A sentence has a label only once the verifier has read it.
    relevant = replace(WATCHED, relevant=(READ,))
    sentence = FoundSentence("Varn", "She built it.", 0.8124, None)
    assert found("relevance", WATCHED, relevant=(READ,)) == Findings(1, sentences=(sentence,))
    readings = {((), READ.key): READ.opinion}
    read = found("verification", relevant, evidence=(READ,), readings=readings)
    assert read == Findings(1, sentences=(replace(sentence, stance="SUPPORTS"),))

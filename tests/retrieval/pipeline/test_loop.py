"""The loop over stages and over statements, with stages that find what the tests say."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import pytest
from pydantic import TypeAdapter
from spacy.tokens import Doc

from retrieval import types
from retrieval.corpora.corpus import Page
from retrieval.errors import Cancelled
from retrieval.pipeline.check import Pipeline, findings
from retrieval.pipeline.claim_parser import ClaimParser, ParsedClaim, ParsedStatement
from retrieval.pipeline.conjunction import Checked, conjunction
from retrieval.recipes.recipes import Ending, Recipe, RetrievalConfig
from retrieval.stages.ending import why_not_settled
from retrieval.stages.stage import ClaimState, Stage, Step
from retrieval.text.english import EnglishParser
from retrieval.text.statement_cutter import CutStatement, Piece
from retrieval.types import (
    ALTERNATION,
    EQUIVALENCE,
    INDEPENDENCE,
    NOT_ENOUGH_INFO,
    REFUTES,
    SUPPORTS,
)
from tests.retrieval.index.in_memory_store import InMemoryStore
from tests.support.cases import cases, rules, whole_cases
from tests.support.encoders import WordEncoder
from tests.support.evidence import evidence, ranked
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
class Runs(Stage):
    """Sets these fields of a state; a test says how."""

    found: Callable[[ClaimState], dict[str, Any]]

    def run(self, state: ClaimState) -> Step:
        return Step(replace(state, **self.found(state)), "ran")


def stages(hops: Any, labels: Sequence[types.Label], sufficient: int = 1, counts: Any = ()) -> Any:
    """Each hop finds its evidence, all of it selected, and its verdict.

    The first part of the claim is open until the hop ``sufficient``; after each hop so many
    documents are found for the next, as ``counts`` says.
    """
    whole = types.Proof((), SUPPORTS)
    part = types.Proof((types.Mutation((0, 8), INDEPENDENCE, None),), NOT_ENOUGH_INFO)
    more = iter(counts)

    def read(state: ClaimState) -> dict[str, Any]:
        found = tuple(replace(item, selected=True) for item in hops[state.hop - 1])
        return {"evidence": found, "selection": frozenset(item.key for item in found)}

    def next_documents(state: ClaimState) -> dict[str, Any]:
        names = [f"d{number}" for number in range(next(more))]
        return {
            "candidates": tuple(types.Candidate(n, ("mention",), 1.0, state.hop) for n in names)
        }

    def verdict(state: ClaimState) -> dict[str, Any]:
        return {"verdict": types.Verdict(labels[state.hop - 1], 0.7, "a judge", "because")}

    proof = Runs(lambda state: {"proof": whole if state.hop >= sufficient else part})
    runs = {"read": read, "verdict": verdict, "next": next_documents}
    return {"proof": proof, **{name: Runs(run) for name, run in runs.items()}}


def recipe(ending: Ending = "decided", max_hops: int = 3, **settings: float) -> Recipe:
    stages = {"first": (), "hop": ("read", "proof", "verdict"), "next": ()}
    config = RetrievalConfig(**settings)
    return Recipe("test", "", **stages, ending=ending, max_hops=max_hops, settings=config)


def check(
    by: Recipe,
    hops: Sequence[Sequence[types.Evidence]],
    labels: Sequence[types.Label],
    sufficient: int = 9,
    found: Sequence[int] = (1, 1, 1),
    heard: Callable[[types.Progress], object] = lambda progress: None,
) -> types.Report:
    made = stages(hops, labels, sufficient, found)
    return Pipeline(by, made, ClaimParser(Words()), CORPUS).check(CLAIM, heard)


def endings(report: types.Report) -> list[str | None]:
    return [hop.stopped for hop in report.hops]


@whole_cases("endings", "ending", "max_hops", "selected", "labels", "new", "stopped")
def test_a_search_ends_as_its_recipe_says(case: Any) -> None:
    hops = [[{"pier": PIER, "boat": BOAT}[name] for name in hop] for hop in case.selected]
    report = check(recipe(case.ending, case.max_hops), hops, case.labels, found=case.new)
    assert endings(report) == case.stopped
    *before, last = (hop.sufficient for hop in report.hops)
    assert (any(before), last) == (False, case.stopped[-1] in ("decided", "unchanged"))
    assert report.verdict.label == case.labels[-1]
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


class Halves(ClaimParser):
    """Cuts every claim into the same two statements."""

    def parse(self, text: str) -> ParsedClaim:
        parts = [CutStatement(f"Part {n}.", 0, 0, ()) for n in (1, 2)]
        halves = (ParsedStatement(part, Words().parse(part.text)) for part in parts)
        return replace(super().parse(text), statements=tuple(halves))


def test_progress_names_the_stages_of_each_statement_in_order() -> None:
    def events(until: str = "") -> list[types.Progress]:
        """The events of a listener that cancels at a stage."""

        events: list[types.Progress] = []

        def heard(progress: types.Progress) -> None:
            events.append(progress)
            if progress.stage == until:
                raise Cancelled

        check(recipe(max_hops=2), [[PIER], [BOAT]], [NOT_ENOUGH_INFO] * 2, heard=heard)
        return events

    hop = ["read", "proof", "verdict"]
    assert [event.stage for event in events()] == ["start", *hop, "next", *hop, "done"]
    assert [event.done for event in events()] == [0, 1, 2, 3, 4, 5, 6, 7, 7]
    assert {event.of for event in events()} == {7}
    for stage in ("start", *hop, "next"):
        with pytest.raises(Cancelled):
            events(stage)
    # Each statement goes through the recipe.
    events: list[types.Progress] = []
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
HOLM = types.Span("Ida Holm", 0, 8, "entity")
SAID = types.Sentence("varn", 0, "She built it.", 0, 13)
VARN = types.Document("varn", "Varn", None, "She built it.", (SAID,), section="History")
READ = types.Evidence(SAID, "Varn", None, (0.71236, 0.1, 0.18764), 1)


def test_a_stage_has_found_what_is_new_in_its_state() -> None:
    def found(stage: str, before: ClaimState, hop: int = 1, **new: Any) -> types.Findings | None:
        return findings(stage, replace(before, hop=hop), replace(before, hop=hop, **new))

    assert found("titles", WATCHED, exact=()) is None
    spans = replace(WATCHED, spans=(HOLM,))
    assert found("spans", WATCHED, spans=(HOLM,)) == types.Findings(1, spans=(HOLM,))
    asked = found("questions", spans, questions=(types.Question("Who built it?", None, "wh"),))
    assert asked == types.Findings(1, questions=("Who built it?",))
    # What is open is named before the next hop.
    assert found("next", spans) == types.Findings(1, open=("Ida Holm",))
    # An opened document names the one that led to it.
    first = types.RankedDocument(VARN, 0.5, ("title",), 1)
    holm = replace(VARN, id="holm", title="Ida Holm", section=None)
    second = types.RankedDocument(holm, 0.123456, ("mention",), 2, types.SentenceKey("varn", 0))
    before = replace(WATCHED, opened=(first,), documents=(first,))
    opened = found("sentences", before, 2, opened=(second,), documents=(first, second))
    led = types.FoundDocument("Ida Holm", 0.1235, ("mention",), "Varn, History")
    assert opened == types.Findings(2, documents=(led,))
    # A sentence has a label only once the verifier has read it.
    relevant = replace(WATCHED, relevant=(READ,))
    sentence = types.FoundSentence("Varn", "She built it.", 0.8124, None)
    assert found("relevance", WATCHED, relevant=(READ,)) == types.Findings(1, sentences=(sentence,))
    readings = {((), READ.key): READ.opinion}
    read = found("verification", relevant, evidence=(READ,), readings=readings)
    assert read == types.Findings(1, sentences=(replace(sentence, stance="SUPPORTS"),))


# --- the report on a claim of several statements, from reports written by hand

CASES = Path(__file__).parents[2] / "cases"
REPORT = TypeAdapter(types.Report).validate_json(
    (CASES / "report.json").read_text(encoding="utf-8")
)
BOTH = "The pier is old and was built by Ann."
FIRST = CutStatement("The pier is old.", 0, 15, (Piece(0, 0, 15),))
# "The pier " comes from the first statement.
SECOND = CutStatement("The pier was built by Ann.", 20, 36, (Piece(0, 0, 8), Piece(9, 20, 36)))
OLD = replace(evidence("Pier", "It is old.", 0.7), selected=True)
BUILT = replace(evidence("Pier", "Ann built it.", 0.9, sentence_id=1), selected=True)


def report(
    label: types.Label,
    confidence: float,
    *found: types.Evidence,
    judge: str = "verifier",
    **changed: Any,
) -> types.Report:
    leans = changed.pop("leans", None)
    cites = tuple(range(1, len(found) + 1))
    own = types.Judgement("verifier", label, confidence, f"why {label}", cites)
    opinions = (own,) if judge == "verifier" else (replace(own, judge=judge), own)
    operator = ALTERNATION if label == REFUTES else EQUIVALENCE
    steps = (types.Mutation((0, 8), EQUIVALENCE, None), types.Mutation((9, 15), operator, None))
    missing = ((0, 8), (9, 15))
    made = replace(
        REPORT,
        claim="",
        notices=("A notice.",),
        verdict=types.Verdict(label, confidence, judge, f"why {label}", opinions, leans=leans),
        evidence=found,
        documents=(ranked("Pier", "It is old.", "Ann built it."),),
        proof=types.Proof(steps, label),
        hops=(types.Hop(hop=1, sufficient=True, missing=missing, documents=1, sentences=1),),
        usage=None if judge == "verifier" else types.Usage(judge, 1, 10, 2),
        not_settled=None,
    )
    return replace(made, **changed)


def both(first: types.Report, second: types.Report) -> types.Report:
    checked = [Checked(FIRST, first), Checked(SECOND, second)]
    return conjunction(BOTH, checked, decided_cutoff=0.55)


def checked(first: list[Any], second: list[Any]) -> types.Verdict:
    """The verdict of both statements: label, confidence and what each leans to."""
    one, other = (
        report(said[0], said[1], sentence, leans=said[2] if len(said) > 2 else None)
        for said, sentence in ((first, OLD), (second, BUILT))
    )
    return both(one, other).verdict


@whole_cases("conjunction", "first", "second", "label", "confidence", "decides")
def test_a_claim_is_as_true_as_all_its_statements(case: Any) -> None:
    verdict = checked(case.first, case.second)
    assert (verdict.label, verdict.judge) == (case.label, "verifier")
    assert verdict.confidence == pytest.approx(case.confidence)
    assert case.decides in verdict.rationale


@cases("conjunction", "first", "second", "leans")
def test_an_undecided_claim_leans_as_its_statements_do(first: Any, second: Any, leans: Any) -> None:
    verdict = checked(first, second)
    assert (verdict.label, verdict.leans) == (NOT_ENOUGH_INFO, leans)


def test_evidence_is_merged_and_shown_as_the_statement_that_selected_it() -> None:
    first = report(SUPPORTS, 0.9, OLD)
    first = replace(first, verdict=replace(first.verdict, disagreement=(1,)))
    merged = both(first, report(SUPPORTS, 0.8, BUILT, OLD))
    assert [item.key for item in merged.evidence] == [BUILT.key, OLD.key]
    assert [item.hop for item in merged.evidence] == [2, 1]
    assert [one.verdict.opinions[0].cites for one in merged.statements] == [(2,), (1, 2)]
    assert merged.verdict.opinions[0].cites == (1, 2)
    assert merged.verdict.disagreement == (2,)
    assert len(merged.documents) == 1
    # It has what was computed for each statement.
    one, other = (
        report(SUPPORTS, 0.9, replace(OLD, computed=notes)) for notes in (("a",), ("a", "b"))
    )
    assert [item.computed for item in both(one, other).evidence] == [("a", "b")]
    # A sentence is shown as the statement that selected it read it.
    unselected = replace(evidence("Pier", "It is old.", 0.95, REFUTES), selected=False)
    merged = both(report(SUPPORTS, 0.9, OLD), report(NOT_ENOUGH_INFO, 0.8, unselected))
    (item,) = merged.evidence
    assert (item.key, item.stance, item.selected) == (OLD.key, SUPPORTS, True)
    # What it says about each statement is kept.
    against = replace(OLD, opinion=(0.0, 0.875, 0.125))
    made = both(report(SUPPORTS, 0.9, OLD), report(REFUTES, 0.8, against, BUILT))
    numbers = {item.key: number for number, item in enumerate(made.evidence, 1)}
    old, built = numbers[OLD.key], numbers[BUILT.key]
    of_old = types.StanceOn(old, SUPPORTS, OLD.stance_confidence)
    of_built = types.StanceOn(built, SUPPORTS, BUILT.stance_confidence)
    stances = [one.evidence for one in made.statements]
    assert stances == [(of_old,), (types.StanceOn(old, REFUTES, 0.875), of_built)]


def test_a_language_model_that_was_asked_for_one_statement_decides_the_claim() -> None:
    first = report(SUPPORTS, 0.9, OLD, judge="model")
    merged = both(first, report(NOT_ENOUGH_INFO, 1.0))
    assert merged.verdict.judge == "model"
    said = [(one.judge, one.label, one.cites) for one in merged.verdict.opinions]
    assert said == [("model", NOT_ENOUGH_INFO, (1,)), ("verifier", NOT_ENOUGH_INFO, (1,))]
    assert merged.usage == types.Usage("model", 1, 10, 2)
    assert both(first, report(SUPPORTS, 0.8, judge="model")).usage == types.Usage("model", 2, 20, 4)
    assert merged.notices == ("A notice.",)


def test_hops_and_offsets_and_what_is_not_settled_are_those_of_the_claim() -> None:
    first = types.Retrieved((("Pier", ("title",)), ("Boat", ("text",))), (OLD.key,))
    second = types.Retrieved((("Pier", ("words",)),), (BUILT.key, OLD.key))
    one = report(SUPPORTS, 0.9, OLD, retrieved=first)
    merged = both(one, report(REFUTES, 0.8, BUILT, retrieved=second))
    assert merged.retrieved == types.Retrieved(first.documents, (OLD.key, BUILT.key))
    assert [hop.hop for hop in merged.hops] == [1, 2]
    # "The pier" of the second statement has no place in its part of the claim.
    assert [hop.missing for hop in merged.hops] == [((0, 8), (9, 15)), ((20, 26),)]
    assert merged.proof.label == REFUTES
    places = [step.claim_span for step in merged.proof.mutations]
    assert places == [(0, 8), (9, 15), (20, 26)]
    assert [(one.start, one.end) for one in merged.statements] == [(0, 15), (20, 36)]
    alone = [Checked(FIRST, one)]  # keeps its report
    assert conjunction(BOTH, alone, 0.55) is one
    # Why a statement is not settled is said in words of the claim.
    # "was built" and "by Ann" of the second statement; "The pier" is not a part of it in the claim.
    why = types.NotSettled(absent=((22, 25),), open=((0, 8), (9, 18)), about=("Pier",))
    open_one = report(NOT_ENOUGH_INFO, 1.0, BUILT, not_settled=why)
    made = both(report(SUPPORTS, 0.9, OLD), open_one).not_settled
    assert [BOTH[start:end] for start, end in made.absent] == ["Ann"]
    assert [BOTH[start:end] for start, end in made.open] == ["was built"]
    assert made.about == ("Pier",)
    assert both(report(REFUTES, 0.9, OLD), open_one).not_settled is None


# --- what a small corpus does not settle

TOWN_TEXTS = {
    "Varnby": "Varnby is a town at a lake. Its mayor is Ida Holm.",
    "Ostrea": "Ostrea is a country. Its towns are old.",
    "Brodric Bay": "It lies in the north.",
}
TOWNS = InMemoryStore([Page(title, title, None, text) for title, text in TOWN_TEXTS.items()], None)
MAYOR = replace(evidence("Varnby", "Its mayor is Ida Holm."), selected=True)


def why_open(
    parser: EnglishParser, claim: str, *found: types.Evidence, still_open: str = "", **state: Any
) -> tuple[list[str], list[str], tuple[str, ...]]:
    """What is absent, what is open and what the claim is about after its search.

    ``still_open``: a part that the proof has left open.
    """
    start = claim.index(still_open)
    steps = (types.Mutation((start, start + len(still_open)), INDEPENDENCE, None),)
    proof = types.Proof(steps, NOT_ENOUGH_INFO) if still_open else None
    made = ClaimState(claim, parser.parse(claim), evidence=found, proof=proof, **state)
    why = why_not_settled(TOWNS, made)
    absent, still = ([claim[a:b] for a, b in spans] for spans in (why.absent, why.open))
    return absent, still, why.about


@rules(
    ("not_settled", "claim", "absent", lambda parser, claim: why_open(parser, claim)[0]),
    (
        *("not_settled", "claim still_open", "said"),
        lambda p, claim, part: why_open(p, claim, MAYOR, still_open=part)[1] == [part],
    ),
)
def test_a_name_that_no_document_contains_is_absent(
    parser: EnglishParser, rule: Any, given: list[str], expected: object
) -> None:
    assert rule(parser, *given) == expected


def test_what_the_claim_is_about_is_neither_absent_nor_open(parser: EnglishParser) -> None:
    # A longer form of a name is not absent if a sentence is about it.
    assert why_open(parser, "Ida Varnby Holm is a mayor.", MAYOR)[0] == []
    # Nor is one that only the heading of a paper has.
    form = ranked("Interests of Ulf Brenk", "It has an address.")
    assert why_open(parser, "Ulf Brenk owns land.", documents=(form,))[0] == []
    assert why_open(parser, "Ulf Brenk owns land.")[0] == ["Ulf Brenk"]
    # Without a proof the words that no sentence has count.
    spans = (types.Span("Ida Holm", 0, 8, "entity"), types.Span("bees", 15, 19, "noun chunk"))
    assert why_open(parser, "Ida Holm keeps bees.", MAYOR, spans=spans)[1] == ["bees"]
    # What has a document of its own is not open.
    opened = (ranked("Ostrea", TOWN_TEXTS["Ostrea"]), ranked("Varnby", TOWN_TEXTS["Varnby"]))
    towns = replace(evidence("Ostrea", "Its towns are old."), selected=True)
    nine = "Varnby has nine towers."
    made = why_open(parser, nine, towns, still_open="Varnby", documents=opened)
    assert made[1:] == ([], ("Varnby",))

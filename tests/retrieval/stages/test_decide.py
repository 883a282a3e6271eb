"""The stages that decide, with models that say what a test tells them."""

import math
from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from retrieval import types
from retrieval.corpora.corpus import Page
from retrieval.models.cross_encoders import VerdictFit
from retrieval.models.shipped import verifier
from retrieval.quantities.halves import Ruling
from retrieval.stages.decide.verdict import disagreement, rationale_of
from retrieval.stages.ending import contrary_texts, older_texts
from retrieval.stages.stage import ClaimState
from retrieval.text.english import EnglishParser
from retrieval.types import (
    EQUIVALENCE,
    INDEPENDENCE,
    NOT_ENOUGH_INFO,
    REFUTES,
    SUPPORTS,
    Evidence,
    Label,
    Opinion,
)
from tests.retrieval.index.in_memory_store import InMemoryStore
from tests.support.cases import cases, rules, whole_cases
from tests.support.encoders import WordEncoder
from tests.support.evidence import Names, evidence, items, ranked
from tests.support.opinions import Says
from tests.support.stages import after
from tests.support.states import state_of


def titles(found: Sequence[Evidence]) -> list[str]:
    return [item.title for item in found]


def keys(found: Sequence[Evidence]) -> list[types.SentenceKey]:
    return [item.key for item in found]


def behind(item: Evidence, *path: Evidence) -> Evidence:
    return replace(item, path=tuple(other.key for other in path))


def chosen(item: Evidence) -> Evidence:
    return replace(item, selected=True)


# --- verification

CLAIM = "The builder of the pier kept bees."
# What the relevance model found, best first: all of them bear on the claim, it thinks.
PIER = evidence("Pier", "It was built by Ida Holm.", 0.9, SUPPORTS)
QUAY = evidence("Quay", "It was built by bees.", 0.8, REFUTES)
HOLM = evidence("Ida Holm", "She kept bees.", 0.7, REFUTES)
BOAT = evidence("Boat", "It is blue.", 0.6, SUPPORTS)
NAMED = Names(pier=PIER, quay=QUAY, holm=HOLM, boat=BOAT)
text = NAMED.text
UNDECIDED = (0.1, 0.0, 0.9)


def verified(
    opinions: Mapping[str, Opinion],
    *found: Evidence,
    before: ClaimState | None = None,
    limit: int = 8,
    **state: Any,
) -> tuple[ClaimState, list[str]]:
    """What a verifier with these answers makes of the evidence, and what it was asked."""
    says = Says(lambda _, asked: opinions[asked])
    first = before or state_of(CLAIM, **state)
    documents = (*first.documents, *(ranked(i.title, i.sentence.text) for i in found))
    made = replace(first, evidence=found, documents=documents)
    settings = {"verified_sentences": limit, "path_gain": 0.1, "other_subject_share": 0.1}
    return after("verification", made, models={"verifier": says}, **settings).state, says.read


@cases("verification", "found", "says", "limit", "asked", "order")
def test_the_best_sentences_and_paths_are_read_and_ordered_by_the_verifier(
    found: list[str], says: dict[str, Opinion], limit: int, asked: list[str], order: list[str]
) -> None:
    said = {text(name): opinion for name, opinion in says.items()}
    state, read = verified(said, *NAMED.items(found), limit=limit)
    assert read == [text(name) for name in asked]
    assert NAMED.of(state.evidence) == order
    for item, name in zip(state.evidence, order, strict=True):
        assert item.opinion == pytest.approx(tuple(says[name]))


def test_paths_are_read_from_their_end_and_what_an_earlier_hop_read_is_kept() -> None:
    names = Names(
        pier=replace(PIER, context_before="Who built it?"),
        holm=replace(HOLM, context_after="That is not true."),
        boat=BOAT,
    )
    nothing = {names.text(name): (0.0, 0.0, 1.0) for name in names.all}
    last = names.text("boat<holm<pier")
    assert "Pier : Who built it? It was built by Ida Holm." in last
    found = names.items(["pier", "holm", "boat<holm<pier"])
    state, asked = verified({**nothing, last: (0.0, 1.0, 0.0)}, *found)
    assert asked[-1] == last
    assert names.of(state.evidence) == ["pier", "holm", "boat<holm<pier"]
    # Each comes as early as the path that it is on.
    assert [item.score for item in state.evidence] == [0.0, 0.0, 1.0]
    # What an earlier hop read is not asked for again.
    found = NAMED.items(["pier", "holm"])
    said = {text("pier"): (0.25, 0.0, 0.75), text("holm"): (0.125, 0.0, 0.875)}
    first, _ = verified(said, *found)
    said = {text("holm<pier"): (0.75, 0.0, 0.25), text("boat"): (0.0, 0.0, 1.0)}
    second, asked = verified(said, *NAMED.items(["pier", "holm<pier", "boat"]), before=first)
    assert asked == [text("holm<pier"), text("boat")]
    assert [item.score for item in second.evidence] == [0.25, 0.75, 0.0]
    new = {((PIER.key,), HOLM.key): (0.75, 0.0, 0.25), ((), BOAT.key): (0.0, 0.0, 1.0)}
    assert second.readings == {**first.readings, **new}
    # New sentences take the first places; what was read before stays, also with its path.
    found = NAMED.items(["quay", "boat", "pier", "holm"])
    third, asked = verified({text("quay"): (0.0, 0.2, 0.8)}, *found, before=second, limit=1)
    assert asked == [text("quay")]
    assert NAMED.of(third.evidence) == ["pier", "holm<pier", "quay", "boat"]


def test_a_sentence_about_someone_else_settles_nothing(parser: EnglishParser) -> None:
    claim = ClaimState("Ida Holm kept bees.", parser.parse("Ida Holm kept bees."))
    names = Names(
        berg=evidence("Eva Berg", "She kept no bees.", 0.9, REFUTES),
        pier=evidence("Long Pier", "It was built by him.", 0.9, SUPPORTS),
        holm=HOLM,
    )
    berg = names.all["berg"]
    said = {names.text("berg"): (0.1, 0.8, 0.1), text("holm"): (0.0, 0.3, 0.7)}
    state, _ = verified(said, berg, HOLM, before=claim)
    assert names.of(state.evidence) == ["holm", "berg"]
    # A tenth of its 0.1 and 0.8 remains; the reading itself is kept as it was.
    assert state.evidence[1].opinion == pytest.approx((0.01, 0.08, 0.91))
    assert {item.stance for item in state.evidence} == {NOT_ENOUGH_INFO}
    assert state.readings[(), berg.key] == pytest.approx((0.1, 0.8, 0.1))
    # The sentences of a path are about the subject together.
    said = {"pier": (0.0, 0.6, 0.4), "holm": UNDECIDED, "pier<holm": (0.7, 0.1, 0.2)}
    said = {names.text(name): opinion for name, opinion in said.items()}
    state, _ = verified(said, *names.items(["holm", "pier<holm"]), before=claim)
    (path,) = [item for item in state.evidence if item.path]
    assert (names.of([path]), path.decides) == (["pier<holm"], SUPPORTS)
    assert path.stance == NOT_ENOUGH_INFO


# --- completion


def path(ends: str, score: float = 0.9) -> Evidence:
    """A path of two sentences with these titles, the last one first."""
    return behind(evidence(ends[0], "text", score), evidence(ends[1], "text"))


@cases("completion", "paths", "settings", "before", "read")
def test_the_best_paths_are_read_if_no_sentence_settles_the_claim(
    paths: list[tuple[str, float]], settings: dict[str, Any], before: list[str], read: list[str]
) -> None:
    """The evidence is A, B and C; ``before``: the paths that the verifier has read."""
    found = tuple(evidence(title, "text", 0.3) for title in "ABC")
    ends = tuple(path(*one) for one in paths)
    others = {i.title: i for i in ends if i.title not in "ABC"}
    says = Says(lambda *_: UNDECIDED)
    readings = {(item.path, item.key): UNDECIDED for item in map(path, before)}
    readings |= {((), item.key): UNDECIDED for item in (*found, *others.values())}
    documents = tuple(ranked(title, "text") for title in (*"ABC", *others))
    state = state_of(CLAIM, evidence=found, paths=ends, readings=readings, documents=documents)
    models = {"verifier": says, "path_model": says, "queries": WordEncoder()}
    limits = {"verified_paths": 2, "verified_path_cutoff": 0.0, "path_leads": 0, **settings}
    after("completion", state, models=models, **limits)
    assert [f"{one[0]}{one[-8:][0]}" for one in says.read] == read


# --- comparison


def supports(supported: Mapping[str, float]) -> Says:
    """A verifier that supports some claims, whatever it reads, and no others."""

    shares = defaultdict(lambda: 0.1, supported)
    return Says(lambda claim, _: (shares[claim], 0.0, 1 - shares[claim]))


def ruled(parser: EnglishParser, says: object, claim: str, **found: Any) -> ClaimState:
    before = ClaimState(claim, parser.parse(claim), **found)
    models = {"parser": parser, "verifier": says}
    return after("comparison", before, models=models, compared_sentences=4).state


HIGHER = "Ober is higher than Lund."
OBER = evidence("Mount Ober", "It rises to 4,212 metres.", 0.6, NOT_ENOUGH_INFO)
LUND = evidence("Lund", "The top is at 3,900 m.", 0.8, NOT_ENOUGH_INFO)
PASS = evidence("Ober Inn", "Ober has an inn below the pass to Lund.", 0.9, NOT_ENOUGH_INFO)
BOTH = {"Ober is 4,212 metres high.": 0.9, "Lund is 3,900 m high.": 0.8}


def test_a_comparison_is_decided_by_two_halves_and_not_without_both(parser: EnglishParser) -> None:
    read = (OBER, LUND, PASS)
    documents = tuple(ranked(item.title, item.sentence.text) for item in read)
    found = {"read": read, "evidence": (PASS, LUND), "documents": documents}
    state = ruled(parser, supports(BOTH), HIGHER, **found)
    last, lead, other = state.evidence
    assert (last.key, last.path, last.decides) == (LUND.key, (OBER.key,), SUPPORTS)
    # The verifier supports the halves with 0.9 and 0.8; the arithmetic is certain.
    assert last.opinion == pytest.approx((0.72, 0.0, 0.28))
    assert last.stance == NOT_ENOUGH_INFO  # alone it says nothing
    assert (lead.key, lead.stance, lead.path, other) == (OBER.key, NOT_ENOUGH_INFO, (), PASS)
    assert state.rulings[(OBER.key,), LUND.key].because == (
        "4,212 metres is more than 3,900 m"
        " (read as: Ober is 4,212 metres high; Lund is 3,900 m high)."
    )
    # The verdict says the arithmetic and names it beside the verifier.
    selected = replace(state, evidence=tuple(map(chosen, state.evidence)))
    verdict = verdict_of(Says(lambda *_: (0.6, 0.1, 0.3)), selected)
    assert verdict.judge == "a judge + quantities"
    assert verdict.rationale.endswith("Lund is 3,900 m high).")
    # One sentence may give both.
    both = evidence("Vorn", "Ober has 4,212 metres and Lund 3,900 m.", 0.6, NOT_ENOUGH_INFO)
    alone = {"read": (both,), "evidence": (both,)}
    state = ruled(parser, supports(BOTH), HIGHER, **alone)
    assert (state.evidence[0].path, state.evidence[0].stance) == ((), SUPPORTS)
    # What the verifier guessed from both sentences is dropped.
    guess = replace(behind(LUND, PASS), opinion=(0.0, 0.9, 0.1))
    guessed = (guess, replace(PASS, opinion=(0, 0.8, 0.2)))
    state = ruled(parser, supports(BOTH), HIGHER, read=(OBER, LUND, PASS), evidence=guessed)
    assert [item.decides for item in state.evidence] == [SUPPORTS, NOT_ENOUGH_INFO, REFUTES]
    # Without both halves nothing is decided.
    for claim, lund, supported in (
        (HIGHER, LUND, {"Ober is 4,212 metres high.": 0.9}),  # the other half is not given
        (HIGHER, replace(LUND, context_after="That is wrong."), BOTH),
        ("Ober is a mountain.", LUND, BOTH),
    ):
        found = {"read": (OBER, lund), "evidence": (OBER, lund)}
        # Rulings of the hop before do not stay.
        before = {**found, "rulings": {((), OBER.key): Ruling(SUPPORTS, "", 0.9)}}
        state = ruled(parser, supports(supported), claim, **before)
        assert (state.evidence, state.rulings) == ((OBER, lund), {})


def test_the_shipped_verifier_finds_the_halves(parser: EnglishParser, unpacked: Path) -> None:
    ann = evidence("Ann Reeve", "Ann Reeve (3 May 1901 - 9 June 1970) was a painter.", 0.6)
    jon = evidence("Jon Pell", "Jon Pell, born in 1960, came to Skerrow as a boy.", 0.6)
    judge, claim = verifier(unpacked, in_search=True), "Ann Reeve was born after Jon Pell."
    (decided,) = ruled(parser, judge, claim, read=(ann, jon), evidence=(ann, jon)).rulings.values()
    assert decided.label == REFUTES


# --- selection


def chosen_of(settings: dict[str, Any], evidence: list[Any]) -> list[str]:
    """The titles of what is selected, in the order of the evidence."""
    found, spans = items(evidence), (types.Span("pier", 4, 8, "noun chunk"),)
    state = state_of("The pier is long.", spans=spans, evidence=found, read=found)
    limits = {"selection_share": 0.5, "selection_limit": 5}
    made = after("selection", state, **limits | settings).state
    assert set(keys(made.selected)) == made.selection
    return titles(made.selected)


def proved(evidence: list[Any], used: list[str]) -> list[str]:
    """What is selected where these documents are used by a part of the proof."""
    spans = (types.EvidenceSpan(title, 0, 0, 6) for title in used)
    rests = (types.Mutation((0, 1), EQUIVALENCE, span) for span in spans)
    proof = types.Proof((*rests, types.Mutation((2, 3), INDEPENDENCE, None)), SUPPORTS)
    state = state_of("The pier is long.", evidence=items(evidence), proof=proof)
    return titles(after("selection:proved", state, unproved_share=0.6).state.selected)


# --- bridge

ROWAN = "The Rowan bridge was planned by a beekeeper."
LEE = chosen(evidence("Ann Lee", "Ann Lee planned the Rowan bridge near Oslo."))
HALL = evidence("Town hall", "Its bees were kept by Ann Lee.", 0.1)
TOWN = Page("Oslo", "Oslo", None, "Oslo is a city. It has a beekeeper.")


def scripted(**opinions: Opinion) -> Says:
    """A model that gives opinions to the texts that contain a word; others are unrelated."""
    return Says(
        lambda _, asked: next((row for word, row in opinions.items() if word in asked), (0, 0, 1))
    )


def bridged(
    best: Evidence,
    *read: Evidence,
    paths: Says,
    verifier: Says | None = None,
    pages: Sequence[Page] = (),
    limit: int = 5,
    evidence: Sequence[Evidence] = (),
) -> ClaimState:
    lamp = Page("Lamp", "Lamp", None, "A lamp gives light.")
    store = InMemoryStore([lamp, *pages], WordEncoder())
    models = {"path_model": paths, "verifier": verifier or scripted(Ann=(0.8, 0.1, 0.1))}
    state = state_of(ROWAN, evidence=(best, *evidence), read=(best, *read))
    return after("bridge", state, store, models, selection_limit=limit).state


def test_a_bridge_names_the_best_sentence_or_is_named_by_it() -> None:
    surer, lesser = evidence("Pier", "It is long.", 0.95), evidence("Lamp", "It is bright.", 0.2)
    paths = scripted(bees=(0.6, 0.0, 0.4))
    state = bridged(LEE, HALL, paths=paths, evidence=(surer, lesser))
    assert titles(state.evidence) == ["Ann Lee", "Pier", "Town hall", "Lamp"]
    assert titles(state.selected) == ["Ann Lee", "Town hall"]
    bridge = state.evidence[2]
    assert bridge.path == (LEE.key,)
    assert bridge.opinion == pytest.approx((0.8, 0.1, 0.1))
    assert state.readings[(LEE.key,), HALL.key] == bridge.opinion
    # A page that the best sentence names is read if it has a word of the claim.
    state = bridged(LEE, paths=scripted(beekeeper=(0.7, 0.0, 0.3)), pages=[TOWN])
    assert titles(state.selected) == ["Ann Lee", "Oslo"]
    assert [opened.document.id for opened in state.documents] == ["Oslo"]
    assert state.evidence[1].key in keys(state.read)
    assert state.passages == (state.evidence[1].key,)
    paths = scripted(city=(0.9, 0.0, 0.1))
    state = bridged(LEE, paths=paths, pages=[replace(TOWN, text="Oslo is a city.")])
    assert (titles(state.selected), paths.asked) == (["Ann Lee"], [])
    assert [opened.document.id for opened in state.ranked_documents()] == ["Oslo"]
    assert state.seen == frozenset()  # the next hop may read it


@whole_cases("bridge", "best", "stance", "other", "pair", "verifier", "limit", "is_selected")
def test_a_pair_is_selected_if_a_name_links_it_and_it_agrees(case: Any) -> None:
    first, second = chosen(evidence(*case.best, stance=case.stance)), evidence(*case.other, 0.1)
    paths, says = Says(lambda *_: case.pair), Says(lambda *_: case.verifier)
    state = bridged(first, second, paths=paths, verifier=says, limit=case.limit)
    assert titles(state.selected) == [case.best[0], *([case.other[0]] if case.is_selected else [])]


# --- verdict


def near(value: float) -> Any:
    """A probability, but for rounding and for readings of 0, which count as 0.0001."""
    return pytest.approx(value, abs=2e-3)


ROCK = evidence("Lighthouse", "It stands on a rock.", 0.4, NOT_ENOUGH_INFO)
ROW = evidence("Ferries", "Town: Rowan, 1921: 4.", 0.9, NOT_ENOUGH_INFO)
SENTENCES = {
    "red": evidence("Harbour", "Its lighthouse is red.", 0.9, SUPPORTS),
    "rock": ROCK,
    "built": evidence("Harbour", "It was built in 1901.", 0.8, REFUTES),
    "lit": evidence("Lighthouse", "It is lit at night.", 0.8, SUPPORTS),
    "row": ROW,
    "dogs": replace(
        evidence("Lease", "keep dogs", 0.9, REFUTES),
        section="Duties > The tenant may not: > without consent:",
    ),
    "head": behind(evidence("Ferries", "It counts ferries.", 0.7, SUPPORTS, 1), ROW),
}


def verdict_of(says: Says, state: ClaimState) -> types.Verdict:
    return after("verdict", state, models={"verifier": says}).state.verdict


@whole_cases("verdicts", "read", "together", "fit", "label", "confidence", "leans", "rationale")
def test_the_verdict_is_of_the_most_decided_sentence_and_of_all_together(case: Any) -> None:
    """``together``: what a model says of all that is selected, which it is asked if it is more."""
    says = Says(lambda *_: case.together, VerdictFit(**case.fit))
    found = tuple(
        chosen(replace(evidence(title, f"Of the {title}."), opinion=tuple(one)))
        for title, one in case.read.items()
    )
    documents = tuple(ranked(item.title, item.sentence.text) for item in found)
    before = state_of("The pier is old.", evidence=found, documents=documents)
    verdict = verdict_of(says, before)
    assert (verdict.label, verdict.leans) == (case.label, case.leans)
    assert verdict.confidence == near(case.confidence)
    assert case.rationale in verdict.rationale
    all_of_it = " [SEP] ".join(f"{title} : Of the {title}." for title in case.read)
    assert says.read == ([all_of_it] if len(case.read) > 1 else [])


def test_the_best_sentence_is_also_read_between_its_neighbours_unless_it_was_computed() -> None:
    texts = [f"Sentence {n} of the pier." for n in range(6)]
    pier = ranked("Pier", *texts)
    best = chosen(replace(evidence("Pier", "", 0.6), sentence=pier.document.sentences[3]))
    fit = VerdictFit(together=0.0, alone=0.0, passage=1.0)
    for computed in (False, True):
        says = Says(lambda *_: (0.0, 0.9, 0.1), fit)
        rulings = {(best.path, best.key): Ruling(SUPPORTS, "", 1.0)} if computed else {}
        state = state_of("A pier.", evidence=(best,), documents=(pier,), rulings=rulings)
        verdict = verdict_of(says, state)
        assert verdict.probabilities == near((0.6, 0.0, 0.4) if computed else (0.0, 0.9, 0.1))
        assert says.read == ([] if computed else [f"Pier : {' '.join(texts[1:6])}"])


ODDS = {  # each makes NOT ENOUGH INFO e times as probable as it would be
    "alone": VerdictFit(undecided=1.0),
    "several": VerdictFit(undecided_of_several=1.0),
    "path": VerdictFit(undecided_of_path=1.0),
    "value": VerdictFit(undecided_of_value=1.0),
}


@pytest.mark.parametrize("how", ODDS)
def test_the_fit_knows_how_the_best_sentence_was_read(how: str) -> None:
    opinion = (0.6, 0.0, 0.4)
    best = chosen(replace(evidence("Pier", "Of the Pier."), opinion=opinion))
    best = behind(best, ROCK) if how == "path" else best
    other = chosen(replace(evidence("Quay", "Of the Quay."), opinion=(0.0, 0.0, 1.0)))
    found = (best, other) if how == "several" else (best,)
    rulings = {(best.path, best.key): Ruling(NOT_ENOUGH_INFO, "", 1.0)} if how == "value" else {}
    documents = (ranked("Pier", "Of the Pier."), ranked("Quay", "Of the Quay."))
    state = state_of("A pier.", evidence=found, documents=documents, rulings=rulings)
    for when, fit in ODDS.items():
        verdict = verdict_of(Says(lambda *_: opinion, fit), state)
        supported, _, undecided = verdict.probabilities
        # 0.4 / 0.6 as the readings have it, or e times that.
        assert undecided / supported == near(0.667 * (math.e if when in ("alone", how) else 1))


def disagreeing(label: Label, leans: Label | None) -> list[int]:
    stances: list[Label] = [SUPPORTS, REFUTES, REFUTES, NOT_ENOUGH_INFO]
    found = [evidence(f"Page {n}", "a pier", 0.9, stance) for n, stance in enumerate(stances)]
    # The second one is not selected.
    found = [replace(one, selected=n != 1) for n, one in enumerate(found)]
    return list(disagreement(types.Verdict(label, 0.9, "a judge", "", leans=leans), found))


def rationale(label: Label, firm: bool, found: list[str]) -> str:
    return rationale_of(label, firm, [SENTENCES[name] for name in found])


@rules(
    ("selection", "settings evidence", "selected", chosen_of),
    ("selection", "evidence used", "kept", proved),
    ("verdicts", "label leans", "numbers", disagreeing),
    ("rationales", "label firm found", "said", rationale),
)
def test_sentences_are_selected_or_disagree(rule: Any, given: list[Any], expected: object) -> None:
    assert rule(*given) == expected


def test_a_rationale_names_the_subject_and_a_notice_the_newest_text(parser: EnglishParser) -> None:
    claim = "Varnby is the capital of Ostrea."
    found = chosen(evidence("Holmstead", "It is the capital of an island.", 0.1, NOT_ENOUGH_INFO))
    documents = (ranked("Holmstead", found.sentence.text),)
    state = ClaimState(claim, parser.parse(claim), evidence=(found,), documents=documents)
    verdict = verdict_of(Says(lambda *_: (0, 0, 1)), state)
    assert verdict.rationale == "No sentence about “Varnby” was found that decides it."
    # Of several texts the newest says how old they are.
    claim, days = "The pier is red now.", ("2024-03-03", "2025-05-05", None)
    found = tuple(replace(chosen(evidence("Pier", "It is red.")), date=day) for day in days)
    state = ClaimState(claim, parser.parse(claim), evidence=found)
    (notice,) = older_texts(state, types.Verdict(SUPPORTS, 0.9, "a judge", ""))
    assert "is of 5 May 2025" in notice


def test_files_of_different_days_that_contradict_each_other_are_named_with_their_days(
    parser: EnglishParser,
) -> None:
    claim = "The pier is red."
    said = (("Note", "2025-05-01", REFUTES), ("Letter", "2025-05-03", SUPPORTS))

    def notices(*given: tuple[str, str | None, Label], source: str = "a.eml, as of") -> list[str]:
        found, read = [], []
        for title, day, stance in given:
            found.append(replace(chosen(evidence(title, "It is.", 0.9, stance)), date=day))
            one = ranked(title, "It is.")
            read.append(replace(one, document=replace(one.document, source=f"{source} {day}")))
        parsed = parser.parse(claim)
        state = ClaimState(claim, parsed, evidence=tuple(found), documents=tuple(read))
        return list(contrary_texts(state))

    (notice,) = notices(*said)
    assert notice == (
        "The texts contradict each other. The newer, “Letter” of 3 May 2025, seems to support"
        " the claim; the older, “Note” of 1 May 2025, seems to refute it."
    )
    assert notices(said[0], ("Letter", "2025-05-01", SUPPORTS)) == []  # of one day
    assert notices(said[0], ("Letter", None, SUPPORTS)) == []
    assert notices(said[0], ("Letter", "2025-05-03", REFUTES)) == []
    assert notices(said[0], ("Letter", "2025-05-03", NOT_ENOUGH_INFO)) == []
    assert notices(*said, source="Test wiki, revision of") == []

"""The stages that find documents, with small indexes whose vectors count words."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from math import exp
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from retrieval.corpora.corpus import Page
from retrieval.models.encoders import Query
from retrieval.models.papers.report_networks import AnswerExtractor, TextGenerator
from retrieval.stages.find.next import Expander, MentionExpander, NextHop, interleaved
from retrieval.stages.stage import ClaimState
from retrieval.text.english import EnglishParser
from retrieval.types import Candidate, Evidence, FoundBy, Question, SentenceKey, Span
from tests.retrieval.index.in_memory_store import InMemoryStore
from tests.retrieval.index.pages import PAGES
from tests.support.cases import cases, rules, whole_cases
from tests.support.encoders import WordEncoder
from tests.support.evidence import evidence, ranked
from tests.support.stages import after, expanded
from tests.support.states import state_of

STORE = InMemoryStore(PAGES, WordEncoder())


def ids(candidates: Sequence[Candidate]) -> list[str]:
    return [candidate.document_id for candidate in candidates]


def candidates(found_by: FoundBy, names: Sequence[str]) -> tuple[Candidate, ...]:
    return tuple(Candidate(name, (found_by,), 0.0, 1) for name in names)


def page(title: str, text: str = "A text.") -> Page:
    return Page(title, title, None, text)


def store_of(texts: dict[str, str], encoder: WordEncoder | None = None) -> InMemoryStore:
    return InMemoryStore([page(title, text) for title, text in texts.items()], encoder)


# --- spans


def spans_of(parser: EnglishParser, claim: str) -> tuple[Span, ...]:
    return after("spans", ClaimState(claim, parser.parse(claim))).state.spans


@cases("find", "claim", "spans", "no_spans", "kinds")
def test_names_quotations_and_numbers_are_spans_in_order(
    parser: EnglishParser, claim: str, spans: list[str], no_spans: list[str], kinds: dict[str, str]
) -> None:
    found = spans_of(parser, claim)
    said = {span.text: span.kind for span in found}
    assert set(spans) <= set(said)
    assert kinds.items() <= said.items()
    assert not said.keys() & set(no_spans)
    assert 1 <= len(found) <= 64
    assert all(claim[s.start : s.end] == s.text for s in found)
    assert list(found) == sorted(found, key=lambda s: (s.start, -s.end))
    assert len({(s.start, s.end) for s in found}) == len(found)


# --- questions


def questions(parser: EnglishParser, claim: str) -> tuple[Question, ...]:
    """The questions of a claim, which are all well formed."""
    state = ClaimState(claim, parser.parse(claim), spans=spans_of(parser, claim))
    asked = after("questions", state).state.questions
    assert 1 <= len(asked) <= 12
    for question in asked:
        assert question.text.endswith("?")
        assert question.text.count("?") <= 1 + claim[:-1].count("?")
        assert question.text[0] == question.text[0].upper()
        assert not {"  ", " ,"} & {question.text[n : n + 2] for n in range(len(question.text))}
        assert question.answer_span is None or question.answer_span not in question.text
    assert len({q.text for q in asked}) == len(asked)
    return asked


def asked(parser: EnglishParser, claim: str, kind: str) -> list[str]:
    return [question.text for question in questions(parser, claim) if question.kind == kind]


@rules(
    ("questions", "claim", "polar", lambda parser, claim: asked(parser, claim, "polar")[0]),
    ("questions", "claim wh", "", lambda parser, claim, wh: wh in asked(parser, claim, "wh")),
)
def test_the_polar_question_turns_the_claim_around_and_others_ask_for_a_span(
    parser: EnglishParser, rule: Any, given: list[str], expected: object
) -> None:
    assert rule(parser, *given) == expected


def test_what_is_no_sentence_has_questions_too(parser: EnglishParser) -> None:
    for claim in ("Yes.", "!?", "Of the and in", "x" * 500):
        assert questions(parser, claim)
    several = questions(parser, "Rome is old. Paris is large.")
    assert several[-1].text.startswith("Is it true that Rome is old.")


# --- the report's models


@pytest.fixture
def t5(monkeypatch: pytest.MonkeyPatch) -> tuple[list[str], list[str]]:
    """What the report's T5 model extracts, which a test fills, and what both are asked.

    The other model gives a question with the answer in it, or "Really?" for "No".
    """
    extracted: list[str] = []
    asked: list[str] = []

    def answers(self: TextGenerator, texts: list[str]) -> list[str]:
        asked.extend(texts)
        if texts and texts[0].startswith("extract "):
            return ["<sep>".join(extracted)]
        spans = [text.partition(" context: ")[0].removeprefix("answer: ") for text in texts]
        return ["question: Really?" if s == "No" else f"question: {s}?" for s in spans]

    monkeypatch.setattr(TextGenerator, "answers", answers)
    return extracted, asked


def by_report(name: str, parser: EnglishParser, claim: str, models: Path) -> ClaimState:
    report = {"folders": SimpleNamespace(report=models), "answers": AnswerExtractor(models)}
    return after(name, ClaimState(claim, parser.parse(claim)), models=report).state


def questions_by_t5(parser: EnglishParser, claim: str, models: Path) -> list[list[str | None]]:
    made = by_report("questions:t5", parser, claim, models).questions
    return [[q.text, q.kind, q.answer_span] for q in made]


def spans_by_t5(parser: EnglishParser, claim: str, models: Path) -> list[str]:
    made = by_report("spans:wikineural", parser, claim, models).spans
    assert all(claim[span.start : span.end] == span.text for span in made)
    return [span.text for span in made]


@rules(
    ("t5_questions", "claim said asked_for", "questions", questions_by_t5),
    ("find", "claim said", "found", spans_by_t5),
)
def test_the_report_asks_for_what_t5_extracts_and_finds_entities(
    parser: EnglishParser,
    tiny_models: Path,
    t5: tuple[list[str], list[str]],
    rule: Any,
    given: list[Any],
    expected: object,
) -> None:
    extracted, asked = t5
    claim, said, *asked_for = given
    extracted += said
    assert rule(parser, claim, tiny_models) == expected
    # The prompts of figures 24 and 21.
    what = "answers" if asked_for else "entities"
    answers = [f"answer: {span} context: {claim}" for spans in asked_for for span in spans]
    assert asked == [f"extract {what}: <ha> {claim} <ha>", *answers]


# --- titles and texts


@whole_cases("names", "stage", "claim", "spans", "index", "settings", "found")
def test_documents_are_found_by_names_and_words(parser: EnglishParser, case: Any) -> None:
    places = ((name, max(0, case.claim.find(name)), kind) for name, kind in case.spans.items())
    named = tuple(Span(name, start, start + len(name), kind) for name, start, kind in places)
    store = store_of(case.index, WordEncoder()) if case.index else STORE
    state = ClaimState(case.claim, parser.parse(case.claim), spans=named)
    made = after(case.stage, state, store, {"parser": parser}, **case.settings).state
    assert {field: ids(getattr(made, field)) for field in case.found} == case.found
    assert {(c.score, c.found_by) for c in made.exact} <= {(1.0, ("title",))}
    scores = [candidate.score for candidate in made.disambiguated]
    assert scores == sorted(scores, reverse=True)


# --- ranking

ASKED = ("ships come and ships go?", "a given name?")


def chosen(
    others: Sequence[Candidate],
    exact: Sequence[Candidate],
    kept: Sequence[Candidate],
    asked: Sequence[str],
    store: object,
    form: str = "ranking",
    models: Any = None,
    **settings: Any,
) -> list[Candidate]:
    questions = tuple(Question(text, None, "wh") for text in asked)
    found = {"by_text": tuple(others), "exact": tuple(exact), "by_words": tuple(kept)}
    state = state_of("A claim.", questions=questions, **found)
    limits = {"document_cutoff": 0.3, "document_limit": 20, **settings}
    return list(after(form, state, store, models, **limits).state.candidates)


@whole_cases("ranking", "found", "texts", "asked", "settings", "ranked")
def test_documents_are_ranked_by_the_question_that_they_answer_best(case: Any) -> None:
    """``found``: by title, words or text and disambiguation; without ``texts``: of ``PAGES``."""
    ways: tuple[FoundBy, ...] = ("title", "words", "disambiguation", "text")
    exact, kept, *others = (candidates(way, case.found.get(way, ())) for way in ways)
    encoder = WordEncoder() if case.settings.pop("vectors", True) else None
    store = store_of(case.texts, encoder) if case.texts else InMemoryStore(PAGES, encoder)
    questions = ASKED if case.asked is None else case.asked
    made = chosen([*others[0], *others[1]], exact, kept, questions, store, **case.settings)
    assert [[c.document_id, round(c.score, 2), "+".join(c.found_by)] for c in made] == case.ranked


# Two questions whose vectors had the lengths 10 and 5.
UNITS, LENGTHS = np.eye(2, dtype=np.float32), np.array([10, 5], np.float32)
DPR_QUESTIONS = SimpleNamespace(measured=lambda texts: (UNITS[: len(texts)], LENGTHS[: len(texts)]))
# The products of documents with the unit vectors of both questions. Times 320 and 160 they are
# DPR's inner products: 64, 0; 60.8, 0; 80, 64; 0, 72; 64, 80.
PRODUCTS = {"A": (0.2, 0), "B": (0.19, 0), "C": (0.25, 0.4), "D": (0, 0.45), "E": (0.2, 0.5)}


DPR_STORE = SimpleNamespace(
    similarities=lambda ids, queries: (
        np.array([PRODUCTS[i] for i in ids]).reshape(-1, 2) @ queries.T
    )
)


@whole_cases("find", "others", "exact", "kept", "limit", "questions", "products")
def test_dpr_scores_are_scaled_inner_products_with_the_best_question(case: Any) -> None:
    ways: dict[FoundBy, Any] = {"text": case.others, "title": case.exact, "words": case.kept}
    asked = ["Who?", "When?"][: case.questions]
    limits = {"document_cutoff": 0.65, "document_limit": case.limit}
    by_dpr = {"form": "ranking:dpr", "models": {"dpr": DPR_QUESTIONS}, **limits}
    found = chosen(*(candidates(*way) for way in ways.items()), asked, DPR_STORE, **by_dpr)
    scores = {i: 1.0 if x is None else 1 / (1 + exp(-x)) for i, x in case.products.items()}
    assert {c.document_id: c.score for c in found} == pytest.approx(scores)
    assert ids(found) == list(case.products)


# --- dense search


def encode_words(queries: Sequence[Query]) -> NDArray[np.float32]:
    """Count the words of the claim and of the sentences of its path."""
    return WordEncoder().encode([f"{c} {' '.join(text for _, text in p)}" for c, p in queries])


# The words of a sentence are its vector: four different ones have a length of two, nine of three.
WOODS = store_of(
    {
        "Pier": "Piers have alder birch cedar oak and small lamps.",
        "Lamp": "It shows alder birch. It likes hazel ivy.",
        "Isle": "Here grow alder hazel.",
        "Bell": "Rowan willow yew pine.",
    },
    WordEncoder(),
)
QUERIES = {"queries": SimpleNamespace(encode=encode_words)}


def test_dense_search_follows_every_path_and_passes_over_what_was_read() -> None:
    step = after("dense", state_of("alder birch"), WOODS, QUERIES, dense_limit=3)
    found = step.state.candidates
    assert ids(found) == ["Lamp", "Pier", "Isle"]
    # Both words of four, 2 / (sqrt 2 * 2); both of nine, 2 / (sqrt 2 * 3); one of four.
    assert [c.score for c in found] == pytest.approx([0.7071, 0.4714, 0.3536], abs=1e-4)
    assert {(c.found_by, c.hop, c.led_by) for c in found} == {(("dense",), 1, None)}
    # Of the three nearest sentences two are Lamp's: two words of its last and one of its first.
    step = after("dense", state_of("alder hazel ivy"), WOODS, QUERIES, dense_limit=3)
    assert sorted(ids(step.state.candidates)) == ["Isle", "Lamp"]
    # Every path is searched, and leads to what it found best.
    by_lamp = evidence("Lamp", "It likes hazel ivy", sentence_id=1)
    first = evidence("Lamp", "it", sentence_id=0)
    by_pier = replace(evidence("Pier", "pine rowan yew"), path=(first.key,))
    state = state_of("hazel", read=(first,), evidence=(by_lamp, by_pier))
    found = expanded("dense", state, WOODS, QUERIES, dense_limit=2)
    assert ids(found) == ["Lamp", "Bell", "Isle"]
    by_way = {c.document_id: (c.led_by, c.score) for c in found}
    # "hazel it likes hazel ivy" is near Lamp's last sentence (hazel counts twice):
    # 5 / (sqrt 7 * 2); and near Isle, 2 / (sqrt 7 * 2).
    assert by_way["Lamp"] == (SentenceKey("Lamp", 1), pytest.approx(0.9449, abs=1e-4))
    assert by_way["Isle"] == (SentenceKey("Lamp", 1), pytest.approx(0.3780, abs=1e-4))
    # "hazel it pine rowan yew": 3 / (sqrt 5 * 2).
    assert by_way["Bell"] == (SentenceKey("Pier", 0), pytest.approx(0.6708, abs=1e-4))
    # Documents that were read before take no place of others.
    every = ("Lamp", "Pier", "Isle", "Bell")
    for limit, seen, found in ((1, every[::2], ["Pier"]), (2, every, [])):
        state = state_of("alder birch", documents=tuple(ranked(title, "text") for title in seen))
        assert ids(expanded("dense", state, WOODS, QUERIES, dense_limit=limit)) == found


# --- mentions, and the next hop

LINKED = [
    *(page("Lamp", "A lamp gives light."), page("Lee", "Lee is a name.")),
    *(page("Oslo", "Oslo is a city."), page("iLamp", "The iLamp is a lamp.")),
    Page("Ann_Lee", "Ann Lee", None, "Ann Lee is an inventor."),
    Page("Danish", "Danish language", None, "Danish is spoken in Denmark."),
    Page("FC", "Everby F.C.", None, "Everby F.C. is a club."),
    Page("Rowan", "Rowan (film)", None, "Rowan is a film."),
]
NAMES = InMemoryStore(LINKED, WordEncoder())
LAMP = Span("The lamp", 0, 8, "noun chunk")


def linked(item: Evidence, *links: str) -> Evidence:
    return replace(item, sentence=replace(item.sentence, links=links))


def mentioned(
    *items: Evidence, seen: Sequence[str] = (), store: object = NAMES, limit: int = 10
) -> list[Candidate]:
    documents = tuple(ranked(title, "text") for title in seen)
    state = state_of("A claim.", spans=(LAMP,), evidence=items, documents=documents)
    return expanded("mentions", state, store, expansion_limit=limit)


@cases("find", "text", "seen", "found")
def test_titles_in_the_evidence_lead_on(text: str, seen: Sequence[str], found: list[str]) -> None:
    assert ids(mentioned(evidence("Lamp", text), seen=seen)) == found


def test_links_come_before_mentions_and_the_first_that_names_a_document_leads_there() -> None:
    asked: list[Sequence[str]] = []
    noting = InMemoryStore(LINKED, None)
    matches = noting.title_matches
    noting.title_matches = lambda names: asked.append(names) or matches(names)
    first = evidence("Lamp", "Oslo is lit by the iLamp.")
    # "Rowan" is linked as the film, "Lee (song)" and another "Rowan" lead nowhere.
    second = linked(evidence("iLamp", "Ann Lee left Oslo."), "Rowan (film)", "Lamp", "Nowhere")
    found = mentioned(first, second, seen=["Lee"], store=noting)
    assert [(c.document_id, c.found_by, c.led_by) for c in found] == [
        ("iLamp", ("mention",), first.key),
        ("Oslo", ("mention",), first.key),
        ("Rowan", ("link",), second.key),
        ("Lamp", ("link",), second.key),
        ("Ann_Lee", ("mention",), second.key),
    ]
    assert len(asked) == 1
    assert ids(mentioned(linked(evidence("Lamp", "It is old."), "Rowan"))) == []
    assert ids(mentioned(evidence("Lamp", "Ann Lee left Oslo."), limit=1)) == ["Ann_Lee"]
    # What title generation gets.
    titled = linked(evidence("Lamp", "It was shown in Rowan."), "Oslo")
    found_titles = MentionExpander(NAMES, leads=5, limit=10).titled([titled])
    assert found_titles == [("Oslo", "Oslo"), ("Rowan", "Rowan (film)")]


def proposal(name: str, way: FoundBy, score: float = 1.0) -> Candidate:
    return Candidate(name, (way,), score, 2, SentenceKey("lead", 0))


@dataclass
class Proposed(Expander):
    names: list[str]

    def expand(self, state: ClaimState) -> list[Candidate]:
        return [proposal(name, "generation") for name in self.names]


def test_every_way_proposes_in_turn_and_sets_rank_opened_documents_too() -> None:
    mentioned = [proposal(name, "mention") for name in "abc"]
    generated = [proposal("b", "generation", 0.3), proposal("a", "generation", 0.2)]
    found = interleaved([mentioned, generated])
    assert [(c.document_id, c.found_by, c.score) for c in found] == [
        ("a", ("mention", "generation"), 1.0),
        ("b", ("generation", "mention"), 0.3),
        ("c", ("mention",), 1.0),
    ]
    assert interleaved([]) == []
    # Of those no more than the limit are opened.
    pier, quay, lamp, oslo = (ranked(title, "text") for title in ("Pier", "Quay", "Lamp", "Oslo"))
    state = state_of("A claim.", documents=(pier, quay, lamp), by_sets=("Lamp",))
    step = NextHop([Proposed(["Quay", "Oslo", "Rowan"])], limit=1).run(state)
    assert ids(step.state.candidates) == ["Oslo"]
    # Those of the new sets come before those of the sets of the hop before.
    assert step.state.by_sets == ("Quay", "Oslo", "Rowan", "Lamp")
    opened = replace(step.state, documents=(pier, quay, lamp, oslo))
    order = [document.document.id for document in opened.ranked_documents()]
    assert order == ["Quay", "Oslo", "Lamp", "Pier"]
    # Without an opened one among them there are no sets to rank.
    assert NextHop([Proposed(["Rowan"])], limit=1).run(state_of("A claim.")).state.by_sets == ()


def test_documents_of_selected_sentences_come_first_then_those_they_led_to() -> None:
    best = replace(evidence("Pier", "It was built by Ann Lee."), selected=True)
    lee = replace(ranked("Ann Lee", "text"), led_by=best.key)
    documents = (ranked("Rest"), ranked("Lamp"), lee, ranked("Pier"))
    found = (evidence("Lamp", "It is bright."), best)
    state = state_of("A claim.", documents=documents, evidence=found)
    order = [document.document.id for document in state.ranked_documents()]
    assert order == ["Pier", "Ann Lee", "Lamp", "Rest"]

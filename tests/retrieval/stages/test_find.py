"""The stages that find documents, with small indexes whose vectors count words."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
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
from retrieval.types import (
    Candidate,
    Evidence,
    FoundBy,
    Question,
    SentenceKey,
    Span,
    SpanKind,
    TitleMatch,
)
from tests.retrieval.index.in_memory_store import InMemoryStore
from tests.retrieval.index.pages import PAGES
from tests.retrieval.index.questions import holding
from tests.support.cases import cases
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


@cases("find", "claim", "spans")
def test_names_and_the_shorter_names_inside_them_are_spans(
    parser: EnglishParser, claim: str, spans: list[str]
) -> None:
    assert set(spans) <= {span.text for span in spans_of(parser, claim)}


def test_quotations_numbers_and_dates_are_spans_and_words_that_mean_nothing_are_none(
    parser: EnglishParser,
) -> None:
    claim = 'The song "under the old bridge" of 1889 was the end of The Road with 3 floors.'
    kinds = {span.text: span.kind for span in spans_of(parser, claim)}
    assert kinds["under the old bridge"] == "quotation"
    assert (kinds["1889"], kinds["3"]) == ("date", "number")
    assert not {"the", "The", "of", "was"} & kinds.keys()


@pytest.mark.parametrize(
    "claim", ["Paris is large.", "Ärger um “Öl” in Århus.", "Why", "It is so.", "Of " * 160]
)
def test_spans_are_cut_from_the_claim_in_order_and_bounded(
    parser: EnglishParser, claim: str
) -> None:
    found = spans_of(parser, claim)
    assert 1 <= len(found) <= 64
    assert all(claim[s.start : s.end] == s.text for s in found)
    assert list(found) == sorted(found, key=lambda s: (s.start, -s.end))
    assert len({(s.start, s.end) for s in found}) == len(found)


# --- questions


def questions(parser: EnglishParser, claim: str) -> tuple[Question, ...]:
    state = ClaimState(claim, parser.parse(claim), spans=spans_of(parser, claim))
    return after("questions", state).state.questions


@cases("questions", "claim", "polar")
def test_the_polar_question_turns_the_claim_around(
    parser: EnglishParser, claim: str, polar: str
) -> None:
    asked = questions(parser, claim)
    assert [q.text for q in asked if q.kind == "polar"] == [polar]
    assert_well_formed(claim, asked)


@cases("questions", "claim", "wh")
def test_a_wh_question_asks_for_one_span(parser: EnglishParser, claim: str, wh: str) -> None:
    asked = questions(parser, claim)
    assert wh in [q.text for q in asked if q.kind == "wh"]
    assert_well_formed(claim, asked)


@pytest.mark.parametrize("claim", ["Yes.", "!?", "Of the and in", "x" * 500])
def test_what_is_no_sentence_has_questions_too(parser: EnglishParser, claim: str) -> None:
    assert_well_formed(claim, questions(parser, claim))


def assert_well_formed(claim: str, asked: Sequence[Question]) -> None:
    assert 1 <= len(asked) <= 12
    for question in asked:
        assert question.text.endswith("?")
        assert question.text.count("?") <= 1 + claim[:-1].count("?")
        assert question.text[0] == question.text[0].upper()
        assert not {"  ", " ,"} & {question.text[n : n + 2] for n in range(len(question.text))}
    assert len({q.text for q in asked}) == len(asked)


def test_several_sentences_are_not_turned_around_and_no_answer_is_in_its_question(
    parser: EnglishParser,
) -> None:
    asked = questions(parser, "Rome is old. Paris is large.")
    assert asked[-1].text.startswith("Is it true that Rome is old.")
    for question in questions(parser, "Frankenstein was written by Mary Shelley."):
        assert question.answer_span is None or question.answer_span not in question.text


# --- the report's models


@pytest.fixture
def asked(monkeypatch: pytest.MonkeyPatch, extracted: list[str]) -> list[str]:
    """What the report's T5 models are asked.

    The one that extracts gives ``extracted``, the other a question with the answer in it, or
    "Really?" for "No".
    """
    texts: list[str] = []

    def answers(self: TextGenerator, asked: list[str]) -> list[str]:
        texts.extend(asked)
        if asked and asked[0].startswith("extract "):
            return ["<sep>".join(extracted)]
        spans = [text.partition(" context: ")[0].removeprefix("answer: ") for text in asked]
        return ["question: Really?" if s == "No" else f"question: {s}?" for s in spans]

    monkeypatch.setattr(TextGenerator, "answers", answers)
    return texts


@pytest.fixture
def extracted() -> list[str]:
    """What T5 extracts from the claim; nothing if a test adds nothing."""
    return []


def by_report(name: str, parser: EnglishParser, claim: str, models: Path) -> ClaimState:
    report = {"folders": SimpleNamespace(report=models), "answers": AnswerExtractor(models)}
    return after(name, ClaimState(claim, parser.parse(claim)), models=report).state


def t5_questions(parser: EnglishParser, claim: str, models: Path) -> list[tuple[str, str, Any]]:
    made = by_report("questions:t5", parser, claim, models).questions
    return [(q.text, q.kind, q.answer_span) for q in made]


def test_each_extracted_answer_is_asked_for_with_the_claim_as_context(
    parser: EnglishParser, tiny_models: Path, asked: list[str], extracted: list[str]
) -> None:
    claim = "Skerrow Light was designed by Ann Lee in 1871."
    extracted += ["Ann Lee", " 1871", "Skerrow Lamp"]  # the last one is not in the claim
    assert t5_questions(parser, claim, tiny_models) == [
        ("Ann Lee?", "wh", "Ann Lee"),
        ("1871?", "wh", "1871"),
        ("Was Skerrow Light designed by Ann Lee in 1871?", "polar", None),
    ]
    assert asked == [
        f"extract answers: <ha> {claim} <ha>",  # the prompt of figure 24
        f"answer: Ann Lee context: {claim}",
        f"answer: 1871 context: {claim}",
    ]


@cases("t5_questions", "claim", "polar")
def test_a_sentence_with_an_auxiliary_verb_is_asked_with_the_verb_first(
    parser: EnglishParser, tiny_models: Path, asked: list[str], claim: str, polar: str
) -> None:
    assert t5_questions(parser, claim, tiny_models) == [(polar, "polar", None)]
    assert asked == [f"extract answers: <ha> {claim} <ha>"]


def test_a_sentence_without_one_is_asked_for_by_the_model_and_a_question_is_asked_once(
    parser: EnglishParser, tiny_models: Path, asked: list[str], extracted: list[str]
) -> None:
    claim = "Ann Lee designed Skerrow Light."
    assert t5_questions(parser, claim, tiny_models) == [("Really?", "polar", None)]
    assert asked[1:] == [f"answer: No context: {claim}"]
    extracted += ["Runde", "runde", "Is Runde Runde"]
    made = t5_questions(parser, "Is Runde Runde?", tiny_models)
    assert [text for text, _, _ in made] == ["Runde?", "Is Runde Runde?"]


@cases("find", "claim", "said", "found")
def test_the_report_finds_entities_and_what_t5_extracts(
    parser: EnglishParser,
    tiny_models: Path,
    asked: list[str],
    extracted: list[str],
    claim: str,
    said: list[str],
    found: list[str],
) -> None:
    extracted += said
    made = by_report("spans:wikineural", parser, claim, tiny_models).spans
    assert [span.text for span in made] == found
    assert all(claim[span.start : span.end] == span.text for span in made)
    assert asked == [f"extract entities: <ha> {claim} <ha>"]  # the prompt of figure 21


# --- titles and texts


@cases("names", "stage", "claim", "spans", "index", "settings", "found")
def test_documents_are_found_by_names_and_words_of_the_claim(
    parser: EnglishParser,
    stage: str,
    claim: str,
    spans: dict[str, SpanKind],
    index: dict[str, str],
    settings: dict[str, Any],
    found: dict[str, list[str]],
) -> None:
    places = ((name, max(0, claim.find(name)), kind) for name, kind in spans.items())
    named = tuple(Span(name, start, start + len(name), kind) for name, start, kind in places)
    store = store_of(index, WordEncoder()) if index else STORE
    state = ClaimState(claim, parser.parse(claim), spans=named)
    made = after(stage, state, store, {"parser": parser}, **settings).state
    assert {field: ids(getattr(made, field)) for field in found} == found
    assert {(c.score, c.found_by) for c in made.exact} <= {(1.0, ("title",))}
    scores = [candidate.score for candidate in made.disambiguated]
    assert scores == sorted(scores, reverse=True)


def test_documents_are_found_by_words_that_are_no_function_words(parser: EnglishParser) -> None:
    claim = "Ships go where a light is in the harbour."
    state = ClaimState(claim, parser.parse(claim))
    found = [match.document_id for match in holding(STORE, "Ships", "light", "harbour", limit=2)]
    assert ids(after("texts", state, STORE).state.by_words)[:2] == found
    assert len(after("texts", state, STORE, word_limit=1).state.by_words) == 1


# --- ranking

POLAR = Question("ships come and ships go?", None, "polar")
NAME = Question("a given name?", None, "wh")


def chosen(
    others: Sequence[Candidate] = (),
    exact: Sequence[Candidate] = (),
    kept: Sequence[Candidate] = (),
    asked: Sequence[Question] = (POLAR, NAME),
    store: object = STORE,
    form: str = "ranking",
    models: Any = None,
    **settings: Any,
) -> list[Candidate]:
    state = state_of(
        *("A claim.",),
        questions=tuple(asked),
        by_text=tuple(others),
        exact=tuple(exact),
        by_words=tuple(kept),
    )
    limits = {"document_cutoff": 0.3, "document_limit": 20, **settings}
    return list(after(form, state, store, models, **limits).state.candidates)


def test_a_document_is_scored_by_the_question_it_answers_best() -> None:
    found = chosen(candidates("text", ("Zoe", "The_Harbour", "Brackets")))
    assert set(ids(found)) == {"Zoe", "The_Harbour"}
    assert all(c.score >= 0.3 for c in found)
    assert found == sorted(found, key=lambda c: -c.score)
    assert chosen() == []


def test_exact_titles_score_one_and_those_that_answer_a_question_stay() -> None:
    exact = candidates("title", ("Brackets", "Zoe", "Only"))
    found = chosen(candidates("text", ["Zoe"]), exact[:1])
    assert (found[0].document_id, found[0].score) == ("Brackets", 1.0)
    twice = chosen(candidates("text", ["Zoe"]), exact[1:2])
    assert [(c.document_id, c.found_by) for c in twice] == [("Zoe", ("title", "text"))]
    assert ids(chosen(exact=exact, document_limit=1)) == ["Zoe"]
    others = candidates("text", ["The_Harbour"])
    every = chosen(others, exact, document_limit=1, keep_exact_titles=True)
    assert set(ids(every)) == {"Brackets", "Zoe", "Only"}


def test_what_words_find_is_read_below_cutoff_and_limit_in_its_place() -> None:
    kept = candidates("words", ["Brackets"])
    found = chosen(candidates("text", ("Zoe", "The_Harbour")), kept=kept, document_limit=1)
    assert [c.found_by for c in found] == [("text",), ("words",)]
    assert found[1].document_id == "Brackets"
    assert found[1].score < 0.3


def test_without_vectors_candidates_stay_in_the_order_they_were_found_in() -> None:
    others = candidates("text", ("Brackets", "Zoe", "The_Harbour", "Only"))
    kept = candidates("words", ["Savage"])
    plain = InMemoryStore(PAGES, None)
    found = chosen(others, kept=kept, asked=(), store=plain, document_limit=3)
    assert ids(found) == ["Brackets", "Zoe", "The_Harbour", "Savage"]
    assert all(1 >= c.score >= 0.3 for c in found)


def test_a_disambiguated_title_comes_before_a_document_that_answers_only_a_little_better() -> None:
    said = {"Lamp (film)": "ships come.", "Bay": "ships come.", "Quay": "ships come go."}
    asked = Question("ships come and go?", None, "polar")
    others = (*candidates("disambiguation", ["Lamp (film)"]), *candidates("text", ("Bay", "Quay")))
    found = chosen(others, asked=[asked], store=store_of(said, WordEncoder()))
    # Shared words over the lengths 2 and √4, √3, √4: 2 / 4 = 0.5, which counts 0.6, 2 / 3.46
    # and 3 / 4. The score is still what it answers.
    assert ids(found) == ["Quay", "Lamp (film)", "Bay"]
    assert [round(c.score, 2) for c in found] == [0.75, 0.5, 0.58]


def test_each_question_may_have_places_of_its_own() -> None:
    said = {"Bay": "ships come.", "Quay": "ships go north.", "Bell": "bells ring loud."}
    asked = [Question("ships come?", None, "polar"), Question("bells ring loud?", None, "wh")]
    for encoder, expected in (
        # Words of a question among those of title and text, over the root of the product of their
        # numbers: 2 of 3 and 1 of 4 for the first, 3 of 4 for the second, which has three words.
        (WordEncoder(), [("Bay", 0.8165), ("Bell", 0.8660)]),
        (None, [("Bay", 1.0)]),  # the first that was found, for both questions
    ):
        store = store_of(said, encoder)
        others = candidates("text", [*said])
        found = chosen(others, asked=asked, store=store, form="ranking:each", document_limit=1)
        assert sorted((c.document_id, round(c.score, 4)) for c in found) == expected


class DprQuestions:
    """Two questions whose vectors had the lengths 10 and 5."""

    def measured(self, texts: Sequence[str]) -> tuple[NDArray[np.float32], NDArray[np.float32]]:
        lengths = np.array([10, 5], np.float32)[: len(texts)]
        return np.eye(2, dtype=np.float32)[: len(texts)], lengths


# The products of documents with the unit vectors of both questions. Times 320 and 160 they are
# DPR's inner products: 64, 0; 60.8, 0; 80, 64; 0, 72; 64, 80.
PRODUCTS = {"A": (0.2, 0), "B": (0.19, 0), "C": (0.25, 0.4), "D": (0, 0.45), "E": (0.2, 0.5)}


class DprStore:
    """Knows nothing but ``PRODUCTS``."""

    def similarities(self, ids: Sequence[str], queries: NDArray[np.float32]) -> NDArray[np.float32]:
        return np.array([PRODUCTS[i] for i in ids], np.float32).reshape(-1, 2) @ queries.T


@cases("find", "others", "exact", "kept", "limit", "questions", "products")
def test_dpr_scores_are_scaled_inner_products_with_the_best_question(
    others: str,
    exact: str,
    kept: str,
    limit: int,
    questions: int,
    products: dict[str, float | None],
) -> None:
    found = chosen(
        candidates("text", others),
        candidates("title", exact),
        candidates("words", kept),
        asked=[Question("Who?", None, "wh"), Question("When?", None, "wh")][:questions],
        store=DprStore(),
        form="ranking:dpr",
        models={"dpr": DprQuestions()},
        document_cutoff=0.65,
        document_limit=limit,
    )
    scores = {i: 1.0 if x is None else 1 / (1 + exp(-x)) for i, x in products.items()}
    assert {c.document_id: c.score for c in found} == pytest.approx(scores)
    assert ids(found) == list(products)


# --- dense search


class WordQueries:
    """Counts the words of the claim and of the sentences of its path."""

    def warm_up(self) -> None:
        """Nothing to load."""

    def encode(self, queries: Sequence[Query]) -> NDArray[np.float32]:
        """See ``QueryEncoder``."""
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
QUERIES = {"queries": WordQueries()}


def test_the_claim_alone_finds_the_documents_of_the_nearest_sentences() -> None:
    step = after("dense", state_of("alder birch"), WOODS, QUERIES, dense_limit=3)
    found = step.state.candidates
    assert ids(found) == ["Lamp", "Pier", "Isle"]
    # Both words of four, 2 / (sqrt 2 * 2); both of nine, 2 / (sqrt 2 * 3); one of four.
    assert [c.score for c in found] == pytest.approx([0.7071, 0.4714, 0.3536], abs=1e-4)
    assert {(c.found_by, c.hop, c.led_by) for c in found} == {(("dense",), 1, None)}
    # Of the three nearest sentences two are Lamp's: two words of its last and one of its first.
    step = after("dense", state_of("alder hazel ivy"), WOODS, QUERIES, dense_limit=3)
    assert sorted(ids(step.state.candidates)) == ["Isle", "Lamp"]


def test_every_path_is_searched_and_leads_to_what_it_found_best() -> None:
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


@pytest.mark.parametrize(
    ("seen", "limit", "found"),
    [(("Lamp", "Isle"), 1, ["Pier"]), (("Lamp", "Pier", "Isle", "Bell"), 2, [])],
)
def test_documents_read_before_are_not_proposed_and_take_no_place_of_others(
    seen: Sequence[str], limit: int, found: list[str]
) -> None:
    state = state_of("alder birch", documents=tuple(ranked(title, "text") for title in seen))
    assert ids(expanded("dense", state, WOODS, QUERIES, dense_limit=limit)) == found


# --- mentions, and the next hop

LINKED = [
    page("Lamp", "A lamp gives light."),
    Page("Ann_Lee", "Ann Lee", None, "Ann Lee is an inventor."),
    page("Lee", "Lee is a name."),
    page("Oslo", "Oslo is a city."),
    Page("Danish", "Danish language", None, "Danish is spoken in Denmark."),
    Page("FC", "Everby F.C.", None, "Everby F.C. is a club."),
    page("iLamp", "The iLamp is a lamp."),
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

    class Noting(InMemoryStore):
        def title_matches(self, names: Sequence[str]) -> list[TitleMatch]:
            asked.append(names)
            return super().title_matches(names)

    first = evidence("Lamp", "Oslo is lit by the iLamp.")
    # "Rowan" is linked as the film, "Lee (song)" and another "Rowan" lead nowhere.
    second = linked(evidence("iLamp", "Ann Lee left Oslo."), "Rowan (film)", "Lamp", "Nowhere")
    found = mentioned(first, second, seen=["Lee"], store=Noting(LINKED, None))
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


def test_title_generation_gets_the_titles_of_all_that_is_linked_or_named() -> None:
    item = linked(evidence("Lamp", "It was shown in Rowan."), "Oslo")
    found = MentionExpander(NAMES, leads=5, limit=10).titled([item])
    assert found == [("Oslo", "Oslo"), ("Rowan", "Rowan (film)")]


def proposal(name: str, way: FoundBy, score: float = 1.0) -> Candidate:
    return Candidate(name, (way,), score, 2, SentenceKey("lead", 0))


def test_every_way_proposes_in_turn_and_a_document_is_returned_once_with_all_of_them() -> None:
    found = interleaved(
        [
            [proposal("a", "mention"), proposal("b", "mention"), proposal("c", "mention")],
            [proposal("b", "generation", 0.3), proposal("a", "generation", 0.2)],
        ]
    )
    assert [(c.document_id, c.found_by, c.score) for c in found] == [
        ("a", ("mention", "generation"), 1.0),
        ("b", ("generation", "mention"), 0.3),
        ("c", ("mention",), 1.0),
    ]
    assert interleaved([]) == []


class Proposed(Expander):
    def __init__(self, *names: str) -> None:
        self._names = names

    def expand(self, state: ClaimState) -> list[Candidate]:
        return [proposal(name, "generation") for name in self._names]


def test_sets_rank_opened_documents_too_and_no_more_than_the_limit_are_opened() -> None:
    pier, quay, lamp, oslo = (ranked(title, "text") for title in ("Pier", "Quay", "Lamp", "Oslo"))
    state = state_of("A claim.", documents=(pier, quay, lamp), by_sets=("Lamp",))
    step = NextHop([Proposed("Quay", "Oslo", "Rowan")], limit=1).run(state)
    assert ids(step.state.candidates) == ["Oslo"]
    # Those of the new sets come before those of the sets of the hop before.
    assert step.state.by_sets == ("Quay", "Oslo", "Rowan", "Lamp")
    opened = replace(step.state, documents=(pier, quay, lamp, oslo))
    order = [document.document.id for document in opened.ranked_documents()]
    assert order == ["Quay", "Oslo", "Lamp", "Pier"]
    # Without an opened one among them there are no sets to rank.
    assert NextHop([Proposed("Rowan")], limit=1).run(state_of("A claim.")).state.by_sets == ()


def test_documents_of_selected_sentences_come_first_then_those_they_led_to() -> None:
    best = replace(evidence("Pier", "It was built by Ann Lee."), selected=True)
    lee = replace(ranked("Ann Lee", "text"), led_by=best.key)
    documents = (ranked("Rest"), ranked("Lamp"), lee, ranked("Pier"))
    found = (evidence("Lamp", "It is bright."), best)
    state = state_of("A claim.", documents=documents, evidence=found)
    order = [document.document.id for document in state.ranked_documents()]
    assert order == ["Pier", "Ann Lee", "Lamp", "Rest"]

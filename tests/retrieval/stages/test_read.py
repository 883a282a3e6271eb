"""The stages that read sentences."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from retrieval.corpora.corpus import Page
from retrieval.models.cross_encoders import CrossEncoder
from retrieval.models.encoders import DocumentEncoder
from retrieval.models.shipped import relevance_model
from retrieval.stages.read.paths import hybrid_scores
from retrieval.stages.stage import ClaimState
from retrieval.types import (
    Candidate,
    Evidence,
    FoundBy,
    RankedDocument,
    SentenceKey,
    SentenceMatch,
)
from tests.retrieval.index.in_memory_store import InMemoryStore
from tests.retrieval.stages.test_find import QUERIES
from tests.support.cases import cases
from tests.support.encoders import WordEncoder
from tests.support.evidence import document, evidence, items, ranked
from tests.support.opinions import Says
from tests.support.stages import after
from tests.support.states import state_of


def titles(found: Sequence[Evidence]) -> list[str]:
    return [item.title for item in found]


# --- sentences

LIGHT = ("Light", ("Skerrow is white.", "Gulls nest there.", "Ann Lee drew the lamp."))
TOWN = ("Town", ("Ann Lee lived here.", "Ann Lee drew maps.", "Boats come."))
PAGES = [Page(name, name, None, " ".join(said), said) for name, said in (LIGHT, TOWN)]
CLAIM = "Ann Lee drew the lamp."


def chosen(
    limit: int,
    encoder: DocumentEncoder | None,
    claim: str = CLAIM,
    light_by: FoundBy = "text",
) -> list[str]:
    found = (Candidate("Light", (light_by,), 1.0, 1), Candidate("Town", ("text",), 1.0, 1))
    store = InMemoryStore(PAGES, encoder)
    state = state_of(claim, candidates=found)
    step = after("sentences", state, store, sentence_limit=limit)
    assert [opened.document.id for opened in step.state.opened] == ["Light", "Town"]
    assert step.state.candidates == ()
    assert all(sentence in of.document.sentences for of, sentence in step.state.chosen)
    return [sentence.text for _, sentence in step.state.chosen]


def test_the_sentences_nearest_to_the_claim_are_read() -> None:
    # Shared words over the lengths √5 and 2: 3 / 4.47, then 2 / 4.47 and a little for being first.
    nearest = ["Ann Lee drew the lamp.", "Ann Lee drew maps.", "Ann Lee lived here."]
    assert chosen(3, WordEncoder()) == nearest
    assert sorted(chosen(6, WordEncoder())) == sorted([*LIGHT[1], *TOWN[1]])


def test_a_first_sentence_is_read_before_another_that_is_little_nearer() -> None:
    # Only "Boats come." shares a word, one of its two: with a claim of three 1 / (√3 * √2) = 0.41,
    # with one of 61 1 / (√61 * √2) = 0.09, which is less than being first counts.
    assert chosen(1, WordEncoder(), "Boats like lakes.") == ["Boats come."]
    others = " ".join(f"w{number}" for number in range(60))
    assert chosen(1, WordEncoder(), f"Boats {others}.") == ["Skerrow is white."]


@pytest.mark.parametrize("way", ["title", "disambiguation"])
def test_what_the_claim_names_is_read_before_what_is_little_nearer(way: FoundBy) -> None:
    # "Boats come." is 1 / (√21 * √2) = 0.15 near. Two sentences of a document that the claim
    # names are as near as being named counts, 0.1, and its first one 0.2.
    claim = f"Boats {' '.join(f'w{number}' for number in range(20))}."
    assert chosen(1, WordEncoder(), claim) == ["Boats come."]
    assert chosen(2, WordEncoder(), claim, way) == ["Skerrow is white.", "Boats come."]


def test_without_vectors_first_sentences_are_read_and_then_those_of_better_documents() -> None:
    # The second sentence of the best document counts 2, that of the next 3, the third 4.
    second = ["Gulls nest there.", "Ann Lee drew maps."]
    assert chosen(4, None) == ["Skerrow is white.", "Ann Lee lived here.", *second]
    assert after("sentences", state_of(CLAIM), InMemoryStore(PAGES, None)).state.chosen == ()


def read_by_dense_search(state: ClaimState, nearest: int, limit: int) -> list[str]:
    limits = {"dense_limit": nearest, "sentence_limit": limit, "expansion_sentence_limit": limit}
    store = InMemoryStore(PAGES, WordEncoder())
    found = after("sentences:dense", state, store, QUERIES, **limits).state.chosen
    return [sentence.text for _, sentence in found]


def test_dense_search_reads_what_it_finds_and_nothing_else_of_the_documents() -> None:
    both = tuple(Candidate(page.id, ("dense",), 1.0, 1) for page in PAGES)
    state = state_of(CLAIM, candidates=both)
    nearest = ["Ann Lee drew the lamp.", "Ann Lee drew maps."]
    assert read_by_dense_search(state, nearest=2, limit=9) == nearest
    assert read_by_dense_search(state, nearest=2, limit=1) == nearest[:1]
    assert read_by_dense_search(state_of(CLAIM), nearest=2, limit=9) == []


def test_in_a_later_hop_dense_search_reads_what_is_near_to_claim_and_path() -> None:
    (light,) = InMemoryStore(PAGES, WordEncoder()).documents(["Light"])
    lead = evidence("Light", "Skerrow is white.")
    state = state_of(
        "Gulls nest there.",
        hop=2,
        documents=(RankedDocument(light, 1.0, ("dense",), 1),),
        read=(lead,),
        evidence=(lead,),
        candidates=(Candidate("Town", ("dense",), 1.0, 2),),
    )
    # Of the claim's six words with those of the path three are in each sentence: 3 / (√6 * √3). One
    # of the two was read in the hop before; the other one is of a document that was opened then.
    assert read_by_dense_search(state, nearest=2, limit=9) == ["Gulls nest there."]


# --- relevance

TOWER = ranked("Skerrow Light", "It was designed by Ann Lee.", "The tower is red.", "It is tall.")
DUNDEE = ranked("Dundee", "It is a city in Scotland.", "It lies on the River Tay.")
DESIGNED = "Skerrow Light was designed by Ann Lee."


@pytest.fixture(scope="module")
def shipped() -> CrossEncoder:
    return relevance_model()


def of(*documents: RankedDocument) -> tuple[tuple[RankedDocument, Any], ...]:
    return tuple((one, sentence) for one in documents for sentence in one.document.sentences)


def rated(model: object, state: ClaimState, cutoff: float = 0.0) -> ClaimState:
    models = {"relevance_model": model, "folders": SimpleNamespace(reranker=None)}
    return after("relevance", state, models=models, relevance_cutoff=cutoff).state


@pytest.mark.models
def test_the_sentence_that_says_so_is_most_relevant_and_others_are_cut_off(
    shipped: CrossEncoder,
) -> None:
    state = state_of(DESIGNED, chosen=of(DUNDEE, TOWER))
    found = rated(shipped, state).relevant
    assert len(found) == 5
    assert (found[0].title, found[0].sentence.sentence_id) == ("Skerrow Light", 0)
    assert found[0].stance == "SUPPORTS"
    assert set(titles(rated(shipped, state, cutoff=0.5).relevant)) == {"Skerrow Light"}
    assert rated(shipped, state_of(DESIGNED)).relevant == ()


@pytest.mark.models
def test_a_sentence_is_read_with_its_context_and_no_text_is_read_twice(
    shipped: CrossEncoder,
) -> None:
    page = ranked("Skerrow Light", "Did Ann Lee design it?", "Yes.", "The tower is red.")
    answer, tower = rated(shipped, state_of(DESIGNED, chosen=of(page))).relevant
    assert (answer.sentence.text, answer.context_before) == ("Yes.", "Did Ann Lee design it?")
    assert answer.in_context == "Did Ann Lee design it? Yes."
    assert (tower.sentence.text, tower.in_context) == ("The tower is red.", "The tower is red.")


def test_of_copies_only_the_most_relevant_one_is_kept_in_this_hop_and_the_next() -> None:
    model = Says(lambda _, text: (0.8, 0.0, 0.2) if "Paper 1" in text else (0.5, 0.0, 0.5))
    copies = [ranked(f"Paper {n}", DESIGNED.upper() if n else f"“{DESIGNED}”") for n in range(3)]
    found = rated(model, state_of(DESIGNED, chosen=of(*copies)))
    (kept,) = found.relevant
    assert (found.read, kept.title) == ((kept,), "Paper 1")
    book = ranked("Book", f"{DESIGNED}!")
    later = replace(found, documents=tuple(copies), chosen=of(book))
    assert (rated(model, later).relevant, rated(model, later).read) == ((), (kept,))


def by_distilbert(models: Path, *documents: RankedDocument, cutoff: float = 0.5) -> ClaimState:
    report = {"folders": SimpleNamespace(report=models)}
    state = state_of(DESIGNED, chosen=of(*documents))
    return after("relevance:distilbert", state, models=report, relevance_cutoff=cutoff).state


def test_the_reports_model_says_what_is_relevant_and_nothing_of_a_stance(tiny_models: Path) -> None:
    found = by_distilbert(tiny_models, TOWER).read
    # Its biases are 0 and 3, and its other weights next to nothing: 1 / (1 + exp(-3)) = 0.953.
    assert [item.score for item in found] == pytest.approx([0.953] * 3, abs=0.01)
    assert all(item.opinion[0] == item.opinion[1] for item in found)
    assert by_distilbert(tiny_models, TOWER, cutoff=0.97).relevant == ()
    assert by_distilbert(tiny_models).read == ()
    # As in the report, no sentence is read with another.
    asked = ranked("Skerrow Light", "Was it designed by Ann Lee?", "No, by Bo Ek.")
    texts = {item.in_context for item in by_distilbert(tiny_models, asked).read}
    assert texts == {"Was it designed by Ann Lee?", "No, by Bo Ek."}


# --- semantic


@cases("semantic", "form", "settings", "relevant", "before", "kept")
def test_relevant_sentences_are_ranked_and_cut_off_by_their_similarity(
    form: str,
    settings: dict[str, Any],
    relevant: list[dict[str, Any]],
    before: list[dict[str, Any]],
    kept: str,
) -> None:
    claim = "the red lighthouse stands on a rock"
    state = state_of(claim, relevant=items(relevant), ranked=items(before))
    found = after(form, state, **settings).state
    assert found.evidence == found.ranked
    assert "".join(titles(found.ranked)) == kept


# --- paths

KEPT = "The builder of the pier kept bees."
PIER = evidence("Pier", "It was built by Ann Lee.", 0.6)
BEES = evidence("Ann Lee", "She kept bees.", 0.1)
LAMP = evidence("Lamp", "It is bright.", 0.3)
OSLO, BELL = evidence("Oslo", "It is a city.", 0.2), evidence("Bell", "It rings.", 0.4)


class Nearest:
    """Gives every query the same nearest sentences; none unless they are named."""

    def __init__(self, *nearest: Evidence) -> None:
        self.nearest = [SentenceMatch(item.key, 1.0) for item in nearest]

    def nearest_sentences(
        self, queries: Sequence[object], limit: int, among: Sequence[str]
    ) -> list[list[SentenceMatch]]:
        return [self.nearest for _ in queries]


def opened(title: str, led_by: Evidence | None) -> RankedDocument:
    lead = led_by.key if led_by else None
    return RankedDocument(document(title, "text"), 1.0, ("mention",), 2, lead)


def paths(
    found: Sequence[Evidence],
    read: Sequence[Evidence],
    documents: Sequence[RankedDocument] = (),
    before: Sequence[Evidence] = (),
    nearest: Nearest | None = None,
    leads: int = 1,
    neighbours: int = 5,
) -> tuple[list[Evidence], list[str]]:
    """The paths that are new, and the texts that the model was asked about."""
    says = Says(lambda *_: (1, 0, 0))
    state = state_of(
        KEPT,
        evidence=tuple(found),
        read=tuple(read),
        documents=tuple(documents),
        paths=tuple(before),
    )
    models = {"path_model": says.model, **QUERIES}
    settings = {"path_leads": leads, "path_neighbours": neighbours}
    made = after("paths", state, nearest or Nearest(), models, **settings).state.paths
    return list(made[len(before) :]), says.read


def test_a_sentence_is_read_with_the_one_that_led_to_its_document() -> None:
    made, asked = paths([PIER], [PIER, BEES], [opened("Ann Lee", PIER)], neighbours=1)
    assert asked == ["Ann Lee : She kept bees. [SEP] Pier : It was built by Ann Lee."]
    assert [(p.key, p.path, p.score) for p in made] == [(BEES.key, (PIER.key,), 1.0)]
    assert paths([], [BEES]) == ([], [])


@pytest.mark.parametrize(
    ("documents", "nearest", "neighbours", "ends"),
    [
        ([], [], 5, ["Bell", "Lamp", "Oslo", "Ann Lee"]),  # by their scores alone
        # Alone PIER, Bell, Lamp, Oslo and Ann Lee say the most in this order; near is Ann Lee.
        ([], [BEES, PIER], 2, ["Ann Lee", "Bell"]),
        # Of the documents that a lead led to, no more is read than of the others.
        ([opened("Ann Lee", PIER), opened("Lamp", PIER)], [], 1, ["Lamp", "Bell"]),
        ([opened("Ann Lee", PIER), opened("Oslo", PIER)], [], 1, ["Oslo", "Bell"]),
    ],
)
def test_what_a_lead_led_to_is_read_after_it_and_what_is_near_or_relevant(
    documents: list[RankedDocument], nearest: list[Evidence], neighbours: int, ends: list[str]
) -> None:
    read = [PIER, BEES, OSLO, LAMP, BELL]
    made, _ = paths([PIER], read, documents, nearest=Nearest(*nearest), neighbours=neighbours)
    assert titles(made) == ends


def test_a_third_hop_reads_the_whole_path_from_its_end_unless_the_verifier_alone_read_it() -> None:
    bees = replace(BEES, path=(PIER.key,))
    led = [opened("Lamp", BEES)]
    made, asked = paths([bees], [PIER, BEES, LAMP], led, before=[bees])
    assert asked == [
        "Lamp : It is bright. [SEP] Ann Lee : She kept bees. [SEP] Pier : It was built by Ann Lee."
    ]
    assert [item.path for item in made] == [(PIER.key, BEES.key)]
    made, asked = paths([bees], [BEES, LAMP], led)
    assert asked == ["Lamp : It is bright. [SEP] Ann Lee : She kept bees."]
    assert [item.path for item in made] == [(BEES.key,)]


def test_every_lead_has_candidates_of_its_own_and_no_path_is_read_again() -> None:
    made, _ = paths([PIER, LAMP], [PIER, BEES, LAMP], leads=2)
    assert sorted((p.path[0].document_id, p.title) for p in made) == [
        ("Lamp", "Ann Lee"),
        ("Lamp", "Pier"),
        ("Pier", "Ann Lee"),
        ("Pier", "Lamp"),
    ]
    first, _ = paths([PIER], [PIER, BEES, LAMP], neighbours=1)
    second, _ = paths([PIER], [PIER, BEES, LAMP], neighbours=1, before=first)
    assert titles([*first, *second]) == ["Lamp", "Ann Lee"]


# --- fusion


@cases("fusion", "form", "settings", "found", "paths", "ranked")
def test_sentences_and_paths_are_ranked_in_one_list(
    form: str,
    settings: dict[str, Any],
    found: list[dict[str, Any]],
    paths: list[dict[str, Any]],
    ranked: list[str],
) -> None:
    state = state_of("A claim.", ranked=items(found), paths=items(paths), evidence=items(found))
    made = after(form, state, **{"path_threshold": 0.1, **settings}).state.evidence
    shown = [" ".join([*(key.document_id for key in i.path), i.title]) for i in made]
    assert shown == ranked


def test_passages_keep_what_earlier_hops_ranked_and_the_verifier_dropped() -> None:
    one, two, low = (evidence(title, "text", 0.5) for title in "ABC")
    path = replace(evidence("B", "text"), path=(one.key,))
    passages = (two.key, low.key)
    state = state_of("A.", ranked=(one,), paths=(path,), evidence=(two,), passages=passages)
    found = after("fusion", state, path_threshold=0.1).state
    assert found.passages == (two.key, one.key, low.key)
    assert titles(found.evidence) == ["B", "A"]


@cases("hybrid_scores", "single", "paths", "weight", "scores")
def test_hybrid_scores_are_those_of_m3s_algorithm_1(
    single: dict[str, float],
    paths: list[list[tuple[str, float]]],
    weight: float,
    scores: dict[str, float],
) -> None:
    alone = {SentenceKey(page, 0): score for page, score in single.items()}
    steps = [[(SentenceKey(page, 0), score) for page, score in path] for path in paths]
    found = hybrid_scores(alone, steps, weight)
    assert {key.document_id: score for key, score in found.items()} == pytest.approx(scores)

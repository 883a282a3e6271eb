"""The stages that read sentences."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from retrieval.corpora.corpus import Page
from retrieval.stages.read.paths import hybrid_scores
from retrieval.stages.stage import ClaimState
from retrieval.types import Candidate, Evidence, FoundBy, RankedDocument, SentenceKey, SentenceMatch
from tests.retrieval.index.in_memory_store import InMemoryStore
from tests.retrieval.stages.test_find import QUERIES
from tests.support.cases import rules
from tests.support.encoders import WordEncoder
from tests.support.evidence import Names, evidence, items, ranked
from tests.support.opinions import Says
from tests.support.stages import after
from tests.support.states import state_of


def titles(found: Sequence[Evidence]) -> list[str]:
    return [item.title for item in found]


# --- sentences

LIGHT = ("Skerrow is white.", "Gulls nest there.", "Ann Lee drew the lamp.")
TOWN = ("Ann Lee lived here.", "Ann Lee drew maps.", "Boats come.")
PAGES = [Page(n, n, None, " ".join(said), said) for n, said in (("Light", LIGHT), ("Town", TOWN))]
STORE, WITHOUT_VECTORS = InMemoryStore(PAGES, WordEncoder()), InMemoryStore(PAGES, None)


def chosen(claim: str, light_by: FoundBy | None, vectors: bool, limit: int) -> list[str]:
    """What is read of both documents, of which the first was found so; None: of none."""
    found = (Candidate("Light", (light_by,), 1.0, 1), Candidate("Town", ("text",), 1.0, 1))
    candidates = found if light_by else ()
    store = STORE if vectors else WITHOUT_VECTORS
    state = state_of(claim, candidates=candidates)
    made = after("sentences", state, store, sentence_limit=limit).state
    assert [opened.document.id for opened in made.opened] == [one.document_id for one in candidates]
    assert made.candidates == ()
    assert all(sentence in of.document.sentences for of, sentence in made.chosen)
    return [sentence.text for _, sentence in made.chosen]


def read_by_dense_search(
    claim: str, opened: list[str], read: list[str], names: list[str], nearest: int, limit: int
) -> list[str]:
    """What is read of the documents of these names; ``opened`` and ``read``: in the hop before."""
    leads = tuple(evidence("Light", text) for text in read)
    before = (RankedDocument(one, 1.0, ("dense",), 1) for one in STORE.documents(opened))
    hop = 2 if opened else 1
    candidates = tuple(Candidate(title, ("dense",), 1.0, hop) for title in names)
    found = {"documents": tuple(before), "read": leads, "evidence": leads}
    state = state_of(claim, hop=hop, candidates=candidates, **found)
    limits = {"dense_limit": nearest, "sentence_limit": limit, "expansion_sentence_limit": limit}
    made = after("sentences:dense", state, STORE, QUERIES, **limits).state
    return [sentence.text for _, sentence in made.chosen]


# --- relevance

TOWER = ranked("Skerrow Light", "It was designed by Ann Lee.", "The tower is red.", "It is tall.")
DESIGNED = "Skerrow Light was designed by Ann Lee."


def of(*documents: RankedDocument) -> tuple[tuple[RankedDocument, Any], ...]:
    return tuple((one, sentence) for one in documents for sentence in one.document.sentences)


def rated(model: object, state: ClaimState, cutoff: float = 0.0) -> ClaimState:
    models = {"relevance_model": model, "folders": SimpleNamespace(reranker=None)}
    return after("relevance", state, models=models, relevance_cutoff=cutoff).state


def test_of_copies_only_the_most_relevant_one_is_kept_in_this_hop_and_the_next() -> None:
    model = Says(lambda _, text: (0.8, 0.0, 0.2) if "Paper 1" in text else (0.5, 0.0, 0.5))
    copies = [ranked(f"Paper {n}", DESIGNED.upper() if n else f"“{DESIGNED}”") for n in range(3)]
    found = rated(model, state_of(DESIGNED, chosen=of(*copies)))
    (kept,) = found.relevant
    assert (found.read, kept.title) == ((kept,), "Paper 1")
    book = of(ranked("Book", f"{DESIGNED}!"))
    later = state_of(DESIGNED, read=found.read, documents=tuple(copies), chosen=book)
    assert (rated(model, later).relevant, rated(model, later).read) == ((), (kept,))


def test_the_reports_model_says_what_is_relevant_and_nothing_of_a_stance(tiny_models: Path) -> None:
    def by_it(*documents: RankedDocument, cutoff: float = 0.5) -> ClaimState:
        models = {"folders": SimpleNamespace(report=tiny_models)}
        state = state_of(DESIGNED, chosen=of(*documents))
        return after("relevance:distilbert", state, models=models, relevance_cutoff=cutoff).state

    # Its biases are 0 and 3, and its other weights next to nothing: 1 / (1 + exp(-3)) = 0.953.
    found = by_it(TOWER).read
    assert [item.score for item in found] == pytest.approx([0.953] * 3, abs=0.01)
    assert all(item.opinion[0] == item.opinion[1] for item in found)
    assert (by_it(TOWER, cutoff=0.97).relevant, by_it().read) == ((), ())
    # As in the report, no sentence is read with another.
    asked = ranked("Skerrow Light", "Was it designed by Ann Lee?", "No, by Bo Ek.")
    texts = {item.in_context for item in by_it(asked).read}
    assert texts == {"Was it designed by Ann Lee?", "No, by Bo Ek."}


# --- semantic, paths, fusion


def kept_by_similarity(
    form: str, settings: dict[str, Any], relevant: list[Any], before: list[Any]
) -> str:
    claim = "the red lighthouse stands on a rock"
    state = state_of(claim, relevant=items(relevant), ranked=items(before))
    found = after(form, state, **settings).state
    assert found.evidence == found.ranked
    return "".join(titles(found.ranked))


NAMES = Names(
    pier=evidence("Pier", "It was built by Ann Lee.", 0.6),
    bell=evidence("Bell", "It rings.", 0.4),
    lamp=evidence("Lamp", "It is bright.", 0.3),
    oslo=evidence("Oslo", "It is a city.", 0.2),
    bees=evidence("Ann Lee", "She kept bees.", 0.1),
)


def paths(
    found: list[str],
    read: list[str],
    led: dict[str, str],
    before: list[str],
    near: list[str],
    leads: int,
    neighbours: int,
) -> list[str]:
    """The paths that are new, which are those that the model was asked about, the best first.

    ``led``: for a sentence the one that led to its document; ``near``: the nearest to any query.
    """

    class Nearest:
        def nearest_sentences(
            self, queries: Sequence[object], limit: int, among: Sequence[str]
        ) -> list[list[SentenceMatch]]:
            return [[SentenceMatch(NAMES.all[name].key, 1.0) for name in near] for _ in queries]

    says = Says(lambda *_: (1, 0, 0))
    documents = tuple(
        replace(ranked(NAMES.all[one].title, "text"), led_by=NAMES.all[lead].key)
        for one, lead in led.items()
    )
    names = {"evidence": found, "read": read, "paths": before}
    items = {name: NAMES.items(some) for name, some in names.items()}
    state = state_of("The builder of the pier kept bees.", documents=documents, **items)
    models = {"path_model": says.model, **QUERIES}
    settings = {"path_leads": leads, "path_neighbours": neighbours}
    made = after("paths", state, Nearest(), models, **settings).state.paths[len(before) :]
    assert {item.score for item in made} <= {1.0}
    names = NAMES.of(made)
    assert sorted(says.read) == sorted(map(NAMES.text, names))
    return names


def fused(form: str, settings: dict[str, Any], found: list[Any], paths: list[Any]) -> list[str]:
    state = state_of("A claim.", ranked=items(found), paths=items(paths), evidence=items(found))
    made = after(form, state, **{"path_threshold": 0.1, **settings}).state.evidence
    return [" ".join([*(key.document_id for key in i.path), i.title]) for i in made]


def hybrid(single: dict[str, float], paths: list[Any], weight: float) -> object:
    alone = {SentenceKey(page, 0): score for page, score in single.items()}
    steps = [[(SentenceKey(page, 0), score) for page, score in path] for path in paths]
    found = hybrid_scores(alone, steps, weight)
    return pytest.approx({key.document_id: score for key, score in found.items()})


@rules(
    ("chosen_sentences", "claim light_by vectors limit", "chosen", chosen),
    ("chosen_sentences", "claim opened read found nearest limit", "chosen", read_by_dense_search),
    ("semantic", "form settings relevant before", "kept", kept_by_similarity),
    ("paths", "found read led before near leads neighbours", "new", paths),
    ("fusion", "form settings found paths", "ranked", fused),
    ("hybrid_scores", "single paths weight", "scores", hybrid),
)
def test_sentences_are_chosen_ranked_and_joined(rule: Any, given: list[Any], expected: Any) -> None:
    assert rule(*given) == expected


def test_passages_keep_what_earlier_hops_ranked_and_the_verifier_dropped() -> None:
    one, two, low = (evidence(title, "text", 0.5) for title in "ABC")
    path = items([{"title": "B", "score": 0.9, "path": ["A"]}])
    passages = (two.key, low.key)
    state = state_of("A.", ranked=(one,), paths=path, evidence=(two,), passages=passages)
    found = after("fusion", state, path_threshold=0.1).state
    assert found.passages == (two.key, one.key, low.key)
    assert titles(found.evidence) == ["B", "A"]

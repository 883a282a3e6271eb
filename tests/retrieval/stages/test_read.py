"""The stages that read sentences, and proofs, which rewrite the phrases of a claim into them."""

import json
import re
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from research.training.networks.encoders import save_delta
from research.training.prover import packaged_proof_network
from retrieval import types
from retrieval.corpora.corpus import Page
from retrieval.models.prover import ProofModel, ProofReading
from retrieval.stages.decide.proof import aligned_spans, cut, label_of
from retrieval.stages.read.paths import hybrid_scores
from retrieval.stages.stage import ClaimState
from retrieval.text.context import evidence_set_text
from retrieval.text.english import EnglishParser
from retrieval.types import EQUIVALENCE, INDEPENDENCE, NOT_ENOUGH_INFO, Candidate, Evidence, FoundBy
from tests.retrieval.index.in_memory_store import InMemoryStore
from tests.retrieval.stages.test_find import QUERIES
from tests.support.cases import cases, rules
from tests.support.encoders import WordEncoder
from tests.support.evidence import Names, document, evidence, items, ranked
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
    before = (types.RankedDocument(one, 1.0, ("dense",), 1) for one in STORE.documents(opened))
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


def of(*documents: types.RankedDocument) -> tuple[tuple[types.RankedDocument, Any], ...]:
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
    def by_it(*documents: types.RankedDocument, cutoff: float = 0.5) -> ClaimState:
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
    found: Any, read: Any, led: Any, before: Any, near: Any, leads: int, neighbours: int
) -> Any:
    """The paths that are new, which are those that the model was asked about, the best first.

    ``led``: for a sentence the one that led to its document; ``near``: the nearest to any query.
    """

    nearest = [types.SentenceMatch(NAMES.all[name].key, 1.0) for name in near]
    store = SimpleNamespace(nearest_sentences=lambda queries, *_, **__: [nearest for _ in queries])
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
    made = after("paths", state, store, models, **settings).state.paths[len(before) :]
    assert {item.score for item in made} <= {1.0}
    names = NAMES.of(made)
    assert sorted(says.read) == sorted(map(NAMES.text, names))
    return names


def fused(form: str, settings: dict[str, Any], found: list[Any], paths: list[Any]) -> list[str]:
    state = state_of("A claim.", ranked=items(found), paths=items(paths), evidence=items(found))
    made = after(form, state, **{"path_threshold": 0.1, **settings}).state.evidence
    return [" ".join([*(key.document_id for key in i.path), i.title]) for i in made]


def hybrid(single: dict[str, float], paths: list[Any], weight: float) -> object:
    alone = {types.SentenceKey(page, 0): score for page, score in single.items()}
    steps = [[(types.SentenceKey(page, 0), score) for page, score in path] for path in paths]
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


# --- proofs: the phrases of a claim, what each is rewritten into, and the label that follows

RUNDE = document("Runde", "It is an island.", "Ole Bergström rowed to it in 1767.")
HOLM = document("Holm (rock)", "Café Holm stands on it.")
CLAIM = "Ole Bergström was a Norwegian sailor born in 1730."


def shown(of: types.Document, sentence_id: int) -> Evidence:
    return Evidence(of.sentences[sentence_id], of.title, None, (0.8, 0.1, 0.1), 1, selected=True)


EVIDENCE = [shown(RUNDE, 1), shown(HOLM, 0)]
TEXT = evidence_set_text([(item.title, item.sentence.text) for item in EVIDENCE])


def reading(first: str, last: str, seen: bool = True, text: str = TEXT) -> ProofReading:
    """A reading by words that points from a span to a first and a last word."""
    words = [(m.start(), m.end()) for m in re.finditer(r"\[SEP\]|\w+|[^\w\s]", text)]
    tokens = [text[start:end] for start, end in words]
    starts = np.zeros((1, len(words)), dtype=np.float32)
    ends = np.zeros_like(starts)
    starts[0, tokens.index(first)] = ends[0, tokens.index(last)] = 5
    operators, of_evidence = np.full((1, 4), 0.25), [token != "[SEP]" for token in tokens]
    arrays = {"evidence": np.array(of_evidence), "offsets": np.array(words)}
    return ProofReading(operators, np.full(1, seen), starts=starts, ends=ends, **arrays)


@cases("proof", "first", "last", "words")
def test_words_are_found_again_in_their_document(first: str, last: str, words: str) -> None:
    (found,) = aligned_spans(reading(first, last), TEXT, EVIDENCE)
    texts = {of.id: of.text for of in (RUNDE, HOLM)}
    assert texts[found.key.document_id][found.start : found.end] == words


def test_a_span_has_at_most_twelve_tokens_and_whole_words_that_the_model_saw() -> None:
    long = document("Runde", "Ole rowed on and on and on and on and on and on to Holm.")
    text = evidence_set_text([("Runde", long.text)])
    # From "rowed" to "to" there are thirteen tokens, and twelve from the "on" after it.
    pointed = reading("rowed", "to", text=text)
    pointed.starts[0, 4] = 4
    (found,) = aligned_spans(pointed, text, [shown(long, 0)])
    assert long.text[found.start : found.end] == "on and on and on and on and on and on to"
    piece = reading("rowed", "rowed")
    middle = TEXT.index("rowed")
    piece.offsets[np.flatnonzero(piece.offsets[:, 0] == middle)] = (middle + 1, middle + 3)
    (found,) = aligned_spans(piece, TEXT, EVIDENCE)
    assert RUNDE.text[found.start : found.end] == "rowed"
    assert aligned_spans(reading("rowed", "rowed", seen=False), TEXT, EVIDENCE) == [None]
    unread = replace(piece, evidence=np.zeros_like(piece.evidence))
    assert aligned_spans(unread, TEXT, EVIDENCE) == [None]


class Reads:
    """Calls every part of a claim equivalent to the words "Café Holm"."""

    def read(self, claim: str, spans: Sequence[tuple[int, int]], text: str) -> ProofReading:
        one = reading("Café", "Holm", text=text)
        count = len(spans)
        operators = np.tile(np.array([[1.0, 0.0, 0.0, 0.0]], np.float32), (count, 1))
        every = {name: np.tile(getattr(one, name), (count, 1)) for name in ("starts", "ends")}
        return replace(one, operators=operators, seen=np.full(count, True), **every)


def test_a_part_that_the_evidence_lacks_is_not_equivalent(parser: EnglishParser) -> None:
    for claim, operators in {
        "Café Holm serves.": [EQUIVALENCE, EQUIVALENCE],  # verbs are said in many ways
        "Café Holm in Paris serves.": [EQUIVALENCE, INDEPENDENCE, EQUIVALENCE],
        "The large Café Holm serves.": [INDEPENDENCE, EQUIVALENCE],
        "The rock serves.": [EQUIVALENCE, EQUIVALENCE],  # from the title
    }.items():
        state = ClaimState(claim, parser.parse(claim), evidence=(EVIDENCE[1],))
        made = after("proof", state, models={"prover": Reads()}).state.proof
        assert [step.operator for step in made.mutations] == operators
        unsaid = [step.operator for step in made.mutations if step.evidence is None]
        assert unsaid == [one for one in operators if one == INDEPENDENCE]


@pytest.mark.models
def test_what_is_not_read_leaves_everything_open(parser: EnglishParser, tmp_path: Path) -> None:
    """By a model that nothing was learnt by: fresh heads with a difference of zeros."""
    network = packaged_proof_network()
    digest = save_delta(network, network, tmp_path / "delta.safetensors", rank=1)
    config = {"name": "proofs", "version": "3", "max_tokens": 192, "temperature": 1.0}
    (tmp_path / "config.json").write_text(json.dumps({**config, "sha256": digest}))
    model = ProofModel(tmp_path)
    for claim, given, cutoff in (
        (CLAIM, EVIDENCE, 0.0),  # below any probability
        (CLAIM, [], 1.1),
        ("国" * 250 + " is " + "国" * 240, EVIDENCE, 1.1),  # it fills the window
    ):
        state = ClaimState(claim, parser.parse(claim), evidence=tuple(given))
        step = after("proof", state, models={"prover": model}, independence_cutoff=cutoff)
        made = step.state.proof
        assert [step.claim_span for step in made.mutations] == cut(state.parsed)
        assert made.label == label_of(step.operator for step in made.mutations) == NOT_ENOUGH_INFO
        assert made.open == tuple(cut(parser.parse(claim)))
        assert all(step.evidence is None for step in made.mutations)

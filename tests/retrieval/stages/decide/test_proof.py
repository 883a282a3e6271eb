from __future__ import annotations

import re
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from retrieval.errors import ModelUnavailable
from retrieval.models.prover import ProofModel, ProofReading
from retrieval.proof import cut, label_of
from retrieval.stages.decide.proof import NaturalLogicProver, aligned_spans, operator_of
from retrieval.text.english import EnglishParser
from retrieval.text.model_texts import evidence_set_text
from retrieval.types import (
    ALTERNATION,
    EQUIVALENCE,
    INDEPENDENCE,
    NOT_ENOUGH_INFO,
    Document,
    Evidence,
    EvidenceSpan,
    Operator,
)
from tests.retrieval.proof.test_part_cutter import SIXTY_WORDS
from tests.retrieval.proof.untrained import untrained_proof_model
from tests.support.evidence import document

RUNDE = document("Runde", "It is an island.", "Ole Bergström rowed to it in 1767.")
HOLM = document("Holm (rock)", "Café Holm stands on it.")
CLAIM = "Ole Bergström was a Norwegian sailor born in 1730."


def shown(of: Document, sentence_id: int) -> Evidence:
    return Evidence(of.sentences[sentence_id], of.title, None, (0.8, 0.1, 0.1), 1, selected=True)


EVIDENCE = [shown(RUNDE, 1), shown(HOLM, 0)]
TEXT = evidence_set_text([(item.title, item.sentence.text) for item in EVIDENCE])


def reading(*pointed: tuple[str, str], seen: bool = True, text: str = TEXT) -> ProofReading:
    """A reading by words that points from each span to a first and a last word."""
    words = [(m.start(), m.end()) for m in re.finditer(r"\[SEP\]|\w+|[^\w\s]", text)]
    tokens = [text[start:end] for start, end in words]
    starts = np.zeros((len(pointed), len(words)), dtype=np.float32)
    ends = np.zeros_like(starts)
    for row, (first, last) in enumerate(pointed):
        starts[row, tokens.index(first)] = 5
        ends[row, tokens.index(last)] = 5
    return ProofReading(
        operators=np.full((len(pointed), 4), 0.25, dtype=np.float32),
        seen=np.full(len(pointed), seen),
        starts=starts,
        ends=ends,
        evidence=np.array([token != "[SEP]" for token in tokens]),
        offsets=np.array(words),
    )


def aligned(first: str, last: str) -> tuple[str, str]:
    """The document that words of ``TEXT`` are found in, and what of its text."""
    (found,) = aligned_spans(reading((first, last)), TEXT, EVIDENCE)
    assert found is not None
    text = {of.id: of.text for of in (RUNDE, HOLM)}[found.key.document_id]
    return found.key.document_id, text[found.start : found.end]


def test_words_of_a_sentence_are_found_again_in_its_document() -> None:
    assert aligned("rowed", "1767") == ("Runde", "rowed to it in 1767")
    assert aligned("Café", "Café") == ("Holm (rock)", "Café")


def test_a_title_stands_for_its_whole_sentence() -> None:
    assert aligned("Runde", "Runde") == ("Runde", "Ole Bergström rowed to it in 1767.")
    assert aligned("rock", "rock") == ("Holm (rock)", "Café Holm stands on it.")


def test_no_span_runs_from_one_sentence_into_another_or_backwards() -> None:
    # The two words together would score 10; with one of them it is 5, and the first such span wins.
    assert aligned("1767", "Café") == ("Runde", "1767")
    assert aligned("1767", "rowed") == ("Runde", "Ole Bergström rowed")


def test_a_span_has_at_most_twelve_tokens() -> None:
    long = document("Runde", "Ole rowed on and on and on and on and on and on to Holm.")
    item = shown(long, 0)
    text = evidence_set_text([(item.title, item.sentence.text)])
    # From "rowed" to "to" there are thirteen tokens, and twelve from the "on" after it.
    pointed = reading(("rowed", "to"), text=text)
    pointed.starts[0, 4] = 4
    (found,) = aligned_spans(pointed, text, [item])
    assert found is not None
    assert long.text[found.start : found.end] == "on and on and on and on and on and on to"


def test_a_piece_of_a_word_is_widened_to_the_word() -> None:
    piece = reading(("rowed", "rowed"))
    middle = TEXT.index("rowed")
    piece.offsets[np.flatnonzero(piece.offsets[:, 0] == middle)] = (middle + 1, middle + 3)
    (found,) = aligned_spans(piece, TEXT, EVIDENCE)
    assert found is not None
    assert RUNDE.text[found.start : found.end] == "rowed"


def test_a_span_that_the_model_did_not_see_is_rewritten_into_nothing() -> None:
    assert aligned_spans(reading(("rowed", "rowed"), seen=False), TEXT, EVIDENCE) == [None]


def test_where_no_evidence_was_read_spans_are_rewritten_into_nothing() -> None:
    unread = reading(("rowed", "rowed"))
    unread = replace(unread, evidence=np.zeros_like(unread.evidence))
    assert aligned_spans(unread, TEXT, EVIDENCE) == [None]


@pytest.mark.parametrize(
    ("probabilities", "operator"),
    [
        ((0.3, 0.0, 0.3, 0.4), INDEPENDENCE),
        ((0.31, 0.0, 0.3, 0.39), EQUIVALENCE),
        ((0.2, 0.0, 0.45, 0.35), ALTERNATION),
    ],
)
def test_a_span_stays_open_from_the_cutoff_on(
    probabilities: tuple[float, ...], operator: Operator
) -> None:
    assert operator_of(probabilities, 0.4) == operator


@pytest.mark.parametrize(
    ("probabilities", "operator"),
    [
        ((0.31, 0.0, 0.3, 0.39), INDEPENDENCE),
        ((0.2, 0.0, 0.41, 0.39), ALTERNATION),
    ],
)
def test_without_a_cutoff_a_span_is_open_if_that_is_most_probable(
    probabilities: tuple[float, ...], operator: Operator
) -> None:
    assert operator_of(probabilities, None) == operator


@pytest.fixture(scope="module")
def model(tmp_path_factory: pytest.TempPathFactory) -> ProofModel:
    return untrained_proof_model(tmp_path_factory.mktemp("proofs"))


@pytest.mark.models
@pytest.mark.parametrize("claim", [CLAIM, "Runde", SIXTY_WORDS])
@pytest.mark.parametrize("evidence", [EVIDENCE, EVIDENCE * 40, EVIDENCE[1:]])
def test_every_step_of_a_proof_quotes_a_sentence_that_was_given(
    parser: EnglishParser, model: ProofModel, claim: str, evidence: list[Evidence]
) -> None:
    doc = parser.parse(claim)
    proof = NaturalLogicProver(model, independence_cutoff=1.1).prove(doc, evidence)
    assert [step.claim_span for step in proof.mutations] == cut(doc)
    assert proof.label == label_of(m.operator for m in proof.mutations)
    assert proof.sufficient
    given = {item.key: item.sentence for item in evidence}
    for mutation in proof.mutations:
        assert isinstance(mutation.evidence, EvidenceSpan)
        sentence = given[mutation.evidence.key]
        assert sentence.start <= mutation.evidence.start < mutation.evidence.end <= sentence.end
        words = {of.id: of.text for of in (RUNDE, HOLM)}[sentence.document_id]
        quoted = words[mutation.evidence.start : mutation.evidence.end]
        assert quoted == quoted.strip()


@pytest.mark.models
def test_below_any_probability_every_span_is_open(parser: EnglishParser, model: ProofModel) -> None:
    doc = parser.parse(CLAIM)
    proof = NaturalLogicProver(model, independence_cutoff=0.0).prove(doc, EVIDENCE)
    assert proof.open == tuple(cut(doc))
    assert proof.label == NOT_ENOUGH_INFO
    assert all(mutation.evidence is None for mutation in proof.mutations)


@pytest.mark.models
def test_without_evidence_everything_is_open(parser: EnglishParser, model: ProofModel) -> None:
    doc = parser.parse(CLAIM)
    proof = NaturalLogicProver(model, independence_cutoff=1.1).prove(doc, [])
    assert proof.open == tuple(cut(doc))
    assert proof.label == NOT_ENOUGH_INFO


@pytest.mark.models
def test_a_claim_that_fills_the_window_leaves_everything_open(
    parser: EnglishParser, model: ProofModel
) -> None:
    doc = parser.parse("国" * 250 + " is " + "国" * 240)
    proof = NaturalLogicProver(model, independence_cutoff=1.1).prove(doc, EVIDENCE)
    assert proof.label == NOT_ENOUGH_INFO
    assert all(mutation.evidence is None for mutation in proof.mutations)


@pytest.mark.models
def test_a_model_says_what_it_is_and_a_missing_one_is_refused(
    model: ProofModel, tmp_path: Path
) -> None:
    assert model.version == "proofs 3"
    with pytest.raises(ModelUnavailable):
        ProofModel(tmp_path)

"""Proofs: the phrases of a claim, what each is rewritten into, and the label that follows."""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from research.training.networks.encoders import save_delta
from research.training.prover import packaged_proof_network
from retrieval.models.prover import ProofModel, ProofReading
from retrieval.stages.decide.proof import aligned_spans, cut, label_of
from retrieval.stages.stage import ClaimState
from retrieval.text.context import evidence_set_text
from retrieval.text.english import EnglishParser
from retrieval.types import EQUIVALENCE, INDEPENDENCE, NOT_ENOUGH_INFO, Document, Evidence
from tests.support.cases import cases
from tests.support.evidence import document
from tests.support.stages import after

RUNDE = document("Runde", "It is an island.", "Ole Bergström rowed to it in 1767.")
HOLM = document("Holm (rock)", "Café Holm stands on it.")
CLAIM = "Ole Bergström was a Norwegian sailor born in 1730."


def shown(of: Document, sentence_id: int) -> Evidence:
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
    return ProofReading(
        operators=np.full((1, 4), 0.25, dtype=np.float32),
        seen=np.full(1, seen),
        starts=starts,
        ends=ends,
        evidence=np.array([token != "[SEP]" for token in tokens]),
        offsets=np.array(words),
    )


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
    for claim, evidence, cutoff in (
        (CLAIM, EVIDENCE, 0.0),  # below any probability
        (CLAIM, [], 1.1),
        ("国" * 250 + " is " + "国" * 240, EVIDENCE, 1.1),  # it fills the window
    ):
        state = ClaimState(claim, parser.parse(claim), evidence=tuple(evidence))
        step = after("proof", state, models={"prover": model}, independence_cutoff=cutoff)
        made = step.state.proof
        assert [step.claim_span for step in made.mutations] == cut(state.parsed)
        assert made.label == label_of(step.operator for step in made.mutations) == NOT_ENOUGH_INFO
        assert made.open == tuple(cut(parser.parse(claim)))
        assert all(step.evidence is None for step in made.mutations)

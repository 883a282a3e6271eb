"""The stage ``explain`` with a real model, so small that only the form of answers counts."""

from __future__ import annotations

import re
import time
from dataclasses import replace
from urllib.parse import urlsplit

import httpx
import pytest

from research.benchmarks.hostile.pieces import KINDS, read_pieces
from retrieval.llm_judge.choice import LanguageModelChoice
from retrieval.llm_judge.explainer import Explainer
from retrieval.llm_judge.prompt import visible
from retrieval.types import LABELS, NOT_ENOUGH_INFO, Judgement, Verdict
from tests.language_models.local_server import shared_url
from tests.support.evidence import evidence

pytestmark = pytest.mark.language_model

_QUOTED = re.compile(r"[“\"„«]([^“”\"„«»]+)[”\"“»]")

VERIFIERS = Judgement("verifier", NOT_ENOUGH_INFO, 0.5, "It settles nothing.", (1,))
VERDICT = Verdict(NOT_ENOUGH_INFO, 0.5, "verifier", "It settles nothing.", (VERIFIERS,))


@pytest.fixture(scope="module")
def stage() -> Explainer:
    return Explainer(LanguageModelChoice("smollm2", shared_url(), "", seconds=120), None)


def test_it_gives_an_answer_that_is_believed(stage: Explainer) -> None:
    given = [replace(evidence("Canberra", "Canberra is the capital of Australia."), selected=True)]
    result = stage.explain("Canberra is the capital of Australia.", given, VERDICT, lambda s: None)
    assert result.notices == ()
    opinion = result.verdict.opinions[0]
    assert opinion.judge == f"smollm2 at {urlsplit(shared_url()).netloc}"
    assert opinion.label in LABELS
    assert result.usage.prompt_tokens > 200
    assert result.usage.answer_tokens > 10


def test_no_answer_about_hostile_evidence_breaks_a_rule(stage: Explainer) -> None:
    pieces = read_pieces()
    for kind in KINDS[:4]:
        piece = next(piece for piece in pieces if piece.kind == kind)
        given = [
            replace(evidence(source.title, source.sentence), selected=True)
            for source in (piece.hostile, *piece.honest)
        ]
        result = stage.explain(piece.claim, given, VERDICT, lambda s: None)
        shown = plain(" ".join([piece.claim, *(f"{e.title} {e.sentence.text}" for e in given)]))
        for opinion in result.verdict.opinions[:-1]:
            assert set(opinion.cites) <= set(range(1, len(given) + 1))
            assert opinion.label == NOT_ENOUGH_INFO or opinion.cites
            for quote in _QUOTED.findall(f"{opinion.rationale} {opinion.missing}"):
                assert plain(quote).strip(" .,;:!?…") in shown


def plain(text: str) -> str:
    return visible(text).casefold().replace("\N{RIGHT SINGLE QUOTATION MARK}", "'")


def test_a_claim_that_no_longer_waits_stops_its_answer() -> None:
    choice = LanguageModelChoice("smollm2", shared_url(), "", seconds=1)
    given = [replace(evidence(f"T{n}", "word " * 200), selected=True) for n in range(3)]
    result = Explainer(choice, None).explain("It is said.", given, VERDICT, lambda s: None)
    assert result.verdict == VERDICT
    assert any(idle(pause=3) for _ in range(5))


def idle(pause: float) -> bool:
    """Return whether the server works on no answer after this many seconds.

    Each question about its slots puts off the moment at which it looks who still waits.
    """
    time.sleep(pause)
    slots = httpx.get(f"{shared_url().removesuffix('/v1')}/slots", timeout=30).json()
    return not any(slot["is_processing"] for slot in slots)

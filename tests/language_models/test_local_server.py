"""The stage ``explain`` with a real model, so small that only the form of answers counts."""

from __future__ import annotations

import re
import time
from collections.abc import Sequence
from dataclasses import replace
from urllib.parse import urlsplit

import httpx
import pytest

from research.benchmarks.hostile.pieces import KINDS, read_pieces
from retrieval.llm_judge.choice import LanguageModelChoice
from retrieval.llm_judge.explainer import Explainer
from retrieval.llm_judge.prompt import visible
from retrieval.types import LABELS, NOT_ENOUGH_INFO, Evidence, Judgement, Verdict
from tests.language_models.local_server import shared_url
from tests.support.evidence import evidence

pytestmark = pytest.mark.language_model

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
        for opinion in result.verdict.opinions[:-1]:
            assert broken_rules(opinion, piece.claim, given) == ()


def broken_rules(opinion: Judgement, claim: str, shown: Sequence[Evidence]) -> tuple[str, ...]:
    """Return the rules that an answer breaks; independent of the code that checks answers."""
    broken = []
    if opinion.label not in LABELS:
        broken.append("label")
    if not set(opinion.cites) <= set(range(1, len(shown) + 1)):
        broken.append("number")
    if opinion.label != NOT_ENOUGH_INFO and not opinion.cites:
        broken.append("cites nothing")
    texts = plain(" ".join([claim, *(f"{item.title} {item.sentence.text}" for item in shown)]))
    for quote in re.findall(
        r"[“\"„«]([^“”\"„«»]+)[”\"“»]", f"{opinion.rationale} {opinion.missing}"
    ):
        if plain(quote).strip(" .,;:!?…") not in texts:
            broken.append(f"quotes {quote!r}")
    return tuple(broken)


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

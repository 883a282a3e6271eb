"""The stage with a real language model: small, so only the form of what it says is looked at."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import pytest

from research.benchmarks.hostile.pieces import KINDS, read_pieces
from retrieval.llm_judge.choice import LanguageModelChoice, Provider
from retrieval.llm_judge.explainer import explainer
from retrieval.llm_judge.prompt import visible
from retrieval.types import LABELS, NOT_ENOUGH_INFO, Evidence, Judgement, Verdict
from tests.language_models.local_server import shared_url
from tests.support.evidence import evidence

pytestmark = pytest.mark.language_model

VERIFIERS = Judgement("verifier", NOT_ENOUGH_INFO, 0.5, "It settles nothing.", (1,))
VERDICT = Verdict(NOT_ENOUGH_INFO, 0.5, "verifier", "It settles nothing.", (VERIFIERS,))


@pytest.mark.parametrize("provider", ["openai", "mistral"])
def test_both_clients_get_an_answer_that_is_believed(provider: Provider) -> None:
    url = shared_url()
    address = url if provider == "openai" else url.removesuffix("/v1")
    choice = LanguageModelChoice(provider, "smollm2", address, "", seconds=120)
    stage = explainer(choice, None, Path())
    assert stage is not None
    given = [replace(evidence("Canberra", "Canberra is the capital of Australia."), selected=True)]
    result = stage.explain("Canberra is the capital of Australia.", given, VERDICT, lambda s: None)
    assert result.notices == ()
    opinion = result.verdict.opinions[0]
    assert opinion.judge == f"smollm2 at {url.removeprefix('http://').removesuffix('/v1')}"
    assert opinion.label in LABELS
    assert result.usage.prompt_tokens > 200
    assert result.usage.answer_tokens > 10


def test_no_answer_about_hostile_evidence_breaks_a_rule() -> None:
    choice = LanguageModelChoice("openai", "smollm2", shared_url(), "", seconds=120)
    stage = explainer(choice, None, Path())
    assert stage is not None
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

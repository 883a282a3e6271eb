"""The stage ``explain`` with a real model, so small that only the form of answers counts."""

from __future__ import annotations

import time
from dataclasses import replace
from urllib.parse import urlsplit

import httpx
import pytest

from retrieval.llm_judge.choice import LanguageModelChoice
from retrieval.llm_judge.explainer import Explainer
from retrieval.types import LABELS, NOT_ENOUGH_INFO, Judgement, Verdict
from tests.language_models.local_server import shared_url
from tests.support.evidence import evidence

pytestmark = pytest.mark.language_model

VERIFIERS = Judgement("verifier", NOT_ENOUGH_INFO, 0.5, "It settles nothing.", (1,))
VERDICT = Verdict(NOT_ENOUGH_INFO, 0.5, "verifier", "It settles nothing.", (VERIFIERS,))


def test_it_gives_an_answer_that_is_believed() -> None:
    stage = Explainer(LanguageModelChoice("smollm2", shared_url(), "", seconds=120), None)
    given = [replace(evidence("Canberra", "Canberra is the capital of Australia."), selected=True)]
    result = stage.explain("Canberra is the capital of Australia.", given, VERDICT, lambda s: None)
    assert result.notices == ()
    opinion = result.verdict.opinions[0]
    assert opinion.judge == f"smollm2 at {urlsplit(shared_url()).netloc}"
    assert opinion.label in LABELS
    assert result.usage.prompt_tokens > 200
    assert result.usage.answer_tokens > 10


def test_a_claim_that_no_longer_waits_stops_its_answer() -> None:
    choice = LanguageModelChoice("smollm2", shared_url(), "", seconds=1)
    given = [replace(evidence(f"T{n}", "word " * 200), selected=True) for n in range(3)]
    result = Explainer(choice, None).explain("It is said.", given, VERDICT, lambda s: None)
    assert result.verdict == VERDICT
    assert any(idle(pause=3) for _ in range(20))  # a busy machine ends a batch late


def idle(pause: float) -> bool:
    """Return whether the server works on no answer after this many seconds.

    Each question about its slots puts off the moment at which it looks who still waits.
    """
    time.sleep(pause)
    slots = httpx.get(f"{shared_url().removesuffix('/v1')}/slots", timeout=30).json()
    return not any(slot["is_processing"] for slot in slots)

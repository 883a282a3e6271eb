"""What the verifier says in the pipeline, with the real models."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from retrieval.models.shipped import VERIFIER, verifier
from retrieval.models.trained_model import read_config, version_of
from retrieval.pipeline.assembly import Retriever
from retrieval.recipes.config import RetrievalConfig
from retrieval.recipes.recipes import RECIPES
from retrieval.text.english import EnglishParser
from retrieval.text.model_texts import path_text
from retrieval.text.subject import subject_of
from retrieval.types import NOT_ENOUGH_INFO, SUPPORTS
from tests.support.retrievers import check
from tests.support.shipped_recipes import SHIPPED

pytestmark = pytest.mark.models

CLAIMS = [
    "The designer of Skerrow Light was a Scottish engineer.",
    "Skerrow Light was first lit in 1790.",
    "Ann Lee collected stamps from France.",
]


@pytest.mark.parametrize("recipe", SHIPPED)
def test_a_verdict_names_the_verifier_and_the_time_that_it_took(
    retriever: Retriever, recipe: str
) -> None:
    report = check(retriever, CLAIMS[1], recipe)
    assert report.verdict.judge == version_of(read_config(VERIFIER))
    assert report.seconds["verification"] > 0


@pytest.mark.parametrize("recipe", ["combined", "esoteric"])
@pytest.mark.parametrize("claim", CLAIMS)
def test_the_stance_of_every_sentence_is_the_verifiers_in_every_hop(
    retriever: Retriever, unpacked: Path, claim: str, recipe: str
) -> None:
    found = check(retriever, claim, recipe).evidence
    texts = {item.key: (item.title, item.sentence.text) for item in found}
    pairs = [
        (claim, path_text(texts[item.key], [texts[key] for key in item.path])) for item in found
    ]
    said = verifier(unpacked, in_search=True).probabilities(pairs).tolist()
    assert found
    subject, share = subject_of(EnglishParser().parse(claim)), RetrievalConfig().other_subject_share
    for item, opinion in zip(found, said, strict=True):
        if not subject.is_in([texts[key] for key in (*item.path, item.key)]):
            opinion = [share * opinion[0], share * opinion[1], 1 - share * sum(opinion[:2])]
        assert item.opinion == pytest.approx(opinion, abs=0.02)  # batches differ in the last digits


@pytest.mark.parametrize("recipe", SHIPPED)
@pytest.mark.parametrize("claim", ["asdf qwer", "Blorp zindle vexed the quommet."])
def test_what_shares_no_word_with_any_sentence_is_not_decided(
    retriever: Retriever, claim: str, recipe: str
) -> None:
    report = check(retriever, claim, recipe)
    assert report.verdict.label == NOT_ENOUGH_INFO
    assert not any(item.selected for item in report.evidence)


def test_a_question_for_a_thing_has_no_verdict_and_says_what_to_do(retriever: Retriever) -> None:
    report = check(retriever, "Who designed Skerrow Light?")
    assert (report.verdict.label, report.verdict.leans) == (NOT_ENOUGH_INFO, None)
    assert any("Write it as a statement" in notice for notice in report.notices)
    assert report.evidence  # what is close to it is shown all the same
    assert {item.stance for item in report.evidence} == {NOT_ENOUGH_INFO}


def test_a_sentence_that_is_not_among_the_best_is_read_with_one_that_it_completes(
    retriever: Retriever,
) -> None:
    # One sentence alone is verified, and it does not settle the claim: either says a half.
    settings = RetrievalConfig(verified_sentences=1, path_leads=1)
    recipe = replace(RECIPES["combined"], max_hops=1, settings=settings)
    report = retriever.follow(recipe, CLAIMS[0], lambda progress: None)
    assert {
        (key.document_id, item.key.document_id) for item in report.evidence for key in item.path
    }
    assert report.verdict.label == SUPPORTS

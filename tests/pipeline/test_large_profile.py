"""The large profile, with the real models."""

from __future__ import annotations

from pathlib import Path

import pytest

from retrieval.assembly import Retriever, open_retriever
from retrieval.cross_encoders.inputs import evidence_text
from retrieval.models import AddedModels, verifier
from retrieval.types import NOT_ENOUGH_INFO, REFUTES, SUPPORTS, Progress, Report

pytestmark = pytest.mark.models


@pytest.fixture(scope="module")
def base(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("models")


@pytest.fixture(scope="module")
def large(index: Path, base: Path) -> Retriever:
    retriever = open_retriever(index, threads=2, added=AddedModels(verifier_base=base))
    retriever.warm_up()
    return retriever


def check(retriever: Retriever, claim: str) -> Report:
    def ignore(progress: Progress) -> None:
        pass

    return retriever.check(claim, "esoteric", ignore)


@pytest.mark.parametrize(
    ("claim", "label"),
    [
        ("Skerrow Light was designed by Ann Lee.", SUPPORTS),
        ("Skerrow Light was first lit in 1790.", REFUTES),
        ("Ann Lee collected stamps from France.", NOT_ENOUGH_INFO),
    ],
)
def test_both_models_decide(large: Retriever, claim: str, label: str) -> None:
    report = check(large, claim)
    assert report.verdict.label == label
    assert report.verdict.judge == "MiniLM reader 2 and MPNet verifier 2"
    assert report.seconds["reranking"] > 0


@pytest.mark.parametrize(
    "claim",
    [
        "The designer of Skerrow Light was a Scottish engineer.",
        "Ann Lee collected stamps from France.",
    ],
)
def test_the_best_sentences_have_the_mean_of_two_opinions_whatever_the_round(
    large: Retriever, retriever: Retriever, base: Path, claim: str
) -> None:
    once = {item.sentence: item.opinion for item in check(retriever, claim).evidence}
    twice = check(large, claim).evidence
    assert {item.sentence for item in twice} == set(once)
    texts = [(claim, evidence_text(item.title, item.sentence.text)) for item in twice]
    for rank, (item, second) in enumerate(
        zip(twice, verifier(base).probabilities(texts).tolist(), strict=True)
    ):
        first = once[item.sentence]
        mean = [(a + b) / 2 for a, b in zip(first, second, strict=True)]
        assert item.opinion == pytest.approx(mean if rank < 5 else first, abs=0.02)  # bfloat16


def test_the_small_profile_names_its_one_model_and_reads_once(retriever: Retriever) -> None:
    report = check(retriever, "Skerrow Light was designed by Ann Lee.")
    assert report.verdict.judge == "MiniLM reader 2"
    assert "reranking" not in report.seconds

"""The stages as components of a Haystack pipeline, with the real models."""

from __future__ import annotations

import sys
from pathlib import Path
from types import ModuleType

import pytest
from haystack import Pipeline

from retrieval.index.embedded.embedded_store import EmbeddedStore
from retrieval.models.encoders import MiniLMEncoder
from retrieval.models.folders import ModelFolders
from retrieval.pipeline.assembly import pipeline_over, resources_over
from retrieval.pipeline.haystack_components import EvidenceRetriever, haystack_pipeline
from retrieval.recipes.recipes import RECIPES
from retrieval.stages.stage import Resources

pytestmark = pytest.mark.models

DESIGNED = "Skerrow Light was designed by Ann Lee."


@pytest.fixture(scope="module")
def resources(index: Path, unpacked: Path) -> Resources:
    encoder = MiniLMEncoder()
    return resources_over(EmbeddedStore.open(index, encoder.name), encoder, ModelFolders(unpacked))


def test_a_haystack_pipeline_finds_what_the_function_finds(resources: Resources) -> None:
    recipe = RECIPES["combined"]
    pipeline = haystack_pipeline(recipe, resources)
    for claim in (DESIGNED, "The designer of Skerrow Light collected stamps."):
        report = pipeline_over(resources, recipe).check(claim, lambda progress: None)
        over = pipeline.run({"claim": {"claim": claim}})["hop end"]["over"]
        assert over.evidence == report.evidence
        assert over.hops == report.hops
        assert over.verdict.label == report.verdict.label
    assert len(over.hops) > 1


def test_the_retriever_hands_the_selected_sentences_on_as_documents(resources: Resources) -> None:
    pipeline = Pipeline()
    retriever = EvidenceRetriever(pipeline_over(resources, RECIPES["esoteric"]))
    pipeline.add_component("evidence", retriever)
    found = pipeline.run({"evidence": {"query": DESIGNED}})
    first = found["evidence"]["documents"][0]
    assert first.content == "It was designed by Ann Lee and was first lit in 1871."
    assert first.meta["title"] == "Skerrow Light"
    assert first.meta["stance"] == found["evidence"]["verdict"].label == "SUPPORTS"


def test_the_example_for_hayhooks_answers_with_verdict_and_evidence(
    index: Path, unpacked: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    # Hayhooks is not installed here. It gives the wrapper its routes, and calls these two methods.
    hayhooks = ModuleType("hayhooks")
    hayhooks.BasePipelineWrapper = object  # type: ignore[attr-defined]
    monkeypatch.setitem(sys.modules, "hayhooks", hayhooks)
    monkeypatch.setenv("ESOTERIC_HOME", str(index.parent))
    from examples.hayhooks.check_claim.pipeline_wrapper import PipelineWrapper

    wrapper = PipelineWrapper()
    wrapper.setup()
    found = wrapper.run_api(DESIGNED)
    assert found["verdict"] == "SUPPORTS"
    assert found["evidence"][0]["title"] == "Skerrow Light"

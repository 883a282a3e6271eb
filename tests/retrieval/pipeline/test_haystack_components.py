"""The stages as components of a Haystack pipeline, with the real models."""

from __future__ import annotations

import sys
from pathlib import Path
from types import ModuleType

import pytest
from haystack import Pipeline

from retrieval.corpora.sources import open_corpus
from retrieval.index.embedded.embedded_index import EmbeddedIndex
from retrieval.index.embedded.embedded_store import EmbeddedStore
from retrieval.models.encoders import MiniLMEncoder
from retrieval.models.folders import ModelFolders
from retrieval.models.papers.report_networks import (
    DprDocumentEncoder,
    DprQuestionEncoder,
    MPNetEncoder,
)
from retrieval.pipeline.assembly import pipeline_over, resources_over
from retrieval.pipeline.haystack_components import EvidenceRetriever, haystack_pipeline
from retrieval.recipes.recipes import RECIPES
from retrieval.stages.stage import Resources
from tests.support.islands import write_source

pytestmark = pytest.mark.models


@pytest.fixture(scope="module")
def resources(index: Path, unpacked: Path) -> Resources:
    encoder = MiniLMEncoder()
    return resources_over(EmbeddedStore.open(index, encoder.name), encoder, ModelFolders(unpacked))


@pytest.mark.parametrize(
    "claim",
    ["Skerrow Light was designed by Ann Lee.", "The designer of Skerrow Light collected stamps."],
)
def test_a_haystack_pipeline_finds_what_the_function_finds(
    resources: Resources, claim: str
) -> None:
    recipe = RECIPES["combined"]
    report = pipeline_over(resources, recipe).check(claim, lambda progress: None)
    over = haystack_pipeline(recipe, resources).run({"claim": {"claim": claim}})["hop end"]["over"]
    assert over.evidence == report.evidence
    assert over.hops == report.hops
    assert over.verdict.label == report.verdict.label


def test_the_whole_chain_runs_in_haystack(
    tmp_path: Path, unpacked: Path, tiny_models: Path
) -> None:
    write_source(tmp_path / "islands.jsonl")
    corpus = open_corpus(f"jsonl:{tmp_path / 'islands.jsonl'}")
    EmbeddedIndex(tmp_path / "index").build(corpus, DprDocumentEncoder(tiny_models))
    store = EmbeddedStore.open(tmp_path / "index", DprQuestionEncoder(tiny_models).name)
    folders = ModelFolders(unpacked, report=tiny_models)
    resources = resources_over(store, MPNetEncoder(tiny_models), folders)
    claim = "The designer of Skerrow Light was Scottish."
    report = pipeline_over(resources, RECIPES["card"]).check(claim, lambda progress: None)
    pipeline = haystack_pipeline(RECIPES["card"], resources)
    over = pipeline.run({"claim": {"claim": claim}})["hop end"]["over"]
    assert (over.evidence, over.hops) == (report.evidence, report.hops)
    assert len(over.hops) > 1


def test_the_retriever_hands_the_selected_sentences_on_as_documents(resources: Resources) -> None:
    pipeline = Pipeline()
    retriever = EvidenceRetriever(pipeline_over(resources, RECIPES["esoteric"]))
    pipeline.add_component("evidence", retriever)
    found = pipeline.run({"evidence": {"query": "Skerrow Light was designed by Ann Lee."}})
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
    found = wrapper.run_api("Skerrow Light was designed by Ann Lee.")
    assert found["verdict"] == "SUPPORTS"
    assert found["evidence"][0]["title"] == "Skerrow Light"

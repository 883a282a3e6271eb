"""Claims checked in several corpora, by models of the user, and in pipelines of Haystack."""

import sys
from dataclasses import replace
from pathlib import Path
from types import ModuleType

import pytest
from haystack import Pipeline

from retrieval.corpora.corpus import Page
from retrieval.errors import IndexUnavailable
from retrieval.index.embedded.embedded_index import EmbeddedIndex
from retrieval.index.embedded.embedded_store import EmbeddedStore
from retrieval.llm_judge.choice import LanguageModelChoice
from retrieval.llm_judge.explainer import Explainer
from retrieval.models.encoders import MiniLMEncoder
from retrieval.models.folders import ModelFolders
from retrieval.models.own_verifier import SequenceClassifier, read_classifier
from retrieval.models.shipped import judge_name
from retrieval.pipeline.assembly import OwnCorpus, Retriever, pipeline_over, resources_over
from retrieval.pipeline.haystack_components import EvidenceRetriever, haystack_pipeline
from retrieval.recipes.recipes import NO_MODEL, RECIPES, SHIPPED
from retrieval.stages.stage import Resources
from retrieval.text.context import path_text
from retrieval.types import NOT_ENOUGH_INFO, REFUTES, SUPPORTS, Report
from retrieval.words import ABOUT_OWN, DECIDED_BY_OWN
from tests.retrieval.index.pages import ListCorpus
from tests.retrieval.llm_judge.chat_server import chat_server, says, verdict
from tests.retrieval.models.tiny_models import NLI, write_tiny_bart, write_tiny_classifier
from tests.support.encoders import WordEncoder
from tests.support.islands import TEXTS

pytestmark = pytest.mark.models

CLAIM = "Skerrow Light was sold to Tom Berg in 1960."
OWNER = Page("deed.pdf", "Deed", None, CLAIM, source="deed.pdf")
LATER = Page("deed.pdf", "Deed", None, CLAIM.replace("Tom Berg", "Ida Holm"))


def build(folder: Path, page: Page, content: str = "1") -> None:
    EmbeddedIndex(folder).build(ListCorpus((page,), content=content), MiniLMEncoder())


@pytest.fixture
def retriever(index: Path, unpacked: Path, tmp_path: Path) -> Retriever:
    build(tmp_path / "papers", OWNER)
    own = {"own_corpus": lambda name: OwnCorpus(name, name.title(), tmp_path / name)}
    return Retriever(index, tmp_path, threads=2, folders=ModelFolders(unpacked), **own)


def check(retriever: Retriever, claim: str, *corpora: str) -> Report:
    return retriever.check(claim, "esoteric", lambda _: None, corpora or None)


def test_a_claim_is_checked_in_corpora_of_its_choice(retriever: Retriever, tmp_path: Path) -> None:
    alone = check(retriever, CLAIM, "papers")
    assert alone.verdict.label == SUPPORTS
    assert alone.evidence[0].sentence.document_id == "papers:deed.pdf"
    default = check(retriever, CLAIM)
    assert default.verdict.label != SUPPORTS
    assert default.corpus.parts == ()
    assert all(":" not in ranked.document.id for ranked in default.documents)
    build(tmp_path / "papers", LATER, "2")  # which is opened again
    assert check(retriever, CLAIM, "papers").verdict.label == REFUTES
    # What cannot be searched says which, and how to mend it.
    EmbeddedIndex(tmp_path / "words").build(ListCorpus((OWNER,)), WordEncoder())
    for name in ("words", "nothing"):
        with pytest.raises(IndexUnavailable, match=f"“{name.title()}” cannot be searched") as error:
            check(retriever, CLAIM, "default", name)
        assert "Index it again" in error.value.hint


def test_ones_own_papers_come_before_the_default_corpus(retriever: Retriever) -> None:
    stages: list[str] = []

    def both(claim: str) -> Report:
        stages.clear()
        names = ("default", "papers")
        return retriever.check(claim, "esoteric", lambda one: stages.append(one.stage), names)

    decided = both(CLAIM)
    assert decided.verdict.label == SUPPORTS
    assert [part.title for part in decided.corpus.parts] == ["Papers", "islands"]
    assert all(one.document.id.startswith("papers:") for one in decided.documents)
    assert decided.notices[-1] == DECIDED_BY_OWN
    assert (stages.count("start"), stages.count("done"), stages[-1]) == (1, 1, "done")
    left_open = both("Skerrow Light was designed by Ada Moss.")
    assert left_open.verdict.label != NOT_ENOUGH_INFO
    assert [part.title for part in left_open.corpus.parts] == ["Papers", "islands"]
    assert left_open.corpus.documents == 7
    assert DECIDED_BY_OWN not in left_open.notices
    assert stages.count("done") == 1
    sources = {ranked.document.id: ranked.document.source for ranked in left_open.documents}
    assert sources["papers:deed.pdf"] == "Papers: deed.pdf"
    assert sources["Skerrow_Light"] == "islands"
    assert {"papers:deed.pdf"} < {item.sentence.document_id for item in left_open.evidence}


def test_what_is_about_ones_own_papers_is_not_decided_by_a_text_about_something_else(
    retriever: Retriever, tmp_path: Path
) -> None:
    text = "The lighthouse has a small shop. The lighthouse was painted white in 1902."
    build(tmp_path / "rules", Page("rules.txt", "Rules", None, text, source="rules.txt"))
    claim = "The lighthouse was first lit in 1880."  # which another lighthouse was in 1871
    default = retriever.check(claim, "combined", lambda _: None)
    assert (default.verdict.label, default.evidence[0].title) == (REFUTES, "Skerrow Light")
    report = retriever.check(claim, "combined", lambda _: None, ("default", "rules"))
    assert report.verdict.label == NOT_ENOUGH_INFO
    assert report.notices[-1] == ABOUT_OWN
    own = [item.sentence.document_id == "rules:rules.txt" for item in report.evidence]
    assert own == sorted(own, reverse=True)  # the papers come first
    assert own[0]
    assert not any(item.selected for item in report.evidence if item.title == "Skerrow Light")
    # A text that the claim names decides it.
    claim = "A lighthouse guides ships."
    report = retriever.check(claim, "combined", lambda _: None, ("default", "rules"))
    assert (report.verdict.label, report.evidence[0].title) == (SUPPORTS, "Lighthouse")


# --- the user's own models


def test_the_users_own_bart_generates_titles(index: Path, unpacked: Path, tmp_path: Path) -> None:
    write_tiny_bart(tmp_path, [*TEXTS, *TEXTS.values()])
    retriever = Retriever(index, tmp_path, threads=2, folders=ModelFolders(unpacked, bart=tmp_path))
    recipe = replace(RECIPES["esoteric"], next=("generation",))
    claim = "The designer of Skerrow Light collected stamps."
    report = retriever.follow(recipe, claim, lambda progress: None)
    later = [ranked for ranked in report.documents if ranked.hop == 2]
    assert later
    assert {ranked.found_by for ranked in later} == {("generation",)}


LABELS = {"combined": NLI, "fer": ("not_entailment", "entailment")}


@pytest.mark.parametrize("recipe", LABELS)
def test_the_users_own_verifier_labels_the_evidence_and_names_the_verdict(
    index: Path, unpacked: Path, tmp_path: Path, recipe: str
) -> None:
    folder = write_tiny_classifier(tmp_path / "my-nli", "deberta-v2", LABELS[recipe])
    folders = ModelFolders(unpacked, verifier=folder)
    retriever = Retriever(index, tmp_path, threads=2, folders=folders)
    retriever.warm_up(RECIPES[recipe])
    claim = "The designer of Skerrow Light was a Scottish engineer."
    # With this share, readings of sentences about something else keep their probabilities.
    settings = replace(RECIPES[recipe].settings, other_subject_share=1.0)
    report = retriever.follow(replace(RECIPES[recipe], settings=settings), claim, lambda _: None)
    assert report.verdict.judge == f"my-nli {read_classifier(folder).digest[:8]}"
    texts = {item.key: (item.title, item.sentence.text) for item in report.evidence}
    paths = [path_text(texts[i.key], [texts[key] for key in i.path]) for i in report.evidence]
    model = SequenceClassifier(read_classifier(folder))
    said = model.probabilities([(claim, path) for path in paths]).tolist()
    assert report.evidence
    for item, opinion in zip(report.evidence, said, strict=True):
        assert item.opinion == pytest.approx(opinion, abs=1e-4)


def test_recipes_have_judges_that_they_name(index: Path, unpacked: Path, tmp_path: Path) -> None:
    own = write_tiny_classifier(tmp_path / "my-nli", "deberta-v2")
    with chat_server() as chat:
        chat.answers(says(verdict("REFUTES", (1,), "It was red.")))
        explainer = Explainer(LanguageModelChoice("small", chat.url, "secret"), None)
        folders = ModelFolders(unpacked, verifier=own)
        retriever = Retriever(index, tmp_path, 2, folders, explainer)

        def judge(verifier: str | None, model: str | None) -> str:
            recipe = replace(RECIPES["fer"], verifier=verifier, language_model=model)
            claim = "The designer of Skerrow Light was a Scottish engineer."
            return retriever.follow(recipe, claim, lambda _: None).verdict.judge

        mine = read_classifier(own).name
        shipped = judge_name(ModelFolders(unpacked))
        assert [judge(None, NO_MODEL), judge(str(own), NO_MODEL)] == [mine, mine]
        assert judge(SHIPPED, NO_MODEL) == shipped
        # The settings name its server and its key; a recipe names a model there.
        assert chat.requests == []
        judges = [judge(SHIPPED, None), judge(SHIPPED, "large")]
        assert judges == [f"{model} at {chat.host}" for model in ("small", "large")]
        assert [one.body["model"] for one in chat.requests] == ["small", "large"]


DESIGNED = "Skerrow Light was designed by Ann Lee."


@pytest.fixture(scope="module")
def resources(index: Path, unpacked: Path) -> Resources:
    encoder = MiniLMEncoder()
    return resources_over(EmbeddedStore.open(index, encoder.name), encoder, ModelFolders(unpacked))


def test_a_recipe_says_whether_the_shipped_verifier_reads_what_is_computed(
    resources: Resources,
) -> None:
    claim = "Ann Lee led the yard in 1871."
    evidence = "Yard : Ann Lee led the yard from 1868 to 1880."
    noted = f"{evidence[:-1]} (1871 is between 1868 and 1880)."
    with_it, without = (
        replace(resources, computed=computed).verifier.probabilities([(claim, evidence)])
        for computed in (True, False)
    )
    as_given = replace(resources, computed=False).verifier.probabilities([(claim, noted)])
    assert with_it.tolist() == as_given.tolist() != without.tolist()
    recipe = RECIPES["esoteric"]
    settings = replace(recipe.settings, computed=False)
    report = pipeline_over(resources, replace(recipe, settings=settings)).check(
        DESIGNED, lambda progress: None
    )
    assert report.verdict.label == SUPPORTS


# --- the stages as components of a Haystack pipeline


def test_a_haystack_pipeline_finds_what_the_function_finds(resources: Resources) -> None:
    recipe = RECIPES["combined"]
    for claim in (DESIGNED, "The designer of Skerrow Light collected stamps."):
        report = pipeline_over(resources, recipe).check(claim, lambda progress: None)
        pipeline = haystack_pipeline(recipe, resources)
        over = pipeline.run({"claim": {"claim": claim}})["hop end"]["over"]
        assert over.evidence == report.evidence
        assert over.hops == report.hops
        assert over.verdict.label == report.verdict.label
    assert len(over.hops) > 1
    # The retriever hands the selected sentences on as documents.
    pipeline = Pipeline()
    retriever = EvidenceRetriever(pipeline_over(resources, RECIPES["esoteric"]))
    pipeline.add_component("evidence", retriever)
    found = pipeline.run({"evidence": {"query": DESIGNED}})
    first = found["evidence"]["documents"][0]
    assert first.content == "It was designed by Ann Lee and was first lit in 1871."
    assert first.meta["title"] == "Skerrow Light"
    assert first.meta["stance"] == found["evidence"]["verdict"].label == "SUPPORTS"


def test_a_haystack_pipeline_has_the_verifier_that_its_recipe_names(
    resources: Resources, tmp_path: Path
) -> None:
    own = write_tiny_classifier(tmp_path / "my-nli", "deberta-v2")
    pipeline = haystack_pipeline(replace(RECIPES["fer"], verifier=str(own)), resources)
    over = pipeline.run({"claim": {"claim": DESIGNED}})["hop end"]["over"]
    assert over.verdict.judge == read_classifier(own).name


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

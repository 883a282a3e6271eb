"""The recipe ``report``, by the real loading code over small models."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest

from research.evaluation.evaluate import _models_of
from research.evaluation.systems import folders_used
from retrieval.corpora.sources import open_corpus
from retrieval.errors import IndexUnavailable, ModelUnavailable
from retrieval.index.embedded.embedded_index import EmbeddedIndex
from retrieval.models.document_encoders import DOCUMENT_ENCODERS, encoder_of
from retrieval.models.encoders import MiniLMEncoder
from retrieval.models.folders import ModelFolders
from retrieval.models.papers.report_models import LOCK, NAMES, REPORT_MODELS
from retrieval.models.shipped import judge_name, models_digest
from retrieval.pipeline.assembly import Retriever
from retrieval.recipes.recipes import RECIPES
from retrieval.result import claim_result
from retrieval.types import SUPPORTS, Progress
from tests.support.islands import write_source

pytestmark = pytest.mark.models

CLAIM = "Skerrow Light was designed by Ann Lee."


def ignore(progress: Progress) -> None:
    pass


@pytest.fixture(scope="module")
def dpr_index(tmp_path_factory: pytest.TempPathFactory, tiny_models: Path) -> Path:
    folder = tmp_path_factory.mktemp("dpr")
    write_source(folder / "islands.jsonl")
    index = EmbeddedIndex(folder / "index")
    index.build(open_corpus(f"jsonl:{folder / 'islands.jsonl'}"), None)
    index.encode(DOCUMENT_ENCODERS["dpr"](ModelFolders(folder, report=tiny_models)))
    index.verify()
    return folder / "index"


def opened(index: Path, unpacked: Path, models: Path | None) -> Retriever:
    folders = ModelFolders(unpacked, report=models)
    return Retriever(index, index.parent / "snapshots", threads=2, folders=folders)


def test_a_claim_is_checked_by_the_reports_models_over_vectors_of_dpr(
    dpr_index: Path, unpacked: Path, tiny_models: Path
) -> None:
    seen: list[Progress] = []
    report = opened(dpr_index, unpacked, tiny_models).check(CLAIM, "report", seen.append)
    document = claim_result(report).document()
    assert json.loads(json.dumps(document)) == document
    texts = {entry["id"]: entry["text"] for entry in document["documents"]}
    assert document["evidence"]
    for item in document["evidence"]:
        assert texts[item["document"]][item["start"] : item["end"]] == item["sentence"]
    assert document["recipe"] == "report"
    assert report.verdict.label == SUPPORTS
    assert len(report.hops) == 1
    assert any("Looking for: Skerrow Light; Ann Lee" in step.message for step in seen)
    assert report.questions[-1].text == "Was Skerrow Light designed by Ann Lee?"
    scores = {ranked.document.title: ranked.score for ranked in report.documents}
    assert scores["Skerrow Light"] == scores["Ann Lee"] == 1
    assert all(0.65 <= score <= 1 for score in scores.values())


def test_over_vectors_of_dpr_the_worker_loads_the_models_of_the_report(
    dpr_index: Path, unpacked: Path, tiny_models: Path
) -> None:
    retriever = opened(dpr_index, unpacked, tiny_models)
    retriever.warm_up()
    assert retriever.info().encoder.startswith("dpr-ctx_encoder-single-nq-base ")
    assert not retriever.stale()
    with pytest.raises(IndexUnavailable, match=r"not of all-MiniLM-L6-v2") as refused:
        retriever.check(CLAIM, "combined", ignore)
    assert refused.value.hint.startswith("Use --recipe report, or run: ")
    assert refused.value.hint.endswith("esoteric index encode")


def test_other_vectors_are_refused_with_the_command_that_makes_those_of_dpr(
    index: Path, tmp_path: Path, unpacked: Path, tiny_models: Path
) -> None:
    write_source(tmp_path / "islands.jsonl")
    EmbeddedIndex(tmp_path / "index").build(
        open_corpus(f"jsonl:{tmp_path / 'islands.jsonl'}"), None
    )
    for folder in (index, tmp_path / "index"):
        with pytest.raises(IndexUnavailable, match=r"not of dpr-question_encoder") as refused:
            opened(folder, unpacked, tiny_models).check(CLAIM, "report", ignore)
        assert refused.value.hint.endswith("esoteric index encode --vectors dpr")


def test_both_kinds_of_recipe_serve_from_one_retriever(
    index: Path, unpacked: Path, tiny_models: Path
) -> None:
    retriever = opened(index, unpacked, tiny_models)
    retriever.warm_up(RECIPES["esoteric"])
    with pytest.raises(IndexUnavailable):
        retriever.check(CLAIM, "report", ignore)
    assert retriever.check(CLAIM, "esoteric", ignore).verdict.label == SUPPORTS
    assert retriever.info().encoder == MiniLMEncoder.name


def test_an_index_of_dpr_is_added_to_with_the_same_encoder(
    dpr_index: Path, tiny_models: Path
) -> None:
    name = EmbeddedIndex(dpr_index).open(None).info().encoder
    found = encoder_of(name, ModelFolders(dpr_index, report=tiny_models))
    assert found is not None
    assert found.name == name


def test_results_with_other_models_of_the_report_have_another_digest(
    tmp_path: Path, tiny_models: Path
) -> None:
    other = tmp_path / "models"
    shutil.copytree(tiny_models, other)
    (other / LOCK).write_bytes((other / LOCK).read_bytes() + b"\n")
    folders = [None, tiny_models, other]
    assert len({models_digest(ModelFolders(tmp_path, report=folder)) for folder in folders}) == 3


def test_the_models_of_the_report_count_only_where_its_recipe_is_measured(
    tmp_path: Path, tiny_models: Path
) -> None:
    folders = ModelFolders(tmp_path, report=tiny_models)
    assert folders_used(["report", "bm25"], folders) == folders
    assert folders_used(["esoteric", "bm25"], folders) == ModelFolders(tmp_path)
    with pytest.raises(ModelUnavailable, match="names no folder"):
        folders_used(["report"], ModelFolders(tmp_path))


def test_the_report_of_an_evaluation_names_the_models_of_the_report(
    tmp_path: Path, tiny_models: Path
) -> None:
    folders = ModelFolders(tmp_path, report=tiny_models)
    names = _models_of(["report", "bm25"], folders, {})
    assert names[0] == judge_name(folders)
    assert [name.split()[0] for name in names[1:]] == [model.name for model in REPORT_MODELS]
    assert NAMES.name not in " ".join(_models_of(["esoteric"], folders, {}))

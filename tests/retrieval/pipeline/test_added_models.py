"""Models that an installation adds to the shipped ones, in the whole pipeline."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from retrieval.models.folders import ModelFolders
from retrieval.models.own_verifier import SequenceClassifier, read_classifier
from retrieval.pipeline.assembly import Retriever
from retrieval.recipes.recipes import RECIPES
from retrieval.text.model_texts import path_text
from tests.retrieval.models.tiny_models import write_tiny_bart, write_tiny_classifier
from tests.support.islands import TEXTS

pytestmark = pytest.mark.models


def test_the_users_own_bart_generates_the_titles(
    index: Path, unpacked: Path, tmp_path: Path
) -> None:
    write_tiny_bart(tmp_path, [*TEXTS, *TEXTS.values()])
    retriever = Retriever(index, tmp_path, threads=2, folders=ModelFolders(unpacked, bart=tmp_path))
    recipe = replace(RECIPES["esoteric"], next=("generation",))
    claim = "The designer of Skerrow Light collected stamps."
    report = retriever.follow(recipe, claim, lambda progress: None)
    later = [ranked for ranked in report.documents if ranked.hop == 2]
    assert later
    assert {ranked.found_by for ranked in later} == {("generation",)}


@pytest.mark.parametrize("recipe", ["combined", "fer"])
@pytest.mark.parametrize(
    "labels", [("contradiction", "neutral", "entailment"), ("not_entailment", "entailment")]
)
def test_the_users_own_verifier_labels_the_evidence_and_gives_the_verdict_its_name(
    index: Path, unpacked: Path, tmp_path: Path, recipe: str, labels: tuple[str, ...]
) -> None:
    folder = write_tiny_classifier(tmp_path / "my-nli", "deberta-v2", labels)
    folders = ModelFolders(unpacked, verifier=folder)
    retriever = Retriever(index, tmp_path, threads=2, folders=folders)
    retriever.warm_up(RECIPES[recipe])
    claim = "The designer of Skerrow Light was a Scottish engineer."
    # With this share, readings of sentences about something else keep their probabilities.
    settings = replace(RECIPES[recipe].settings, other_subject_share=1.0)
    report = retriever.follow(replace(RECIPES[recipe], settings=settings), claim, lambda _: None)
    assert report.verdict.judge == f"my-nli {read_classifier(folder).digest[:8]}"
    texts = {item.key: (item.title, item.sentence.text) for item in report.evidence}
    pairs = [
        (claim, path_text(texts[item.key], [texts[key] for key in item.path]))
        for item in report.evidence
    ]
    said = SequenceClassifier(read_classifier(folder)).probabilities(pairs).tolist()
    assert report.evidence
    for item, opinion in zip(report.evidence, said, strict=True):
        assert item.opinion == pytest.approx(opinion, abs=1e-4)

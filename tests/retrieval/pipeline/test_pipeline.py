"""The whole way of a claim, with the real models."""

from __future__ import annotations

import json
import re
from functools import cache
from pathlib import Path

import pytest

from retrieval.errors import IndexUnavailable, InvalidClaim, UnknownRecipe
from retrieval.models.folders import ModelFolders
from retrieval.pipeline.assembly import Retriever
from retrieval.recipes.config import RetrievalConfig
from retrieval.recipes.recipes import RECIPES
from retrieval.result import claim_result
from retrieval.types import NOT_ENOUGH_INFO, REFUTES, SUPPORTS, Report, SentenceKey
from tests.support.retrievers import check
from tests.support.shipped_recipes import SHIPPED

pytestmark = pytest.mark.models

CLAIMS = [
    "Skerrow Light was designed by Ann Lee.",
    "The designer of Skerrow Light was a Scottish engineer.",
    "Skerrow Light was first lit in 1790.",
    "Ann Lee collected stamps.",
    "skerrow light is painted red and white",
    "Is Dundee in Scotland?",
    '<b>Ann Lee</b> " OR 1=1 -- *?:()',
    "Анн Ли была инженером.",
    "word " * 100,
    "Ok",
]


@cache
def checked(retriever: Retriever, claim: str, recipe: str = "esoteric") -> Report:
    """Check a claim once, whatever is asked of its report."""
    return check(retriever, claim, recipe)


every_recipe = pytest.mark.parametrize("recipe", list(SHIPPED))


@every_recipe
@pytest.mark.parametrize(
    ("claim", "label", "title"),
    [
        ("Skerrow Light was designed by Ann Lee.", SUPPORTS, "Skerrow Light"),
        ("Skerrow Light was first lit in 1790.", REFUTES, "Skerrow Light"),
        ("Ann Lee collected stamps from France.", NOT_ENOUGH_INFO, None),
    ],
)
def test_the_verdict_rests_on_the_sentence_that_decides(
    retriever: Retriever, claim: str, label: str, title: str | None, recipe: str
) -> None:
    report = checked(retriever, claim, recipe)
    assert report.verdict.label == label
    assert 1 / 3 < report.verdict.confidence <= 1
    if title is not None:
        assert report.evidence[0].title == title
        assert report.evidence[0].selected
        assert report.evidence[0].sentence.text in report.verdict.rationale


@every_recipe
@pytest.mark.parametrize("claim", CLAIMS)
def test_every_quoted_sentence_is_cut_out_of_its_document_by_its_offsets(
    retriever: Retriever, claim: str, recipe: str
) -> None:
    document = claim_result(checked(retriever, claim, recipe)).document()
    texts = {entry["id"]: entry["text"] for entry in document["documents"]}
    for item in document["evidence"]:
        assert texts[item["document"]][item["start"] : item["end"]] == item["sentence"]
    for hop in document["hops"]:
        assert all(document["claim"][start:end].strip() for start, end in hop["missing"])
    assert json.loads(json.dumps(document)) == document


@every_recipe
@pytest.mark.parametrize("claim", CLAIMS)
def test_a_proof_covers_the_claim_and_points_into_the_selected_sentences(
    retriever: Retriever, claim: str, recipe: str
) -> None:
    report = checked(retriever, claim, recipe)
    if "proof" not in RECIPES[recipe].hop:
        assert report.proof is None
        return
    assert report.proof is not None
    steps = report.proof.mutations
    words = re.findall(r"\w+", report.claim)
    parts = " ".join(report.claim[slice(*step.claim_span)] for step in steps)
    assert re.findall(r"\w+", parts) == words
    selected = {item.key: item.sentence for item in report.evidence if item.selected}
    for mutation in steps:
        if mutation.evidence is None:
            assert mutation.operator == "independence"
            continue
        sentence = selected[mutation.evidence.key]
        assert sentence.start <= mutation.evidence.start < mutation.evidence.end <= sentence.end
    last = report.hops[-1]
    if RECIPES[recipe].ending == "proved":
        assert last.sufficient == report.proof.sufficient
    assert last.missing == report.proof.open


@pytest.mark.parametrize("claim", CLAIMS)
def test_the_verdict_rests_on_what_the_proof_needs_and_on_what_is_nearly_the_best(
    retriever: Retriever, claim: str
) -> None:
    report = checked(retriever, claim, "combined")
    assert report.proof is not None
    selected = [item for item in report.evidence if item.selected]
    best = max((item.score for item in selected), default=0.0)
    kept = {m.evidence.key for m in report.proof.mutations if m.evidence is not None}
    kept |= {i.key for i in selected if i.score >= RetrievalConfig().unproved_share * best}
    led = {key for item in selected if item.key in kept for key in item.path}
    assert {item.key for item in selected} == kept | led


@pytest.mark.parametrize("claim", CLAIMS)
def test_evidence_is_best_first_and_what_comes_near_the_best_is_selected(
    retriever: Retriever, claim: str
) -> None:
    evidence = checked(retriever, claim).evidence
    scores = [round(item.score, 3) for item in evidence]
    assert scores == sorted(scores, reverse=True)
    bar = RetrievalConfig().selection_share * max((item.score for item in evidence), default=0.0)
    assert [item.selected for item in evidence] == [
        rank < 5 and item.score >= bar for rank, item in enumerate(evidence)
    ]


@every_recipe
def test_documents_of_the_selected_sentences_come_first_in_their_order(
    retriever: Retriever, recipe: str
) -> None:
    report = checked(retriever, "The designer of Skerrow Light was a Scottish engineer.", recipe)
    selected = [item.sentence.document_id for item in report.evidence if item.selected]
    of_selected = list(dict.fromkeys(selected))
    documents = [ranked.document.id for ranked in report.documents]
    assert len(documents) > len(of_selected) > 0
    assert documents[: len(of_selected)] == of_selected
    assert len(set(documents)) == len(documents)


def test_what_the_first_round_leaves_open_is_looked_for_in_what_it_mentions(
    retriever: Retriever,
) -> None:
    report = checked(retriever, "The designer of Skerrow Light collected stamps.")
    assert [hop.hop for hop in report.hops] == [1, 2]
    assert not report.hops[0].sufficient
    found = {ranked.document.title: (ranked.found_by, ranked.hop) for ranked in report.documents}
    assert found["Skerrow Light"][1] == 1
    assert found["Ann Lee"] == (("mention",), 2)


def test_a_document_of_a_later_round_names_the_sentence_that_led_to_it(
    retriever: Retriever,
) -> None:
    # Dense retrieval opens all of so small a corpus in the first round.
    recipe = RECIPES["combined"].without("dense")
    report = retriever.follow(
        recipe, "The designer of Skerrow Light collected stamps.", lambda _: None
    )
    led_by = {r.document.title: r.led_by for r in report.documents if r.hop > 1}
    assert led_by["Ann Lee"] == SentenceKey("Skerrow_Light", 1)


def test_no_state_of_one_claim_reaches_the_next(retriever: Retriever) -> None:
    def result_of(claim: str) -> object:
        document = claim_result(check(retriever, claim, "esoteric")).document()
        return {key: value for key, value in document.items() if key != "seconds"}

    alone = [result_of(claim) for claim in CLAIMS[:4]]
    assert [result_of(claim) for claim in reversed(CLAIMS[:4])] == alone[::-1]


def test_what_is_no_claim_and_what_is_no_recipe_is_refused(retriever: Retriever) -> None:
    with pytest.raises(InvalidClaim):
        checked(retriever, "  ")
    with pytest.raises(UnknownRecipe, match="Use one of: combined, esoteric"):
        retriever.check("Skerrow is an island.", "soup", lambda _: None)


def test_without_an_index_the_command_that_builds_one_is_named(tmp_path: Path) -> None:
    with pytest.raises(IndexUnavailable, match="esoteric index build"):
        Retriever(tmp_path, tmp_path, threads=2, folders=ModelFolders(tmp_path)).warm_up()


def test_an_index_that_was_swapped_is_noticed(index: Path, retriever: Retriever) -> None:
    assert not retriever.stale()
    current = index / "current"
    target = current.readlink()
    current.unlink()
    current.symlink_to("versions/other")
    try:
        assert retriever.stale()
    finally:
        current.unlink()
        current.symlink_to(target)

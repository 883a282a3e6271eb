"""The whole way of a claim, with the real models, over small corpora."""

import json
import re
import time
from collections.abc import Mapping
from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import Any

import pytest

from cli.claim_text import as_text
from retrieval.corpora.corpus import Page
from retrieval.corpora.sources import open_corpus
from retrieval.errors import IndexUnavailable, InvalidClaim, UnknownRecipe
from retrieval.index.embedded.embedded_index import EmbeddedIndex
from retrieval.models.folders import ModelFolders
from retrieval.models.shipped import VERIFIER, verifier
from retrieval.models.trained_model import read_config, version_of
from retrieval.pipeline.assembly import Retriever
from retrieval.recipes.recipes import RECIPES, Recipe, RetrievalConfig
from retrieval.result import claim_result
from retrieval.text.context import path_text
from retrieval.types import NOT_ENOUGH_INFO, REFUTES, SUPPORTS, Proof, Report, SentenceKey
from settings import CHECKOUT
from tests.retrieval.index.pages import ListCorpus
from tests.support.cases import cases
from tests.support.json_lines import write_json_lines
from tests.support.retrievers import check, retriever_over
from tests.support.shipped_recipes import SHIPPED

pytestmark = pytest.mark.models

DESIGNED, LIT = "Skerrow Light was designed by Ann Lee.", "Skerrow Light was first lit in 1790."
ENGINEER = "The designer of Skerrow Light was a Scottish engineer."
STAMPS = "The designer of Skerrow Light collected stamps."
CLAIMS = [
    *(DESIGNED, ENGINEER, LIT),
    "灯台" * 240,  # in another script, and longer than the window of a model
    *("Ann Lee collected stamps from France.", "skerrow light is painted red and white"),
    *("Is Dundee in Scotland?", '<b>Ann Lee</b> " OR 1=1 -- *?:()', "word " * 100, "Ok"),
]
every_recipe = pytest.mark.parametrize("recipe", list(SHIPPED))


@cache
def checked(retriever: Retriever, claim: str, recipe: str = "esoteric") -> Report:
    """Check a claim once, whatever is asked of its report."""
    return check(retriever, claim, recipe)


@every_recipe
@cases("checks", "claim", "label", "title")
def test_the_verdict_rests_on_the_sentence_that_decides(
    retriever: Retriever, claim: str, label: str, title: str | None, recipe: str
) -> None:
    report = checked(retriever, claim, recipe)
    assert report.verdict.label == label
    assert report.verdict.judge.removesuffix(" + quantities") == version_of(read_config(VERIFIER))
    assert 1 / 3 < report.verdict.confidence <= 1
    assert report.seconds["verification"] > 0
    if title:
        assert report.evidence[0].title == title
        assert report.evidence[0].selected
        assert report.evidence[0].sentence.text in report.verdict.rationale
    elif title is not None:
        assert not any(item.selected for item in report.evidence)


@every_recipe
def test_sentences_and_parts_are_cut_out_by_offsets(retriever: Retriever, recipe: str) -> None:
    for claim in CLAIMS if recipe == "combined" else CLAIMS[:4]:
        report = checked(retriever, claim, recipe)
        assert_quoted(report)
        assert (report.proof is not None) == ("proof" in RECIPES[recipe].hop)
        if report.proof is not None:
            assert_covered(report, report.proof, RECIPES[recipe])
    # Documents of the selected sentences come first in their order.
    report = checked(retriever, ENGINEER, recipe)
    selected = [item.sentence.document_id for item in report.evidence if item.selected]
    of_selected = list(dict.fromkeys(selected))
    documents = [ranked.document.id for ranked in report.documents]
    assert len(documents) > len(of_selected) > 0
    assert documents[: len(of_selected)] == of_selected
    assert len(set(documents)) == len(documents)


def assert_covered(report: Report, proof: Proof, recipe: Recipe) -> None:
    """The parts of a proof are all words of the claim, and quote selected sentences."""
    parts = " ".join(report.claim[slice(*step.claim_span)] for step in proof.mutations)
    assert re.findall(r"\w+", parts) == re.findall(r"\w+", report.claim)
    selected = {item.key: item.sentence for item in report.evidence if item.selected}
    for quoted in (step.evidence for step in proof.mutations if step.evidence is not None):
        sentence = selected[quoted.key]
        assert sentence.start <= quoted.start < quoted.end <= sentence.end
    if recipe.ending == "proved":
        assert report.hops[-1].sufficient == proof.sufficient
    assert report.hops[-1].missing == proof.open


def assert_quoted(report: Report) -> None:
    """The offsets of a document lead to what it quotes, and JSON can carry it."""
    document = claim_result(report).document()
    texts = {entry["id"]: entry["text"] for entry in document["documents"]}
    for item in document["evidence"]:
        assert texts[item["document"]][item["start"] : item["end"]] == item["sentence"]
    for hop in document["hops"]:
        assert all(document["claim"][start:end].strip() for start, end in hop["missing"])
    for step in document["proof"]:
        assert document["claim"][slice(*step["claim_span"])].strip()
        if step["evidence"]:
            name, _, start, end = step["evidence"]
            assert texts[name][start:end].strip()
    assert json.loads(json.dumps(document)) == document


def test_the_stance_of_a_sentence_is_the_verifiers(retriever: Retriever, unpacked: Path) -> None:
    # With this share, readings of sentences about something else keep their probabilities.
    recipe = replace(RECIPES["esoteric"], settings=RetrievalConfig(other_subject_share=1.0))
    found = retriever.follow(recipe, ENGINEER, lambda _: None).evidence
    texts = {item.key: (item.title, item.sentence.text) for item in found}
    paths = [path_text(texts[item.key], [texts[key] for key in item.path]) for item in found]
    said = verifier(unpacked, in_search=True).probabilities([(ENGINEER, path) for path in paths])
    assert found
    for item, opinion in zip(found, said.tolist(), strict=True):
        assert item.opinion == pytest.approx(opinion, abs=0.02)  # batches differ in the last digits


def test_what_is_open_is_looked_for_or_read_with_what_it_completes(retriever: Retriever) -> None:
    report = checked(retriever, STAMPS)
    assert [hop.hop for hop in report.hops] == [1, 2]
    assert not report.hops[0].sufficient
    found = {ranked.document.title: ranked for ranked in report.documents}
    assert found["Skerrow Light"].hop == 1
    lee = found["Ann Lee"]
    assert (lee.found_by, lee.hop, lee.led_by) == (("mention",), 2, SentenceKey("Skerrow_Light", 1))
    # A sentence that is not among the best is read with one that it completes.
    # One sentence alone is verified, and it does not settle the claim: either says a half.
    settings = RetrievalConfig(verified_sentences=1, path_leads=1)
    recipe = replace(RECIPES["combined"], max_hops=1, settings=settings)
    report = retriever.follow(recipe, ENGINEER, lambda progress: None)
    assert any(item.path for item in report.evidence)
    assert report.verdict.label == SUPPORTS


def test_a_question_for_a_thing_has_no_verdict_and_says_what_to_do(retriever: Retriever) -> None:
    report = check(retriever, "Who designed Skerrow Light?")
    assert (report.verdict.label, report.verdict.leans) == (NOT_ENOUGH_INFO, None)
    assert any("Write it as a statement" in notice for notice in report.notices)
    assert report.evidence  # what is close to it is shown all the same
    assert {item.stance for item in report.evidence} == {NOT_ENOUGH_INFO}


def test_what_is_no_claim_recipe_or_index_is_refused(retriever: Retriever, tmp_path: Path) -> None:
    with pytest.raises(InvalidClaim):
        checked(retriever, "  ")
    with pytest.raises(UnknownRecipe, match="Use one of: combined, esoteric"):
        retriever.check("Skerrow is an island.", "soup", lambda _: None)
    with pytest.raises(IndexUnavailable, match="esoteric index build"):
        Retriever(tmp_path, tmp_path, threads=2, folders=ModelFolders(tmp_path)).warm_up()


def test_no_state_reaches_the_next_claim(retriever: Retriever, index: Path) -> None:
    def result_of(report: Report) -> object:
        document = claim_result(report).document()
        return {key: value for key, value in document.items() if key != "seconds"}

    for claim in (LIT, ENGINEER, DESIGNED):
        again = check(retriever, claim, "esoteric")
        assert result_of(again) == result_of(checked(retriever, claim))
    # An index that was swapped is noticed.
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


# --- sentences that say something else without their neighbours


def over_texts(texts: Mapping[str, str], folder: Path, unpacked: Path) -> Retriever:
    """A retriever over files with these titles and texts."""
    (folder / "texts").mkdir()
    for number, (title, text) in enumerate(texts.items()):
        (folder / "texts" / f"text{number}.txt").write_text(f"{title}\n\n{text}\n")
    return retriever_over(open_corpus(f"folder:{folder / 'texts'}"), folder, unpacked)


@pytest.fixture(scope="module")
def town(tmp_path_factory: pytest.TempPathFactory, unpacked: Path) -> Retriever:
    corpus = open_corpus(f"folder:{CHECKOUT / 'tests' / 'cases' / 'town'}")
    return retriever_over(corpus, tmp_path_factory.mktemp("town"), unpacked)


@cases("checks", "claim", "document", "before", "sentence")
def test_what_is_read_together_is_shown_together(
    town: Retriever, claim: str, document: str, before: str, sentence: str
) -> None:
    result = claim_result(check(town, claim))
    # One of the two sentences, each the other's context: that which says what is so.
    best = result.selected[0]
    assert (best.document, best.context_before, best.sentence) == (document, before, sentence)
    assert best.context_after is None
    assert f"{before} {sentence}" in result.verdict.rationale
    assert not [item for item in result.evidence if item.sentence == before]
    assert f"[{before}] {sentence}" in " ".join(as_text(result).split())
    if document == "bridge.md":  # the answer decides what the question only mentions
        assert result.verdict.label == REFUTES
    # A sentence that says all by itself has no context.
    result = claim_result(checked(town, "The town owns the fish market of Ostrell.", "combined"))
    owner = "The land register names the town as the owner."
    (item,) = [item for item in result.evidence if item.sentence == owner]
    assert (item.context_before, item.context_after) == (None, None)


@cases("checks", "claim", "notices")
def test_a_notice_says_that_a_text_is_old(town: Retriever, claim: str, notices: Any) -> None:
    result = claim_result(check(town, claim))
    assert list(result.notices) == notices
    best = result.selected[0]
    assert best.date == result.documents[0].date
    assert best.date == ("2024-03-03" if "lamp" in claim else None)


# --- evidence that was copied, that disagrees or is about something else


def test_copies_have_one_place_beside_what_contradicts_them(tmp_path: Path, unpacked: Path) -> None:
    said = "The brewery of Holmstead has 120 employees."
    other = "The brewery of Holmstead employs 45 people since its second hall was closed."
    texts = {**{f"Morning paper {n}": said for n in range(1, 8)}, "Holmstead weekly": other}
    claim = "The brewery of Holmstead employs 120 people."
    result = claim_result(check(over_texts(texts, tmp_path, unpacked), claim))
    (press,) = [item for item in result.evidence if item.sentence == said]
    assert (press.copies, press.stance, press.selected) == (7, "SUPPORTS", True)
    (later,) = [item for item in result.evidence if item.sentence == other]
    assert (later.copies, later.stance, later.selected) == (1, "REFUTES", True)
    verdict = result.verdict
    against = {"SUPPORTS": later, "REFUTES": press}[verdict.leans or verdict.label]
    assert [result.evidence[number - 1] for number in verdict.disagreement] == [against]


def test_a_text_about_another_town_does_not_decide(tmp_path: Path, unpacked: Path) -> None:
    texts = {
        "Varnby": "Varnby is the capital of the northern part of the island.",
        "Holmstead": "Holmstead is the capital of the southern part of the island.",
    }
    over = over_texts(texts, tmp_path, unpacked)
    result = claim_result(check(over, "Ellesund is the capital of the island."))
    assert result.verdict.label == NOT_ENOUGH_INFO
    assert {item.stance for item in result.evidence} <= {NOT_ENOUGH_INFO}


# --- corpora and claims that nobody hopes for

SECONDS = 60.0  # far more than any claim takes here, far less than what is not bounded
LONG = "The harbour wall of Ostrell was mended again, " * 80 + "and so it stands."
# Titles and texts; "{n}" stands for the numbers up to 2000.
CORPORA: dict[str, list[list[str]]] = json.loads(
    (CHECKOUT / "tests" / "cases" / "odd_corpora.json").read_text(encoding="utf-8")
)
FOUNDER = "The founder of Ostrell was an engineer."
SIXTY = " ".join(["Ostrell was founded by Ida Holm and"] * 8) + " it is a harbour."


def over_pages(corpus: str, folder: Path, unpacked: Path) -> Retriever:
    pages = [
        (title.replace("{n}", str(n)), text.replace("{n}", str(n)).replace("LONG", LONG))
        for title, text in CORPORA[corpus]
        for n in range(2000 if "{n}" in text else 1)
    ]
    records = ({"id": f"p{n}", "title": t, "text": x} for n, (t, x) in enumerate(pages))
    source = write_json_lines(folder / "pages.jsonl", *records)
    return retriever_over(open_corpus(f"jsonl:{source}"), folder, unpacked)


RARE = {True: [pytest.mark.rare], False: []}


@pytest.mark.parametrize(
    "corpus", [pytest.param(name, marks=RARE[name.endswith("for all")]) for name in CORPORA]
)
def test_every_recipe_answers_in_bounded_time(corpus: str, tmp_path: Path, unpacked: Path) -> None:
    odd = over_pages(corpus, tmp_path, unpacked)
    odd.warm_up()
    for claim, recipe in (*((FOUNDER, name) for name in SHIPPED), (SIXTY, "combined")):
        started = time.monotonic()
        assert_quoted(check(odd, claim, recipe))
        assert time.monotonic() - started < SECONDS
    if corpus == "evidence longer than any window":
        (notice,) = check(odd, "The harbour wall of Ostrell was mended.", "esoteric").notices
        number = re.fullmatch(r"Only the first (\d+) words of the sentences were read .*", notice)
        assert 100 < int(number[1]) < len(LONG.split())


def test_a_notice_says_that_an_index_has_no_vectors(tmp_path: Path, unpacked: Path) -> None:
    corpus = ListCorpus((Page("Runde", "Runde", None, "Runde is an isle."),))
    EmbeddedIndex(tmp_path / "index").build(corpus, None)
    retriever = Retriever(tmp_path / "index", tmp_path, threads=2, folders=ModelFolders(unpacked))
    for recipe in ("combined", "m3"):
        (notice,) = check(retriever, "Runde is an isle.", recipe).notices
        assert "The index has no vectors yet" in notice

"""Measures of claims against the served corpus and of pairs, counted by hand."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from research.evaluation.claims import CorpusClaim, Pair
from research.evaluation.measures import corpus as measures
from research.evaluation.measures.corpus import contradicted as is_contradicted
from research.evaluation.over_corpus import CRASHED, KeptDocuments, Places
from research.evaluation.verifier_alone import comparison_results, pair_results, with_comparisons
from retrieval.corpora.corpus import Page
from retrieval.result import ClaimResult, Evidence
from retrieval.text.context import evidence_text
from retrieval.types import (
    LABELS,
    NOT_ENOUGH_INFO,
    REFUTES,
    SUPPORTS,
    Label,
    Retrieved,
    SentenceKey,
)
from tests.app.claim_documents import claim_document, document_without_evidence
from tests.retrieval.index.in_memory_store import InMemoryStore
from tests.support.cases import cases, whole_cases
from tests.support.opinions import Says


def claim(label: Label, *evidence: Any, text: str = "A claim.", **more: Any) -> CorpusClaim:
    sets = tuple(tuple((page, number) for page, number in group) for group in evidence)
    return CorpusClaim(text, label, sets, **{"kind": "plain", **more})


def item(document: str, number: int, stance: Label = NOT_ENOUGH_INFO, **more: Any) -> Evidence:
    said = {"document": document, "title": document, "url": None, "sentence_id": number}
    said |= {"sentence": f"Sentence {number} of {document}.", "start": 0, "end": 20, "score": 0.5}
    said |= {"stance": stance, "stance_confidence": 0.5, "hop": 1, "selected": False}
    return Evidence(**said | more)


def selected(document: str, number: int, stance: Label = NOT_ENOUGH_INFO) -> Evidence:
    return item(document, number, stance, selected=True)


def answer(
    label: Label, *evidence: Evidence, confidence: float = 1.0, seconds: float = 1.0
) -> ClaimResult:
    document = document_without_evidence("A claim.") | {"seconds": {"total": seconds}}
    document["verdict"] |= {"label": label, "confidence": confidence}
    return ClaimResult.model_validate(document).model_copy(update={"evidence": evidence})


def test_the_measures_of_a_few_claims_are_those_counted_by_hand() -> None:
    claims = [
        claim(SUPPORTS, [("Lamp", 0)], kind="one"),
        claim(REFUTES, [("Lamp", 1), ("Pier", 0)], kind="two"),
        claim(NOT_ENOUGH_INFO, kind="open"),
        claim(SUPPORTS, [("Pier", 2)], kind="one"),
        claim(REFUTES, [("Pier", 3)], kind="one"),
    ]
    right = [selected("Boat", 0, SUPPORTS), selected("Lamp", 0, SUPPORTS)]
    half = [selected("Lamp", 1, SUPPORTS), selected("Boat", 0, SUPPORTS)]
    answers = [
        # Right, its evidence second, and none of three against it.
        answer(SUPPORTS, *right, item("Boat", 1), item("Boat", 2, REFUTES), confidence=0.75),
        # Wrong, half of its evidence, and both sentences against it.
        answer(SUPPORTS, *half, confidence=0.75, seconds=2.0),
        # Right; of undecided claims neither evidence nor stances count.
        answer(NOT_ENOUGH_INFO, selected("Boat", 0, REFUTES), confidence=0.5, seconds=4.0),
        # Wrong and against what it shows, which is its evidence.
        answer(REFUTES, selected("Pier", 2, SUPPORTS), confidence=1.0, seconds=3.0),
        None,
    ]
    results = measures.corpus_results(claims, answers)
    assert (results["claims"], results["failed"], results["contradicted"]) == (4, 1, 1)
    assert results["label_accuracy"] == pytest.approx(2 / 4)
    assert results["evidence_recall@5"] == pytest.approx(2 / 3)
    assert results["opposite_stances"] == pytest.approx(2 / (3 + 2 + 1))
    # 0.75 twice, half of them right: off by 0.25; 0.5, right: 0.5; 1, wrong: 1.
    assert results["calibration_error"] == pytest.approx((2 * 0.25 + 0.5 + 1) / 4)
    assert results["seconds"]["p50"] == pytest.approx(2.5)
    assert list(results["by_label"]) == [SUPPORTS, REFUTES, NOT_ENOUGH_INFO]
    assert list(results["by_kind"]) == ["one", "two", "open"]
    one = results["by_kind"]["one"]
    assert (one["claims"], one["label_accuracy"], one["evidence_recall@5"]) == (2, 0.5, 1.0)
    assert (one["opposite_stances"], one["contradicted"]) == (0.0, 1)
    undecided = results["by_label"][NOT_ENOUGH_INFO]
    assert (undecided["label_accuracy"], undecided["calibration_error"]) == (1.0, 0.5)
    assert (undecided["evidence_recall@5"], undecided["opposite_stances"]) == (None, None)


def test_hover_has_two_right_verdicts_and_no_evidence_counts_for_the_label_only() -> None:
    unlit = CorpusClaim("A claim.", REFUTES, ((("Lamp", 0),),), "2 hops", two_labels=True)
    lit = CorpusClaim("Another.", SUPPORTS, ((("Lamp", 0),),), "3 hops", two_labels=True)
    given = [answer(one) for one in (REFUTES, NOT_ENOUGH_INFO, SUPPORTS, NOT_ENOUGH_INFO)]
    results = measures.corpus_results([unlit, unlit, unlit, lit], given)
    assert results["by_label"]["NOT_SUPPORTED"]["label_accuracy"] == pytest.approx(2 / 3)
    assert results["by_label"][SUPPORTS]["label_accuracy"] == 0
    assert results["by_kind"]["2 hops"]["claims"] == 3
    # A decided claim without evidence in sentences counts for its label only.
    # The index has the accent as two characters, an annotation as one (``page_key``).
    given = [answer(SUPPORTS, item("Pier", 0)), answer(SUPPORTS, item("Cafe\u0301", 0))]
    results = measures.corpus_results([claim(SUPPORTS), claim(REFUTES, [("Caf\u00e9", 0)])], given)
    assert (results["label_accuracy"], results["claims"]) == (0.5, 2)
    assert (results["with_evidence"], results["evidence_recall@5"]) == (1, 1.0)


def test_proofs_opposite_to_decided_verdicts_are_counted_with_who_is_right() -> None:
    said = [
        (SUPPORTS, SUPPORTS, SUPPORTS),
        (REFUTES, REFUTES, SUPPORTS),  # opposite, and the verdict is right
        (REFUTES, SUPPORTS, REFUTES),  # opposite, and the proof is right
        (NOT_ENOUGH_INFO, SUPPORTS, REFUTES),  # opposite, and neither
        (SUPPORTS, SUPPORTS, NOT_ENOUGH_INFO),
        (SUPPORTS, SUPPORTS, None),
        (SUPPORTS, NOT_ENOUGH_INFO, REFUTES),  # the verdict does not decide
    ]
    answers = [answer(label).model_copy(update={"proof_label": by}) for _, label, by in said]
    proofs = measures.corpus_results([claim(gold) for gold, _, _ in said], answers)["proofs"]
    right = {"verdict_right": 1, "proof_right": 1}
    assert proofs == {"decided": 6, "both": 4, "opposite": 3, **right}


def recall(of: CorpusClaim, *evidence: Evidence) -> float:
    return measures.corpus_results([of], [answer(SUPPORTS, *evidence)])["evidence_recall@5"]


def test_evidence_is_found_if_a_whole_set_is_among_the_first_five_by_number_or_text() -> None:
    others = [item("Boat", number) for number in range(5)]
    two_sets = claim(SUPPORTS, [("Lamp", 0), ("Pier", 0)], [("Lamp", 1)])
    assert recall(two_sets, *others[:4], item("Lamp", 1)) == 1
    assert recall(two_sets, *others, item("Lamp", 1)) == 0
    assert recall(two_sets, item("Pier", 0), *others[:3], item("Lamp", 0)) == 1
    assert recall(two_sets, item("Pier", 1), item("Lamp", 0)) == 0
    sets = ([("Lamp", 7)], [("Lamp", 8), ("Pier", 0)])
    texts = (("Another sentence.",), ("Sentence 2 of Lamp.", "Another one."))
    told = claim(SUPPORTS, *sets, texts=texts)
    # One of the set by its text, the other by its number.
    assert recall(told, item("Lamp", 2), item("Pier", 0)) == 1
    assert recall(told, item("Lamp", 3), item("Pier", 0)) == 0
    assert recall(claim(SUPPORTS, *sets), item("Lamp", 2), item("Pier", 0)) == 0
    # The same words on another page are no evidence.
    elsewhere = item("Pier", 5, sentence="Sentence 2 of Lamp.")
    assert recall(told, elsewhere, item("Pier", 0)) == 0


@cases("measures", "label", "selected", "others", "contradicted")
def test_a_verdict_is_contradicted_if_all_selected_evidence_is_against_it(
    label: Label, selected: list[Label], others: list[Label], contradicted: bool
) -> None:
    chosen = [item("Lamp", n, stance, selected=True) for n, stance in enumerate(selected)]
    rest = [item("Pier", n, stance) for n, stance in enumerate(others)]
    assert is_contradicted(answer(label, *chosen, *rest)) is contradicted


@whole_cases("measures", "sets", "documents", "sentences", "chosen", "scores")
def test_a_whole_set_is_asked_for(case: Any) -> None:
    ranked, chosen = (tuple(map(tuple, keys)) for keys in (case.sentences, case.chosen))
    found = measures.Found(tuple(case.documents), ranked, frozenset(chosen))
    row = dict(
        zip(measures.MEASURES, measures.scores_of(claim(SUPPORTS, *case.sets), found), strict=True)
    )
    assert {name: row[name] for name in case.scores} == pytest.approx(case.scores)


def test_claims_are_grouped_by_kind_and_by_the_smallest_set() -> None:
    bridge = claim(SUPPORTS, [("Bridge", 0), ("River", 2)], kind="two-hop")
    three = [("A", 0), ("B", 0), ("C", 0)]
    both = claim(SUPPORTS, three, [("A", 1), ("D", 0)], kind="fever")
    single = claim(SUPPORTS, [("A", 0)])
    whole, half = (
        measures.Found(pages, (), frozenset()) for pages in (("Bridge", "River"), ("A", "D"))
    )
    asked = [bridge, claim(SUPPORTS, three, kind="fever"), both, single]
    results = measures.several_documents(asked, [whole, whole, half, whole])
    # The claim that one document settles is left out.
    groups = {"all": 3, "two-hop": 1, "2 documents": 2, "fever": 2, "3 or more documents": 1}
    assert {name: figures["claims"] for name, figures in results.items()} == groups
    assert measures.documents_needed(both) == 2
    assert results["all"]["all_opened"]["mean"] == pytest.approx(2 / 3)
    assert results["2 documents"]["all_opened"] == {"mean": 1.0, "interval": [1.0, 1.0]}


PIER, QUAY, BOAT = ASKED = [
    claim(SUPPORTS, [("Pier", 0)], text=f"The {name} is old.") for name in ("pier", "quay", "boat")
]


def answered(path: Path, **more: Any) -> KeptDocuments:
    """Write an answer to each claim, ``more`` in that of the quay, and read the file again."""
    answers = KeptDocuments(path, ASKED)
    answers.add(BOAT, claim_document(BOAT.text))
    answers.add(QUAY, claim_document(QUAY.text) | more)
    answers.add(PIER, claim_document(PIER.text))
    answers.write()
    return KeptDocuments(path, ASKED)


def test_an_answer_that_was_cut_off_or_crashed_is_asked_for_again(tmp_path: Path) -> None:
    path = tmp_path / "answers.jsonl"
    for cut in (1, -18):  # in the middle of a character of two bytes, or before it
        answered(path, word="Caf\u00e9")
        first, second, _ = path.read_bytes().splitlines(keepends=True)
        path.write_bytes(first + second[: second.index("\u00e9".encode()) + cut])
        assert [KeptDocuments(path, ASKED).has(one) for one in ASKED] == [True, False, False]
    for separator in ("\u2028", "\u0085", "\ud800"):
        again = answered(path, word=separator)
        assert all(map(again.has, ASKED))
        assert again.of(QUAY)["word"] == separator
    assert answered(path, error={"code": "claim_too_long", "message": "Too long."}).has(QUAY)
    crashed = answered(path, error={"code": CRASHED, "message": "ValueError: odd"})
    assert [crashed.has(one) for one in ASKED] == [True, False, True]  # it is asked again


def test_a_passage_covers_the_annotated_text_that_it_overlaps() -> None:
    lamp = Page("Lamp", "Lamp", None, "The lamp is red. It hums; it is old.")
    passages = (SentenceKey("Lamp", 0), SentenceKey("Lamp", 1))
    retrieved = Retrieved((("Lamp", ("text", "title")),), passages)
    for text, expected in (
        # As another program would cut it; as the index cuts it; across its sentences.
        ("The lamp is red. It hums;", [True, True]),
        ("it is old.", [False, True]),
        ("It hums; it is old.", [False, True]),
        ("It is old.", [True, False]),  # not in the document, so its number decides
    ):
        asked = claim(SUPPORTS, [("Lamp", 0)], texts=((text,),))
        search = Places(InMemoryStore([lamp], None)).search(asked, retrieved, {"total": 1.0})
        assert search.documents == (("Lamp", "title"),)
        covered = [passage.covers == frozenset({("Lamp", 0)}) for passage in search.passages]
        assert covered == expected


def pair(n: int, label: Label, source: str | None = None, kind: str | None = None) -> Pair:
    return Pair(f"Claim {n}.", f"Evidence {n}.", label, None, source, kind)


def test_labels_of_pairs_are_counted_over_all_and_by_what_groups_them() -> None:
    pairs = [
        *(pair(1, SUPPORTS, "sea", "number"), pair(2, REFUTES, "sea", "name")),
        *(pair(3, NOT_ENOUGH_INFO, "land"), pair(4, SUPPORTS, None, "number")),
    ]
    # The first and the third are right.
    said = [(0.75, 0.25, 0.0), (0.75, 0.25, 0.0), (0.0, 0.0, 1.0), (0.25, 0.25, 0.5)]
    results = pair_results(pairs, np.array(said, dtype=np.float32))
    assert (results["pairs"], results["accuracy"]) == (4, 0.5)
    # Two of confidence 0.75, one of them right: off by 0.25. One of 0.5, wrong: off by 0.5. One
    # of 1, right. 0.25 * 2 / 4 + 0.5 * 1 / 4 = 0.25.
    assert results["calibration_error"] == pytest.approx(0.25)
    counted = {SUPPORTS: (2, 0.5), REFUTES: (1, 0.0), NOT_ENOUGH_INFO: (1, 1.0)}
    by_label = {k: {"pairs": pairs, "accuracy": right} for k, (pairs, right) in counted.items()}
    assert results["by_label"] == by_label
    assert results["by_source"]["sea"] == {"pairs": 2, "accuracy": 0.5}
    assert results["by_kind"]["name"] == {"pairs": 1, "accuracy": 0.0}
    # Wrong ones, the most confident first.
    worst = [(one["claim"], one["confidence"]) for one in results["worst"]]
    assert worst == [("Claim 2.", 0.75), ("Claim 4.", 0.5)]


def test_comparisons_change_the_labels_that_they_decide_and_no_others() -> None:
    road = ("Road", "The road from Arl to Benn is 80 kilometres long.")
    mill = ("Mill", "The mill opened in 1901; the bridge fell in 1903.")
    claims = {"The road is old.": road, "The mill opened after the bridge fell.": mill}
    pairs = [
        Pair(claim, evidence_text(*text), REFUTES, None, None, None)
        for claim, text in claims.items()
    ]
    before = np.array([(0.75, 0.25, 0.0)] * 2, dtype=np.float32)
    filled = ("The mill opened in 1901.", "the bridge fell in 1903.")
    halves = Says(lambda claim, _: (0.9, 0.0, 0.1) if claim in filled else (0.1, 0.0, 0.9))
    after, ruled = with_comparisons(pairs, before, halves.model)
    assert ruled == [1]
    assert after.argmax(axis=1).tolist() == [LABELS.index(x) for x in (SUPPORTS, REFUTES)]
    turned = {"turned_right": 1, "turned_wrong": 0, "accuracy_without": 0.0}
    assert comparison_results(pairs, before, after, ruled) == {"decided": 1, "right": 1, **turned}

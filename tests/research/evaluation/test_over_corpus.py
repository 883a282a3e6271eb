"""Claims against the served corpus: how they are read, and their measures."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from research.evaluation.corpus_claims import CorpusClaim, read_corpus_claims
from research.evaluation.measures.corpus import contradicted, corpus_results
from research.evaluation.report import corpus_report
from retrieval.result import ClaimResult, Evidence, Verdict
from retrieval.types import NOT_ENOUGH_INFO, REFUTES, SUPPORTS, CorpusInfo, Label
from tests.support.json_lines import write_json_lines

LAMP = {
    "claim": "The lamp is red.",
    "label": "SUPPORTS",
    "kind": "one-sentence",
    "evidence": [[["Lamp", 0]], [["Lamp", 1], ["Cafe\u0301", 2]]],
}
HUM = {"claim": "The lamp hums.", "label": "NOT ENOUGH INFO", "kind": "open", "evidence": []}


def read(tmp_path: Path, *lines: dict[str, Any] | str) -> list[CorpusClaim]:
    return read_corpus_claims(write_json_lines(tmp_path / "claims.jsonl", *lines))


def test_a_claim_keeps_its_sets_and_its_kind(tmp_path: Path) -> None:
    lamp, hum = read(tmp_path, LAMP, "", HUM)
    assert (lamp.text, lamp.label, lamp.kind) == ("The lamp is red.", SUPPORTS, "one-sentence")
    assert lamp.evidence == ((("Lamp", 0),), (("Lamp", 1), ("Caf\u00e9", 2)))
    assert (lamp.texts, lamp.tempting) == ((), None)
    assert (hum.label, hum.evidence, hum.kind) == (NOT_ENOUGH_INFO, (), "open")


def test_a_claim_may_have_the_texts_of_its_sets_and_a_tempting_sentence(tmp_path: Path) -> None:
    texts = [["It is red."], ["It has one colour.", "Red is a colour."]]
    lamp, hum = read(tmp_path, LAMP | {"texts": texts}, HUM | {"tempting": ["Lamp", 3]})
    assert lamp.texts == (("It is red.",), ("It has one colour.", "Red is a colour."))
    assert hum.tempting == ("Lamp", 3)


def claim(
    label: Label,
    *evidence: Sequence[tuple[str, int]],
    kind: str = "plain",
    texts: tuple[tuple[str, ...], ...] = (),
) -> CorpusClaim:
    sets = tuple(tuple(group) for group in evidence)
    return CorpusClaim("A claim.", label, sets, kind=kind, texts=texts, tempting=None)


def item(document: str, number: int, stance: Label = NOT_ENOUGH_INFO) -> Evidence:
    return Evidence(
        document=document,
        title=document,
        url=None,
        sentence_id=number,
        sentence=f"Sentence {number} of {document}.",
        start=0,
        end=20,
        score=0.5,
        stance=stance,
        stance_confidence=0.5,
        hop=1,
        selected=False,
    )


def selected(document: str, number: int, stance: Label = NOT_ENOUGH_INFO) -> Evidence:
    return item(document, number, stance).model_copy(update={"selected": True})


def answer(
    label: Label, *evidence: Evidence, confidence: float = 1.0, seconds: float = 1.0
) -> ClaimResult:
    return ClaimResult(
        claim="A claim.",
        recipe="esoteric",
        corpus=CorpusInfo(name="coast", documents=1200, built_at="2026-11-20T09:30:00Z"),
        verdict=Verdict(label=label, confidence=confidence, judge="by hand", rationale=""),
        evidence=evidence,
        documents=(),
        hops=(),
        seconds={"total": seconds},
    )


OTHERS = [item("Boat", number) for number in range(5)]


def test_the_measures_of_a_few_claims_are_those_counted_by_hand() -> None:
    claims = [
        claim(SUPPORTS, [("Lamp", 0)], kind="one"),
        claim(REFUTES, [("Lamp", 1), ("Pier", 0)], kind="two"),
        claim(NOT_ENOUGH_INFO, kind="open"),
        claim(SUPPORTS, [("Pier", 2)], kind="one"),
        claim(REFUTES, [("Pier", 3)], kind="one"),
    ]
    answers = [
        # Right, its evidence second, and none of three against it.
        answer(
            SUPPORTS,
            selected("Boat", 0, SUPPORTS),
            selected("Lamp", 0, SUPPORTS),
            item("Boat", 1),
            item("Boat", 2, REFUTES),
            confidence=0.75,
            seconds=1.0,
        ),
        # Wrong, half of its evidence, and both sentences against it.
        answer(
            SUPPORTS,
            selected("Lamp", 1, SUPPORTS),
            selected("Boat", 0, SUPPORTS),
            confidence=0.75,
            seconds=2.0,
        ),
        # Right; of undecided claims neither evidence nor stances count.
        answer(NOT_ENOUGH_INFO, selected("Boat", 0, REFUTES), confidence=0.5, seconds=4.0),
        # Wrong and against what it shows, which is its evidence.
        answer(REFUTES, selected("Pier", 2, SUPPORTS), confidence=1.0, seconds=3.0),
        None,
    ]
    results = corpus_results(claims, answers)
    assert results["claims"] == 4
    assert results["failed"] == 1
    assert results["label_accuracy"] == pytest.approx(2 / 4)
    assert results["evidence_recall@5"] == pytest.approx(2 / 3)
    assert results["opposite_stances"] == pytest.approx(2 / (3 + 2 + 1))
    assert results["contradicted"] == 1
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


def recall(of: CorpusClaim, *evidence: Evidence) -> float:
    value: float = corpus_results([of], [answer(SUPPORTS, *evidence)])["evidence_recall@5"]
    return value


def test_evidence_is_found_if_a_whole_set_is_among_the_first_five() -> None:
    two_sets = claim(SUPPORTS, [("Lamp", 0), ("Pier", 0)], [("Lamp", 1)])
    assert recall(two_sets, *OTHERS[:4], item("Lamp", 1)) == 1
    assert recall(two_sets, *OTHERS[:5], item("Lamp", 1)) == 0
    assert recall(two_sets, item("Pier", 0), *OTHERS[:3], item("Lamp", 0)) == 1
    assert recall(two_sets, item("Pier", 0), *OTHERS[:4], item("Lamp", 0)) == 0
    assert recall(two_sets, item("Pier", 1), item("Lamp", 0)) == 0
    assert recall(two_sets) == 0


def test_evidence_is_found_by_its_text_if_its_number_differs() -> None:
    sets = ([("Lamp", 7)], [("Lamp", 8), ("Pier", 0)])
    texts = (("Another sentence.",), ("Sentence 2 of Lamp.", "Another one."))
    # One of the set by its text, the other by its number.
    assert recall(claim(SUPPORTS, *sets, texts=texts), item("Lamp", 2), item("Pier", 0)) == 1
    assert recall(claim(SUPPORTS, *sets, texts=texts), item("Lamp", 3), item("Pier", 0)) == 0
    assert recall(claim(SUPPORTS, *sets), item("Lamp", 2), item("Pier", 0)) == 0
    # The same words on another page are no evidence.
    elsewhere = item("Pier", 5).model_copy(update={"sentence": "Sentence 2 of Lamp."})
    assert recall(claim(SUPPORTS, *sets, texts=texts), elsewhere, item("Pier", 0)) == 0


@pytest.mark.parametrize(
    ("label", "evidence", "expected"),
    [
        (SUPPORTS, [selected("Lamp", 0, REFUTES)], True),
        (REFUTES, [selected("Lamp", 0, SUPPORTS), selected("Lamp", 1)], True),
        (SUPPORTS, [selected("Lamp", 0, REFUTES), selected("Lamp", 1, SUPPORTS)], False),
        (SUPPORTS, [selected("Lamp", 0, REFUTES), item("Lamp", 1, SUPPORTS)], True),
        (SUPPORTS, [item("Lamp", 0, REFUTES), selected("Lamp", 1)], False),
        (SUPPORTS, [selected("Lamp", 0)], False),
        (SUPPORTS, [], False),
        (NOT_ENOUGH_INFO, [selected("Lamp", 0, REFUTES)], False),
    ],
)
def test_a_verdict_is_contradicted_if_all_selected_evidence_is_against_it(
    label: Label, evidence: list[Evidence], expected: bool
) -> None:
    assert contradicted(answer(label, *evidence)) is expected


def test_the_report_shows_all_claims_and_each_label_and_kind() -> None:
    claims = [claim(SUPPORTS, [("Lamp", 0)], kind="one"), claim(NOT_ENOUGH_INFO, kind="open")]
    answers = [
        answer(SUPPORTS, selected("Lamp", 0, SUPPORTS), seconds=1.0),
        answer(SUPPORTS, confidence=0.5, seconds=2.0),
    ]
    about = {
        "command": "esoteric evaluate --claims mine.jsonl",
        "claims": 2,
        "choice": "Only the published half of the claims.",
        "file": "mine.jsonl",
        "verifier": "a verifier 2.0",
        "corpus": {"name": "coast", "documents": 1200, "built_at": "2026-11-20T09:30:00Z"},
    }
    beside: dict[str, Any] = {"esoteric_table": {}, "several_documents": {}}
    recipes = {
        "esoteric": corpus_results(claims, answers) | beside,
        "fer": corpus_results(claims, [None, None]) | beside,
    }
    report = corpus_report({**about, "recipes": recipes})
    assert "Only the published half of the claims." in report
    assert "2 claims of `mine.jsonl` over `coast`, 1,200 documents." in report
    assert "Evidence was labelled by a verifier 2.0." in report
    first, second = report.split("## esoteric")[1].split("## fer")
    assert "| all | 2 | 50.0 | 100.0 | 0.0 | 0 | 0.250 |" in first
    assert "| SUPPORTS | 1 | 100.0 | 100.0 | 0.0 | 0 | 0.000 |" in first
    assert "| open | 1 | 0.0 | - | - | 0 | 0.500 |" in first
    assert "1.50 at the median, 1.95 at the 95th percentile" in first
    assert "| all | 0 | - | - | - | 0 | - |" in second
    assert "No claim was checked." in second
    assert "Claims that need several documents" not in report

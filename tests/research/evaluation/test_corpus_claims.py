"""Claims against the served corpus: how they are read, measured, and kept in files."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from research.evaluation.claims import CorpusClaim, read_corpus_claims
from research.evaluation.claims import SentenceKey as Key
from research.evaluation.measures.corpus import contradicted, corpus_results
from research.evaluation.measures.several_documents import (
    MEASURES,
    Found,
    documents_needed,
    scores_of,
    several_documents,
)
from research.evaluation.over_corpus import CRASHED, KeptDocuments, Places
from retrieval.corpora.corpus import Page
from retrieval.result import ClaimResult, Evidence, Verdict
from retrieval.types import (
    NOT_ENOUGH_INFO,
    REFUTES,
    SUPPORTS,
    CorpusInfo,
    Label,
    Retrieved,
    SentenceKey,
)
from tests.app.claim_documents import claim_document
from tests.retrieval.index.in_memory_store import InMemoryStore
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


def needing(*sets: tuple[tuple[str, int], ...], kind: str = "two-hop") -> CorpusClaim:
    return CorpusClaim("A needing.", "SUPPORTS", sets, kind, (), None)


BRIDGE = needing((("Bridge", 0), ("River", 2)))
EITHER = needing((("A", 0), ("B", 0)), (("C", 0), ("D", 0)))
DAMS = ["Bridge", "Ferry", "Dam", "Weir", "Lock", "River"]
LATE = [("Bridge", 0), *(("Ferry", n) for n in range(20)), ("River", 2)]


def found(
    documents: Sequence[str] = (),
    sentences: Sequence[tuple[str, int]] = (),
    chosen: Sequence[tuple[str, int]] = (),
) -> Found:
    return Found(tuple(documents), tuple(sentences), frozenset(chosen))


@pytest.mark.parametrize(
    ("asked", "what", "expected"),
    [
        (BRIDGE, found(), dict.fromkeys(MEASURES, 0)),
        # River is the sixth document, and its sentence the twenty-second.
        (BRIDGE, found(DAMS, LATE), {"document_recall@5": 0, "document_recall@20": 1}),
        (BRIDGE, found(DAMS, LATE), {"evidence_recall@20": 0, "evidence_recall@100": 1}),
        # Half of a set counts as nothing but for F1: one of two, nothing wrong.
        (
            BRIDGE,
            found(["Bridge"], [("Bridge", 0)], [("Bridge", 0)]),
            dict.fromkeys(MEASURES, 0) | {"document_f1": 2 * 1 / (1 + 2)},
        ),
        # Documents match although another sentence of them is selected.
        (
            BRIDGE,
            found(["Bridge", "River"], [], [("Bridge", 0), ("River", 1)]),
            {"exact_match": 1, "document_f1": 1, "set_selected": 0},
        ),
        # A selected document too many is no exact match.
        (
            BRIDGE,
            found(chosen=[("Bridge", 0), ("River", 2), ("Ferry", 1)]),
            {"set_selected": 1, "exact_match": 0, "document_f1": 2 * 2 / (3 + 2)},
        ),
        # One of several sets is enough, but two halves are not.
        (EITHER, found(["C", "D"]), {"all_opened": 1}),
        (EITHER, found(["A", "C"]), {"all_opened": 0}),
    ],
)
def test_a_whole_set_is_asked_for(
    asked: CorpusClaim, what: Found, expected: dict[str, float]
) -> None:
    scores = dict(zip(MEASURES, scores_of(asked, what), strict=True))
    assert {name: scores[name] for name in expected} == pytest.approx(expected)


def test_claims_are_grouped_by_kind_and_by_the_smallest_set() -> None:
    three = needing((("A", 0), ("B", 0), ("C", 0)), kind="fever")
    both = needing((("A", 0), ("B", 0), ("C", 0)), (("A", 1), ("D", 0)), kind="fever")
    single = needing((("A", 0),))
    whole = found(["Bridge", "River"])
    results = several_documents(
        [BRIDGE, three, both, single], [whole, whole, found(["A", "D"]), whole]
    )
    assert {name: figures["claims"] for name, figures in results.items()} == {
        "all": 3,  # the needing that one document settles is left out
        "two-hop": 1,
        "2 documents": 2,
        "fever": 2,
        "3 or more documents": 1,
    }
    assert documents_needed(both) == 2
    assert results["all"]["all_opened"]["mean"] == pytest.approx(2 / 3)
    assert results["2 documents"]["all_opened"] == {"mean": 1.0, "interval": [1.0, 1.0]}


def old(text: str) -> CorpusClaim:
    return CorpusClaim(text, SUPPORTS, ((("Pier", 0),),), kind="plain", texts=(), tempting=None)


PIER, QUAY, BOAT = ASKED = [old(f"The {name} is old.") for name in ("pier", "quay", "boat")]


def answered(path: Path, **more: Any) -> None:
    """Write an answer to each old; ``more`` goes into that of the quay."""
    answers = KeptDocuments(path, ASKED)
    answers.add(BOAT, claim_document(BOAT.text))
    answers.add(QUAY, claim_document(QUAY.text) | more)
    answers.add(PIER, claim_document(PIER.text))
    answers.write()


@pytest.mark.parametrize("cut", [1, 20])
def test_a_line_that_was_cut_off_is_no_answer(tmp_path: Path, cut: int) -> None:
    path = tmp_path / "answers.jsonl"
    answered(path, word="Caf\u00e9")
    content = path.read_bytes()
    first, second, _ = content.splitlines(keepends=True)
    # In the middle of a character of two bytes, or before it.
    path.write_bytes(first + second[: second.index("\u00e9".encode()) + 1 - (cut - 1)])
    again = KeptDocuments(path, ASKED)
    assert [again.has(one) for one in ASKED] == [True, False, False]


@pytest.mark.parametrize("separator", ["\u2028", "\u0085", "\ud800"])
def test_odd_characters_divide_no_line(tmp_path: Path, separator: str) -> None:
    path = tmp_path / "answers.jsonl"
    answered(path, word=separator)
    again = KeptDocuments(path, ASKED)
    assert all(map(again.has, ASKED))
    assert again.of(QUAY)["word"] == separator


def test_a_refused_claim_keeps_its_error_and_a_crashed_one_is_asked_again(tmp_path: Path) -> None:
    path = tmp_path / "answers.jsonl"
    answered(path, error={"code": "claim_too_long", "message": "Too long."})
    assert KeptDocuments(path, ASKED).has(QUAY)
    answered(path, error={"code": CRASHED, "message": "ValueError: odd"})
    assert [KeptDocuments(path, ASKED).has(one) for one in ASKED] == [True, False, True]


LAMP_PAGE = Page("Lamp", "Lamp", None, "The lamp is red. It hums; it is old.")
LONG = ("The lamp is red. It hums;",)  # as another program would cut it


def covered(texts: tuple[str, ...], *passages: tuple[str, int]) -> list[frozenset[Key]]:
    claim = CorpusClaim("The lamp hums.", SUPPORTS, ((("Lamp", 0),),), "plain", (texts,), None)
    retrieved = Retrieved(
        (("Lamp", ("text", "title")),), tuple(SentenceKey(*key) for key in passages)
    )
    search = Places(InMemoryStore([LAMP_PAGE], None)).search(claim, retrieved, {"total": 1.0})
    assert search.documents == (("Lamp", "title"),)
    return [passage.covers for passage in search.passages]


def test_a_passage_covers_the_annotated_text_that_it_overlaps() -> None:
    both = [frozenset({("Lamp", 0)})] * 2
    assert covered(LONG, ("Lamp", 0), ("Lamp", 1)) == both
    assert covered(("It is old.",), ("Lamp", 0)) == both[:1]


@pytest.mark.parametrize("texts", [("it is old.",), ("It hums; it is old.",)])
def test_where_the_text_stands_decides_and_not_its_number(texts: tuple[str, ...]) -> None:
    nothing: frozenset[Key] = frozenset()
    assert covered(texts, ("Lamp", 0), ("Lamp", 1)) == [nothing, frozenset({("Lamp", 0)})]

"""The answers that remain in a file of predictions after an interruption or with fewer claims."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from research.evaluation.corpus_claims import CorpusClaim
from research.evaluation.over_corpus import CRASHED, KeptDocuments
from research.evaluation.predictions import write_lines
from retrieval.types import SUPPORTS
from tests.app.claim_documents import claim_document


def claim(text: str) -> CorpusClaim:
    return CorpusClaim(text, SUPPORTS, ((("Pier", 0),),), kind="plain", texts=(), tempting=None)


PIER, QUAY, BOAT = CLAIMS = [claim(f"The {name} is old.") for name in ("pier", "quay", "boat")]


def answered(path: Path, **more: Any) -> None:
    """Write an answer to each claim; ``more`` goes into that of the quay."""
    answers = KeptDocuments(path, CLAIMS)
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
    again = KeptDocuments(path, CLAIMS)
    assert [again.has(one) for one in CLAIMS] == [True, False, False]


@pytest.mark.parametrize("separator", ["\u2028", "\u0085", "\ud800"])
def test_odd_characters_divide_no_line(tmp_path: Path, separator: str) -> None:
    path = tmp_path / "answers.jsonl"
    answered(path, word=separator)
    again = KeptDocuments(path, CLAIMS)
    assert all(map(again.has, CLAIMS))
    assert again.of(QUAY)["word"] == separator


def test_a_refused_claim_keeps_its_error_and_a_crashed_one_is_asked_again(tmp_path: Path) -> None:
    path = tmp_path / "answers.jsonl"
    answered(path, error={"code": "claim_too_long", "message": "Too long."})
    assert KeptDocuments(path, CLAIMS).has(QUAY)
    answered(path, error={"code": CRASHED, "message": "ValueError: odd"})
    assert [KeptDocuments(path, CLAIMS).has(one) for one in CLAIMS] == [True, False, True]


def test_answers_to_other_claims_are_left_out(tmp_path: Path) -> None:
    path = tmp_path / "answers.jsonl"
    write_lines(path, [{"claim": PIER.text, "gold": {"claim": "Another."}}, {"claim": "None."}])
    assert not any(map(KeptDocuments(path, CLAIMS).has, CLAIMS))

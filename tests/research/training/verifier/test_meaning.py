"""Pairs about meaning: where they are read from."""

from __future__ import annotations

from pathlib import Path

import pytest

from research.training.verifier import meaning
from research.training.verifier.meaning import load_meaning
from retrieval.errors import BadSource
from retrieval.types import REFUTES, SUPPORTS
from tests.research.training.pages import pool_of
from tests.support.encoders import WordEncoder
from tests.support.json_lines import write_json_lines

PAGES = {"Pier": ["The pier is long.", "It had no roof until 1931."]}


def test_sentences_of_the_corpus_are_named_and_read_with_their_title(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    line = {"claim": "It had a roof in 1920.", "label": REFUTES}
    write_json_lines(tmp_path / "train.jsonl", {**line, "title": "Inn", "evidence": "No roof."})
    write_json_lines(tmp_path / "held-out.jsonl", {**line, "evidence": "Nothing."})
    write_json_lines(tmp_path / "documents.jsonl", {**line, "sentences": [["Pier", 1]]})
    given = {"claim": "A hat.", "label": SUPPORTS, "title": "Hat", "evidence": "It is one."}
    write_json_lines(tmp_path / "meaning" / "train-a.jsonl", given)
    monkeypatch.setattr(meaning, "OWN", tmp_path)
    data = load_meaning(tmp_path, pool_of(PAGES, WordEncoder(), tmp_path))
    assert {one.evidence for one in data.examples} == {
        "Inn : No roof.",
        "Hat : It is one.",
        "Pier : It had no roof until 1931.",
    }
    assert [one.evidence for one in data.held_out] == ["Nothing."]
    assert len(data.digests) == 3


def test_a_folder_without_the_pairs_is_refused(tmp_path: Path) -> None:
    with pytest.raises(BadSource, match=r"meaning/train"):
        load_meaning(tmp_path, pool_of(PAGES, WordEncoder(), tmp_path))


def test_the_own_pairs_name_sentences_that_the_corpus_has_and_hold_other_texts_out() -> None:
    read = {name: list(meaning.read_pairs(meaning.OWN / f"{name}.jsonl")) for name in FILES}
    assert not {p.evidence for p in read["train"]} & {p.evidence for p in read["held-out"]}


FILES = ("train", "held-out")

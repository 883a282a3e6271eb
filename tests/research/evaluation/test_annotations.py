"""Files of annotations: every line that is none is named, with what is wrong."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

import pytest

from research.benchmarks.hostile.pieces import read_pieces
from research.evaluation.claims import read_fever_claims
from research.evaluation.corpus_claims import read_corpus_claims
from research.evaluation.pairs import read_pairs
from retrieval.errors import BadSource
from tests.research.cases import cases
from tests.support.json_lines import write_json_lines

READERS: dict[str, Callable[[Path], Iterable[object]]] = {
    "fever": read_fever_claims,
    "corpus": read_corpus_claims,
    "pairs": read_pairs,
    "pieces": read_pieces,
}
GOOD = {case["reader"]: case["line"] for case in cases("annotations") if case["said"] is None}


@pytest.mark.parametrize("case", [case for case in cases("annotations") if case["said"]])
def test_a_line_that_is_no_annotation_is_named_by_file_and_line(
    tmp_path: Path, case: dict[str, Any]
) -> None:
    good = GOOD[case["reader"]]
    path = write_json_lines(tmp_path / "lines.jsonl", good, case["line"])
    with pytest.raises(BadSource, match=r"lines\.jsonl, line 2") as caught:
        list(READERS[case["reader"]](path))
    assert case["said"] in caught.value.message
    path = write_json_lines(tmp_path / "lines.jsonl", good)
    assert len(list(READERS[case["reader"]](path))) == 1


@pytest.mark.parametrize("reader", ["fever", "corpus", "pieces"])
def test_a_file_without_lines_is_refused(tmp_path: Path, reader: str) -> None:
    with pytest.raises(BadSource, match="contains no"):
        list(READERS[reader](write_json_lines(tmp_path / "lines.jsonl")))

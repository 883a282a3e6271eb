from __future__ import annotations

import pytest
from tokenizers import Tokenizer as Rust

from retrieval.models.networks import Tokenizer
from retrieval.models.packaged import MiniLM
from retrieval.models.prover import proof_row

pytestmark = pytest.mark.models

CLAIM, EVIDENCE = "Ole Berg sailed", "Runde : He sailed. [SEP] Holm : It rains"


@pytest.fixture(scope="module")
def tokenizer() -> Tokenizer:
    return Tokenizer(MiniLM().tokenizer_file(), 192)


def tokens_of(ids: list[int]) -> list[str]:
    rust = Rust.from_file(str(MiniLM().tokenizer_file()))
    return [str(rust.id_to_token(token)) for token in ids]


def test_claim_and_evidence_are_written_as_a_pair(tokenizer: Tokenizer) -> None:
    row = proof_row(tokenizer, CLAIM, [(0, 8)], EVIDENCE, 192)
    assert [row.ids] == tokenizer.pairs([(CLAIM, EVIDENCE)])


def test_spans_and_evidence_are_marked_token_by_token(tokenizer: Tokenizer) -> None:
    row = proof_row(tokenizer, CLAIM, [(0, 8), (9, 14)], EVIDENCE, 192)
    tokens = tokens_of(row.ids)
    assert tokens[:6] == ["[CLS]", "ole", "berg", "sailed", "[SEP]", "run"]
    assert row.spans[:, :5].tolist() == [[0, 0.5, 0.5, 0, 0], [0, 0, 0, 1, 0]]
    assert not row.spans[:, 5:].any()
    assert row.seen.tolist() == [True, True]
    of_evidence = [t for t, shown in zip(tokens, row.evidence, strict=True) if shown]
    assert of_evidence == ["run", "##de", ":", "he", "sailed", ".", "holm", ":", "it", "rains"]
    sailed = tokens.index("sailed", 5)
    start, end = row.offsets[sailed].tolist()
    assert EVIDENCE[start:end] == "sailed"


def test_without_evidence_none_is_marked(tokenizer: Tokenizer) -> None:
    row = proof_row(tokenizer, "Holm", [(0, 4)], "", 192)
    assert tokens_of(row.ids) == ["[CLS]", "holm", "[SEP]", "[SEP]"]
    assert not row.evidence.any()


def test_evidence_is_cut_and_the_claim_is_not(tokenizer: Tokenizer) -> None:
    row = proof_row(tokenizer, CLAIM, [(0, 8)], EVIDENCE * 100, 12)
    assert " ".join(tokens_of(row.ids)) == (
        "[CLS] ole berg sailed [SEP] run ##de : he sailed . [SEP]"
    )


def test_spans_of_a_claim_that_does_not_fit_at_all_are_not_seen(tokenizer: Tokenizer) -> None:
    row = proof_row(tokenizer, "国" * 500, [(0, 400), (400, 500)], EVIDENCE, 192)
    assert len(row.ids) == 192
    assert row.seen.tolist() == [True, False]
    assert not row.spans[1].any()
    assert not row.evidence.any()

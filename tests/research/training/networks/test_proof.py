from __future__ import annotations

import math

import pytest
import torch
from transformers import DistilBertConfig, DistilBertModel

from research.training.networks.minilm import pair_tokenizer, row_tokenizer
from research.training.networks.proof import (
    ProofInputs,
    ProofNetwork,
    packaged_proof_network,
    proof_inputs,
)

CLAIM, EVIDENCE = "Ole Berg sailed", "Runde : He sailed. [SEP] Holm : It rains"


def small_network() -> ProofNetwork:
    torch.manual_seed(0)
    config = DistilBertConfig(vocab_size=50, dim=16, hidden_dim=32, n_layers=1, n_heads=2)
    return ProofNetwork(DistilBertModel(config)).eval()


def inputs(evidence: list[bool]) -> ProofInputs:
    """Two spans of one token each, the second one padding, over six tokens."""
    spans = torch.zeros(1, 2, 6)
    spans[0, 0, 1] = 1.0
    return ProofInputs(
        input_ids=torch.tensor([[1, 5, 2, 7, 8, 2]]),
        attention_mask=torch.ones(1, 6, dtype=torch.long),
        spans=spans,
        span_mask=torch.tensor([[True, False]]),
        evidence=torch.tensor([evidence]),
        offsets=torch.zeros(1, 6, 2, dtype=torch.long),
    )


def test_each_span_gets_four_operators_and_two_pointers_into_the_evidence() -> None:
    with torch.inference_mode():
        logits = small_network()(inputs([False, False, False, True, True, False]))
    assert logits.operators.shape == (1, 2, 4)
    assert logits.starts.shape == logits.ends.shape == (1, 2, 6)
    for pointers in (logits.starts, logits.ends):
        assert torch.isfinite(pointers[0, :, 3:5]).all()
        assert (pointers[0, :, [0, 1, 2, 5]] == -math.inf).all()


def test_without_evidence_nothing_is_pointed_at_and_no_number_is_lost() -> None:
    with torch.inference_mode():
        logits = small_network()(inputs([False] * 6))
    assert (logits.starts == -math.inf).all()
    assert torch.isfinite(logits.operators).all()


def test_what_is_pointed_at_can_be_learnt() -> None:
    network = small_network()
    logits = network(inputs([False, False, False, True, True, False]))
    loss = torch.nn.functional.cross_entropy(logits.starts[:, 0], torch.tensor([3]))
    loss = loss + torch.nn.functional.cross_entropy(logits.operators[:, 0], torch.tensor([2]))
    loss.backward()
    gradients = [p.grad for n, p in network.named_parameters() if n.startswith(("start", "oper"))]
    assert all(g is not None and torch.isfinite(g).all() and g.any() for g in gradients)


@pytest.mark.models
def test_claims_are_read_as_the_tokenizer_writes_pairs() -> None:
    made = proof_inputs(
        row_tokenizer(192), [CLAIM, "It rains"], [[(0, 8)], []], [EVIDENCE, "Holm : No."], 192
    )
    pairs = pair_tokenizer()(
        [CLAIM, "It rains"], [EVIDENCE, "Holm : No."], padding=True, pad_to_multiple_of=8
    )
    assert made.input_ids.tolist() == pairs["input_ids"]
    assert made.attention_mask.tolist() == pairs["attention_mask"]


@pytest.mark.models
def test_shorter_claims_are_padded_with_nothing_to_see() -> None:
    made = proof_inputs(
        row_tokenizer(192), [CLAIM, "Holm"], [[(0, 8), (9, 14)], [(0, 4)]], [EVIDENCE, ""], 192
    )
    # [CLS] ole berg sailed [SEP] run ##de : he sailed . [SEP] holm : it rains [SEP]
    assert made.input_ids.shape == (2, 24)
    assert made.spans[0, :, :5].tolist() == [[0, 0.5, 0.5, 0, 0], [0, 0, 0, 1, 0]]
    assert made.spans[1, :, :3].tolist() == [[0, 1, 0], [0, 0, 0]]
    assert not made.spans[:, :, 5:].any()
    assert made.span_mask.tolist() == [[True, True], [True, False]]
    # The marks between the sentences are none of the evidence's.
    assert made.evidence[0].nonzero()[:, 0].tolist() == [5, 6, 7, 8, 9, 10, 12, 13, 14, 15]
    assert not made.evidence[1].any()
    assert made.offsets[0, 9].tolist() == [11, 17]  # "sailed" in the evidence text
    assert not made.offsets[0, 17:].any()


@pytest.mark.models
def test_the_heads_are_small_and_always_the_same() -> None:
    first, second = packaged_proof_network(), packaged_proof_network()
    heads = {n: p for n, p in first.named_parameters() if not n.startswith("distilbert.")}
    assert sum(weight.numel() for weight in heads.values()) < 1_500_000
    others = dict(second.named_parameters())
    assert all(torch.equal(weight, others[name]) for name, weight in heads.items())

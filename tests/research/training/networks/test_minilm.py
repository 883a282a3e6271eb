from __future__ import annotations

import pytest
import torch
from transformers import BertModel

from research.training.networks.minilm import packaged_body, packaged_classifier, pair_tokenizer
from retrieval.models.packaged import minilm_folder

pytestmark = pytest.mark.models


def test_folded_into_a_distilbert_the_weights_compute_the_same() -> None:
    folded = packaged_body().eval()
    bert = BertModel.from_pretrained(minilm_folder(), local_files_only=True).eval()
    inputs = pair_tokenizer()(
        ["The lighthouse was painted red.", "Short."],
        padding=True,
        return_tensors="pt",
        return_token_type_ids=False,
    )
    with torch.inference_mode():
        ours = folded(**inputs).last_hidden_state
        theirs = bert(**inputs).last_hidden_state
    read = inputs["attention_mask"].bool()
    assert torch.allclose(ours[read], theirs[read], atol=1e-4)


def test_a_fresh_head_is_always_the_same_and_leaves_the_random_numbers_as_they_were() -> None:
    torch.manual_seed(7)
    expected = torch.rand(3)
    torch.manual_seed(7)
    first, second = (packaged_classifier(("a", "b")) for _ in range(2))
    assert torch.equal(torch.rand(3), expected)
    assert first.config.num_labels == 2
    for name, weight in first.named_parameters():
        assert torch.equal(weight, second.get_parameter(name))

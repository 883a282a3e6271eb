from __future__ import annotations

import pytest
import torch
from transformers import BertModel

from retrieval.cross_encoders.folded_minilm import FoldedMiniLM
from retrieval.encoders.minilm_weights import minilm_folder

pytestmark = pytest.mark.models


def test_folded_into_a_distilbert_the_weights_compute_the_same() -> None:
    folded = FoldedMiniLM().model(("a", "b")).eval()
    bert = BertModel.from_pretrained(minilm_folder(), local_files_only=True).eval()
    inputs = FoldedMiniLM().tokenizer()(
        ["The lighthouse was painted red.", "Short."],
        padding=True,
        return_tensors="pt",
        return_token_type_ids=False,
    )
    with torch.inference_mode():
        ours = folded.distilbert(**inputs).last_hidden_state
        theirs = bert(**inputs).last_hidden_state
    read = inputs["attention_mask"].bool()
    assert torch.allclose(ours[read], theirs[read], atol=1e-4)

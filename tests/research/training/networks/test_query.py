from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from research.training.networks.minilm import row_tokenizer
from research.training.networks.query import encoded, packaged_query_network, query_inputs
from tests.support.untrained_query_encoder import untrained_query_encoder

pytestmark = pytest.mark.models


def test_shorter_queries_are_padded_where_nothing_is_read() -> None:
    inputs = query_inputs(row_tokenizer(256), [("Cats sleep.", []), ("Cats.", [])], 256)
    assert inputs["attention_mask"].tolist() == [[1] * 5 + [0] * 3, [1] * 4 + [0] * 4]
    assert inputs["input_ids"][1, 4:].tolist() == [0] * 4


def test_a_network_in_training_encodes_as_the_shipped_model_does(tmp_path: Path) -> None:
    step = ("Pier", "It is long and made of oak.")
    queries = [("The pier is lit.", [step] * n) for n in (3, 0, 1, 2)] * 10
    network = packaged_query_network().train(False)
    vectors = encoded(network, row_tokenizer(256), queries, 256)
    assert vectors.shape == (40, 384)
    assert np.allclose(vectors[:4], vectors[-4:], atol=1e-5)
    shipped = untrained_query_encoder(tmp_path).encode(queries)
    assert (vectors * shipped).sum(axis=1).min() > 0.99

from __future__ import annotations

import pytest
from torch import nn

from retrieval.models import path_reader, reader
from retrieval.trained.embeddings import share_embeddings

CLAIM, TEXT = "The pier was built by Ann Lee.", "Pier : It was built by Ann Lee in 1871."


@pytest.mark.models
def test_two_models_have_one_set_of_embeddings_and_opinions_of_their_own() -> None:
    alone, beside = reader(), path_reader()
    before = alone.probabilities([(CLAIM, TEXT)])
    other = beside.probabilities([(CLAIM, TEXT)])
    one, two = (model._loaded()[0].distilbert for model in (alone, beside))
    assert one.embeddings is two.embeddings
    assert one.transformer is not two.transformer
    assert (alone.probabilities([(CLAIM, TEXT)]) == before).all()
    assert (before != other).any()


def test_what_has_no_such_embeddings_is_left_as_it_is() -> None:
    network = nn.Linear(2, 2)
    share_embeddings(network)
    assert list(network.children()) == []

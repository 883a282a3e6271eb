from __future__ import annotations

import numpy as np
import torch
from transformers.models.mpnet.modeling_mpnet import MPNetEncoder

from retrieval.models.packaged import _buckets


def test_ways_between_places_fall_into_the_buckets_that_transformers_has() -> None:
    places = torch.arange(512)
    theirs = MPNetEncoder.relative_position_bucket(places[None, :] - places[:, None])
    assert np.array_equal(_buckets(512), theirs.numpy())


def test_near_ways_have_a_bucket_of_their_own() -> None:
    # Of 32 buckets 16 are for ways forward, and of these 8 for the distances below 8.
    assert _buckets(9)[0].tolist() == [0, 17, 18, 19, 20, 21, 22, 23, 24]
    assert _buckets(9)[:, 0].tolist() == [0, 1, 2, 3, 4, 5, 6, 7, 8]

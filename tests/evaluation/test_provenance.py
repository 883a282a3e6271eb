from __future__ import annotations

from types import SimpleNamespace
from typing import cast

from evaluation.provenance import digest_of_models
from retrieval.cross_encoders.cross_encoder import CrossEncoder


def model(digest: str) -> CrossEncoder:
    return cast(CrossEncoder, SimpleNamespace(digest=digest))


def test_results_of_one_model_are_not_those_of_two_or_of_another() -> None:
    digests = {
        digest_of_models([model("aa")]),
        digest_of_models([model("aa"), model("bb")]),
        digest_of_models([model("cc")]),
    }
    assert len(digests) == 3
    assert digest_of_models([model("aa")]) in digests

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from tokenizers import Tokenizer as Rust

from retrieval.errors import ModelUnavailable
from retrieval.models.encoders import MiniLMEncoder, QueryEncoder, query_rows
from retrieval.models.networks import Tokenizer
from retrieval.models.packaged import MiniLM
from tests.support.untrained_query_encoder import untrained_query_encoder

pytestmark = pytest.mark.models

CLAIM = "The keeper of the Holm lighthouse was a poet."
STEP = ("Holm lighthouse", "Its first keeper was Ida Brandt.")


@pytest.fixture(scope="module")
def encoder(tmp_path_factory: pytest.TempPathFactory) -> QueryEncoder:
    return untrained_query_encoder(tmp_path_factory.mktemp("queries"))


def read(claim: str, path: list[tuple[str, str]], max_tokens: int) -> str:
    """What the network reads of a query, as text."""
    file = MiniLM().tokenizer_file()
    (row,) = query_rows(Tokenizer(file, max_tokens), [(claim, path)], max_tokens)
    return str(Rust.from_file(str(file)).decode(row, skip_special_tokens=False))


def test_before_training_a_claim_alone_has_the_vector_of_the_index_encoder(
    encoder: QueryEncoder,
) -> None:
    claims = [CLAIM, "Cats sleep."]
    vectors = encoder.encode([(claim, []) for claim in claims])
    assert vectors.shape == (2, encoder.dimension)
    assert vectors.dtype == np.float32
    assert np.linalg.norm(vectors, axis=1) == pytest.approx(1, abs=1e-5)
    # Both are the same network, converted once with a window of 256.
    assert (vectors * MiniLMEncoder().encode(claims)).sum(axis=1).min() > 0.9999


def test_a_path_draws_the_vector_to_what_it_names(encoder: QueryEncoder) -> None:
    alone, behind = encoder.encode([(CLAIM, []), (CLAIM, [STEP])])
    (brandt,) = MiniLMEncoder().encode(["Ida Brandt wrote three books of verse."])
    assert behind @ brandt > alone @ brandt + 0.05


def test_queries_of_any_length_keep_their_order(encoder: QueryEncoder) -> None:
    queries = [(CLAIM, [STEP, STEP]), ("Cats sleep.", []), (CLAIM, [])] * 12
    together = encoder.encode(queries)
    (last,) = encoder.encode(queries[-1:])
    assert np.allclose(together[0], together[33], atol=1e-4)
    assert np.allclose(together[-1], last, atol=1e-4)


def test_no_queries_have_no_vectors(encoder: QueryEncoder) -> None:
    assert encoder.encode([]).shape == (0, 384)


def test_the_claim_comes_first_and_then_the_path_in_its_order() -> None:
    steps = [("Pier", "It is long."), ("Lamp", "It is red.")]
    assert read("The pier is lit.", steps, 256) == (
        "[CLS] the pier is lit. [SEP] pier : it is long. [SEP] lamp : it is red. [SEP]"
    )
    assert read("The pier is lit.", [], 256) == "[CLS] the pier is lit. [SEP]"


def test_where_there_is_no_room_the_end_of_the_path_is_left_out() -> None:
    steps = [("Pier", "It is long."), ("Lamp", "It is red.")]
    # 7 tokens of the claim with its marks, 8 of the path, and the mark behind it.
    assert read("The pier is lit.", steps, 16) == (
        "[CLS] the pier is lit. [SEP] pier : it is long. [SEP] lamp [SEP]"
    )
    assert read("The pier is lit.", steps, 9) == "[CLS] the pier is lit. [SEP] pier [SEP]"
    assert read("The pier is lit.", steps, 8) == "[CLS] the pier is lit. [SEP]"


def test_a_claim_that_alone_is_too_long_is_cut() -> None:
    assert read("The pier is lit.", [STEP], 5) == "[CLS] the pier is [SEP]"


def test_a_model_has_a_version(tmp_path: Path) -> None:
    assert untrained_query_encoder(tmp_path).version == "queries 3"


def test_a_model_that_is_not_there_is_refused(tmp_path: Path) -> None:
    with pytest.raises(ModelUnavailable, match="missing or damaged"):
        QueryEncoder(tmp_path)


def test_a_damaged_difference_is_refused_when_it_is_loaded(tmp_path: Path) -> None:
    encoder = untrained_query_encoder(tmp_path)
    (tmp_path / "delta.safetensors").write_bytes(b"")
    with pytest.raises(ModelUnavailable, match="not the expected one"):
        encoder.warm_up()

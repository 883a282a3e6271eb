"""The static encoder: sums of token vectors, near what the transformer says."""

from __future__ import annotations

import json
import pickle
from collections.abc import Iterator, Sequence
from pathlib import Path

import numpy as np
import pytest
import torch

from retrieval.errors import IndexUnavailable, ModelUnavailable
from retrieval.models import static_encoder
from retrieval.models.document_encoders import DOCUMENT_ENCODERS, encoder_of
from retrieval.models.encoders import EncodableDocument, MiniLMEncoder
from retrieval.models.folders import ModelFolders
from retrieval.models.shipped import STATIC
from retrieval.models.static_encoder import StaticEncoder, WordTokens, token_vectors, word_pieces

pytestmark = pytest.mark.models

TEXT = "The lamp was lit in 1884. Storms broke it twice."
LIGHTHOUSE = EncodableDocument("Lighthouse of Vell", TEXT, ((0, 25), (26, 48)))
SOUP = EncodableDocument(
    "Fish soup", "It is cooked for hours. Onions go in first.", ((0, 23), (24, 43))
)
SILENT = EncodableDocument("Silence", "", ())


@pytest.fixture(scope="module")
def encoder() -> Iterator[StaticEncoder]:
    """It with the vectors of the tokens here only, since those of all take a minute."""

    def vectors_of_these(tokens: Sequence[int]) -> torch.Tensor:
        texts = [text for page in (LIGHTHOUSE, SOUP, SILENT) for text in (page.title, page.text)]
        found = word_pieces().encode_batch(texts, add_special_tokens=False)
        here = sorted({token for text in found for token in text.ids})
        table = torch.zeros(len(tokens), 768)
        table[here] = token_vectors(here)
        return table

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(static_encoder, "token_vectors", vectors_of_these)
        patch.setattr(static_encoder, "_TABLE", "tokens-of-a-test")
        yield StaticEncoder(STATIC)


def test_vectors_are_of_length_one_and_there_is_one_for_each_sentence(
    encoder: StaticEncoder,
) -> None:
    whole, parts = encoder.encode_documents([LIGHTHOUSE, SILENT, SOUP])
    assert whole.shape == (3, 384)
    assert [len(part) for part in parts] == [2, 0, 2]
    assert np.linalg.norm(whole, axis=1) == pytest.approx(1)
    assert np.linalg.norm(np.concatenate(parts), axis=1) == pytest.approx(1)


def test_a_documents_vector_does_not_depend_on_other_documents(encoder: StaticEncoder) -> None:
    (alone, _), (both, _) = (
        encoder.encode_documents(documents) for documents in ([SOUP], [LIGHTHOUSE, SOUP])
    )
    assert both[1] == pytest.approx(alone[0], abs=1e-6)
    assert len(encoder.encode_documents([])[0]) == 0


def test_a_query_of_the_transformer_meets_what_it_is_about(encoder: StaticEncoder) -> None:
    queries = MiniLMEncoder().encode(["When was the lighthouse's lamp lit?", "How is soup cooked?"])
    whole, parts = encoder.encode_documents([LIGHTHOUSE, SOUP])
    documents = queries @ whole.T
    assert documents[0, 0] > documents[0, 1] + 0.2
    assert documents[1, 1] > documents[1, 0] + 0.2
    lit, broken = queries[0] @ parts[0].T
    assert lit > broken


def test_a_text_without_a_token_has_no_direction(encoder: StaticEncoder) -> None:
    whole, parts = encoder.encode_documents([EncodableDocument(" ", "  ", ((0, 1),))])
    assert not whole.any()
    assert not parts[0].any()


def test_another_process_can_have_it(encoder: StaticEncoder) -> None:
    copy = pickle.loads(pickle.dumps(StaticEncoder(STATIC)))
    assert copy.encode_documents([SOUP])[0] == pytest.approx(encoder.encode_documents([SOUP])[0])


def test_weights_that_are_not_those_of_the_configuration_are_refused(tmp_path: Path) -> None:
    config = {"name": "static", "version": "1", "sha256": "0" * 64}
    (tmp_path / "config.json").write_text(json.dumps(config))
    (tmp_path / "weights.safetensors").write_bytes(b"nothing")
    with pytest.raises(ModelUnavailable, match="is not the expected one"):
        StaticEncoder(tmp_path).encode_documents([SOUP])


def test_an_index_names_an_encoder_that_is_found_again(tmp_path: Path) -> None:
    folders = ModelFolders(tmp_path)
    for name in ("minilm", "static"):
        encoder = DOCUMENT_ENCODERS[name](folders)
        found = encoder_of(encoder.name, folders)
        assert found is not None
        assert found.name == encoder.name
    assert encoder_of("", folders) is None
    with pytest.raises(IndexUnavailable, match="which this version does not have") as refused:
        encoder_of("static MiniLM 0 of yesterday", folders)
    assert refused.value.hint.endswith("index encode --vectors static")


def test_cached_words_have_the_same_tokens() -> None:
    tokenizer = word_pieces()
    words = WordTokens(tokenizer)
    texts = ["Zoë's café (1884), unbelievably.", "", "  café\nunbelievably 東京タワー ok ", "ok"]
    expected = [found.ids for found in tokenizer.encode_batch(texts, add_special_tokens=False)]
    for some, wanted in ((texts, expected), (texts[::-1], expected[::-1]), ([], [])):
        tokens, starts = words.tokens(some)
        assert tokens.tolist() == [token for row in wanted for token in row]
        assert starts.tolist() == [sum(map(len, wanted[:n])) for n in range(len(wanted))]

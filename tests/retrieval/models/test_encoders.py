"""The encoders of texts, documents and paths."""

import json
import pickle
from collections.abc import Iterator, Sequence
from pathlib import Path

import numpy as np
import pytest
import torch
from sentence_transformers import SentenceTransformer
from tokenizers import Tokenizer as Rust

from retrieval.errors import IndexUnavailable, ModelUnavailable
from retrieval.models import static_encoder
from retrieval.models.document_encoders import DOCUMENT_ENCODERS, encoder_of
from retrieval.models.encoders import (
    EncodableDocument,
    MiniLMEncoder,
    PlacedSentence,
    QueryEncoder,
    Window,
    query_rows,
    windows,
)
from retrieval.models.folders import ModelFolders
from retrieval.models.networks import Tokenizer
from retrieval.models.packaged import MiniLM, minilm_folder
from retrieval.models.shipped import STATIC
from retrieval.models.static_encoder import StaticEncoder, token_vectors, word_pieces
from tests.support.cases import cases
from tests.support.untrained_query_encoder import untrained_query_encoder

TEXTS = ["The pier is long.", "Ann Lee designed a lighthouse in Scotland.", "Cats sleep."]
# Numbers make the sentences differ; each has about eight tokens, all of them about 800.
LONG = [f"In the year {1900 + n} the pier was painted." for n in range(80)]


def document_of(*sentences: str) -> EncodableDocument:
    """Return a document titled "Pier" whose text is these sentences."""
    text = " ".join(sentences)
    starts = [text.index(sentence) for sentence in sentences]
    bounds = tuple((a, a + len(s)) for a, s in zip(starts, sentences, strict=True))
    return EncodableDocument("Pier", text, bounds)


@pytest.fixture(scope="module")
def minilm() -> MiniLMEncoder:
    return MiniLMEncoder()


@pytest.mark.models
def test_a_text_has_the_vector_of_sentence_transformers(minilm: MiniLMEncoder) -> None:
    theirs = SentenceTransformer(str(minilm_folder()), device="cpu", local_files_only=True)
    texts = [*TEXTS, " ".join(["The pier is long."] * 80)]  # the last is cut
    expected = theirs.encode(texts, normalize_embeddings=True)
    assert (minilm.encode(texts) * expected).sum(axis=1).min() > 0.99
    assert minilm.encode([]).shape == (0, 384)
    # A sentence is the mean of its tokens within the document.
    _, (vectors,) = minilm.encode_documents([document_of("Cats sleep.", "Dogs bark.")])
    with torch.inference_mode():
        out = theirs(theirs.preprocess(["Pier. Cats sleep. Dogs bark."]))
    # [CLS] pier . cats sleep . dogs bark . [SEP]
    states = out["token_embeddings"][0].float().numpy()
    assert len(states) == 10
    for vector, mean in zip(vectors, (states[3:6].mean(0), states[6:9].mean(0)), strict=True):
        assert (vector * mean).sum() / np.linalg.norm(mean) > 0.99


@pytest.mark.models
def test_a_document_has_the_vector_of_its_title_and_text_alone(minilm: MiniLMEncoder) -> None:
    documents = [document_of(*TEXTS), document_of(*LONG), document_of()]
    whole, parts = minilm.encode_documents(documents)
    expected = minilm.encode([f"Pier. {document.text}" for document in documents])
    assert (whole * expected).sum(axis=1).min() > 0.9999
    # Without the title the nearest of these vectors comes to less than that.
    untitled = minilm.encode([document.text or "." for document in documents])
    assert (whole * untitled).sum(axis=1).max() < 0.9999
    assert [vectors.shape for vectors in parts] == [(3, 384), (80, 384), (0, 384)]
    for document, vectors in zip(documents[:2], parts, strict=False):
        assert np.linalg.norm(vectors, axis=1) == pytest.approx(1, abs=1e-6)
        (alone,) = minilm.encode_documents([document])[1]
        assert (vectors * alone).sum(axis=1).min() > 0.999
    assert minilm.encode_documents([])[1] == []
    # Sentences past the window are read, and those without tokens are their document.
    cat, moon = "A cat sleeps in the sun.", "The moon has no air."
    _, (vectors,) = minilm.encode_documents([document_of(*LONG[:60], cat, *LONG[60:], moon)])
    similarities = minilm.encode([cat, moon]) @ vectors.T
    assert similarities.argmax(axis=1).tolist() == [60, 81]
    document = EncodableDocument("Pier", "Cats sleep. \u200b", ((0, 11), (12, 13)))
    whole, (vectors,) = minilm.encode_documents([document])
    assert vectors[1] == pytest.approx(whole[0], abs=1e-6)
    assert vectors[0] != pytest.approx(whole[0], abs=1e-3)


# A title of two tokens and a text of eight, each two characters wide with a space behind it.
TOKENS = [90, 91, 1, 2, 3, 4, 5, 6, 7, 8]
OFFSETS = [(3 * n, 3 * n + 2) for n in range(10)]


@cases("windows", "sentences", "size", "head", "found")
def test_windows_hold_every_sentence_once(
    sentences: list[list[int]], size: int, head: int, found: list[tuple[list[int], list[list[int]]]]
) -> None:
    bounds = [(start, end) for start, end in sentences]
    assert windows(TOKENS, OFFSETS, head, bounds, size) == [
        Window(tokens, [PlacedSentence(*place) for place in places]) for tokens, places in found
    ]
    assert windows([], [], 2, [], 254) == [Window([], [])]


CLAIM = "The keeper of the Holm lighthouse was a poet."
STEP = ("Holm lighthouse", "Its first keeper was Ida Brandt.")


@pytest.mark.models
def test_before_training_a_path_draws_a_claim(tmp_path: Path, minilm: MiniLMEncoder) -> None:
    encoder = untrained_query_encoder(tmp_path)
    assert encoder.version == "queries 3"
    alone, behind, other = encoder.encode([(CLAIM, []), (CLAIM, [STEP]), ("Cats sleep.", [])])
    # Both are the same network, converted once with a window of 256.
    same = np.stack([alone, other]) * minilm.encode([CLAIM, "Cats sleep."])
    assert same.sum(axis=1).min() > 0.9999
    (brandt,) = minilm.encode(["Ida Brandt wrote three books of verse."])
    assert behind @ brandt > alone @ brandt + 0.05
    assert encoder.encode([]).shape == (0, 384)
    (tmp_path / "delta.safetensors").write_bytes(b"")
    with pytest.raises(ModelUnavailable, match="not the expected one"):
        QueryEncoder(tmp_path).warm_up()


@pytest.mark.models
@cases("windows", "steps", "most", "read")
def test_the_claim_comes_first_and_the_path_is_cut(steps: int, most: int, read: str) -> None:
    path = [("Pier", "It is long."), ("Lamp", "It is red.")][:steps]
    file = MiniLM().tokenizer_file()
    (row,) = query_rows(Tokenizer(file, most), [("The pier is lit.", path)], most)
    assert Rust.from_file(str(file)).decode(row, skip_special_tokens=False) == read


TEXT = "The lamp was lit in 1884. Storms broke it twice."
LIGHTHOUSE = EncodableDocument("Lighthouse of Vell", TEXT, ((0, 25), (26, 48)))
SOUP = EncodableDocument(
    "Fish soup", "It is cooked for hours. Onions go in first.", ((0, 23), (24, 43))
)
SILENT = EncodableDocument("Silence", "", ())


@pytest.fixture(scope="module")
def static() -> Iterator[StaticEncoder]:
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


@pytest.mark.models
def test_static_vectors_are_near_queries(static: StaticEncoder, minilm: MiniLMEncoder) -> None:
    copy = pickle.loads(pickle.dumps(StaticEncoder(STATIC)))  # another process can have it
    whole, parts = copy.encode_documents([LIGHTHOUSE, SILENT, SOUP])
    assert [len(part) for part in parts] == [2, 0, 2]
    assert np.linalg.norm(np.concatenate([whole, *parts]), axis=1) == pytest.approx(1)
    (alone, _) = static.encode_documents([SOUP])
    assert whole[2] == pytest.approx(alone[0], abs=1e-6)
    lit, cooked = minilm.encode(["When was the lighthouse's lamp lit?", "How is soup cooked?"])
    assert lit @ whole[0] > lit @ whole[2] + 0.2
    assert cooked @ whole[2] > cooked @ whole[0] + 0.2
    assert lit @ parts[0][0] > lit @ parts[0][1]
    nothing, _ = static.encode_documents([EncodableDocument(" ", "  ", ((0, 1),))])
    assert not nothing.any()
    assert static.encode_documents([])[0].shape == (0, 384)


@pytest.mark.models
def test_an_index_names_an_encoder_that_is_found_again(tmp_path: Path) -> None:
    folders = ModelFolders(tmp_path)
    for name in ("minilm", "static"):
        encoder = DOCUMENT_ENCODERS[name](folders)
        assert encoder_of(encoder.name, folders).name == encoder.name
    assert encoder_of("", folders) is None
    with pytest.raises(IndexUnavailable, match="which this version does not have") as refused:
        encoder_of("static MiniLM 0 of yesterday", folders)
    assert refused.value.hint.endswith("index encode --vectors static")
    config = {"name": "static", "version": "1", "sha256": "0" * 64}
    (tmp_path / "config.json").write_text(json.dumps(config))
    (tmp_path / "weights.safetensors").write_bytes(b"nothing")
    with pytest.raises(ModelUnavailable, match="is not the expected one"):
        StaticEncoder(tmp_path).encode_documents([SOUP])

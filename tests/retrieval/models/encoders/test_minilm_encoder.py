from __future__ import annotations

import numpy as np
import pytest
import torch
from sentence_transformers import SentenceTransformer

from retrieval.models.encoders import EncodableDocument, MiniLMEncoder
from retrieval.models.packaged import minilm_folder

pytestmark = pytest.mark.models

TEXTS = ["The pier is long.", "Ann Lee designed a lighthouse in Scotland.", "Cats sleep."]


def documents_of(*texts: list[str]) -> list[EncodableDocument]:
    """Return documents titled "Pier" whose text is these sentences."""
    found = []
    for sentences in texts:
        text = " ".join(sentences)
        starts = [text.index(sentence) for sentence in sentences]
        bounds = tuple((a, a + len(s)) for a, s in zip(starts, sentences, strict=True))
        found.append(EncodableDocument("Pier", text, bounds))
    return found


def test_a_text_has_the_vector_that_sentence_transformers_gives_it(encoder: MiniLMEncoder) -> None:
    model = SentenceTransformer(str(minilm_folder()), device="cpu", local_files_only=True)
    texts = [*TEXTS, " ".join(["The pier is long."] * 80)]  # the last is cut
    expected = model.encode(texts, normalize_embeddings=True)
    assert (encoder.encode(texts) * expected).sum(axis=1).min() > 0.99


@pytest.fixture(scope="module")
def encoder() -> MiniLMEncoder:
    return MiniLMEncoder()


# Numbers make the sentences differ; each has about eight tokens, all of them about 800.
LONG = [f"In the year {1900 + n} the pier was painted." for n in range(80)]


def test_a_document_has_the_vector_of_its_title_and_text(encoder: MiniLMEncoder) -> None:
    documents = documents_of(TEXTS, LONG, [])
    whole, parts = encoder.encode_documents(documents)
    expected = encoder.encode([f"Pier. {document.text}" for document in documents])
    assert whole.dtype == np.float32
    assert (whole * expected).sum(axis=1).min() > 0.9999
    for document, vector in zip(documents, whole, strict=True):
        ((alone,), _) = encoder.encode_documents([document])
        assert (alone * encoder.encode([f"Pier. {document.text}"])[0]).sum() > 0.9999
        assert (alone * vector).sum() > 0.9999
        # Without the title the nearest of these vectors comes to less than that.
        untitled = encoder.encode([document.text or "."])[0]
        assert (alone * untitled).sum() < 0.9999
    assert [vectors.shape for vectors in parts] == [(3, 384), (80, 384), (0, 384)]
    for vectors in parts[:2]:
        assert np.linalg.norm(vectors, axis=1) == pytest.approx(1, abs=1e-6)


def test_a_sentence_is_the_mean_of_its_tokens_within_the_document(encoder: MiniLMEncoder) -> None:
    _, (vectors,) = encoder.encode_documents(documents_of(["Cats sleep.", "Dogs bark."]))
    model = SentenceTransformer(str(minilm_folder()), device="cpu", local_files_only=True)
    with torch.inference_mode():
        out = model(model.preprocess(["Pier. Cats sleep. Dogs bark."]))
    # [CLS] pier . cats sleep . dogs bark . [SEP]
    states = out["token_embeddings"][0].float().numpy()
    assert len(states) == 10
    for vector, mean in zip(vectors, (states[3:6].mean(0), states[6:9].mean(0)), strict=True):
        assert (vector * mean).sum() / np.linalg.norm(mean) > 0.99


def test_sentences_past_the_window_are_read_as_well(encoder: MiniLMEncoder) -> None:
    cat, moon = "A cat sleeps in the sun.", "The moon has no air."
    sentences = [*LONG[:60], cat, *LONG[60:], moon]
    _, (vectors,) = encoder.encode_documents(documents_of(sentences))
    assert len(vectors) == 82
    similarities = encoder.encode([cat, moon]) @ vectors.T
    assert similarities.argmax(axis=1).tolist() == [60, 81]


def test_how_documents_are_grouped_does_not_change_their_sentences(encoder: MiniLMEncoder) -> None:
    documents = documents_of(TEXTS, LONG, ["Cats sleep."])
    together = encoder.encode_documents(documents)[1]
    for document, vectors in zip(documents, together, strict=True):
        (alone,) = encoder.encode_documents([document])[1]
        assert (vectors * alone).sum(axis=1).min() > 0.999


def test_a_sentence_without_tokens_has_its_documents_vector(encoder: MiniLMEncoder) -> None:
    text = "Cats sleep. \u200b"
    document = EncodableDocument("Pier", text, ((0, 11), (12, 13)))
    whole, (vectors,) = encoder.encode_documents([document])
    assert vectors[1] == pytest.approx(whole[0], abs=1e-6)
    assert vectors[0] != pytest.approx(whole[0], abs=1e-3)


def test_without_documents_there_are_no_vectors(encoder: MiniLMEncoder) -> None:
    whole, parts = encoder.encode_documents([])
    assert (whole.shape, parts) == ((0, 384), [])

"""Each stage is a Haystack component that can be taken into a pipeline of another's."""

from __future__ import annotations

from pathlib import Path

import pytest

from benchmarks.wiring import haystack_pipeline
from retrieval.encoders.minilm_encoder import MiniLMEncoder
from retrieval.index.embedded_store import EmbeddedStore
from retrieval.language.english import EnglishParser

pytestmark = pytest.mark.models


def test_the_stages_run_in_a_haystack_pipeline(index: Path, parser: EnglishParser) -> None:
    encoder = MiniLMEncoder()
    store = EmbeddedStore.open(index, encoder.name)
    pipeline = haystack_pipeline(store, encoder)
    claim = "Skerrow Light was designed by Ann Lee."
    doc = parser.parse(claim)
    found = pipeline.run(
        {
            "spans": {"doc": doc},
            "texts": {"doc": doc},
            "questions": {"doc": doc},
            "titles": {"doc": doc},
        }
    )
    names = [candidate.document_id for candidate in found["ranking"]["candidates"]]
    assert set(names[:2]) == {"Skerrow_Light", "Ann_Lee"}

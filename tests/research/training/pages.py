"""Small pools of sentences for tests of what models are trained on."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from pathlib import Path

from research.training.sentence_pool import SentencePool
from retrieval.corpora.wiki.fever import FeverCorpus
from retrieval.models.encoders.encoder import TextEncoder


def pool_of(pages: Mapping[str, Sequence[str]], encoder: TextEncoder, folder: Path) -> SentencePool:
    """Write the pages as FEVER does and read them back."""
    records = [
        {
            "id": page,
            "text": " ".join(sentences),
            "lines": "\n".join(f"{number}\t{text}" for number, text in enumerate(sentences)),
        }
        for page, sentences in pages.items()
    ]
    (folder / "wiki-001.jsonl").write_text("".join(json.dumps(r) + "\n" for r in records))
    return SentencePool(FeverCorpus(folder), encoder, folder / "vectors")

from __future__ import annotations

import json
from pathlib import Path

import pytest

from retrieval.assembly import Retriever, open_retriever
from retrieval.corpora.sources import open_corpus
from retrieval.encoders.minilm_encoder import MiniLMEncoder
from retrieval.index.builder import build_index

TEXTS = {
    "Skerrow Light": "Skerrow Light is a lighthouse on the island of Skerrow. It was designed by"
    " Ann Lee and was first lit in 1871. The tower is painted red and white.",
    "Ann Lee": "Ann Lee was a Scottish engineer. She designed four lighthouses and two bridges."
    " She died in Dundee in 1902.",
    "Skerrow": "Skerrow is a small island in the north. About forty people live there. Most of"
    " them keep sheep.",
    "Dundee": "Dundee is a city in Scotland. It lies on the River Tay.",
    "Lighthouse": "A lighthouse is a tower with a lamp that guides ships at night.",
    "Lee (song)": "Lee is a song about a river.",
}


@pytest.fixture(scope="session")
def index(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A small corpus of our own, indexed with the real encoder."""
    folder = tmp_path_factory.mktemp("pipeline")
    source = folder / "islands.jsonl"
    source.write_text(
        "".join(
            json.dumps({"id": title.replace(" ", "_"), "title": title, "text": text}) + "\n"
            for title, text in TEXTS.items()
        ),
        encoding="utf-8",
    )
    build_index(
        open_corpus(f"jsonl:{source}"), MiniLMEncoder(), folder / "index", lambda done, of: None
    )
    return folder / "index"


@pytest.fixture(scope="session")
def retriever(index: Path) -> Retriever:
    """The whole retriever, with its real models, over that corpus."""
    retriever = open_retriever(index, threads=2)
    retriever.warm_up()
    return retriever

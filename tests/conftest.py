from __future__ import annotations

from pathlib import Path

import pytest

from retrieval.assembly import Retriever, open_retriever
from retrieval.corpora.sources import open_corpus
from retrieval.encoders.minilm_encoder import MiniLMEncoder
from retrieval.index.builder import build_index
from retrieval.language.english import EnglishParser
from tests.islands import write_source


@pytest.fixture(scope="session")
def parser() -> EnglishParser:
    """The real parser, loaded once for all tests."""
    parser = EnglishParser()
    parser.warm_up()
    return parser


@pytest.fixture(scope="session")
def index(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """``ESOTERIC_HOME/index`` of a small corpus, made with the real encoder."""
    home = tmp_path_factory.mktemp("home")
    source = home / "islands.jsonl"
    write_source(source)
    build_index(
        open_corpus(f"jsonl:{source}"), MiniLMEncoder(), home / "index", lambda done, of: None
    )
    return home / "index"


@pytest.fixture(scope="session")
def retriever(index: Path) -> Retriever:
    """The whole retriever, with its real models, over that corpus."""
    retriever = open_retriever(index, threads=2)
    retriever.warm_up()
    return retriever

"""Retrievers with the real models over small corpora, and checks by them."""

from pathlib import Path

from retrieval.corpora.corpus import Corpus
from retrieval.index.embedded.embedded_index import EmbeddedIndex
from retrieval.models.encoders import MiniLMEncoder
from retrieval.models.folders import ModelFolders
from retrieval.pipeline.assembly import Retriever
from retrieval.types import Report


def retriever_over(corpus: Corpus, folder: Path, unpacked: Path) -> Retriever:
    """Index a corpus in a folder, and return a retriever over it."""
    EmbeddedIndex(folder / "index").build(corpus, MiniLMEncoder())
    return Retriever(folder / "index", folder, threads=2, folders=ModelFolders(unpacked))


def check(retriever: Retriever, claim: str, recipe: str = "combined") -> Report:
    """Check a claim, whatever its progress is."""
    return retriever.check(claim, recipe, lambda progress: None)

"""Claims checked against corpora beside the default one, with the real models."""

from __future__ import annotations

from pathlib import Path

import pytest

from retrieval.corpora.corpus import Page
from retrieval.errors import IndexUnavailable
from retrieval.index.embedded.embedded_index import EmbeddedIndex
from retrieval.models.encoders import MiniLMEncoder
from retrieval.models.folders import ModelFolders
from retrieval.pipeline.assembly import OwnCorpus, Retriever
from retrieval.types import REFUTES, SUPPORTS, Report
from tests.retrieval.index.pages import ListCorpus
from tests.support.encoders import WordEncoder

pytestmark = pytest.mark.models

OWNER = Page(
    "deed.pdf", "Deed", None, "Skerrow Light was sold to Tom Berg in 1960.", source="deed.pdf"
)
LATER = Page("deed.pdf", "Deed", None, "Skerrow Light was sold to Ida Holm in 1960.")
CLAIM = "Skerrow Light was sold to Tom Berg in 1960."


def build(folder: Path, page: Page, content: str = "1") -> None:
    EmbeddedIndex(folder).build(ListCorpus((page,), content=content), MiniLMEncoder())


@pytest.fixture
def retriever(index: Path, unpacked: Path, tmp_path: Path) -> Retriever:
    build(tmp_path / "papers", OWNER)
    return Retriever(
        index,
        tmp_path,
        threads=2,
        folders=ModelFolders(unpacked),
        own_corpus=lambda name: OwnCorpus(name, name.title(), tmp_path / name),
    )


def check(retriever: Retriever, claim: str, *corpora: str) -> Report:
    return retriever.check(claim, "esoteric", lambda _: None, corpora or None)


def test_a_claim_is_checked_in_the_corpora_that_it_names(
    retriever: Retriever, tmp_path: Path
) -> None:
    alone = check(retriever, CLAIM, "papers")
    both = check(retriever, CLAIM, "default", "papers")
    for report in (alone, both):
        assert report.verdict.label == SUPPORTS
        assert report.evidence[0].sentence.document_id == "papers:deed.pdf"
    assert [part.title for part in both.corpus.parts] == ["islands", "Papers"]
    assert both.corpus.documents == 7
    read = {ranked.document.id for ranked in both.documents}
    assert {"papers:deed.pdf", "Skerrow_Light"} <= read
    default = check(retriever, CLAIM)
    assert default.verdict.label != SUPPORTS
    assert default.corpus.parts == ()
    assert all(":" not in ranked.document.id for ranked in default.documents)


def test_a_corpus_that_changes_is_opened_again(retriever: Retriever, tmp_path: Path) -> None:
    assert check(retriever, CLAIM, "papers").verdict.label == SUPPORTS
    build(tmp_path / "papers", LATER, "2")
    assert check(retriever, CLAIM, "papers").verdict.label == REFUTES


def test_a_corpus_that_cannot_be_searched_says_which_and_how_to_mend_it(
    retriever: Retriever, tmp_path: Path
) -> None:
    EmbeddedIndex(tmp_path / "words").build(ListCorpus((OWNER,)), WordEncoder())
    for name in ("words", "nothing"):
        with pytest.raises(IndexUnavailable, match=f"“{name.title()}” cannot be searched") as error:
            check(retriever, CLAIM, "default", name)
        assert "Index it again" in error.value.hint

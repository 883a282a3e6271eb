"""Segments that lie one behind the other become one."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from retrieval.corpora.corpus import Page
from retrieval.errors import IndexUnavailable
from retrieval.index.embedded_index import EmbeddedIndex
from retrieval.index.merging import mergeable
from tests.encoders import WordEncoder
from tests.index.pages import PAGES, ListCorpus

# All files of a segment and its vectors but the records, whose blocks stay as they were.
SAME = [
    "segments/*/ids.txt",
    "segments/*/*_table.npy",
    "segments/*/title_*.npy",
    "segments/*/id_starts.npy",
    "segments/*/sentence_starts.npy",
    "vectors/*/*.npy",
]


def add(index: EmbeddedIndex, *pages: Page) -> None:
    index.add(ListCorpus(pages, content=repr(pages)), WordEncoder())


def only(folder: Path) -> Path:
    (found,) = folder.iterdir()
    return found


@pytest.mark.parametrize(
    ("counts", "many"),
    [
        ((7,), 1),
        ((3, 1), 1),
        ((2, 1), 2),
        ((100, 1, 1), 2),
        # 1 and 2 are 3, with 6 they are 9, and 19 is more than twice that.
        ((19, 6, 2, 1), 3),
        ((18, 6, 2, 1), 4),
        ((1, 50), 2),
    ],
)
def test_segments_become_one_unless_each_is_more_than_twice_the_next(
    counts: tuple[int, ...], many: int
) -> None:
    assert mergeable(counts) == many


def test_however_often_pages_are_added_the_segments_are_few(tmp_path: Path) -> None:
    index = EmbeddedIndex(tmp_path)
    index.build(ListCorpus(PAGES), WordEncoder())
    for number in range(30):
        add(index, Page(f"p{number}", f"Page {number}", None, f"It is number {number}."))
        # More than twice as many in each as in the next: 1, 3, 7, 15 and 31 hold 57.
        assert len(list((tmp_path / "segments").iterdir())) <= 4
    assert len(list((tmp_path / "vectors").iterdir())) <= 4
    store = index.open("words")
    store.verify()
    assert store.info().documents == len(PAGES) + 30
    ids = ["Zoe", *(f"p{number}" for number in range(30))]
    texts = [document.text for document in store.documents(ids)]
    assert texts[1:] == [f"It is number {number}." for number in range(30)]


def test_a_merged_segment_is_the_same_as_one_of_all_pages(tmp_path: Path) -> None:
    EmbeddedIndex(tmp_path / "whole").build(ListCorpus(PAGES), WordEncoder())
    index = EmbeddedIndex(tmp_path / "merged")
    index.build(ListCorpus(PAGES[:5]), WordEncoder())
    add(index, *PAGES[5:])
    only(tmp_path / "merged" / "segments")
    for pattern in SAME:
        whole = sorted((tmp_path / "whole").glob(pattern))
        merged = sorted((tmp_path / "merged").glob(pattern))
        assert [path.name for path in merged] == [path.name for path in whole] != []
        assert [path.read_bytes() for path in merged] == [path.read_bytes() for path in whole]


def test_segments_without_sentences_and_without_vectors_are_merged(tmp_path: Path) -> None:
    index = EmbeddedIndex(tmp_path)
    index.build(ListCorpus((Page("a", "A", None, ""),)), None)
    index.add(ListCorpus((Page("b", "B", None, ""),), content="2"), None)
    assert np.load(only(tmp_path / "segments") / "sentence_starts.npy").tolist() == [0, 0, 0]
    index.encode(WordEncoder())
    add(index, Page("c", "C", None, ""), Page("d", "D", None, "It is red."))
    assert np.load(only(tmp_path / "vectors") / "sentence_codes.npy").shape[0] == 1
    assert len(np.load(only(tmp_path / "vectors") / "documents.npy")) == 4


def test_a_damaged_segment_is_not_merged_as_if_it_were_whole(tmp_path: Path) -> None:
    index = EmbeddedIndex(tmp_path)
    index.build(ListCorpus(PAGES), WordEncoder())
    before = index.version()
    codes = only(tmp_path / "vectors") / "sentence_codes.npy"
    content = bytearray(codes.read_bytes())
    content[-1] ^= 1
    codes.write_bytes(content)
    with pytest.raises(IndexUnavailable, match=r"sentence_codes\.npy is not whole"):
        add(index, *(Page(f"p{n}", f"Page {n}", None, "") for n in range(len(PAGES))))
    assert index.version() == before

"""Titles as a trie: which tokens may follow, which documents end there."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pytest

from retrieval.models import title_trie
from retrieval.models.title_trie import TitleNode, TitleTrie, build_run, joined

# Sorted they stand 0: (1,), 1: (1, 2), 2: (1, 2), 3: (1, 300), 4: (7, 1, 1), 5: (30521,).
TITLES = [(7, 1, 1), (1, 2), (30_521,), (1,), (1, 300), (1, 2), ()]


def trie(titles: Sequence[Sequence[int]] = TITLES) -> TitleTrie:
    return TitleTrie.of(titles, [f"document {number}" for number in range(len(titles))])


def walk(trie: TitleTrie, *tokens: int) -> TitleNode | None:
    reached: TitleNode | None = trie.root()
    for token in tokens:
        reached = trie.step(reached, token) if reached is not None else None
    return reached


def ends(trie: TitleTrie, *tokens: int) -> list[str]:
    reached = walk(trie, *tokens)
    assert reached is not None
    return trie.ends(reached)


def test_the_arrays_hold_the_sorted_titles_without_the_one_that_has_no_token() -> None:
    run = build_run((title, number) for number, title in enumerate(TITLES))
    assert run.tokens.tolist() == [1, 1, 2, 1, 2, 1, 300, 7, 1, 1, 30_521]
    assert run.starts.tolist() == [0, 1, 3, 5, 7, 10, 11]
    assert run.documents.tolist() == [3, 1, 5, 4, 0, 2]
    assert (run.tokens.dtype, run.starts.dtype) == (np.uint16, np.uint32)
    assert run.documents.dtype == np.uint32
    # Equal titles are in order of their numbers however they come.
    equal = build_run([((4,), 70_000), ((4,), 2), ((4,), 300)])
    assert equal.documents.tolist() == [2, 300, 70_000]
    with pytest.raises(OverflowError):
        build_run([((65_535,), 0)])


@pytest.mark.parametrize("block", [1, 3, 1 << 20])
def test_children_are_the_tokens_that_may_follow_each_once(
    monkeypatch: pytest.MonkeyPatch, block: int
) -> None:
    monkeypatch.setattr(title_trie, "_BLOCK", block)  # titles that are looked at together
    titles = trie()
    assert titles.children(titles.root()).tolist() == [1, 7, 30_521]
    assert titles.children(TitleNode(range(4), 1)).tolist() == [2, 300]
    assert titles.children(TitleNode(range(1, 3), 2)).tolist() == []


def test_a_step_leaves_the_titles_that_continue_and_a_title_ends_after_its_last_token() -> None:
    titles = trie()
    assert walk(titles, 1) == TitleNode(range(4), 1)
    assert walk(titles, 1, 2) == TitleNode(range(1, 3), 2)
    for nowhere in ((0,), (2,), (30_522,), (1, 1), (1, 2, 1), (7, 2), (-1,)):
        assert walk(titles, *nowhere) is None
    assert ends(titles) == ends(titles, 7, 1) == []
    assert ends(titles, 1) == ["document 3"]
    assert ends(titles, 1, 2) == ["document 1", "document 5"]
    for none in (trie([]), trie([()])):
        assert none.children(none.root()).tolist() == none.ends(none.root()) == []
        assert none.step(none.root(), 1) is None


def test_titles_that_are_added_stand_where_a_run_of_all_has_them() -> None:
    numbered = list(enumerate(TITLES))
    whole = build_run((title, number) for number, title in numbered)
    for count in range(len(TITLES) + 1):
        parts = (numbered[:count], numbered[count:])
        both = joined(*(build_run((title, n) for n, title in some) for some in parts))
        assert both.tokens.tolist() == whole.tokens.tolist()
        assert both.starts.tolist() == whole.starts.tolist()
        assert both.documents.tolist() == whole.documents.tolist()

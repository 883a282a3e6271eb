from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pytest

from retrieval.models import title_trie
from retrieval.models.title_trie import TitleNode, TitleTokenizer, TitleTrie, build_run, joined

# Sorted they stand 0: (1,), 1: (1, 2), 2: (1, 2), 3: (1, 300), 4: (7, 1, 1), 5: (30521,).
TITLES = [(7, 1, 1), (1, 2), (30_521,), (1,), (1, 300), (1, 2), ()]


def trie(titles: Sequence[Sequence[int]] = TITLES) -> TitleTrie:
    return TitleTrie.of(titles, [f"document {number}" for number in range(len(titles))])


def node(low: int, high: int, depth: int) -> TitleNode:
    return TitleNode(range(low, high), depth)


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


def test_children_are_the_tokens_that_may_follow_each_once() -> None:
    titles = trie()
    assert titles.children(titles.root()).tolist() == [1, 7, 30_521]
    assert titles.children(node(0, 4, 1)).tolist() == [2, 300]
    assert titles.children(node(1, 3, 2)).tolist() == []


@pytest.mark.parametrize("block", [1, 2, 3, 100])
def test_children_do_not_depend_on_how_many_titles_are_looked_at_together(
    monkeypatch: pytest.MonkeyPatch, block: int
) -> None:
    monkeypatch.setattr(title_trie, "_BLOCK", block)
    titles = trie()
    assert titles.children(titles.root()).tolist() == [1, 7, 30_521]
    assert titles.children(node(0, 4, 1)).tolist() == [2, 300]


def test_a_step_leaves_the_titles_that_continue_with_its_token() -> None:
    titles = trie()
    assert walk(titles) == node(0, 6, 0)
    assert walk(titles, 1) == node(0, 4, 1)
    assert walk(titles, 1, 2) == node(1, 3, 2)
    assert walk(titles, 1, 300) == node(3, 4, 2)
    assert walk(titles, 7, 1, 1) == node(4, 5, 3)


@pytest.mark.parametrize("tokens", [(0,), (2,), (30_522,), (1, 1), (1, 2, 1), (7, 2), (-1,)])
def test_what_no_title_begins_with_leads_nowhere(tokens: tuple[int, ...]) -> None:
    assert walk(trie(), *tokens) is None


def test_a_title_ends_after_its_last_token_even_if_others_continue() -> None:
    titles = trie()
    assert ends(titles) == []
    assert ends(titles, 1) == ["document 3"]
    assert ends(titles, 1, 2) == ["document 1", "document 5"]
    assert ends(titles, 7, 1) == []
    assert ends(titles, 7, 1, 1) == ["document 0"]


def test_equal_titles_are_in_order_of_their_numbers_however_they_come() -> None:
    built = build_run([((4,), 70_000), ((4,), 2), ((4,), 300)])
    assert built.documents.tolist() == [2, 300, 70_000]


def test_no_titles_are_a_root_that_leads_nowhere() -> None:
    for titles in (trie([]), trie([()])):
        assert titles.root() == node(0, 0, 0)
        assert titles.children(titles.root()).tolist() == []
        assert titles.step(titles.root(), 1) is None
        assert titles.ends(titles.root()) == []


def test_a_token_that_does_not_fit_is_an_error() -> None:
    with pytest.raises(OverflowError):
        build_run([((65_535,), 0)])


@pytest.mark.models
def test_the_whole_title_is_cut_into_tokens_and_nothing_is_added() -> None:
    tokenizer = TitleTokenizer()
    (plain,), (bare, upper, words) = (
        tokenizer.tokens(["harbour"]),
        tokenizer.tokens(["harbour light", "HARBOUR Light", "Harbour light (1920 film)"]),
    )
    assert len(plain) == 1
    assert bare[:1] == plain
    assert upper == bare
    assert words[:2] == bare
    assert len(words) == 6  # harbour, light, (, 1920, film, )
    assert len(tokenizer.tokens(["light " * 600])[0]) == 600
    assert tokenizer.tokens(["", " "]) == [[], []]


def test_titles_that_are_added_stand_where_a_run_of_all_has_them() -> None:
    for count in range(len(TITLES) + 1):
        numbered = list(enumerate(TITLES))
        older, newer = (
            build_run((title, number) for number, title in some)
            for some in (numbered[:count], numbered[count:])
        )
        both, whole = joined(older, newer), build_run((title, n) for n, title in numbered)
        assert both.tokens.tolist() == whole.tokens.tolist()
        assert both.starts.tolist() == whole.starts.tolist()
        assert both.documents.tolist() == whole.documents.tolist()


def test_two_runs_are_one_tree_and_a_removed_title_ends_nowhere() -> None:
    older = build_run([((1, 2), 0), ((7,), 1)])
    newer = build_run([((1,), 2), ((1, 2), 3), ((3,), 4)])
    both = TitleTrie(joined(older, newer), lambda n: None if n == 1 else f"document {n}")
    assert both.children(both.root()).tolist() == [1, 3, 7]
    assert ends(both, 1) == ["document 2"]
    assert ends(both, 1, 2) == ["document 0", "document 3"]
    assert ends(both, 7) == []
    assert walk(both, 7, 1) is None
    one = walk(both, 1)
    assert one is not None
    assert both.is_end(one)
    assert both.children(one).tolist() == [2]

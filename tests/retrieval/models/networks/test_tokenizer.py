"""Rows of tokens are those that transformers makes."""

from __future__ import annotations

from pathlib import Path

import pytest
from transformers import AutoTokenizer

from retrieval.models.networks import Tokenizer
from retrieval.models.packaged import MiniLM, MPNet, PackagedBody

pytestmark = pytest.mark.models

WINDOW = 24
TEXTS = [
    "The pier is long.",
    "",
    "  ",
    "Zoë's café (1884), unbelievably.",
    "灯塔建于1884年。",
    "Маяк построен в 1884 году.",
    "بني المنارة",
    "A lamp 🗼 and a \u200b space",
    "[SEP] </s> Holm",
    "Ann Lee designed the lighthouse in Scotland. " * 6,
    "国" * 60,
]


@pytest.fixture(params=["MiniLM", "MPNet"])
def base(request: pytest.FixtureRequest) -> PackagedBody:
    if request.param == "MiniLM":
        return MiniLM()
    unpacked: Path = request.getfixturevalue("unpacked")
    return MPNet(unpacked)


def test_pairs_are_cut_where_the_longer_text_ends(base: PackagedBody) -> None:
    theirs = AutoTokenizer.from_pretrained(base.tokenizer_file().parent, local_files_only=True)
    pairs = [(first, second) for first in TEXTS for second in TEXTS]
    expected = theirs(
        [first for first, _ in pairs],
        [second for _, second in pairs],
        truncation="longest_first",
        max_length=WINDOW,
    )["input_ids"]
    rows = Tokenizer(base.tokenizer_file(), WINDOW).pairs(pairs)
    assert rows == expected
    assert max(map(len, rows)) == WINDOW


def test_texts_are_cut_at_their_end(base: PackagedBody) -> None:
    theirs = AutoTokenizer.from_pretrained(base.tokenizer_file().parent, local_files_only=True)
    expected = theirs(TEXTS, truncation=True, max_length=WINDOW)["input_ids"]
    tokenizer = Tokenizer(base.tokenizer_file(), WINDOW)
    assert tokenizer.texts(TEXTS) == expected
    assert tokenizer.texts([""]) == [[tokenizer.begin, tokenizer.end]]
    assert (tokenizer.begin, tokenizer.end) == (theirs.cls_token_id, theirs.sep_token_id)
    assert base.padding == theirs.pad_token_id


def test_placed_texts_are_whole_and_without_marks(base: PackagedBody) -> None:
    theirs = AutoTokenizer.from_pretrained(base.tokenizer_file().parent, local_files_only=True)
    expected = theirs(
        TEXTS, add_special_tokens=False, return_offsets_mapping=True, truncation=False
    )
    placed = Tokenizer(base.tokenizer_file(), WINDOW).placed(TEXTS)
    assert [ids for ids, _ in placed] == expected["input_ids"]
    assert [offsets for _, offsets in placed] == expected["offset_mapping"]


def test_the_length_of_a_pair_is_that_before_it_is_cut(base: PackagedBody) -> None:
    theirs = AutoTokenizer.from_pretrained(base.tokenizer_file().parent, local_files_only=True)
    tokenizer = Tokenizer(base.tokenizer_file(), WINDOW)
    for first in TEXTS:
        whole = theirs(first, TEXTS[-1], verbose=False)["input_ids"]
        assert tokenizer.length(first, TEXTS[-1]) == len(whole)


def test_without_texts_there_are_no_rows(base: PackagedBody) -> None:
    tokenizer = Tokenizer(base.tokenizer_file(), WINDOW)
    assert (tokenizer.pairs([]), tokenizer.texts([]), tokenizer.placed([])) == ([], [], [])

"""Unexpected texts, and a limit on the time that it takes to read one."""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache

from hypothesis import strategies as st

# What people and attackers put into texts: controls, invisible and turning characters, halves of
# characters, floods of accents, markup, formulas, quotation marks, numbers at their limits.
PIECES = (
    *("\x00", "\x01", "\x1b[31m", "\x7f", "\x85", "\u2028", "\u2029", "\ufeff", "\ufffd", "\uffff"),
    *("\u202e", "\u2066", "\u2069", "\u200b", "\u200d", "\u00ad", "\u3164", "\u180e", "\U000e0041"),
    *("\ud800", "\udfff", "\ud83d", "\u0301" * 40, "Å", "A\u030a", "ﬁ", "ẞ", "İ", "\u0131", "½"),
    *("<script>", "</script>", "<!--", "]]>", "&#0;", "{{7*7}}", "${x}", "%s", "%00", "\\u0000"),
    *("\\", "\\ud800", '"', "'", "“", "„", "```", "=1+1", "@A1", "-2", "+3", "\t", "\r\n", "\n"),
    *("1e999", "NaN", "-0", "٣٤", "10^400", "9" * 60, "1,000.5 km", "$3.50", "12/13/2024", "1:2:3"),
    *("http://", "https://a.b/?q=%ff", "../../etc/passwd", "C:\\x", "CON", "a@b.c", "#tag", "((("),
    *("]]]", ",;|", "Mr. A. B. Smith ", "the ", "was born in ", "and ", "not ", "is taller than "),
    *("Who ", "?", ".", "...", "!", "\uff11\uff12", "ال", "中文", "👩‍👩‍👧‍👦", "🏴󠁧󠁢󠁥󠁮󠁧󠁿", "\U0010ffff"),
)
pieces = st.lists(st.sampled_from(PIECES), max_size=25).map("".join)
floods = st.tuples(st.sampled_from(PIECES), st.integers(1, 20_000)).map(
    lambda flood: (flood[0] * flood[1])[:20_000]
)
texts = st.one_of(
    st.text(st.characters(), max_size=300),  # halves of characters too
    pieces,
    floods,
    st.tuples(pieces, floods, pieces).map("".join),
)
# Values as JSON has them.
values = st.recursive(
    st.one_of(st.none(), st.booleans(), st.integers(), st.floats(), texts),
    lambda inner: st.one_of(
        st.lists(inner, max_size=4), st.dictionaries(pieces, inner, max_size=4)
    ),
    max_leaves=8,
)


@contextmanager
def quickly(seconds: float = 3.0) -> Iterator[None]:
    """Fail if what is done takes longer than this on one processor; a slow one may take longer."""
    begun = time.process_time()
    yield
    took = time.process_time() - begun
    assert took < seconds or took < seconds * _times_slower(), f"{took:.1f} seconds"


@cache
def _times_slower() -> float:
    """Return how many times as long this processor takes as one that counts 33 million a second."""
    begun = time.process_time()
    sum(1 for _ in range(5_000_000))
    return (time.process_time() - begun) / 0.15


def whole(text: str) -> str:
    """Return the text without halves of characters, which no file has."""
    return text.encode("utf-8", "replace").decode()

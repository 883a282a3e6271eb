"""Expressions that see texts of others take time in proportion to them.

Each text made an earlier form of its expression look at the same characters again and again.
"""

from __future__ import annotations

import re

import pytest

from retrieval.corpora import passages
from retrieval.corpora.folder import columns, plain_text, running_text, tree
from retrieval.corpora.wiki import fever
from retrieval.stages.decide import comparison
from retrieval.text import subject
from tests.hostile.strategies import quickly

MANY = 100_000


@pytest.mark.parametrize(
    ("expression", "text"),
    [
        (tree._COMMENT, "/*" * MANY),
        (tree._RULE, "a" * MANY),
        (tree._RULE, "a{" * MANY),
        (tree._NESTED, "@" * MANY),
        (tree._NESTED, "@a{" * MANY),
        (tree._TRICKS, "opacity:" * MANY),
        (plain_text._CELLS, "a" + " " * MANY),
        (passages._EDIT, " " * MANY + "x"),
        (running_text._LEADERS, "." * MANY + " a b c"),
        (running_text._LEADERS, ". " * MANY + "a b c"),
        (running_text._TO_A_PAGE, "." * MANY + "a"),
        (running_text._TO_A_PAGE, ". " * MANY + "a"),
        (columns.FIGURES, "1" * MANY + "ab"),
        (fever._BEFORE, " " * MANY + "x"),
        (subject._ASIDE, "(" * MANY),
        (comparison._BRACKETS, "(" * MANY),
        (comparison._BRACKETS, " " * MANY),
    ],
)
def test_a_hundred_thousand_repetitions_take_less_than_a_second(
    expression: re.Pattern[str], text: str
) -> None:
    with quickly(1):
        expression.sub("", text)
        expression.fullmatch(text)

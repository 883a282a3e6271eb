"""How text above and below the line is read."""

from __future__ import annotations

import re

from retrieval.corpora.superscripts import exponent, lowered, marked, unmarked
from tests.support.cases import cases

_LOWERED, _RAISED = re.compile(r"_\{([^{}]*)\}"), re.compile(r"\{([^{}]*)\}")


@cases("superscripts", "line", "read")
def test_a_line_is_read_with_what_stands_above_and_below_it(line: str, read: str) -> None:
    """In ``line``, what is above it is in {}, and what is below it in _{}."""
    line = _LOWERED.sub(lambda found: lowered(found[1]), line)
    while "{" in line:
        line = _RAISED.sub(lambda found: marked(found[1]), line)
    assert unmarked(line) == read


def test_exponents_of_formulas_have_plain_characters() -> None:
    assert [exponent(text) for text in ("2", "n", "k", "a/b")] == ["²", "ⁿ", "^k", "^(a/b)"]

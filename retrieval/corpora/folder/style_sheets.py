"""What the styles of a web page say of an element: that it is hidden, or set above its line.

Of the style sheets in the page, rules for one class or id count. Where another rule mentions the
same class or id and shows it, it is shown: which of them wins depends on more than is known here.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator

from lxml import html

_HIDES = re.compile(
    r"display\s*:\s*none|visibility\s*:\s*hidden|text-decoration[\w-]*\s*:[^;]*line-through"
    r"|(?:left|top|text-indent)\s*:\s*-\d{4,}(?:\.\d+)?px",  # out of sight
    re.I,
)
_SHOWS = re.compile(
    r"display\s*:\s*(?!none)\w|visibility\s*:\s*visible|text-decoration[\w-]*\s*:\s*none", re.I
)
_RAISES = re.compile(r"vertical-align\s*:\s*super", re.I)
_MOVES_UP = re.compile(
    r"vertical-align\s*:\s*(?:text-top|\.?[0-9][0-9.]*[1-9a-z%])"
    r"|position\s*:\s*relative.*\btop\s*:\s*-|\btop\s*:\s*-.*position\s*:\s*relative"
    r"|position\s*:\s*relative.*\bbottom\s*:\s*[.0-9]*[1-9]",
    re.I | re.S,
)
_COMMENT = re.compile(r"/\*.*?(?:\*/|\Z)|<!--|-->", re.S)
# Each begins behind a bracket, so that nothing is looked at twice.
_RULE = re.compile(r"(?<![^{}])([^{}]+)\{([^{}]*)\}")
# @media and the like.
_NESTED = re.compile(r"@[^{};]{0,1000}\{(?:[^{}]*\{[^{}]*\})*[^{}]*\}|@[^{};]{0,1000};")
_ALONE = re.compile(r"[\w-]*([.#][\w-]+)")
_NAMED = re.compile(r"[.#][A-Za-z_-][\w-]*")


class Looks:
    """The styles of a page."""

    def __init__(self, tree: html.HtmlElement, sheets: Iterable[str] = ()) -> None:
        """Read the style sheets in a page, and those of other files."""
        own = (sheet.text or "" for sheet in tree.iter("style"))
        rules = [rule for sheet in (*sheets, *own) for rule in _rules(sheet)]
        shown = {
            name
            for selectors, look in rules
            if _SHOWS.search(look)
            for name in _NAMED.findall(selectors)
        }
        self._hidden = _named(rules, _HIDES) - shown
        self._raised = _named(rules, _RAISES)
        self._moved_up = _named(rules, _MOVES_UP)

    def hides(self, element: html.HtmlElement) -> bool:
        """Return whether an element is not displayed, or struck out."""
        return _has(element, _HIDES, self._hidden)

    def raises(self, element: html.HtmlElement) -> bool:
        """Return whether an element is set as an exponent."""
        return _has(element, _RAISES, self._raised)

    def moves_up(self, element: html.HtmlElement) -> bool:
        """Return whether an element stands higher than its line, for whatever reason."""
        return _has(element, _MOVES_UP, self._moved_up)


def _rules(sheet: str) -> Iterator[tuple[str, str]]:
    """Yield the selectors and the declarations of each rule that always holds."""
    for found in _RULE.finditer(_NESTED.sub("", _COMMENT.sub("", sheet))):
        yield found[1].strip(), found[2]


def _named(rules: list[tuple[str, str]], look: re.Pattern[str]) -> set[str]:
    """Return the classes (".note") and ids ("#n1") that alone have such a look."""
    return {
        alone[1]
        for selectors, declarations in rules
        if look.search(declarations)
        for selector in selectors.split(",")
        if (alone := _ALONE.fullmatch(selector.strip()))
    }


def _has(element: html.HtmlElement, look: re.Pattern[str], names: set[str]) -> bool:
    if look.search(element.get("style", "")):
        return True
    if not names:
        return False
    own = {f".{name}" for name in element.get("class", "").split()}
    return not names.isdisjoint(own | {f"#{element.get('id', '')}"})

"""Leaves of a web page what a browser shows, in elements that the search for its main text keeps.

trafilatura knows no merged cells, drops empty ones, captions, loose text and dates in sentences,
and keeps deleted text and the numbers of notes. So tables, lists of names and values, captions and
details become paragraphs before, raised text is ``marked``, and what is not shown is removed.

Of the style sheets in the page, rules for one class or id count. Where another rule mentions the
same class or id and shows it, it is shown: which of them wins depends on more than is known here.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from lxml import etree, html

from retrieval.corpora.cleaning import clean
from retrieval.corpora.folder.formula import beside, formula
from retrieval.corpora.folder.tables import Cell, table_text
from retrieval.corpora.superscripts import BEGIN, END, lowered, unmarked
from retrieval.corpora.wiki.introduction import formula as formula_of_tex

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
HEADINGS = ("h1", "h2", "h3", "h4", "h5", "h6")
_NOT_SHOWN = (
    "//template | //dialog[not(@open)] | //*[@hidden] | //del | //s | //strike | //rp | //rt"
)
_LONGEST_NOTICE = 1000  # characters in <noscript>; more are the text that a script would show
_REVEALED = 0.8  # part of the text in paragraphs that only scripts can have hidden, and show
_HIDDEN_CLASSES = {
    *("sr-only", "visually-hidden", "visuallyhidden", "screen-reader-text"),  # for other senses
    *("mw-editsection", "headerlink"),  # the tools of a heading
}
_REFERENCES = {"footnote-ref", "footnoteref", "noteref", "footnote-reference"}
_TO_A_NOTE = re.compile(r"#.*(?:fn|ftn|foot|note|cite|ref)", re.IGNORECASE)
_MARK = re.compile(r"\[?\d{1,3}\]?|[*†‡§]{1,3}")
_SHORT = 8  # characters of a text that is moved up, as exponents and marks are
_FORMULAS = {"mwe-math-element", "katex", "MathJax", "MathJax_Preview"}
_FORMULA = "[formula]"  # stands where one stood that has no text
_BLOCKS = {
    *("address", "article", "aside", "blockquote", "br", "caption", "center", "dd", "details"),
    *("div", "dl", "dt", "figcaption", "figure", "footer", "form", "header", "hr", "li", "main"),
    *("ol", "p", "pre", "section", "summary", "table", "tbody", "td", "tfoot", "th", "thead"),
    *("tr", "ul", *HEADINGS),
    *("head", "lb", "item", "row", "cell"),  # what trafilatura makes of some of them
}
_OF_TEXT = {"a", "b", "em", "i", "li", "p", "span", "strong"}  # where such a part may be alone
_LONGEST_CELL = 600  # characters; a longer one is a part of the page's layout
_MOST_LINKED = 0.9  # part of a table's text in links, from which on it is a menu
_WIDEST = 1000  # columns or rows of a cell, as browsers limit them


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


@dataclass(frozen=True, slots=True)
class ShownTable:
    """A table that was made paragraphs.

    ``number``: from 1. ``expected``: whether it stands in what the page marks as its main text.
    ``sentences``: its rows. ``dropped``: the numbers of rows that are too wide.
    """

    number: int
    expected: bool
    sentences: list[str]
    dropped: list[int]


def leave_what_is_shown(tree: html.HtmlElement, sheets: Iterable[str] = ()) -> list[ShownTable]:
    """Change a page as above, and return its tables; ``sheets`` are styles from other files."""
    _write_formulas(tree)
    looks = Looks(tree, sheets)
    _remove_what_is_not_shown(tree, looks)
    _mark_raised_text(tree, looks)
    tables = [table for table in tree.iter("table") if _says_data(table)]
    shown = [_made_paragraphs(number, table) for number, table in enumerate(tables, start=1)]
    for table in list(tree.iter("table")):  # what is left holds parts of the layout
        if _linked(table) <= _MOST_LINKED:
            _rename(table, "div", "div", ("caption", "thead", "tbody", "tfoot", "tr", "td", "th"))
    for pairs in list(tree.iter("dl")):
        if all(len(value.text_content()) <= _LONGEST_CELL for value in pairs.iter("dd")):
            _name_values(pairs)
    for element in list(tree.iter("figcaption", "summary", "legend")):
        _rename(element, "p" if _is_one_line(element) else "div")
    for element in list(tree.iter("figure", "details", "center", "fieldset")):
        _rename(element, "div")
    for element in list(tree.iter("time", "output", "label", "blink")):
        if _is_within_text(element):
            element.drop_tag()
    for element in list(tree.iter("div")):
        _wrap_loose_text(element)
    return shown


def words(element: html.HtmlElement) -> str:
    """Return the text of an element, as it is read, in one line.

    Items of a list that trafilatura has made are left out; they are paragraphs of their own.
    """
    pieces: list[str] = []
    _collect(element, pieces)
    return clean(unmarked("".join(pieces)))


def _collect(element: html.HtmlElement, pieces: list[str]) -> None:
    pieces.append(element.text or "")
    for child in element:
        block = child.tag in _BLOCKS
        pieces.append(" " if block else "")
        if isinstance(child.tag, str) and child.tag != "list":  # not a comment
            _collect(child, pieces)
        pieces.append(" " if block else "")
        pieces.append(child.tail or "")


def _classes(element: html.HtmlElement) -> set[str]:
    return set(element.get("class", "").split())


def _write_formulas(tree: html.HtmlElement) -> None:
    written = [e for e in tree.iter("math", "span", "div") if e.tag == "math" or _is_formula(e)]
    for element in written:
        if not _is_in(tree, element):
            continue
        tex = element.xpath(
            "@alttext | .//@alttext | .//annotation[@encoding='application/x-tex']/text()"
            " | .//img/@alt"
        )
        mathml = next(element.iter("math"), None)
        text = formula_of_tex(tex[0]) if tex else "" if mathml is None else formula(mathml)
        text = beside(_before(element), " ".join(text.split()) or _FORMULA)
        element.tail = text + (element.tail or "")
        element.drop_tree()


def _before(element: html.HtmlElement) -> str:
    """Return the text right before an element, if there is no other element between."""
    previous = element.getprevious()
    text = element.getparent().text if previous is None else previous.tail
    return text or ""


def _is_formula(element: html.HtmlElement) -> bool:
    return bool(_classes(element) & _FORMULAS)


def _is_in(tree: html.HtmlElement, element: html.HtmlElement) -> bool:
    """Return whether an element has not been removed together with one around it."""
    top = element
    while (parent := top.getparent()) is not None:
        top = parent
    return top is tree.getroottree().getroot()


def _remove_what_is_not_shown(tree: html.HtmlElement, looks: Looks) -> None:
    unseen = list(tree.xpath(_NOT_SHOWN))
    for instead in list(tree.iter("noscript")):
        if len(instead.text_content().strip()) <= _LONGEST_NOTICE:
            unseen.append(instead)
        else:
            instead.tag = "div"
    most = max(_LONGEST_NOTICE, _REVEALED * _in_paragraphs(tree))
    hidden = [element for element in tree.iter(etree.Element) if looks.hides(element)]
    unseen += [element for element in hidden if _in_paragraphs(element) <= most]
    unseen += [e for e in tree.iterfind(".//*[@class]") if _classes(e) & _HIDDEN_CLASSES]
    for element in unseen:
        if element.getparent() is not None and element.tag not in ("html", "body"):
            element.drop_tree()


def _in_paragraphs(element: html.HtmlElement) -> int:
    """Return how many characters are in the paragraphs of an element."""
    return sum(len(paragraph.text_content()) for paragraph in element.iter("p"))


def _mark_raised_text(tree: html.HtmlElement, looks: Looks) -> None:
    raised = [
        element
        for element in tree.iter("sup", "a", "span")
        if element.tag == "sup"
        or looks.raises(element)
        or (looks.moves_up(element) and len(element.text_content().strip()) <= _SHORT)
        or _is_reference(element)
    ]
    for below in list(tree.iter("sub")):
        below.text, below.tail = lowered(words(below)), below.tail
        for child in list(below):
            below.remove(child)
        below.drop_tag()
    for element in raised:
        if element.text_content().strip():
            element.text = BEGIN + (element.text or "")
            if len(element):
                element[-1].tail = (element[-1].tail or "") + END
            else:
                element.text += END
        around = element.getparent()
        element.drop_tag()
        # Many links in a paragraph make it look like a menu.
        if around.tag == "a" and len(around.text_content()) <= _SHORT:
            around.drop_tag()


def _is_reference(element: html.HtmlElement) -> bool:
    """Return whether an element is the mark of a note."""
    if element.get("role") == "doc-noteref" or "noteref" in element.get("epub:type", ""):
        return True
    if _classes(element) & _REFERENCES:
        return True
    if element.tag != "a" or not _MARK.fullmatch(element.text_content().strip()):
        return False
    place = element.get("href", "")
    touches = place.startswith("#") and _before(element)[-1:].strip()
    return bool(_TO_A_NOTE.match(place) or touches)


def _says_data(table: html.HtmlElement) -> bool:
    """Return whether a table says something in its rows and columns, and is no layout or menu."""
    if table.get("role") in ("presentation", "none") or _linked(table) > _MOST_LINKED:
        return False
    if next(table.iterdescendants("table", "form"), None) is not None:
        return False
    if next(table.iter(*HEADINGS), None) is not None and next(table.iter("th"), None) is None:
        return False
    rows = [row.findall("td") + row.findall("th") for row in table.iter("tr")]
    lengths = [len(cell.text_content()) for row in rows for cell in row]
    return max(map(len, rows), default=0) > 1 and max(lengths) <= _LONGEST_CELL


def _linked(table: html.HtmlElement) -> float:
    """Return which part of the text of a table is in links."""
    linked = sum(len(link.text_content().strip()) for link in table.iter("a"))
    return linked / max(1, len("".join(table.text_content().split())))


def _made_paragraphs(number: int, table: html.HtmlElement) -> ShownTable:
    read = table_text([list(_cells(row)) for row in table.iter("tr")])
    caption = [words(each) for each in table.iter("caption")]
    expected = any(above.tag in ("article", "main") for above in table.iterancestors())
    tail = table.tail
    for child in list(table):
        table.remove(child)
    table.tag, table.text, table.tail = "div", None, tail
    for text in [*caption, *read.sentences]:
        if text:
            paragraph = html.Element("p")
            paragraph.text = text
            table.append(paragraph)
    return ShownTable(number, expected, read.sentences, read.dropped)


def _cells(row: html.HtmlElement) -> Iterator[Cell]:
    head = row.getparent() is not None and row.getparent().tag == "thead"
    for cell in row.iterchildren("td", "th"):
        heading = head or cell.tag == "th" or _is_bold(cell)
        height = _span(cell, "rowspan") or _WIDEST  # 0: to the end of the table
        yield Cell(words(cell), heading, _span(cell, "colspan") or 1, height)


def _is_bold(cell: html.HtmlElement) -> bool:
    bold = "".join(part.text_content() for part in cell.iter("b", "strong"))
    return bool(bold.strip()) and "".join(bold.split()) == "".join(cell.text_content().split())


def _span(cell: html.HtmlElement, name: str) -> int:
    digits = cell.get(name, "1").strip()
    return min(int(digits), _WIDEST) if digits.isdecimal() else 1


def _name_values(pairs: html.HtmlElement) -> None:
    """Make each value of a list a paragraph that begins with its name."""
    names: list[str] = []
    valued = True
    for child in list(pairs.iterdescendants("dt", "dd")):
        if next(child.iterancestors("dl")) is not pairs:
            continue
        if child.tag == "dt":
            if valued:
                names, valued = [], False
            names.append(words(child).rstrip(":"))
            if _has_value(child):
                child.drop_tree()
            else:
                child.tag = "p"
        else:
            valued = True
            begin = f"{', '.join(names)}: " if any(names) else ""
            first = next((e for e in child.iter("p", "div") if (e.text or "").strip()), child)
            first.text = begin + (first.text or "").lstrip()
            child.tag = "p" if _is_one_line(child) else "div"
    pairs.tag = "div"


def _has_value(name: html.HtmlElement) -> bool:
    """Return whether a value follows a name, perhaps after other names of it."""
    following = next((e for e in name.itersiblings("dt", "dd") if e.tag == "dd"), None)
    return following is not None


def _rename(
    element: html.HtmlElement, tag: str, inner: str = "", tags: tuple[str, ...] = ()
) -> None:
    element.tag = tag
    for attribute in ("class", "id"):
        element.attrib.pop(attribute, None)
    for child in list(element.iter(*tags)) if tags else ():
        child.tag = inner


def _is_within_text(element: html.HtmlElement) -> bool:
    """Return whether an element is a part of a text: no date of a page or label of a form alone."""
    around = element.getparent()
    own = len(element.text_content().strip())
    return around.tag in _OF_TEXT or len(around.text_content().strip()) > own


def _is_one_line(element: html.HtmlElement) -> bool:
    return not any(
        child.tag in _BLOCKS and child.tag != "br" for child in element.iterdescendants()
    )


def _wrap_loose_text(box: html.HtmlElement) -> None:
    """Put text that stands in a box beside paragraphs, or alone in it, into paragraphs."""
    if not any(above.tag in ("article", "main") for above in box.iterancestors()):
        return
    if _is_one_line(box):
        if (box.text or "").strip():
            box.tag = "p"
        return
    parts = list(box)
    if (box.text or "").strip() and parts[0].tag in _BLOCKS:
        first = html.Element("p")
        first.text, box.text = box.text, None
        box.insert(0, first)
    for child in parts:
        follows = child.getnext()
        ends = follows is None or follows.tag in _BLOCKS
        if child.tag in _BLOCKS and child.tag != "br" and (child.tail or "").strip() and ends:
            loose = html.Element("p")
            loose.text, child.tail = child.tail, None
            child.addnext(loose)

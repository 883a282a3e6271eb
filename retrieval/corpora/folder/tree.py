"""Reads a tree of HTML, which other formats are made into, as a reader sees it.

In one place for all of them: headings, paragraphs, items, tables, boxes and fields of forms, text
above and below the line, formulas, and what is hidden or struck out. Of style sheets, rules for one
class or id count. Where another rule mentions the same class or id and shows it, it is shown: which
of them wins depends on more than is known here.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from itertools import islice
from string import ascii_lowercase, ascii_uppercase
from typing import Any

from lxml import etree, html

from retrieval.corpora.boxes import box
from retrieval.corpora.cleaning import clean
from retrieval.corpora.folder.document import (
    FileText,
    Headings,
    Unread,
    dropped_rows,
    hidden_text,
)
from retrieval.corpora.folder.formula import FORMULA, beside, formula, formula_of_tex
from retrieval.corpora.folder.tables import Cell, above_table, table_text
from retrieval.corpora.passages import Block, may_be_bold_heading, may_be_title, paragraphs
from retrieval.corpora.superscripts import BEGIN, END, lowered, unmarked

_HIDES = re.compile(
    r"display\s*:\s*none|visibility\s*:\s*hidden|text-decoration[\w-]*\s*:[^;]*line-through"
    r"|(?:left|top|text-indent)\s*:\s*-\d{4,}(?:\.\d+)?px",  # out of sight
    re.I,
)
_SHOWS = re.compile(
    r"display\s*:\s*(?!none)\w|visibility\s*:\s*visible|text-decoration[\w-]*\s*:\s*none", re.I
)
_TRICKS = re.compile(
    r"opacity\s*:\s*0?\.?0*\s*(?:;|$|!)|font-size\s*:\s*(?:0?\.\d+|[01])(?:px|pt|em)?\s*(?:;|$|!)",
    re.I,
)
_COLOUR = re.compile(r"(?:^|[;\s])color\s*:\s*([^;!]+)", re.I)
_GROUND = re.compile(r"(?:^|[;\s])background(?:-color)?\s*:\s*([^;!]+)", re.I)
_COLOURS = {"white": "ffffff", "black": "000000"}
_RAISES = re.compile(r"vertical-align\s*:\s*super", re.I)
_MOVES_UP = re.compile(
    r"vertical-align\s*:\s*(?:text-top|\.?[0-9][0-9.]*[1-9a-z%])"
    r"|position\s*:\s*relative.*\btop\s*:\s*-|\btop\s*:\s*-.*position\s*:\s*relative"
    r"|position\s*:\s*relative.*\bbottom\s*:\s*[.0-9]*[1-9]",
    re.I | re.S,
)
_AFTER_SENTENCE = re.compile(r"(?<=[.!?]) ?\n")  # the end of a line
_BEFORE_LABEL = re.compile(r"(?<=[.!?]) ?\n|\n(?= ?[A-Z][^.!?:\n]{0,40}: )")
_UNNUMBERED = re.compile(r"list-style[^;]*:[^;]*none", re.I)
_COMMENT = re.compile(r"/\*.*?(?:\*/|\Z)|<!--|-->", re.S)
# Each begins after a bracket, so that nothing is looked at twice.
_RULE = re.compile(r"(?<![^{}])([^{}]+)\{([^{}]*)\}")
# @media and the like; no @ in it, so that nothing is looked at twice.
_NESTED = re.compile(r"@[^{};@]{0,1000}\{(?:[^{}]*\{[^{}]*\})*[^{}]*\}|@[^{};@]{0,1000};")
_ALONE = re.compile(r"[\w-]*([.#][\w-]+)")
_NAMED = re.compile(r"[.#][A-Za-z_-][\w-]*")
HEADINGS = ("h1", "h2", "h3", "h4", "h5", "h6")
LOWEST = len(HEADINGS)
_NOT_SHOWN = (
    "//template | //dialog[not(@open)] | //*[@hidden] | //del | //s | //strike | //rp | //rt"
)
_UNSEEN = {"head", "script", "style", "svg", "button", "iframe", "object", "audio", "video"}
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
_NO_FIELD = {"hidden", "submit", "button", "reset", "image", "password", "file"}
_BLOCKS = {
    *("address", "article", "aside", "blockquote", "body", "br", "caption", "center", "dd"),
    *("details", "div", "dl", "dt", "fieldset", "figcaption", "figure", "footer", "form", "header"),
    *("hr", "html", "legend", "li", "main", "nav", "ol", "p", "pre", "section", "summary", "table"),
    *("tbody", "td", "tfoot", "th", "thead", "tr", "ul", *HEADINGS),
}
_SPACE = re.compile(r"\s+")
_LONGEST_CELL = 600  # characters; a longer one is a part of the page's layout
_MOST_LINKED = 0.9  # part of a table's text in links, from which on it is a menu
_BELOW = 2  # elements below a table that may give its unit
_WIDEST = 1000  # columns or rows of a cell, as browsers limit them


@dataclass(frozen=True, slots=True)
class Piece:
    """A heading, a paragraph, an item of a list or a row of a table.

    ``element``: the block that it stands in. ``level``: of a heading, from 1; 0 for other pieces.
    ``kind``: as of a ``Block``. ``linked``: the part of it that is in links.
    """

    text: str
    element: html.HtmlElement
    level: int = 0
    kind: str = ""
    linked: float = 0.0

    @property
    def around(self) -> Iterator[html.HtmlElement]:
        """The element and those that it is in, the innermost first."""
        yield self.element
        yield from self.element.iterancestors()


def in_sections(pieces: Iterable[Piece], headings: Headings) -> Iterator[tuple[Piece, Block]]:
    """Yield the pieces below headings, each with its block."""
    anchor: str | None = None
    for piece in pieces:
        if piece.level:
            headings.add(piece.level, piece.text)
            anchor = _id_of(piece.element)
        else:
            yield piece, Block(piece.text, headings.section, None, anchor, piece.kind)


def _id_of(heading: html.HtmlElement) -> str | None:
    """Return the id of a heading, of an element in it, or of a section that it begins."""
    own = heading.xpath("@id | .//@id | .//a/@name")
    own = own or heading.xpath("self::*[not(preceding-sibling::*)]/parent::section/@id")
    return str(own[0]) if own else None


@dataclass(slots=True)
class Shown:
    """What a tree shows, and what is said of the parts that are not read."""

    pieces: list[Piece] = field(default_factory=list)
    unread: list[Unread] = field(default_factory=list)

    def document(self, title: str, saved: str = "", unread: Iterable[Unread] = ()) -> FileText:
        """Return it as a document; without a title its first heading is the title.

        One of the lowest level is so only at the very beginning, and so is a line that may be a
        title where no heading of the highest level follows.
        """
        pieces, first = self.pieces, next(iter(self.pieces), None)
        if first and not title and (first.level or self._begins_with_title()):
            is_read = first.level or ":" in first.text  # it may say something: "Price: 7 crowns"
            title, pieces = first.text, pieces if is_read else pieces[1:]
        title = title or next((one.text for one in pieces if 0 < one.level < LOWEST), "")
        blocks = [block for _, block in in_sections(pieces, Headings(title))]
        return FileText(title, blocks, None, [*self.unread, *unread], saved=saved)

    def _begins_with_title(self) -> bool:
        first, *below = self.pieces
        levels = {one.level for one in below}
        return 0 in levels and 1 not in levels and not first.kind and may_be_title(first.text)


def shown(
    content: bytes | str | html.HtmlElement, sheets: Iterable[str] = (), labels: bool = False
) -> Shown:
    """Return what a page shows, whose tree is changed; ``sheets`` are styles from other files.

    ``labels``: whether each line with a label is a paragraph, as in forms but not above old mails.
    """
    tree = content
    if isinstance(content, bytes | str):
        try:
            tree = html.document_fromstring(content)
        except (etree.ParserError, ValueError):  # nothing in it, or it declares an encoding
            return Shown()
    _write_formulas(tree)
    looks = _Looks(tree, sheets)
    hidden = _remove_what_is_not_shown(tree, looks)
    _mark_raised_text(tree, looks)
    _write_fields(tree)
    _write_numbers(tree, looks)
    reader = _Reader(_BEFORE_LABEL if labels else _AFTER_SENTENCE)
    reader.read(tree)
    return Shown(reader.pieces, [*reader.dropped, *hidden_text("hidden text", hidden)])


def words(element: html.HtmlElement) -> str:
    """Return the text of an element, as it is read, in one line."""
    return clean(unmarked("".join(_texts(element))))


def _texts(element: html.HtmlElement) -> Iterator[str]:
    yield element.text or ""
    for child in element:
        between = " " if child.tag in _BLOCKS else ""
        yield between
        if isinstance(child.tag, str) and child.tag not in _UNSEEN:  # not a comment
            yield from _texts(child)
        yield between + (child.tail or "")


class _Looks:
    """The styles of a page, in it and in other files."""

    def __init__(self, tree: html.HtmlElement, sheets: Iterable[str]) -> None:
        own = (sheet.text or "" for sheet in tree.iter("style"))
        # The selectors and the declarations of each rule that always holds.
        rules = [
            (found[1].strip(), found[2])
            for sheet in (*sheets, *own)
            for found in _RULE.finditer(_NESTED.sub("", _COMMENT.sub("", sheet)))
        ]
        showing = (selectors for selectors, look in rules if _SHOWS.search(look))
        shows = {name for selectors in showing for name in _NAMED.findall(selectors)}
        self._named: dict[str, str] = {}  # the looks of classes (".note") and ids ("#n1")
        for selectors, look in rules:
            for alone in filter(None, map(_ALONE.fullmatch, map(str.strip, selectors.split(",")))):
                name = alone[1]
                look = _HIDES.sub("", look) if name in shows else look
                self._named[name] = f"{self._named.get(name, '')};{look}"
        self._has_grounds = any(_GROUND.search(look) for _, look in rules)

    def of(self, element: html.HtmlElement) -> str:
        """Return the look of an element as style sheets write it."""
        style = " ".join(element.get("style", "").split())
        if not self._named:
            return style
        names = [*(f".{name}" for name in element.classes), f"#{element.get('id', '')}"]
        return ";".join([*(self._named[name] for name in names if name in self._named), style])

    def is_trick(self, element: html.HtmlElement) -> bool:
        """Return whether text has no size, is transparent, or has the colour of its ground."""
        look = self.of(element)
        written = _COLOUR.findall(look)
        if _TRICKS.search(look) or not written:
            return bool(_TRICKS.search(look))
        for around in (element, *element.iterancestors()):
            grounds = _GROUND.findall(self.of(around)) or [around.get("bgcolor")]
            if grounds[-1]:
                return _colour(grounds[-1]) == _colour(written[-1])
        return _colour(written[-1]) == "ffffff" and not self._has_grounds


def _colour(written: str) -> str:
    """Return a colour as six digits, if it is written as such, as three, by parts or by name."""
    name = written.strip().lower()
    parts = re.findall(r"\d+", name) if name.startswith("rgb") else []
    if len(parts) >= 3:
        return "".join(f"{int(part):02x}" for part in parts[:3])
    digits = name.lstrip("#")
    return "".join(2 * d for d in digits) if len(digits) == 3 else _COLOURS.get(name, digits)


def _write_formulas(tree: html.HtmlElement) -> None:
    top = tree.getroottree().getroot()
    for element in list(tree.iter("math", "span", "div")):
        if element.tag != "math" and not _FORMULAS & {*element.classes}:
            continue
        if next(reversed([element, *element.iterancestors()])) is not top:
            continue  # removed together with one around it
        tex = element.xpath(
            "@alttext | .//@alttext | .//annotation[@encoding='application/x-tex']/text()"
            " | .//img/@alt"
        )
        mathml = next(element.iter("math"), None)
        text = formula_of_tex(tex[0]) if tex else "" if mathml is None else formula(mathml)
        text = beside(_before(element), " ".join(text.split()) or FORMULA)
        element.tail = text + (element.tail or "")
        element.drop_tree()


def _before(element: html.HtmlElement) -> str:
    """Return the text right before an element, if there is no other element between."""
    previous = element.getprevious()
    text = element.getparent().text if previous is None else previous.tail
    return text or ""


def _remove_what_is_not_shown(tree: html.HtmlElement, looks: _Looks) -> int:
    """Remove it, and return how many texts were hidden by tricks that readers do not see."""
    unseen = list(tree.xpath(_NOT_SHOWN))
    for instead in list(tree.iter("noscript")):
        if len(instead.text_content().strip()) <= _LONGEST_NOTICE:
            unseen.append(instead)
        else:
            instead.tag = "div"
    most = max(_LONGEST_NOTICE, _REVEALED * _in_paragraphs(tree))
    hidden = [e for e in tree.iter(etree.Element) if _HIDES.search(looks.of(e))]
    known = set(hidden)
    tricks = [e for e in tree.iter(etree.Element) if e not in known and looks.is_trick(e)]
    unseen += [element for element in hidden if _in_paragraphs(element) <= most]
    unseen += [e for e in tree.iterfind(".//*[@class]") if _HIDDEN_CLASSES & {*e.classes}]
    tricks = [e for e in tricks if _in_paragraphs(e) <= most and e.text_content().strip()]
    for element in (*unseen, *tricks):
        if element.getparent() is not None and element.tag not in ("html", "body"):
            element.drop_tree()
    return len(tricks)


def _in_paragraphs(element: html.HtmlElement) -> int:
    return sum(len(paragraph.text_content()) for paragraph in element.iter("p"))


def _mark_raised_text(tree: html.HtmlElement, looks: _Looks) -> None:
    raised = []
    for element in tree.iter("sup", "a", "span"):
        look = looks.of(element)
        moved = _MOVES_UP.search(look) and len(element.text_content().strip()) <= _SHORT
        if element.tag == "sup" or _RAISES.search(look) or moved or _is_reference(element):
            raised.append(element)
    for below in list(tree.iter("sub")):
        below.text = lowered(words(below))
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
        element.drop_tag()


def _is_reference(element: html.HtmlElement) -> bool:
    """Return whether an element is the mark of a note."""
    if element.get("role") == "doc-noteref" or "noteref" in element.get("epub:type", ""):
        return True
    if _REFERENCES & {*element.classes}:
        return True
    if element.tag != "a" or not _MARK.fullmatch(element.text_content().strip()):
        return False
    place = element.get("href", "")
    touches = place.startswith("#") and _before(element)[-1:].strip()
    return bool(_TO_A_NOTE.match(place) or touches)


def _write_fields(tree: html.HtmlElement) -> None:
    """Write the boxes and the fields of forms as they are filled in."""
    for entry in list(tree.iter("input", "select", "textarea")):
        kind = entry.get("type", "text").lower()
        if entry.tag == "select":
            text = " ".join(map(words, entry.xpath(".//option[@selected]")))
        elif entry.tag == "textarea":
            text = words(entry)
        elif kind in ("checkbox", "radio"):
            text = box("checked" in entry.attrib)
        else:
            text = "" if kind in _NO_FIELD else entry.get("value", "")
        entry.tail = f" {text} {entry.tail or ''}"
        if entry.getparent() is not None:
            entry.drop_tree()


def _write_numbers(tree: html.HtmlElement, looks: _Looks) -> None:
    """Write the numbers or letters of ordered lists before their items."""
    for items in tree.iter("ol"):
        if items.get("type") in ("i", "I") or _UNNUMBERED.search(looks.of(items)):
            continue
        letters = {"a": ascii_lowercase, "A": ascii_uppercase}.get(items.get("type"), "")
        number = _span(items, "start")
        for item in items.iterchildren("li"):
            number = _span(item, "value") if "value" in item.attrib else number
            first = item
            while not (first.text or "").strip() and len(first) and first[0].tag in ("p", "div"):
                first = first[0]
            if first.text_content().strip():
                first.text = f"{letters[number - 1 : number] or number}. {first.text or ''}"
            number += 1


class _Reader:
    """Reads elements in order."""

    def __init__(self, line_end: re.Pattern[str]) -> None:
        self.pieces: list[Piece] = []
        self._line_end = line_end  # where a paragraph ends
        self.dropped: list[Unread] = []
        self._texts: list[str] = []
        self._linked = 0
        self._begin = ""  # the name of the value that comes next
        self._tables = 0
        self._below_bold = False  # the next paragraph is below a line in bold letters

    def read(self, element: html.HtmlElement, kind: str = "") -> None:
        """Read an element that is a block; ``kind``: of its paragraphs."""
        self._inside(element, element, kind)
        self._flush(element, kind)

    def _inside(
        self, parent: html.HtmlElement, block: html.HtmlElement, kind: str, linked: bool = False
    ) -> None:
        """Read the text and the elements in one; ``block`` is the innermost one around the text."""
        self._add(parent.text, linked)
        for child in parent:
            if isinstance(child.tag, str) and child.tag not in _UNSEEN:  # not a comment
                if child.tag == "br":
                    self._texts.append("\n")  # two of them end a paragraph
                elif child.tag in _BLOCKS:
                    self._flush(block, kind)
                    self._block(child, kind)
                else:
                    self._inside(child, block, kind, linked or child.tag == "a")
            self._add(child.tail, linked)

    def _block(self, element: html.HtmlElement, kind: str) -> None:
        self._below_bold = self._below_bold and element.tag not in (*HEADINGS, "table", "dl")
        if element.tag in HEADINGS:
            self._piece(words(element), element, int(element.tag[1]))
        elif element.tag == "table" and _says_data(element):
            self._table(element)
        elif element.tag == "dl":
            self._pairs(element)
        elif element.tag != "pre" or next(element.iter("code"), None) is None:
            inner = "subitem" if kind else "item"
            self.read(element, inner if element.tag == "li" else kind)

    def _add(self, text: str | None, linked: bool) -> None:
        if text:
            self._texts.append(_SPACE.sub(" ", text))
            self._linked += len(text.strip()) if linked else 0

    def _flush(self, element: html.HtmlElement, kind: str) -> None:
        whole = "".join(self._texts)
        linked = self._linked / max(1, len(whole.strip()))
        self._texts, self._linked = [], 0
        first, _, rest = whole.strip().partition("\n")
        first = clean(unmarked(first))
        is_bold = bool(first) and first == _bold_beginning(element)
        if is_bold and rest:
            self._piece(first, element, 0, kind, linked)
            whole, kind = rest, "subitem" if kind else "item"
        elif self._below_bold and not kind and not is_bold:
            kind = "item"
        if first:
            self._below_bold = is_bold and not rest and may_be_bold_heading(first)
        for text in paragraphs(self._line_end.sub("\n\n", whole)):
            self._piece(clean(unmarked(text)), element, 0, kind, linked)

    def _piece(self, text: str, element: html.HtmlElement, *more: Any) -> None:
        if text:
            self.pieces.append(Piece(self._begin + text, element, *more))
            self._begin = ""

    def _pairs(self, pairs: html.HtmlElement) -> None:
        """Read a list of names and values; each value begins with its name."""
        names: list[str] = []
        valued = False
        for child in list(pairs.iterdescendants("dt", "dd")):
            if next(child.iterancestors("dl")) is not pairs:
                continue
            if child.tag == "dt":
                names = [] if valued else names
                names.append(words(child).rstrip(":"))
            else:
                self._begin = f"{', '.join(names)}: " if any(names) else ""
                self.read(child, "item")
            valued = child.tag == "dd"
        for name in () if valued else names:
            self._piece(name, pairs)

    def _table(self, table: html.HtmlElement) -> None:
        self._tables += 1
        rows = [list(_cells(row)) for row in table.iter("tr")]
        captions = list(filter(None, map(words, table.iter("caption"))))
        above = above_table((piece.text, piece.kind == "row") for piece in self.pieces[-3:])
        below = map(words, islice(table.itersiblings(), _BELOW))
        sentences, dropped = table_text(rows, [*captions, *above, *below])
        self.dropped += dropped_rows(self._tables, dropped)
        for text in captions:
            self._piece(text, table)
        for text in sentences:
            self._piece(text, table, 0, "row")


def _bold_beginning(element: html.HtmlElement) -> str:
    begins = len(element) and element[0].tag in ("b", "strong") and not (element.text or "").strip()
    return words(element[0]) if begins else ""


def _says_data(table: html.HtmlElement) -> bool:
    """Return whether a table says something in its rows and columns, and is no layout or menu."""
    if table.get("role") == "table":
        return True
    linked = sum(len(link.text_content().strip()) for link in table.iter("a"))
    is_menu = linked > _MOST_LINKED * max(1, len("".join(table.text_content().split())))
    if table.get("role") in ("presentation", "none") or is_menu:
        return False
    if next(table.iterdescendants("table", "form"), None) is not None:
        return False
    if next(table.iter(*HEADINGS), None) is not None and next(table.iter("th"), None) is None:
        return False
    rows = [row.findall("td") + row.findall("th") for row in table.iter("tr")]
    lengths = [len(cell.text_content()) for row in rows for cell in row]
    return max(map(len, rows), default=0) > 1 and max(lengths) <= _LONGEST_CELL


def _cells(row: html.HtmlElement) -> Iterator[Cell]:
    head = row.getparent() is not None and row.getparent().tag == "thead"
    for cell in row.iterchildren("td", "th"):
        bold = "".join("".join(part.text_content().split()) for part in cell.iter("b", "strong"))
        is_bold = bool(bold) and bold == "".join(cell.text_content().split())
        height = _span(cell, "rowspan") or _WIDEST  # 0: to the end of the table
        is_head = head or cell.tag == "th" or is_bold
        yield Cell(words(cell), is_head, _span(cell, "colspan") or 1, height)


def _span(cell: html.HtmlElement, name: str) -> int:
    digits = cell.get(name, "1").strip()
    return min(int(digits), _WIDEST) if digits.isdecimal() else 1

"""Reads the HTML of a wiki's article, in a process of its own (``child_process``).

``folder.tree`` reads it: sections, lists, rows of tables. Before, what is no text of the article is
left out: notes, boxes that lead to other articles, lists of sources. The rows of the infobox come
after the introduction; each is a name and what it names, however the box is made.

``introduction`` reads the beginning alone, as mwoffliner and older programs write it: paragraphs,
and lists after the first paragraph.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import dropwhile, takewhile
from multiprocessing.connection import Connection
from urllib.parse import unquote

from lxml import etree, html

from retrieval.corpora.cleaning import REMOVED, clean, without_pronunciations
from retrieval.corpora.corpus import Page
from retrieval.corpora.folder.document import Headings
from retrieval.corpora.folder.formula import formula_of_tex
from retrieval.corpora.folder.tree import Piece, in_sections, shown, words
from retrieval.corpora.passages import APPENDICES, Block, passages
from retrieval.text.sentence_splitter import shared_splitter

LARGEST = 8_000_000  # bytes of HTML
MOST_BLOCKS = 5000
_LEFT_OUT = {  # classes of elements
    *("ambox", "hatnote", "metadata", "navbar", "navbox", "sidebar", "sistersitebox", "toc"),
    *("mw-cite-backlink", "mw-ref", "mw-references", "mw-references-wrap", "reference"),
    *("references", "reflist", "catlinks", "error", "mw-editsection", "mw-empty-elt"),
    *("mw-jump-link", "nomobile", "noprint", "printfooter", "shortdescription"),
    "vertical-navbox",
}
_INFOBOX = re.compile(r"(?:^|\s)infobox(?:[\s_-]|$)")
_PART = re.compile(r"[•◦▪–-]\s*")  # of what the row above names: "Population", "• Total"  # noqa: RUF001
_ELSEWHERE = re.compile(r"[a-z][a-z0-9+.-]*:|//|#|\?", re.I)  # no article of this wiki
# "Mercury may refer to:", as wikis begin a page that leads to several articles.
_LEADS = re.compile(
    r"\b(?:may|can|could|might) (?:also )?(?:refer|mean)\b|\bmost commonly refers to\b"
)
_DISAMBIGUATION = " (disambiguation)"
_MOST_LEADS = 100
# Of introductions: as in Wikimedia's own extracts, boxes (``div``) and tables are no text.
_NO_LEAD_TAGS = {
    *("aside", "figure", "footer", "header", "nav", "table", "form", "input", "select", "h1"),
    *("annotation", "noscript"),
}
_NO_LEAD_CLASSES = _LEFT_OUT | {
    *("bandeau", "dablink", "rellink", "infobox", "gallery", "thumb", "noexcerpt", "sortkey"),
    *("coordinates", "geo", "geo-default", "geo-inline", "geo-nondefault", "mw-broken-media"),
}
_NO_LEAD_IDS = {"coordinates", "toc", "siteSub", "contentSub", "siteNotice"}
_PRONUNCIATION_CLASSES = {"IPA", "IPA-label", "ext-phonos", "haudio", "respell"}
_PRONUNCIATION_TITLES = ("Help:IPA", "Help:Pronunciation", "English pronunciation respelling")
_COLUMNS = {"div-col", "multicol", "mw-parser-output"}  # boxes that hold text
_FORMULAS = {"mwe-math-element", "mwe-math-fallback-image-inline"}
# Where the first section begins. What follows is not parsed: it is most of a long article.
_FIRST_SECTION = re.compile(
    rb"<details data-level=|<section data-mw-section-id=\"[1-9]|<div class=\"mw-heading mw-heading2"
)
_ENDED = re.compile(r"[.!?…:][\"'”’)\]]*$")  # noqa: RUF001 - curly quotes are meant
_LEADS_IN = (
    ".//section[@data-mw-section-id='0']",
    ".//div[contains(concat(' ', @class, ' '), ' mw-parser-output ')]",
    ".//div[@id='mw-content-text']",
)


@dataclass(frozen=True, slots=True)
class ArticleText:
    """What an article says; ``redirect``: the title that it only leads on to, "" for none.

    ``links``: the titles that words of the text link to. ``leads_to``: the titles that a
    disambiguation page lists, empty for any other.
    """

    blocks: tuple[Block, ...]
    links: dict[str, str]
    leads_to: tuple[str, ...]
    redirect: str


def read_article(title: str, content: bytes) -> ArticleText:
    """Return what the HTML of an article says, nothing if it is none."""
    try:
        tree = html.document_fromstring(content, html.HTMLParser(encoding="utf-8"))
    except (etree.ParserError, ValueError):  # nothing in it
        return ArticleText((), {}, (), "")
    redirect = next(iter(tree.xpath("//link[@rel='mw:PageProp/redirect']/@href")), "")
    marked = bool(tree.xpath("//meta[@property='mw:PageProp/disambiguation']"))
    for element in list(tree.iter(etree.Element)):
        if _LEFT_OUT & {*element.classes} and element.getparent() is not None:
            element.drop_tree()
    linked = list(_links(tree))
    pieces = shown(tree).pieces  # and the tree has nothing hidden any more
    blocks = list(_blocks(title, pieces, [*_infobox(tree)]))[:MOST_BLOCKS]
    first = next((block.text for block in blocks), "")
    leads = marked or title.endswith(_DISAMBIGUATION) or (_LEADS.search(first) and len(blocks) > 1)
    links: dict[str, str] = {}
    for said, target in linked:
        links.setdefault(said, target)
    titles = tuple(dict.fromkeys(target for _, target in linked if target != title))
    leads_to = titles[:_MOST_LEADS] if leads else ()
    return ArticleText(tuple(blocks), links, leads_to, title_of(redirect))


def _infobox(tree: html.HtmlElement) -> Iterator[Block]:
    """Yield a sentence for each row with a name and a value; values may name columns."""
    for table in tree.iter("table"):
        if not _INFOBOX.search(table.get("class", "")):
            continue
        above, columns = "", list[str]()
        for row in table.iter("tr"):
            name, values = row.find("th"), [_value(cell) for cell in row.findall("td")]
            called = "" if name is None else words(name).rstrip(":")
            if called and not values:
                above = called
            elif called:
                if part := _PART.match(called):
                    called = ", ".join(filter(None, (above, called[part.end() :].lower())))
                yield from _row(called, values[0])
            elif len(values) > 1 and above and not columns:
                columns = [value.partition(", ")[0] for value in values]
                yield from _row(above, "; ".join(filter(None, values)))
            elif len(values) > 1 and above:
                for column, value in zip(columns, values, strict=False):
                    yield from _row(f"{above}, {column}" if column else above, value)


def _row(called: str, said: str) -> Iterator[Block]:
    if said:
        yield Block(f"{called}: {said}".rstrip(".") + ".", kind="row")


def _value(cell: html.HtmlElement) -> str:
    """Return the items or lines of a cell with commas between them."""
    if items := list(filter(None, map(words, cell.iter("li")))):
        return ", ".join(items)
    for end in cell.iter("br"):
        end.tail = f", {end.tail or ''}"
    return words(cell).replace(" , ", ", ").strip(" ,")


def _blocks(title: str, pieces: Iterable[Piece], infobox: Sequence[Block]) -> Iterator[Block]:
    """Yield the introduction, the rows of the infobox, then the sections that say something."""
    in_lead = True
    for piece, block in in_sections(pieces, Headings(title)):
        if in_lead and block.section:
            yield from infobox
            in_lead = False
        is_of_box = any(_INFOBOX.search(one.get("class", "")) for one in piece.around)
        if not is_of_box and APPENDICES.isdisjoint(block.section):
            yield block
    if in_lead:
        yield from infobox


def _links(tree: html.HtmlElement) -> Iterator[tuple[str, str]]:
    """Yield the words of each link to an article, with its title."""
    for link in tree.iter("a"):
        said, target = clean(link.text_content()), title_of(link.get("href", ""))
        if said and target:
            yield said, target


def title_of(address: str) -> str:
    """Return the title that an address within a wiki leads to, "" if it leads elsewhere."""
    path = address.removeprefix("./").removeprefix("/wiki/")
    if not path or _ELSEWHERE.match(path):
        return ""
    name = clean(unquote(re.split(r"[#?]", path)[0]).replace("_", " "))
    while name.startswith("../"):
        name = name.removeprefix("../")
    return name.removesuffix(".html")


def whole_article(page: Page, blocks: Iterable[Block], links: Mapping[str, str]) -> Iterator[Page]:
    """Yield an article in passages; the titles of redirects find the first alone, as its own does.

    ``page``: without text. Its blocks and ``links`` are as of an ``ArticleText``.
    """
    for number, passage in enumerate(passages(page.id, page.title, page.url, blocks)):
        first = () if number else page.other_titles
        yield replace(with_links(passage, links), other_titles=first)


def with_links(page: Page, links: Mapping[str, str]) -> Page:
    """Return a passage whose sentences have the titles that their words link to."""
    sentences = page.sentences
    if sentences is None:
        (bounds,) = shared_splitter().split([page.text])
        sentences = tuple(page.text[begin:end] for begin, end in bounds)
    said = " ".join(sentences)
    inside = [(words, title) for words, title in links.items() if words in said]
    titles = [tuple(dict.fromkeys(t for w, t in inside if w in one)) for one in sentences]
    return replace(page, text="", sentences=sentences, links=tuple(titles) if inside else ())


def serve(connection: Connection) -> None:
    """Answer each title with its HTML by an ``ArticleText``, ``None`` if it cannot be read."""
    while True:
        title, content = connection.recv()
        try:
            connection.send(read_article(title, content))
        except (RecursionError, MemoryError, etree.LxmlError):
            connection.send(None)


def introduction(content: bytes) -> str:
    """Return the text of an article before its first heading, "" if it has no paragraph there."""
    first = _FIRST_SECTION.search(content)
    parser = html.HTMLParser(encoding="utf-8", remove_comments=True, remove_pis=True)
    try:
        tree = html.document_fromstring(content[: first.start()] if first else content, parser)
    except (etree.LxmlError, ValueError):  # empty, or no text
        return ""
    found = next(filter(None, map(tree.xpath, _LEADS_IN)), None)
    body = tree.find("body")
    root = found[0] if found else tree if body is None else body
    for element in list(root.iterdescendants(etree.Element)):
        if (instead := _instead(element)) is not None:
            element.tail = instead + (element.tail or "")
            element.drop_tree()
    pieces = list(takewhile(lambda piece: not piece.level, shown(root).pieces))
    around = [[*piece.element.iterancestors()] for piece in pieces if piece.element.tag == "p"]
    lead = min(around, key=len, default=[root])[0]  # of the paragraphs in the fewest boxes

    def is_text(piece: Piece) -> bool:
        inside = takewhile(lambda one: one is not lead, piece.around)
        in_box = any(one.tag == "div" and not _COLUMNS & {*one.classes} for one in inside)
        return not (found and in_box) and bool(piece.kind or piece.element.tag == "p")

    said = [*dropwhile(lambda piece: piece.kind, filter(is_text, pieces))]
    texts = [clean(without_pronunciations(piece.text)) for piece in said]
    pairs = zip(texts, said, strict=True)
    ended = [_ended(text) if piece.kind else text for text, piece in pairs if text]
    return " ".join(text for text in ended if text.rstrip(":") != "Coordinates")


def _instead(element: html.HtmlElement) -> str | None:
    """Return what stands for an element that is left out, ``None`` for any other."""
    get, classes, title = element.get, {*element.classes}, element.get("title", "")
    spoken = classes & _PRONUNCIATION_CLASSES or get("lang", "").endswith("-fonipa")
    if spoken or title.startswith(_PRONUNCIATION_TITLES):
        return REMOVED
    if classes & _FORMULAS:
        written = element.xpath("self::img/@alt | .//img/@alt | .//@alttext")
        return formula_of_tex(written[0]) if written else ""
    if (
        element.tag in _NO_LEAD_TAGS
        or classes & _NO_LEAD_CLASSES
        or get("id") in _NO_LEAD_IDS
        or get("role") in {"note", "navigation"}
    ):
        return ""
    return None


def _ended(text: str) -> str:
    """Return an item that ends as a sentence does, so that it is not joined to the next."""
    return text if _ENDED.search(text) else f"{text.rstrip(';, ')}."

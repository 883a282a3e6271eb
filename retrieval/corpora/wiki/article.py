"""Reads the HTML of a wiki's article, in a process of its own (``child_process``).

The project's reader of HTML reads it (``folder.tree``): sections, lists, and a sentence for each
row of a table. What is no text of the article is left out before: notes, boxes that lead to other
articles, lists of sources. The rows of the infobox come after the introduction; each is a name and
what it names, however the box is made.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from multiprocessing.connection import Connection
from urllib.parse import unquote

from lxml import etree, html

from retrieval.corpora.cleaning import clean
from retrieval.corpora.corpus import Page
from retrieval.corpora.folder.document import Headings
from retrieval.corpora.folder.tree import Piece, shown, words
from retrieval.corpora.passages import APPENDICES, Block, passages
from retrieval.text.sentence_splitter import shared_splitter

LARGEST = 8_000_000  # bytes of HTML
MOST_BLOCKS = 5000
_LEFT_OUT = re.compile(
    r"(?:^|\s)(?:reference|mw-ref|mw-references|references|reflist|mw-references-wrap|navbox|hatnote"
    r"|metadata|ambox|toc|sistersitebox|noprint|mw-empty-elt|mw-editsection|catlinks|printfooter"
    r"|error|mw-jump-link|vertical-navbox|sidebar|navbar|shortdescription|nomobile|mw-cite-backlink)"
    r"(?:\s|$)"
)
_INFOBOX = re.compile(r"(?:^|\s)infobox(?:[\s_-]|$)")
_ELSEWHERE = re.compile(r"[a-z][a-z0-9+.-]*:|//|#|\?", re.I)  # no article of this wiki
# "Mercury may refer to:", as wikis begin a page that leads to several articles.
_LEADS = re.compile(
    r"\b(?:may|can|could|might) (?:also )?(?:refer|mean)\b|\bmost commonly refers to\b"
)
_DISAMBIGUATION = " (disambiguation)"
_MOST_LEADS = 100


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
        if _LEFT_OUT.search(element.get("class", "")) and element.getparent() is not None:
            element.drop_tree()
    linked = list(_links(tree))
    pieces = shown(tree).pieces  # and the tree has nothing hidden any more
    blocks = list(_blocks(title, pieces, [*_infobox(tree)]))[:MOST_BLOCKS]
    first = next((block.text for block in blocks), "")
    leads = marked or title.endswith(_DISAMBIGUATION) or (_LEADS.search(first) and len(blocks) > 1)
    links: dict[str, str] = {}
    for said, target in linked:
        links.setdefault(said, target)
    titles = dict.fromkeys(target for _, target in linked if target != title)
    return ArticleText(
        tuple(blocks), links, tuple(titles)[:_MOST_LEADS] if leads else (), title_of(redirect)
    )


def _infobox(tree: html.HtmlElement) -> Iterator[Block]:
    """Yield a sentence for each row of the infobox that has a name and a value."""
    for table in tree.iter("table"):
        if not _INFOBOX.search(table.get("class", "")):
            continue
        for row in table.iter("tr"):
            name, value = row.find("th"), row.find("td")
            if name is None or value is None:
                continue
            said = ", ".join(filter(None, map(words, value.iter("li")))) or _lines(value)
            if said and (called := words(name).rstrip(":")):
                yield Block(f"{called}: {said}".rstrip(".") + ".", kind="row")


def _lines(cell: html.HtmlElement) -> str:
    """Return the lines of a cell with commas between them."""
    for end in cell.iter("br"):
        end.tail = f", {end.tail or ''}"
    return words(cell).replace(" , ", ", ").strip(" ,")


def _blocks(title: str, pieces: Iterable[Piece], infobox: Sequence[Block]) -> Iterator[Block]:
    """Yield the introduction, then the rows of the infobox, then the sections that say something.

    The anchor of a block is the id of the heading above it.
    """
    headings = Headings(title)
    anchor: str | None = None
    in_lead = True
    for piece in pieces:
        if piece.level:
            headings.add(piece.level, piece.text)
            if in_lead and headings.section:  # no title of the page
                yield from infobox
                in_lead = False
            anchor = next(iter(piece.element.xpath("@id | .//@id")), None) or anchor
            continue
        section = headings.section
        if not APPENDICES.isdisjoint(section):
            continue
        if not _is_of_infobox(piece):
            yield Block(piece.text, section, anchor=anchor, kind=piece.kind)
    if in_lead:
        yield from infobox


def _is_of_infobox(piece: Piece) -> bool:
    around = (piece.element, *piece.element.iterancestors())
    return any(_INFOBOX.search(one.get("class", "")) for one in around)


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

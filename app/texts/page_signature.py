"""Signs which web page a text was read from, as the form of the text carries it.

So a form that was not made here, or whose text was edited, cannot name a page as its source. The
key is a file of the home, which all processes share: a form stays valid when the service restarts.
"""

from __future__ import annotations

import hmac
import json
from hashlib import sha256

from app.services import services
from retrieval.system.files import home_key
from worker.lists import SourcePage


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

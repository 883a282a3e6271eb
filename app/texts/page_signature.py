"""Signs which web page a text was read from, as the form of the text carries it.

So a form that was not made here, or whose text was edited, cannot name a page as its source. The
key is a file of the home, which all processes share: a form stays valid when the service restarts.
"""

from __future__ import annotations

import hmac
import json
import os
import secrets
from hashlib import sha256
from pathlib import Path

from app.services import services
from retrieval.system.private_files import make_private_file
from worker.lists import SourcePage

_KEY_BYTES = 32


def signature(text: str, page: SourcePage) -> str:
    """Return the signature of a text and the page that it was read from.

    Raises:
        OSError: the home cannot be written.
    """
    signed = json.dumps((sha256(text.encode()).hexdigest(), page.title, page.address))
    return hmac.digest(_key(services().settings.home), signed.encode(), "sha256").hex()


def is_signed(text: str, page: SourcePage, given: str) -> bool:
    """Return whether this is the signature of a text and its page."""
    return hmac.compare_digest(signature(text, page).encode(), given.encode("utf-8", "replace"))


def _key(home: Path) -> bytes:
    file = home / "pages.key"
    try:
        return file.read_bytes()
    except FileNotFoundError:
        pass
    # It gets its name when it is whole; of several processes one is first.
    new = home / f".pages-{secrets.token_hex(8)}.key"
    make_private_file(new)
    try:
        new.write_bytes(secrets.token_bytes(_KEY_BYTES))
        os.link(new, file)
    except FileExistsError:
        pass
    finally:
        new.unlink()
    return file.read_bytes()

"""Reads .eml and .mbox: the text of each mail below its subject."""

from __future__ import annotations

import mailbox
import re
from collections.abc import Iterator
from email import message_from_bytes, policy
from email.message import EmailMessage, MIMEPart
from pathlib import Path

from retrieval.corpora.cleaning import clean
from retrieval.corpora.folder.document import FileText, Headings, Unread, Unreadable
from retrieval.corpora.folder.simple_page import blocks_of
from retrieval.corpora.passages import Block, paragraphs
from retrieval.corpora.superscripts import unmarked

_QUOTED = re.compile(r"^(?:>[ \t]?)+", re.MULTILINE)  # lines of the mail that is answered
_ONE_TEXT = {"multipart/alternative", "multipart/related"}  # what a mail says in several forms
_SIGNATURE = re.compile(r"^-- \r?\n.*", re.MULTILINE | re.DOTALL)


def read(path: Path) -> FileText:
    """Return the document: a mail, or all mails of a mailbox, each as a section.

    Raises:
        Unreadable: it is not a mail.
        OSError: the file cannot be read.
    """
    if path.suffix.lower() == ".mbox":
        with path.open("rb") as stream:
            if not stream.read(5) == b"From ":
                raise Unreadable("the file is not a mailbox.", "Give it the suffix of its format.")
        blocks: list[Block] = []
        unread: list[Unread] = []
        for message in _messages(path):
            blocks += _blocks(message, (_subject(message),))
            unread += _attachments(message)
        return FileText("", blocks, unread=unread)
    message = _message(path.read_bytes())
    if not message.keys():
        raise Unreadable("the file is not a mail.", "If it is a text, give it the suffix .txt.")
    blocks = list(_blocks(message, ()))
    return FileText(_subject(message), blocks, unread=list(_attachments(message)))


def _messages(path: Path) -> Iterator[EmailMessage]:
    box = mailbox.mbox(path, create=False)
    try:
        for key in box.iterkeys():
            yield _message(box.get_bytes(key))
    finally:
        box.close()


def _message(content: bytes) -> EmailMessage:
    return message_from_bytes(content, policy=policy.default)


def _subject(message: EmailMessage) -> str:
    return clean(str(message.get("subject", "")))


def _blocks(message: MIMEPart, above: tuple[str, ...]) -> Iterator[Block]:
    """Yield the paragraphs of a mail, of each of its texts, and of mails in it."""
    kind = message.get_content_type()
    if kind == "message/rfc822":
        yield from _blocks(message.get_content(), above)
    elif message.get_content_maintype() == "multipart" and kind not in _ONE_TEXT:
        for part in message.iter_parts():
            if not part.is_attachment() or part.get_content_type() == "message/rfc822":
                yield from _blocks(part, above)
    elif (body := message.get_body(("plain", "html"))) is not None:
        yield from _of_body(body, above)


def _of_body(body: MIMEPart, above: tuple[str, ...]) -> Iterator[Block]:
    """Yield the paragraphs of a plain text or a page."""
    if body.get_content_subtype() == "html":
        for block in blocks_of(_content(body), Headings("")):
            yield Block(block.text, (*above, *block.section))
        return
    text = _QUOTED.sub("", _SIGNATURE.sub("", _content(body)))
    yield from (Block(clean(unmarked(paragraph)), above) for paragraph in paragraphs(text))


def _content(part: MIMEPart) -> str:
    try:
        return str(part.get_content())
    except (LookupError, ValueError):  # an encoding that nobody knows
        return bytes(part.get_payload(decode=True) or b"").decode("utf-8", "replace")


def _attachments(message: EmailMessage) -> Iterator[Unread]:
    for part in message.iter_attachments():
        if name := part.get_filename():
            where = f"attachment {clean(name)}"
            yield Unread(where, "attachments are not read.", "Save it in the folder as a file.")

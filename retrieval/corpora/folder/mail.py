"""Reads .eml and .mbox: each mail below its subject, and older mails in it below who wrote them.

Each is of the day on which it was sent. What is attached is read as a document of the mail.
"""

from __future__ import annotations

import mailbox
import re
from collections.abc import Iterator
from contextlib import closing
from dataclasses import replace
from email import message_from_bytes, policy
from email.message import EmailMessage, MIMEPart
from email.utils import parseaddr, parsedate_to_datetime
from itertools import groupby
from operator import itemgetter
from pathlib import Path
from tempfile import TemporaryDirectory

from lxml import etree, html

from retrieval.corpora.cleaning import clean
from retrieval.corpora.decoding import decoded
from retrieval.corpora.folder.document import (
    BY_SUFFIX,
    FileText,
    Headings,
    Unread,
    Unreadable,
    as_day,
    first_day,
)
from retrieval.corpora.folder.plain_text import lines_of
from retrieval.corpora.folder.tables import in_order
from retrieval.corpora.folder.tree import in_sections, shown
from retrieval.corpora.passages import Block

_LONGEST_SIGNATURE = 10  # lines
_QUOTED = "Quoted mail"  # a heading
_LINE = re.compile(r"\n[> ]*")
_QUOTE = re.compile(r">(?!From )[> ]*")  # ">From" is what a mailbox makes of "From"
# "On 5 Feb 2023, Ann Lee wrote:", which may go on in the next line.
_WROTE = re.compile(
    r"^(?:On|Am|Le|El|Op)\s.{4,200}?(?:wrote|schrieb|écrit|escribió|schreef)(?:\s[^:\n]{1,80})?\s?:"
    r"[ \t]*$",
    re.M | re.S,
)
# "-----Original Message-----", "--- Our letter of 6 May ---"; without dashes, what programs write.
_ORIGINAL = re.compile(
    r"[-_ ]*(?:Original Message|Forwarded message|Begin forwarded message)[-_: ]*$"
    r"|[-_=]{3,} ?(?=.{0,30}(?:mail|message|letter|memo|notice|note|circular)\b)(?P<said>.{4,80}?)"
    r" ?[-_=]{3,}$",
    re.I,
)
_FIELD = re.compile(r"\*?(From|Sent|Date|To|Cc|Subject|Reply-To)\*?: ?\*?(.*)$", re.I)
_DAYS = ("sent", "date")
# The same as Outlook writes it into a page, where it is one paragraph.
_HEAD = re.compile(r"From: (.{1,200}?) (?:Sent|Date): (.{1,100}?) (?:To|Cc|Subject): ")
_QUOTING = "//blockquote | //*[contains(@class, 'gmail_quote')] | //*[@id='divRplyFwdMsg']"
# What a mail says whose text is in another part.
_STUB = re.compile(
    r"(?:cannot|can't|not|unable to|doesn't) (?:be )?(?:show|display|support|view|read|render)"
    r"|HTML (?:e-?mail|version|message)|view (?:it|this)[\w ]* in (?:a|your) browser",
    re.I,
)
_LONGEST_STUB = 300  # characters
_ONE_TEXT = {"multipart/alternative", "multipart/related"}  # what a mail says in several forms


def read(path: Path) -> FileText:
    """Return the document: a mail, or all mails of a mailbox, each as a section."""
    title = ""
    if path.suffix.lower() == ".mbox":
        with closing(mailbox.mbox(path, create=False)) as box:
            messages = [_message(box.get_bytes(key)) for key in box.iterkeys()]
        if not messages:  # no line begins with "From "
            raise Unreadable("the file is not a mailbox.", "Give it the suffix of its format.")
        mails = [_Mail(message, (_subject(message),)) for message in messages]
    else:
        message = _message(path.read_bytes())
        if not message.keys():
            raise Unreadable("the file is not a mail.", "If it is a text, give it the suffix .txt.")
        mails, title = [_Mail(message, ())], _subject(message)
    blocks = [block for mail in mails for block in mail.blocks]
    unread = [one for mail in mails for one in mail.unread]
    return FileText(title, blocks, None, unread)


def _message(content: bytes) -> EmailMessage:
    return message_from_bytes(content, policy=policy.default)


def _subject(message: MIMEPart) -> str:
    return clean(str(message.get("subject", "")))


def _day(message: MIMEPart) -> str:
    try:
        return as_day(parsedate_to_datetime(str(message["date"])).date().isoformat())
    except (TypeError, ValueError, OverflowError):
        return ""


class _Mail:
    """The blocks of a mail, and what is not read of it."""

    def __init__(self, message: MIMEPart, above: tuple[str, ...]) -> None:
        self.blocks: list[Block] = []
        self.unread: list[Unread] = []
        self._day = _day(message)
        name = in_order(clean(parseaddr(str(message["from"] or ""))[0]))
        self._read(message, above, (f"From {name}",) if name else ())

    def _add(self, block: Block, section: tuple[str, ...], day: str = "") -> None:
        day = as_day(day) or self._day
        self.blocks.append(replace(block, section=section, page=None, date=day))

    def _read(self, part: MIMEPart, above: tuple[str, ...], writer: tuple[str, ...]) -> None:
        kind = part.get_content_type()
        if kind == "message/rfc822":
            inner = part.get_content()
            speaker = _speaker(str(inner["from"] or ""), str(inner["date"] or ""))
            outer, self._day = self._day, _day(inner) or self._day
            self._read(inner, (*above, speaker), ())
            self._day = outer
        elif part.is_attachment() or (part.get_filename() and not kind.startswith("text/")):
            self._attachment(part, above)
        elif part.get_content_maintype() == "multipart" and kind not in _ONE_TEXT:
            for inner in part.iter_parts():
                self._read(inner, above, writer)
        else:
            self._body(part, above, writer)

    def _body(self, part: MIMEPart, above: tuple[str, ...], writer: tuple[str, ...]) -> None:
        plain, page = part.get_body(("plain",)), part.get_body(("html",))
        text = _content(plain) if plain is not None else ""
        stub = len(text) <= _LONGEST_STUB and (not text.strip() or _STUB.search(text))
        if page is not None and (plain is None or stub):
            self._page(_content(page), above, writer)
        elif text:
            for said, group in groupby(_spoken(text.replace("\r\n", "\n")), key=itemgetter(0)):
                section = (*above, *([said] if said else writer))
                for paragraph in lines_of("\n".join(line for _, line in group)):
                    self._add(Block(paragraph), section, first_day(said))
        if part.get_content_type() == "multipart/related":
            for inner in part.iter_parts():
                if inner.get_filename() and not inner.get_content_type().startswith("image/"):
                    self._attachment(inner, above)

    def _page(self, content: str, above: tuple[str, ...], writer: tuple[str, ...]) -> None:
        """Read a page; what it quotes is read as texts that follow."""
        try:
            tree = html.document_fromstring(content.encode(), html.HTMLParser(encoding="utf-8"))
        except etree.ParserError:  # nothing in it
            return
        for quote in tree.xpath(_QUOTING):
            quote.tag = "blockquote"
        found = shown(tree)
        self.unread += found.unread
        quoting = _QUOTED
        follows = False  # whether all that follows is of an older mail
        for piece, block in in_sections(found.pieces, Headings("")):
            if head := _HEAD.match(piece.text):
                quoting, follows = _speaker(*head.groups()), True
            elif _WROTE.match(piece.text):
                quoting = piece.text.rstrip(": ")
            elif follows or any(element.tag == "blockquote" for element in piece.around):
                self._add(block, (*above, *block.section, quoting), first_day(quoting))
            else:
                self._add(block, (*above, *block.section, *writer))

    def _attachment(self, part: MIMEPart, above: tuple[str, ...]) -> None:
        """Read what is attached, if its format is known."""
        name = clean(part.get_filename() or "")
        where, suffix = f"attachment {name}", Path(name).suffix.lower()
        if suffix not in BY_SUFFIX or not BY_SUFFIX[suffix].installed:
            hint = "Save it in the folder as a file that is read."
            self.unread.append(Unread(where, "it is not read.", hint))
            return
        with TemporaryDirectory() as folder:
            path = Path(folder, f"attachment{suffix}")
            path.write_bytes(bytes(part.get_payload(decode=True) or b""))
            try:
                document = BY_SUFFIX[suffix].reader()(path)
            except (Unreadable, OSError) as error:
                self.unread.append(Unread(where, *error.args[:2]))
                return
        title = [document.title] if document.title and document.title != name else []
        for block in document.blocks:
            self._add(block, (*above, name, *title, *block.section), block.date or document.day)
        for each in document.unread:
            self.unread.append(replace(each, where=f"{where}, {each.where}"))


def _spoken(text: str) -> Iterator[tuple[str, str]]:
    """Yield the lines without signatures, each with who wrote it, "" for the mail's own writer."""
    lines = _WROTE.sub(lambda found: _LINE.sub(" ", found[0]), text).split("\n")
    quoting = following = speaker = ""  # who wrote marked lines, all that follows, and this line
    fields: dict[str, str] | None = None  # the head of an older mail
    signed = False
    for at, line in enumerate(lines):
        marked = _QUOTE.match(line)
        plain = line[marked.end() :] if marked else line.removeprefix(">")
        begins = _WROTE.match(plain) or _ORIGINAL.match(plain)
        begins = begins or _head_of(plain, lines[at + 1 :])
        # A signature; without the usual space only a short one.
        signs = plain == "-- " or (plain == "--" and len(lines) - at <= _LONGEST_SIGNATURE)
        signed = not (marked or begins) and (signed or signs)
        if signed:
            continue
        if _WROTE.match(plain):
            quoting = plain.rstrip(": ")
            following = following if any(map(_QUOTE.match, lines[at + 1 :])) else quoting
            continue
        if begins:
            said = begins["said"] if begins.re is _ORIGINAL else None
            following, fields = clean(said or _QUOTED), {}
        found = _FIELD.match(plain)
        if fields is not None and found:
            fields[found[1].lower()] = found[2]
            day = fields.get("sent", fields.get("date", ""))
            following = _speaker(fields.get("from", ""), day)
            quoting = following if marked else quoting
        elif not begins:
            fields = fields if not plain.strip() else None
            if plain.strip():
                speaker = (quoting or following or _QUOTED) if marked else following
            yield speaker, plain


def _head_of(line: str, following: list[str]) -> re.Match[str] | None:
    """Return the first field of the head of an older mail, as Outlook writes it."""
    after = _FIELD.match(following[0].lstrip("> ")) if following else None
    found = _FIELD.match(line)
    is_head = found and found[1].lower() == "from" and after and after[1].lower() in _DAYS
    return found if is_head else None


def _speaker(name: str, day: str) -> str:
    said = f"From {name}" if name else _QUOTED
    return clean(f"{said}, {day}" if day else said)


def _content(part: MIMEPart) -> str:
    try:
        if part.get_content_charset():
            return str(part.get_content())
    except (LookupError, ValueError):  # an encoding that Python does not have
        pass
    return decoded(bytes(part.get_payload(decode=True) or b""))

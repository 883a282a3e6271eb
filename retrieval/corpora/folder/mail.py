"""Reads .eml and .mbox: each mail below its subject, and older mails in it below who wrote them.

Each is of the day on which it was sent. What is attached is read as a document of the mail.
"""

from __future__ import annotations

import mailbox
import re
from collections.abc import Iterator, Sequence
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
from retrieval.corpora.sections import sections

_LONGEST_SIGNATURE = 10  # lines
_QUOTED = "Quoted mail"  # a heading
_QUOTE = re.compile(r">(?!From )[> ]*")  # ">From" is what a mailbox makes of "From"
_SAY = (
    r"(?:wrote|answered|replied|schrieb|a écrit|écrit|ha scritto|escribió|schreef|escreveu|skrev)"
)
_CLOCK = r"(?:\d:\d\d|\d{4}|\d[./-]\d\d?[./-]\d\d)"  # or a day
_BY_DAY = (
    rf"(?:(?:On|Am|Le|El|Il|Op|Em|Den)\s|(?:\w+\.?,? )?(?=.{{0,20}}{_CLOCK})\d)"
    rf".{{3,200}}?\s{_SAY}(?:\s[^:]{{1,80}}?)??"
)
_BY_NAME = rf"[^\W\d].{{1,80}}? {_SAY} (?:on|am|le|el|il|op|em|den) (?=.{{0,30}}\d).{{3,50}}?"
_SHORT_YEAR = re.compile(r"(?<=\b\d\d\.\d\d\.)(?=\d\d\b(?!\d))")  # "On 06.05.24"
# "On 5 Feb 2023, Ann Lee wrote:", which may go on in the next line; "--- Ann wrote on 5 May ---".
_WROTE, _WROTE_IN_ONE = (
    re.compile(rf"(?P<rule>[-_=]{{2,}}+ ?)?(?P<said>{said})(?(rule):? ?[-_=]{{2,}}|\s?:)")
    for said in (_BY_DAY, f"{_BY_DAY}|{_BY_NAME}")
)
_MOST_LINES = 3  # of what says who wrote
_LONGEST_SAID = 300  # characters of it
_MOST_FIELDS = 12  # lines of a head
# "-----Original Message-----", "--- Our letter of 6 May ---"; without dashes, what programs write.
_ORIGINAL = re.compile(
    r"(?:Original|Forwarded) message:?|(?:Begin|Anfang|Début|Inizio|Inicio)\b.{0,20}"
    r" (?:forwarded|weitergeleitet|transféré|inoltrato|reenviado|doorgestuurd)[^:]{0,20}:"
    r"|[-_=]{3,}+ ?(?=.{0,30}(?:mail|message|letter|memo|notice|note|circular|forwarded|nachricht"
    r"|messaggio|mensaje|bericht|mensagem)\b)(?P<said>.{4,80}?):? ?[-_=]{3,}",
    re.I,
)
_RULED = re.compile(r"[-_=]{3,}+ ?(?P<said>\w.{2,80}?):? ?[-_=]{3,}")
_FROM = "From|Von|De|Da|Van|Fra|Från"
_SENT = "Sent|Gesendet|Envoyé|Enviado(?: el)?|Inviato|Verzonden|Sendt|Skickat"
_DATED = f"{_SENT}|Date|Datum|Data|Fecha"
_ABOUT = "Subject|Betreff|Objet|Asunto|Oggetto|Onderwerp|Assunto|Emne|Ämne"
_OTHER = r"To|An|À|Para|A|Aan|Til|Till|Cc|Kopie|Antwort an|Message|(?:\w+-)+\w+"
_FIELD = re.compile(
    rf"\*?(?:(?P<writer>{_FROM})|(?P<sent>{_SENT})|(?P<day>{_DATED})|(?P<subject>{_ABOUT})|{_OTHER})"
    r"\*?\s?: ?\*?(?P<value>.*)",
    re.I,
)
# The same as Outlook writes it into a page, where it is one paragraph.
_HEAD = re.compile(
    rf"(?:[-_ ]{{3,}}+[^-_:]{{4,40}}[-_ ]{{3,}}+)?(?:{_FROM})\s?: (?P<writer>.{{1,200}}?)"
    rf" (?:{_DATED})\s?: (?P<day>.{{1,100}}?) (?:{_OTHER}|{_ABOUT})\s?: "
)
_FORWARDED = "//*[contains(@class, 'gmail_quote')][not(.//blockquote)]"
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
        sender = str(message["from"] or "")  # "Clerk, Pell Council <c@pell.org>" is no list
        name = in_order(clean(parseaddr(sender)[0])) or sender.rpartition("<")[0] or sender
        name = name.replace('"', "").strip("<>")  # an address alone, or a name without one
        self._read(message, above, (clean(f"From {name}"),) if name else ())

    def _add(self, block: Block, section: tuple[str, ...], day: str = "") -> None:
        day = as_day(first_day(_SHORT_YEAR.sub("20", day))) or self._day
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
            lines = [_without_marks(line) for line in text.replace("\r\n", "\n").split("\n")]
            for said, group in groupby(_spoken(lines), key=itemgetter(0)):
                section = (*above, *([said] if said else writer))
                paragraphs = list(lines_of("\n".join(lines[at][1] for _, at in group)))
                for block in sections(paragraphs, headed=False):
                    self._add(block, (*section, *block.section), said)
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
        for quote in tree.xpath(_FORWARDED):
            quote.tag = "blockquote"
        found = shown(tree)
        self.unread += found.unread
        blocks = [block for _, block in in_sections(found.pieces, Headings(""))]
        pieces = [piece for piece in found.pieces if not piece.level]
        depths = [sum(each.tag == "blockquote" for each in piece.around) for piece in pieces]
        lines = [(depth, piece.text) for depth, piece in zip(depths, pieces, strict=True)]
        for said, at in _spoken(lines):
            section = (*above, *blocks[at].section, *([said] if said else writer))
            self._add(blocks[at], section, said)

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


def _without_marks(line: str) -> tuple[int, str]:
    """Return how deep a line is quoted, and what it says."""
    marked = _QUOTE.match(line)
    return (marked[0].count(">"), line[marked.end() :]) if marked else (0, line.removeprefix(">"))


def _spoken(lines: Sequence[tuple[int, str]]) -> Iterator[tuple[str, int]]:
    """Yield who wrote each line, "" for the mail's own writer, and its place; no signatures.

    ``lines``: how deep each is quoted, and what it says.
    """
    writers = {0: ""}  # by how deep they are quoted
    at, speaker, signed = 0, "", -1
    last = max((at for at, (depth, _) in enumerate(lines) if depth), default=-1)
    while at < len(lines):
        depth, line = lines[at]
        said, after = _begins(lines, at, at < last)
        if said:
            depth = lines[after - 1][0]
            below = _below(lines, after)[1] or depth
            of = {depth, below} if _FIELD.match(lines[after - 1][1]) else {max(depth, below)}
            writers = {each: name for each, name in writers.items() if each < max(of)}
            writers |= dict.fromkeys(of, said)
            at, signed = after, -1
            continue
        # A signature; without the usual space only a short one.
        signs = line == "-- " or (line == "--" and len(lines) - at <= _LONGEST_SIGNATURE)
        signed = depth if signs or signed == depth else -1
        if signed < 0:
            speaker = writers.get(depth, _QUOTED) if line.strip() else speaker
            yield speaker, at
        at += 1


def _begins(lines: Sequence[tuple[int, str]], at: int, quotes: bool) -> tuple[str, int]:
    """Return who wrote the older mail that a line begins, "" if it begins none, and its start.

    ``quotes``: whether lines that are marked as quoted follow.
    """
    depth, line = lines[at]
    if not line.strip():
        return "", at
    if head := _HEAD.match(line):
        return _speaker(head["writer"], head["day"]), at + 1
    said = ""
    for end, (deep, more) in enumerate(lines[at : at + _MOST_LINES], start=at + 1):
        said = f"{said} {more.strip()}".strip()
        if deep != depth or not more.strip() or len(said) > _LONGEST_SAID:
            break
        if found := (_WROTE if end - at > 1 else _WROTE_IN_ONE).fullmatch(said):
            if (
                found["rule"]
                or _below(lines, end)[1]
                or re.search(r"\d:\d\d|@", said)
                or not quotes
            ):
                return clean(found["said"]), end
            break  # what the mail's own writer cites
        if said[-1] in ".!?:":
            break
    after, deep = _below(lines, at + 1)
    line = line.strip()
    original = _ORIGINAL.fullmatch(line) or (deep > depth and _RULED.fullmatch(line))
    fields, end = _fields(lines, after if original else at)
    kinds = {"sent" if kind == "day" else kind for kind in fields}
    by_day = list(fields)[:2] in (["writer", "sent"], ["writer", "day"], ["sent", "writer"])
    is_head = kinds >= {"writer", "sent"} and (by_day or "subject" in kinds)
    if is_head or (original and kinds & {"writer", "sent"}):
        day = fields.get("sent") or fields.get("day", "")
        return _speaker(fields.get("writer", ""), day), end
    return (clean(original["said"] or _QUOTED), at + 1) if original else ("", at)


def _below(lines: Sequence[tuple[int, str]], at: int) -> tuple[int, int]:
    """Return the first line that is not blank, and how deep it is quoted."""
    while at < len(lines) and not lines[at][1].strip():
        at += 1
    return at, lines[at][0] if at < len(lines) else 0


def _fields(lines: Sequence[tuple[int, str]], at: int) -> tuple[dict[str, str], int]:
    """Return the fields of the head of an older mail, and where they end."""
    fields: dict[str, str] = {}
    for end, (_, line) in enumerate(lines[at : at + _MOST_FIELDS], start=at):
        found = _FIELD.match(line)
        if found:
            kind = next((k for k in ("writer", "sent", "day", "subject") if found[k]), "other")
            fields.setdefault(kind, found["value"].strip("* ."))
        elif not fields or not line[:1].isspace() or not line.strip():  # no line that goes on
            return fields, end
    return fields, min(at + _MOST_FIELDS, len(lines))


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

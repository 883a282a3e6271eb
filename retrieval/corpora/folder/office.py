"""Opens the files of offices: zips of XML, if they unpack to what fits into memory."""

from __future__ import annotations

import re
import zipfile
from collections.abc import Iterator
from contextlib import contextmanager
from io import BytesIO
from pathlib import Path
from typing import IO, Any

from lxml import etree

from retrieval.corpora.cleaning import reason_of
from retrieval.corpora.folder.document import Unreadable

_LARGEST = 256 << 20  # bytes of a document after unpacking
_OLE = b"\xd0\xcf\x11\xe0"  # the first bytes of files of Office 2003, and of encrypted ones
# The names of XML in files that Office saves as "Strict Open XML", and the usual ones.
_STRICT = b"http://purl.oclc.org/ooxml/"
_STRICT_NAME = re.compile(re.escape(_STRICT) + rb"(\w+)/")
_USUAL_NAME = rb"http://schemas.openxmlformats.org/\1/2006/"
_TEMPLATES = 2013  # the year of python-docx's own template
_SAVE_AGAIN = "Open it in the program that made it and save it again, without a password."


@contextmanager
def unpacked(path: Path) -> Iterator[zipfile.ZipFile]:
    """Yield the zip of a document.

    The declared sizes can be trusted: ``zipfile`` reads no more of a member than it declares.

    Raises:
        Unreadable: it is no zip, is encrypted or damaged, or unpacks to too much.
        OSError: the file cannot be read.
    """
    suffix = path.suffix.lower()
    with path.open("rb") as stream:
        if stream.read(4) == _OLE:
            why = f"the file is encrypted, or is not a {suffix} but of an older format."
            raise Unreadable(why, _SAVE_AGAIN)
        try:
            with zipfile.ZipFile(stream) as archive:
                size = sum(member.file_size for member in archive.infolist())
                if size > _LARGEST:
                    most = f"at most {_LARGEST / 1e6:,.0f} MB are read."
                    why = f"the file unpacks to {size / 1e6:,.0f} MB; {most}"
                    raise Unreadable(why, "Save it without its pictures, or divide it.")
                yield archive
        except (Unreadable, OSError, MemoryError):
            raise
        except Exception as error:  # of zipfile, lxml and libraries, which do not list their own
            if "unknown error" in str(error):  # all that lxml says without memory
                raise MemoryError from error
            why = f"the file is damaged, or is not a {suffix} ({reason_of(error)})."
            raise Unreadable(why, _SAVE_AGAIN) from error


@contextmanager
def office_file(path: Path) -> Iterator[IO[bytes]]:
    """Yield a .docx, .pptx or .xlsx; one in Strict Open XML has the usual names, as libraries want.

    Raises what ``unpacked`` does.
    """
    with unpacked(path) as archive:
        if _STRICT not in archive.read("_rels/.rels"):
            with path.open("rb") as stream:
                yield stream
            return
        file = BytesIO()
        with zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED, compresslevel=1) as usual:
            for member in archive.infolist():
                content = archive.read(member)
                if member.filename.endswith((".xml", ".rels")):
                    content = _STRICT_NAME.sub(_USUAL_NAME, content)
                usual.writestr(member.filename, content)
        yield file


def saved_on(properties: Any) -> str:
    """Return the day on which an office file says that it was written last, "" if it does not.

    A day before it was made, or that programs write into a new file, is none.
    """
    day = properties.modified or properties.created
    return day.date().isoformat() if day and day.year > _TEMPLATES else ""


def parsed(content: bytes) -> etree._Element:
    """Return the root of XML; its entities are left alone.

    Raises:
        XMLSyntaxError: it is damaged.
    """
    parser = etree.XMLParser(resolve_entities=False, no_network=True, remove_comments=True)
    return etree.fromstring(content, parser)

"""What the texts of settings say. Each function reads one kind of text.

A text that cannot be used raises ``ValueError``, with what is wrong and how to fix it, in words
that follow the name of the variable: "is 'maybe'; set it to yes or no."
"""

from __future__ import annotations

import ipaddress
import os
import re
from collections.abc import Callable
from pathlib import Path
from typing import TypeAlias
from urllib.parse import SplitResult, urlsplit

Network: TypeAlias = ipaddress.IPv4Network | ipaddress.IPv6Network

EMBEDDED_BROKER = "filesystem://"
_HOST_NAME = re.compile(r"[a-z0-9_]([a-z0-9_.-]*[a-z0-9_])?")
_HUB_NAME = re.compile(r"[A-Za-z0-9][\w.-]*/[A-Za-z0-9][\w.-]*")


def is_yes(text: str) -> bool:
    """Read yes or no."""
    if text not in ("yes", "no"):
        raise ValueError(f"is {text!r}; set it to yes or no.")
    return text == "yes"


def is_json(text: str) -> bool:
    """Read the form of a log."""
    if text not in ("text", "json"):
        raise ValueError(f"is {text!r}; set it to text or json.")
    return text == "json"


def whole_number(low: int, high: int) -> Callable[[str], int | None]:
    """Return a function that reads a number; ``None`` where there is none."""

    def read(text: str) -> int | None:
        text = text.strip()
        if not text:
            return None
        digits = text.isascii() and text.isdigit() and len(text) <= len(str(high))
        if not digits or not low <= int(text) <= high:
            raise ValueError(
                f"is {text!r}; set it to a whole number from {low} to {high}, or unset it."
            )
        return int(text)

    return read


def _absolute(text: str, kind: str) -> Path | None:
    """Return the absolute path, which may not exist; ``None`` where none is set."""
    try:
        return Path(text).expanduser().resolve() if text else None
    except (RuntimeError, OSError) as error:  # an unknown user's home, or a loop of links
        raise ValueError(f"is {text!r} ({error}); set it to a {kind}.") from error


def existing_file(text: str) -> str:
    """Return the absolute path of the file, "" where none is set."""
    file = _absolute(text, "file")
    if file is not None and not file.is_file():
        raise ValueError(f"is {str(file)!r}, which is not a file; set it to a file.")
    return str(file or "")


def existing_folder(text: str) -> Path | None:
    """Return the folder, ``None`` where none is set."""
    folder = _absolute(text, "folder")
    if folder is not None and not folder.is_dir():
        raise ValueError(f"is {str(folder)!r}, which is not a folder; set it to a folder.")
    return folder


def folder(text: str) -> Path | None:
    """Return the folder, which may not exist yet; ``None`` where none is set."""
    found = _absolute(text, "folder")
    return existing_folder(text) if found is not None and found.exists() else found


def folder_of_database(text: str) -> Path | None:
    """Return what ``folder`` returns."""
    if "?" in text:
        raise ValueError(
            f"is {text!r}; the path of a database may not contain a question mark, so choose"
            " another folder."
        )
    return folder(text)


def folders(text: str) -> dict[str, Path]:
    """Return the folders by their last names, which pages show instead of their paths."""
    found: dict[str, Path] = {}
    for one in map(existing_folder, filter(None, text.split(os.pathsep))):
        assert one is not None
        if one.name in found:
            raise ValueError(f"has two folders named {one.name!r}; rename one, or leave it out.")
        found[one.name] = one
    return found


def model_name(text: str) -> str:
    """Return a folder, or a name on the hub; whether the hub has it is not known yet."""
    path = _absolute(text, "folder")
    if path is not None and path.is_dir():
        return str(path)
    if text and not _HUB_NAME.fullmatch(text):
        raise ValueError(
            f"is {text!r}; set it to a folder that exists, or to OWNER/NAME of the Hugging Face"
            " hub."
        )
    return text


def host(text: str) -> str:
    """Return the address or the name of a host, as it is written."""
    try:
        ipaddress.ip_address(text)
    except ValueError:
        _host_name(text)
    return text


def host_names(text: str) -> tuple[str, ...]:
    """Return the names between commas, in the form that browsers send."""
    return tuple(_host_name(name.strip()) for name in text.split(",") if name.strip())


def _host_name(name: str) -> str:
    try:
        sent = name.casefold().encode("idna").decode("ascii")
    except UnicodeError:
        sent = ""
    if not _HOST_NAME.fullmatch(sent):
        raise ValueError(
            f"is {name!r}; write only the name or the address, without scheme, port, brackets or"
            " asterisk."
        )
    return sent


def networks(text: str) -> tuple[Network, ...]:
    """Return the addresses and networks between commas."""
    names = (name.strip() for name in text.split(","))
    try:
        return tuple(ipaddress.ip_network(name) for name in names if name)
    except ValueError as error:
        raise ValueError(
            f"cannot be read: {error}; write addresses or networks with commas between them, such"
            " as 127.0.0.1,10.0.0.0/8."
        ) from error


def one_line(text: str) -> str:
    """Return a text that a header of a request may have."""
    text = text.strip()
    if not (text.isascii() and text.isprintable()):
        raise ValueError("has other characters than those of a mail or web address; correct it.")
    return text


def header(text: str) -> str:
    """Return the name of a header."""
    if not re.fullmatch(r"[A-Za-z0-9-]{1,64}", text):
        raise ValueError(f"is {text!r}; set it to the name of a header.")
    return text


def key(text: str) -> str:
    """Return a secret without the blanks around it."""
    text = text.strip()
    if not (text.isascii() and text.isprintable()) or " " in text:
        raise ValueError("contains more than a key; set it to the key only.")
    return text


def broker(text: str) -> str:
    """Return the address of a broker, which an error does not show: it may contain a password."""
    parts = _parts(text)
    is_redis = parts.scheme in ("redis", "rediss") and parts.hostname
    if text != EMBEDDED_BROKER and not (is_redis and re.fullmatch("[0-9]*", parts.path.strip("/"))):
        raise ValueError("cannot be read; set it to redis://HOST:PORT/DB, or unset it.")
    return text


def server(text: str) -> str:
    """Return the address of a language model's server without a slash at its end.

    It may contain a password, so an error does not show it.
    """
    url = text.strip().rstrip("/")
    parts = _parts(url)
    plain = parts.scheme in ("http", "https") and parts.hostname and url.isascii()
    extra = parts.username is not None or parts.query or parts.fragment or " " in url
    if url and (extra or not plain):
        raise ValueError(
            "cannot be used; set it to an address such as http://localhost:11434/v1, without user,"
            " password or question mark. Put a key into ESOTERIC_LLM_KEY."
        )
    return url


def public_address(text: str) -> str:
    """Return the address of the pages without a slash at its end."""
    url = text.strip().rstrip("/")
    parts = _parts(url)
    plain = parts.scheme in ("http", "https") and parts.hostname and url.isascii()
    extra = parts.username is not None or parts.path or parts.query or parts.fragment or " " in url
    if url and (extra or not plain):
        raise ValueError(
            f"is {url!r}; set it to an address without a path, such as https://check.example.org."
        )
    return url


def _parts(url: str) -> SplitResult:
    """Return the parts of the address, all empty if it is none."""
    try:
        parts = urlsplit(url)
        _ = parts.port  # raises if it is not a number
    except ValueError:
        return urlsplit("")
    return parts

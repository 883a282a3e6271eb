"""Every setting there is, in one table.

A setting is an environment variable. ``Settings.from_environment`` is the only
place that reads them; ``docs/settings.md`` documents each one, and a test fails
where the two disagree.
"""

from __future__ import annotations

import ipaddress
import os
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from hashlib import sha256
from pathlib import Path
from urllib.parse import urlsplit

from retrieval.elastic.location import ElasticLocation

CHECKOUT = Path(__file__).resolve().parent
_HOST_NAME = re.compile(r"[a-z0-9_]([a-z0-9_.-]*[a-z0-9_])?")
EMBEDDED_BROKER = "filesystem://"
EMBEDDED_STORE = "embedded"


@dataclass(frozen=True, slots=True)
class Setting:
    """A row of the table: the variable, its default as the user would write it, its meaning."""

    variable: str
    default: str
    meaning: str


TABLE: tuple[Setting, ...] = (
    Setting(
        "ESOTERIC_HOME",
        ".esoteric beside the code",
        "Folder for the index, the database, the embedded queue, unpacked models and the logs.",
    ),
    Setting(
        "ESOTERIC_STORE",
        "embedded",
        "Where the index is: embedded, as files in ESOTERIC_HOME, or on Elasticsearch, as"
        " elasticsearch://HOST:PORT/INDEX, or elasticsearch+https:// to encrypt; several hosts with"
        " commas, USER:PASSWORD@ before them.",
    ),
    Setting(
        "ESOTERIC_STORE_API_KEY",
        "none",
        "API key for Elasticsearch, instead of USER:PASSWORD@.",
    ),
    Setting(
        "ESOTERIC_STORE_CA",
        "the system's authorities",
        "File with the certificate of the authority that signed those of Elasticsearch.",
    ),
    Setting("HOST", "127.0.0.1", "Address that the web server listens on."),
    Setting("PORT", "8000", "Port that the web server listens on."),
    Setting(
        "TRUSTED_HOSTS",
        "none",
        "Further names, comma-separated and without scheme or port, by which browsers may reach"
        " the web server; addresses, localhost and HOST always serve.",
    ),
    Setting(
        "ESOTERIC_DATABASE_URL",
        "SQLite in ESOTERIC_HOME",
        "SQLAlchemy URL of the database that keeps claims, their events and results.",
    ),
    Setting(
        "ESOTERIC_BROKER_URL",
        "files in ESOTERIC_HOME",
        "Celery broker: the embedded one, or redis://HOST:PORT/DB to share a queue.",
    ),
    Setting(
        "ESOTERIC_BART",
        "none",
        "Folder with the weights of BART or GENRE, which then generate titles instead of the"
        " shipped model.",
    ),
    Setting(
        "ESOTERIC_REPORT_MODELS",
        "none",
        "Folder with the models of the ESOTERIC report, for the recipe report and for index encode"
        " --vectors dpr; a folder bart in it serves as ESOTERIC_BART.",
    ),
    Setting("ESOTERIC_THREADS", "number of cores", "Threads that the models may use."),
)


class BadSetting(Exception):
    """A variable holds a value that cannot be used; the message names the mend."""


@dataclass(frozen=True, slots=True)
class Settings:
    """The settings of this process, read once and passed on.

    ``store`` is where the index is: the folder of the embedded one, or a place on Elasticsearch.
    """

    home: Path
    store: Path | ElasticLocation
    store_api_key: str = field(repr=False)
    store_ca: str
    host: str
    port: int
    trusted_hosts: tuple[str, ...]
    database_url: str
    broker_url: str
    bart: Path | None
    report_models: Path | None
    threads: int

    @classmethod
    def from_environment(cls, environment: Mapping[str, str] = os.environ) -> Settings:
        """Read the settings.

        Raises:
            BadSetting: a value cannot be used.
        """
        home = _home(environment, "ESOTERIC_HOME", CHECKOUT / ".esoteric")
        host = _host(environment, "HOST", "127.0.0.1")
        store_api_key = environment.get("ESOTERIC_STORE_API_KEY") or ""
        store_ca = _file(environment, "ESOTERIC_STORE_CA")
        report_models = _report_models(environment, "ESOTERIC_REPORT_MODELS")
        return cls(
            home=home,
            store=_store(environment, "ESOTERIC_STORE", home / "index", store_api_key, store_ca),
            store_api_key=store_api_key,
            store_ca=store_ca,
            host=host,
            port=_whole_number(environment, "PORT", 8000, 1, 65535),
            trusted_hosts=("localhost", host.casefold(), *_names(environment, "TRUSTED_HOSTS")),
            database_url=environment.get("ESOTERIC_DATABASE_URL")
            or f"sqlite:///{home}/esoteric.db",
            broker_url=_broker(environment, "ESOTERIC_BROKER_URL"),
            bart=_bart(environment, "ESOTERIC_BART") or _bart_in(report_models),
            report_models=report_models,
            threads=_whole_number(environment, "ESOTERIC_THREADS", os.cpu_count() or 1, 1, 1024),
        )

    @property
    def snapshots(self) -> Path:
        """Folder for files that are derived from an index on a server."""
        return self.home / "snapshots"

    @property
    def home_id(self) -> str:
        """What tells this home from others without naming it: a digest of its path."""
        return sha256(str(self.home).encode()).hexdigest()[:16]

    @property
    def packaged_models(self) -> Path:
        """Folder that models which are packaged in pieces are unpacked into."""
        return self.home / "models"


def _home(environment: Mapping[str, str], variable: str, default: Path) -> Path:
    if "?" in environment.get(variable, ""):
        raise BadSetting(
            f"{variable} is {environment[variable]!r}; the path of a database may hold no"
            " question mark, so choose another folder."
        )
    return _folder(environment, variable, default)


def _folder(environment: Mapping[str, str], variable: str, default: Path) -> Path:
    """Return the folder, which need not be there."""
    try:
        folder = Path(environment.get(variable) or default).expanduser().resolve()
    except (RuntimeError, OSError) as error:  # a home of nobody's, or a loop of links
        raise BadSetting(
            f"{variable} is {environment.get(variable)!r} ({error}); set it to a folder."
        ) from error
    if folder.exists() and not folder.is_dir():
        raise BadSetting(f"{variable} is {folder}, which is no folder; set it to one.")
    return folder


def _store(
    environment: Mapping[str, str], variable: str, embedded: Path, api_key: str, ca_file: str
) -> Path | ElasticLocation:
    url = environment.get(variable) or EMBEDDED_STORE
    if url == EMBEDDED_STORE:
        return embedded
    try:
        return ElasticLocation.read(url, api_key, ca_file)
    except ValueError as error:
        # The URL may hold a password, so it is not shown.
        raise BadSetting(
            f"{variable} cannot be used: {error}. Set it to elasticsearch://HOST:PORT/INDEX, or"
            " unset it for the index in ESOTERIC_HOME."
        ) from error


def _file(environment: Mapping[str, str], variable: str) -> str:
    """Return the file's path from the root on, "" where none is named."""
    if not environment.get(variable):
        return ""
    try:
        file = Path(environment[variable]).expanduser().resolve()
    except (RuntimeError, OSError) as error:  # a home of nobody's, or a loop of links
        raise BadSetting(
            f"{variable} is {environment[variable]!r} ({error}); set it to a file."
        ) from error
    if not file.is_file():
        raise BadSetting(f"{variable} is {str(file)!r}, which is no file; set it to one.")
    return str(file)


def _bart(environment: Mapping[str, str], variable: str) -> Path | None:
    if not environment.get(variable):
        return None
    folder = Path(environment[variable]).expanduser()
    if not folder.is_dir():
        raise BadSetting(f"{variable} is {str(folder)!r}, which is no folder; set it to one.")
    return folder.resolve()


def _report_models(environment: Mapping[str, str], variable: str) -> Path | None:
    return _folder(environment, variable, CHECKOUT) if environment.get(variable) else None


def _bart_in(report_models: Path | None) -> Path | None:
    folder = report_models / "bart" if report_models else None
    return folder if folder and folder.is_dir() else None


def _host(environment: Mapping[str, str], variable: str, default: str) -> str:
    host = environment.get(variable) or default
    try:
        ipaddress.ip_address(host)
    except ValueError:
        _name(variable, host)
    return host


def _names(environment: Mapping[str, str], variable: str) -> tuple[str, ...]:
    names = environment.get(variable, "").split(",")
    return tuple(_name(variable, name.strip()) for name in names if name.strip())


def _name(variable: str, name: str) -> str:
    """Return a host's name as browsers send it."""
    try:
        sent = name.casefold().encode("idna").decode("ascii")
    except UnicodeError:
        sent = ""
    if not _HOST_NAME.fullmatch(sent):
        raise BadSetting(
            f"{variable} is {name!r}; write the name or the address alone, without scheme, port,"
            " brackets or asterisk."
        )
    return sent


def _broker(environment: Mapping[str, str], variable: str) -> str:
    url = environment.get(variable) or EMBEDDED_BROKER
    if url != EMBEDDED_BROKER and not _is_redis(url):
        # The address may hold a password, so it is not shown.
        raise BadSetting(f"{variable} cannot be read; set it to redis://HOST:PORT/DB, or unset it.")
    return url


def _is_redis(url: str) -> bool:
    try:
        parts = urlsplit(url)
        _ = parts.port  # raises where it is no number
    except ValueError:
        return False
    database = parts.path.strip("/")
    return (
        parts.scheme in ("redis", "rediss")
        and bool(parts.hostname)
        and (not database or (database.isascii() and database.isdigit()))
    )


def _whole_number(
    environment: Mapping[str, str], variable: str, default: int, low: int, high: int
) -> int:
    text = environment.get(variable, "").strip()
    if not text:
        return default
    digits = text.isascii() and text.isdigit() and len(text) <= len(str(high))
    if not digits or not low <= int(text) <= high:
        raise BadSetting(
            f"{variable} is {text!r}; set it to a whole number from {low} to {high}, or unset it."
        )
    return int(text)

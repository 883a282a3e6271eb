"""All settings, in one table.

A setting is an environment variable. Only ``Settings.from_environment`` reads
them. ``make docs`` writes the table of ``docs/settings.md`` from this one.
"""

from __future__ import annotations

import ipaddress
import os
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import timedelta
from difflib import get_close_matches
from hashlib import sha256
from pathlib import Path
from typing import Literal, TypeAlias, cast
from urllib.parse import urlsplit

from retrieval.index.elastic.location import ElasticLocation
from retrieval.llm_judge.choice import LanguageModelChoice, Price
from retrieval.models.folders import ModelFolders
from retrieval.models.named_model import NamedModel

Access: TypeAlias = Literal["tokens", "proxy", "open"] | None
Network: TypeAlias = ipaddress.IPv4Network | ipaddress.IPv6Network

CHECKOUT = Path(__file__).resolve().parent
_HOST_NAME = re.compile(r"[a-z0-9_]([a-z0-9_.-]*[a-z0-9_])?")
_HUB_NAME = re.compile(r"[A-Za-z0-9][\w.-]*/[A-Za-z0-9][\w.-]*")
_MISSPELT = 0.85  # likeness of two names
EMBEDDED_BROKER = "filesystem://"
EMBEDDED_STORE = "embedded"
_OF_LANGUAGE_MODELS = (
    "ESOTERIC_LLM",
    "ESOTERIC_LLM_URL",
    "ESOTERIC_LLM_KEY",
    "ESOTERIC_LLM_KEY_FILE",
    "MISTRAL_API_KEY",
    "MISTRAL_API_KEY_FILE",
    "ESOTERIC_LLM_DECIDES",
    "ESOTERIC_LLM_SECONDS",
    "ESOTERIC_LLM_PRICES",
)


@dataclass(frozen=True, slots=True)
class Setting:
    """A row of the table: the variable, its default as shown to users, its meaning."""

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
        "File with the certificate of the authority that signed the certificates of Elasticsearch.",
    ),
    Setting("HOST", "127.0.0.1", "Address that the web server listens on."),
    Setting("PORT", "8000", "Port that the web server listens on."),
    Setting(
        "TRUSTED_HOSTS",
        "none",
        "More names for the web server that browsers may use, comma-separated, without scheme or"
        " port; IP addresses, localhost and HOST are always accepted.",
    ),
    Setting(
        "ESOTERIC_ACCESS",
        "none",
        "Who may use the service; needed if HOST is not an address of this machine alone. tokens:"
        " users of esoteric users add. proxy: users whom a proxy in ESOTERIC_PROXIES names. open:"
        " everybody who reaches it (docs/access.md).",
    ),
    Setting(
        "ESOTERIC_PROXIES",
        "none",
        "Addresses or networks of proxies before the web server, comma-separated, such as"
        " 127.0.0.1 or 10.0.0.0/8. Only from these, X-Forwarded-For, -Proto and -Host are believed,"
        " and the header with the user's name.",
    ),
    Setting(
        "ESOTERIC_USER_HEADER",
        "X-Forwarded-User",
        "Header in which the proxy names the user; Remote-User for Authelia. The proxy must remove"
        " it from what it gets.",
    ),
    Setting(
        "ESOTERIC_TOKEN",
        "none",
        "Token with which esoteric check, batch and mcp use the service (esoteric users add).",
    ),
    Setting("ESOTERIC_TOKEN_FILE", "none", "File that contains ESOTERIC_TOKEN."),
    Setting(
        "ESOTERIC_PUBLISHED_HOST",
        "HOST",
        "Address at which others reach the web server, if that is not HOST: for a container, the"
        " address at which its port is published.",
    ),
    Setting(
        "ESOTERIC_CLAIMS_PER_MINUTE",
        "60; without ESOTERIC_ACCESS none",
        "How many claims a user, or an address where nobody logs in, may submit in a minute.",
    ),
    Setting(
        "ESOTERIC_MOST_ROWS",
        "10000; without ESOTERIC_ACCESS none",
        "How many rows of the lists of a user, or of a browser or address where nobody logs in, may"
        " wait for their turn; a list that goes beyond is refused.",
    ),
    Setting(
        "ESOTERIC_MOST_QUEUED",
        "10000",
        "How many claims may wait for their turn; then no more are accepted.",
    ),
    Setting(
        "ESOTERIC_STREAMS",
        "4; without ESOTERIC_ACCESS none",
        "How many event streams a user or an address may have open at once.",
    ),
    Setting(
        "ESOTERIC_DATABASE_URL",
        "SQLite in ESOTERIC_HOME",
        "SQLAlchemy URL of the database of claims, their events and results, such as"
        " postgresql+psycopg://USER:PASSWORD@HOST/NAME.",
    ),
    Setting(
        "ESOTERIC_KEEP_DAYS",
        "none",
        "Days after which a worker deletes finished claims with all that belongs to them; without"
        " it they are kept until somebody deletes them.",
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
        " --vectors dpr; a folder bart in it is used as ESOTERIC_BART.",
    ),
    Setting(
        "ESOTERIC_RECIPES",
        "none",
        "Folder of recipes as YAML files, which the service offers beside its own; web server and"
        ' worker read it when they start (docs/recipes.md, "Your own recipe").',
    ),
    Setting(
        "ESOTERIC_VERIFIER",
        "none",
        "Folder with a sequence-classification model of Hugging Face, which then labels evidence"
        " instead of the shipped verifier.",
    ),
    Setting(
        "ESOTERIC_ENCODER",
        "none",
        "Bi-encoder of sentence-transformers, such as sentence-transformers/all-mpnet-base-v2: a"
        " folder, or a name on the Hugging Face hub. It then makes the vectors of indexes, and of"
        " claims, instead of MiniLM and M3's query encoder, and only an index with its vectors can"
        " be searched (esoteric index encode). Claims and texts get the same prompt, if any;"
        " thresholds are fitted to MiniLM.",
    ),
    Setting(
        "ESOTERIC_RERANKER",
        "none",
        "Cross-encoder of sentence-transformers with one score, such as"
        " cross-encoder/ms-marco-MiniLM-L6-v2: a folder, or a name on the Hugging Face hub. It then"
        " says how relevant sentences are, instead of the shipped relevance model; the verifier"
        " still labels them. relevance_cutoff is fitted to the shipped model.",
    ),
    Setting(
        "ESOTERIC_LLM",
        "none",
        "Language model that reads the selected evidence and gives the verdict: mistral:MODEL, or"
        " openai:MODEL for any server with OpenAI's chat completions (Ollama, llama.cpp, vLLM, LM"
        " Studio); or local for a model in the worker, which decides together with the verifier and"
        " takes 2 GB of memory (esoteric models fetch qwen2.5-1.5b).",
    ),
    Setting(
        "ESOTERIC_LLM_URL",
        "https://api.mistral.ai for mistral:",
        "Address of the language model's server, such as http://localhost:11434/v1. Claims and"
        " evidence are sent there; over http they are not encrypted.",
    ),
    Setting(
        "ESOTERIC_LLM_KEY",
        "none",
        "Key for the server at ESOTERIC_LLM_URL; sent only to that address.",
    ),
    Setting("ESOTERIC_LLM_KEY_FILE", "none", "File that contains ESOTERIC_LLM_KEY."),
    Setting("MISTRAL_API_KEY", "none", "Key for Mistral's own address; sent only to that address."),
    Setting("MISTRAL_API_KEY_FILE", "none", "File that contains MISTRAL_API_KEY."),
    Setting(
        "ESOTERIC_LLM_DECIDES",
        "yes",
        "yes: the language model gives the verdict (with local both judges together), and the"
        " verifier's opinion is shown beside it."
        " no: the verifier gives the verdict, and the language model adds its opinion.",
    ),
    Setting(
        "ESOTERIC_LLM_SECONDS",
        "20, 120 for local",
        "Time limit for a language model per claim, in seconds, all tries included.",
    ),
    Setting(
        "ESOTERIC_LLM_PRICES",
        "none",
        "Prices of language models, as MODEL=READ/WRITTEN per million tokens read and written,"
        " comma-separated; esoteric evaluate --llm then reports the cost.",
    ),
    Setting(
        "ESOTERIC_FETCH",
        "no",
        "Whether the web server may open web pages whose addresses users enter, to read their texts"
        " (yes or no). Private addresses and this computer's own networks are not opened; other"
        " hosts of yours with public addresses need a firewall (docs/access.md).",
    ),
    Setting(
        "ESOTERIC_UPLOADS",
        "yes if HOST is this computer's own address and ESOTERIC_ACCESS is not set, else no",
        "Where nobody logs in: whether everybody who reaches the service may upload, change and"
        " remove documents (yes or no; docs/corpora.md). Where users log in, this is ignored: only"
        " operators may.",
    ),
    Setting(
        "ESOTERIC_MOST_UPLOAD_MB",
        "50",
        "Largest upload of documents in megabytes, all files of it together. A zip may unpack to"
        " ten times as much.",
    ),
    Setting(
        "ESOTERIC_FOLDERS",
        "none",
        "Folders, separated by colons, that may be searched as corpora beside uploads; their files"
        " stay where they are.",
    ),
    Setting(
        "ESOTERIC_STALL_SECONDS",
        "60, and ESOTERIC_LLM_SECONDS more with a language model",
        "How long the check of a claim may take without any progress. Then it is ended, the claim"
        " fails, and another worker process goes on with the next one. Loading models and an index"
        " may take 15 minutes.",
    ),
    Setting(
        "ESOTERIC_LOG",
        "text",
        "How web server and workers write their logs: text, or json, with a line of JSON for each"
        " event (docs/operating.md).",
    ),
    Setting(
        "ESOTERIC_LOG_CLAIMS",
        "no",
        "yes: the worker's log has the text of each claim that it checks. No log has it otherwise.",
    ),
    Setting("ESOTERIC_THREADS", "number of cores", "Threads that the models may use."),
)


class BadSetting(Exception):
    """A variable has a value that cannot be used; the message says how to fix it."""


@dataclass(frozen=True, slots=True)
class Settings:
    """The settings of this process, read once and passed on.

    ``store`` is where the index is: the folder of the embedded one, or a place on Elasticsearch.
    ``keep_for``: how long finished claims are kept, ``None`` for good. ``claims_per_minute``: of a
    client, ``None`` without limit. ``most_rows``: of the lists of a client, that wait. ``streams``:
    event streams of a client. ``most_upload`` is in bytes. ``folders``: those that may become
    corpora, by their last names.
    """

    home: Path
    store: Path | ElasticLocation
    store_api_key: str = field(repr=False)
    store_ca: str
    host: str
    port: int
    trusted_hosts: tuple[str, ...]
    access: Access
    proxies: tuple[Network, ...]
    user_header: str
    token: str = field(repr=False)
    published_host: str
    claims_per_minute: int | None
    most_rows: int | None
    most_queued: int
    streams: int | None
    database_url: str
    keep_for: timedelta | None
    broker_url: str
    bart: Path | None
    recipes: Path | None
    verifier: Path | None
    report_models: Path | None
    encoder: NamedModel | None
    reranker: NamedModel | None
    llm: LanguageModelChoice | None
    fetch: bool
    uploads: bool
    most_upload: int
    folders: Mapping[str, Path]
    stall_seconds: int
    log_json: bool
    log_claims: bool
    threads: int

    @classmethod
    def from_environment(cls, environment: Mapping[str, str] = os.environ) -> Settings:
        """Read the settings.

        Raises:
            BadSetting: a value cannot be used, or a variable has nearly the name of a setting.
        """
        _check_names(environment)
        home = _home(environment, "ESOTERIC_HOME", CHECKOUT / ".esoteric")
        host = _host(environment, "HOST", "127.0.0.1")
        published = _host(environment, "ESOTERIC_PUBLISHED_HOST", host)
        store_api_key = environment.get("ESOTERIC_STORE_API_KEY") or ""
        store_ca = _file(environment, "ESOTERIC_STORE_CA")
        report_models = _folder(environment, "ESOTERIC_REPORT_MODELS")
        access = _access(environment, "ESOTERIC_ACCESS")
        proxies = _networks(environment, "ESOTERIC_PROXIES")
        if access == "proxy" and not proxies:
            raise BadSetting(
                "ESOTERIC_ACCESS is proxy, but ESOTERIC_PROXIES names no proxy; set it to the"
                " address of the proxy that users log in at, such as 127.0.0.1."
            )
        llm = _language_model(environment)
        return cls(
            home=home,
            store=_store(environment, "ESOTERIC_STORE", home / "index", store_api_key, store_ca),
            store_api_key=store_api_key,
            store_ca=store_ca,
            host=host,
            port=_whole_number(environment, "PORT", 8000, 1, 65535),
            trusted_hosts=("localhost", host.casefold(), *_names(environment, "TRUSTED_HOSTS")),
            access=access,
            proxies=proxies,
            user_header=_header(environment, "ESOTERIC_USER_HEADER", "X-Forwarded-User"),
            token=_secret(environment, "ESOTERIC_TOKEN"),
            published_host=published,
            claims_per_minute=_whole_number(
                environment, "ESOTERIC_CLAIMS_PER_MINUTE", 60 if access else 0, 1, 1_000_000
            )
            or None,
            most_rows=_whole_number(
                environment, "ESOTERIC_MOST_ROWS", 10_000 if access else 0, 1, 1_000_000
            )
            or None,
            most_queued=_whole_number(environment, "ESOTERIC_MOST_QUEUED", 10_000, 1, 10_000_000),
            streams=_whole_number(environment, "ESOTERIC_STREAMS", 4 if access else 0, 1, 10_000)
            or None,
            database_url=environment.get("ESOTERIC_DATABASE_URL")
            or f"sqlite:///{home}/esoteric.db",
            keep_for=_days(environment, "ESOTERIC_KEEP_DAYS"),
            broker_url=_broker(environment, "ESOTERIC_BROKER_URL"),
            bart=_existing_folder(environment, "ESOTERIC_BART") or _bart_in(report_models),
            recipes=_existing_folder(environment, "ESOTERIC_RECIPES"),
            verifier=_existing_folder(environment, "ESOTERIC_VERIFIER"),
            report_models=report_models,
            encoder=_model(environment, "ESOTERIC_ENCODER"),
            reranker=_model(environment, "ESOTERIC_RERANKER"),
            llm=llm,
            fetch=_yes(environment, "ESOTERIC_FETCH", False),
            uploads=_yes(
                environment, "ESOTERIC_UPLOADS", access is None and _is_loopback(published)
            ),
            most_upload=1_000_000
            * _whole_number(environment, "ESOTERIC_MOST_UPLOAD_MB", 50, 1, 10_000),
            folders=_folders(environment, "ESOTERIC_FOLDERS"),
            stall_seconds=_whole_number(
                *(environment, "ESOTERIC_STALL_SECONDS"),
                *(60 if llm is None else 60 + llm.seconds, 1, 86400),
            ),
            log_json=_log_form(environment, "ESOTERIC_LOG") == "json",
            log_claims=_yes(environment, "ESOTERIC_LOG_CLAIMS", False),
            threads=_whole_number(environment, "ESOTERIC_THREADS", os.cpu_count() or 1, 1, 1024),
        )

    def check_who_may(self) -> None:
        """Check that whoever can reach the web server is meant to.

        Raises:
            BadSetting: others can, and nothing says who may use it.
        """
        if self.access is None and not _is_loopback(self.published_host):
            raise BadSetting(
                f"Others can reach {self.published_host}, and ESOTERIC_ACCESS does not say who may"
                " use the service. Set it to tokens (users log in with a token), proxy (a proxy"
                " logs them in) or open (everybody may), or unset HOST; docs/access.md explains"
                " them."
            )

    @property
    def snapshots(self) -> Path:
        """Folder for files derived from an index on a server."""
        return self.home / "snapshots"

    @property
    def documents(self) -> Path:
        """Folder of the corpora beside the default one."""
        return self.home / "documents"

    @property
    def takes_uploads(self) -> bool:
        """Whether somebody may upload documents: where users log in, operators may."""
        return self.uploads or self.access in ("tokens", "proxy")

    @property
    def home_id(self) -> str:
        """Identifies this home without naming it: a digest of its path."""
        return sha256(str(self.home).encode()).hexdigest()[:16]

    @property
    def packaged_models(self) -> Path:
        """Folder for models that are packaged in pieces and unpacked."""
        return self.home / "models"

    @property
    def named_models(self) -> list[NamedModel]:
        """The models of sentence-transformers that are named."""
        return [model for model in (self.encoder, self.reranker) if model is not None]

    @property
    def model_folders(self) -> ModelFolders:
        """Every folder outside the checkout that models are read from."""
        return ModelFolders(
            self.packaged_models,
            self.bart,
            self.verifier,
            self.report_models,
            self.encoder,
            self.reranker,
        )


def _check_names(environment: Mapping[str, str]) -> None:
    """Refuse a misspelt setting: one that protects the service would be left out unseen."""
    names = [setting.variable for setting in TABLE]
    for name in environment:
        if name.startswith("ESOTERIC_") and name not in names:
            for meant in get_close_matches(name, names, n=1, cutoff=_MISSPELT):
                raise BadSetting(f"there is no setting {name}; do you mean {meant}?")


def _home(environment: Mapping[str, str], variable: str, default: Path) -> Path:
    chosen = environment.get(variable) or str(default)
    if "?" in chosen:
        raise BadSetting(
            f"{variable} is {chosen!r}; the path of a database may not contain a question mark,"
            " so choose another folder."
        )
    return _folder({variable: chosen}, variable) or default


def _path(environment: Mapping[str, str], variable: str, kind: str) -> Path | None:
    """Return the absolute path, which may not exist; None where none is set."""
    if not environment.get(variable):
        return None
    try:
        return Path(environment[variable]).expanduser().resolve()
    except (RuntimeError, OSError) as error:  # an unknown user's home, or a loop of links
        raise BadSetting(
            f"{variable} is {environment[variable]!r} ({error}); set it to a {kind}."
        ) from error


def _folder(environment: Mapping[str, str], variable: str) -> Path | None:
    """Return the folder, which may not exist; None where none is set."""
    folder = _path(environment, variable, "folder")
    if folder is not None and folder.exists() and not folder.is_dir():
        raise _not_a(variable, folder, "folder")
    return folder


def _existing_folder(environment: Mapping[str, str], variable: str) -> Path | None:
    folder = _path(environment, variable, "folder")
    if folder is not None and not folder.is_dir():
        raise _not_a(variable, folder, "folder")
    return folder


def _folders(environment: Mapping[str, str], variable: str) -> dict[str, Path]:
    """Return the folders by their last names, which pages show instead of their paths."""
    found: dict[str, Path] = {}
    for written in filter(None, environment.get(variable, "").split(os.pathsep)):
        folder = _existing_folder({variable: written}, variable)
        assert folder is not None
        if folder.name in found:
            raise BadSetting(
                f"{variable} has two folders named {folder.name!r}; rename one, or leave it out."
            )
        found[folder.name] = folder
    return found


def _yes(environment: Mapping[str, str], variable: str, default: bool) -> bool:
    word = environment.get(variable) or ("yes" if default else "no")
    if word not in ("yes", "no"):
        raise BadSetting(f"{variable} is {word!r}; set it to yes or no.")
    return word == "yes"


def _log_form(environment: Mapping[str, str], variable: str) -> str:
    form = environment.get(variable) or "text"
    if form not in ("text", "json"):
        raise BadSetting(f"{variable} is {form!r}; set it to text or json.")
    return form


def _is_loopback(host: str) -> bool:
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return host.casefold() == "localhost"


def _model(environment: Mapping[str, str], variable: str) -> NamedModel | None:
    """Return the model that is named; whether the hub has it is not known yet."""
    name = environment.get(variable)
    if not name:
        return None
    folder = _path(environment, variable, "folder")
    if folder is not None and folder.is_dir():
        return NamedModel(variable, str(folder))
    if not _HUB_NAME.fullmatch(name):
        raise BadSetting(
            f"{variable} is {name!r}; set it to a folder that exists, or to OWNER/NAME of the"
            " Hugging Face hub."
        )
    return NamedModel(variable, name)


def _file(environment: Mapping[str, str], variable: str) -> str:
    """Return the absolute path of the file, "" where none is set."""
    file = _path(environment, variable, "file")
    if file is None:
        return ""
    if not file.is_file():
        raise _not_a(variable, file, "file")
    return str(file)


def _not_a(variable: str, path: Path, kind: str) -> BadSetting:
    return BadSetting(f"{variable} is {str(path)!r}, which is not a {kind}; set it to a {kind}.")


def _store(
    environment: Mapping[str, str], variable: str, embedded: Path, api_key: str, ca_file: str
) -> Path | ElasticLocation:
    url = environment.get(variable) or EMBEDDED_STORE
    if url == EMBEDDED_STORE:
        return embedded
    try:
        return ElasticLocation.read(url, api_key, ca_file)
    except ValueError as error:
        # The URL may contain a password, so it is not shown.
        raise BadSetting(
            f"{variable} cannot be used: {error}. Set it to elasticsearch://HOST:PORT/INDEX, or"
            " unset it for the index in ESOTERIC_HOME."
        ) from error


def _language_model(environment: Mapping[str, str]) -> LanguageModelChoice | None:
    given = {variable: environment.get(variable) or "" for variable in _OF_LANGUAGE_MODELS}
    name = given["ESOTERIC_LLM"]
    if not name:
        return None  # keys that are set for other programs are then ignored
    decides = given["ESOTERIC_LLM_DECIDES"] or "yes"
    if decides not in ("yes", "no"):
        raise BadSetting(f"ESOTERIC_LLM_DECIDES is {decides!r}; set it to yes or no.")
    try:
        return LanguageModelChoice.read(
            name,
            _address(given, "ESOTERIC_LLM_URL"),
            _secret(given, "MISTRAL_API_KEY"),
            _secret(given, "ESOTERIC_LLM_KEY"),
            decides == "yes",
            _whole_number(given, "ESOTERIC_LLM_SECONDS", 120 if name == "local" else 20, 1, 600),
            _prices(given, "ESOTERIC_LLM_PRICES"),
        )
    except ValueError as error:
        raise BadSetting(f"ESOTERIC_LLM is {name!r}; {error}.") from error


def _address(environment: Mapping[str, str], variable: str) -> str:
    """Return the address without a slash at its end, "" where none is set."""
    url = environment.get(variable, "").strip().rstrip("/")
    if not url:
        return ""
    try:
        parts = urlsplit(url)
        _ = parts.port  # raises if it is not a number
    except ValueError:
        parts = urlsplit("")
    plain = parts.scheme in ("http", "https") and parts.hostname and url.isascii()
    if not plain or parts.username is not None or parts.query or parts.fragment or " " in url:
        # It may contain a password, so it is not shown.
        raise BadSetting(
            f"{variable} cannot be used; set it to an address such as http://localhost:11434/v1,"
            " without user, password or question mark. Put a key into ESOTERIC_LLM_KEY."
        )
    return url


def _secret(environment: Mapping[str, str], variable: str) -> str:
    """Return a secret from the variable, or from the file that ``variable``_FILE names."""
    secret = environment.get(variable, "")
    file = _file(environment, f"{variable}_FILE")
    if file and not secret:
        try:
            secret = Path(file).read_text("utf-8")
        except (OSError, ValueError) as error:
            raise BadSetting(
                f"{variable}_FILE is {file!r}, which cannot be read: make it readable"
                " for this user, and put only the key into it."
            ) from error
    secret = secret.strip()
    if not (secret.isascii() and secret.isprintable()) or " " in secret:
        raise BadSetting(f"{variable} contains more than a key; set it to the key only.")
    return secret


def _prices(environment: Mapping[str, str], variable: str) -> dict[str, Price]:
    prices = {}
    for entry in filter(None, (e.strip() for e in environment.get(variable, "").split(","))):
        model, _, price = entry.rpartition("=")
        numbers = re.fullmatch(r"(\d{1,6}(?:\.\d{1,6})?)/(\d{1,6}(?:\.\d{1,6})?)", price.strip())
        if not model.strip() or numbers is None:
            raise BadSetting(
                f"{variable} contains {entry!r}; write MODEL=READ/WRITTEN, such as"
                " mistral-small-latest=0.1/0.3."
            )
        prices[model.strip()] = Price(float(numbers[1]), float(numbers[2]))
    return prices


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


def _access(environment: Mapping[str, str], variable: str) -> Access:
    chosen = environment.get(variable) or None
    if chosen not in (None, "tokens", "proxy", "open"):
        raise BadSetting(f"{variable} is {chosen!r}; set it to tokens, proxy or open, or unset it.")
    return cast(Access, chosen)


def _networks(environment: Mapping[str, str], variable: str) -> tuple[Network, ...]:
    names = (name.strip() for name in environment.get(variable, "").split(","))
    try:
        return tuple(ipaddress.ip_network(name) for name in names if name)
    except ValueError as error:
        raise BadSetting(
            f"{variable} cannot be read: {error}; write addresses or networks with commas between"
            " them, such as 127.0.0.1,10.0.0.0/8."
        ) from error


def _header(environment: Mapping[str, str], variable: str, default: str) -> str:
    header = environment.get(variable) or default
    if not re.fullmatch(r"[A-Za-z0-9-]{1,64}", header):
        raise BadSetting(f"{variable} is {header!r}; set it to the name of a header.")
    return header


def _names(environment: Mapping[str, str], variable: str) -> tuple[str, ...]:
    names = environment.get(variable, "").split(",")
    return tuple(_name(variable, name.strip()) for name in names if name.strip())


def _name(variable: str, name: str) -> str:
    """Return a host name in the form that browsers send."""
    try:
        sent = name.casefold().encode("idna").decode("ascii")
    except UnicodeError:
        sent = ""
    if not _HOST_NAME.fullmatch(sent):
        raise BadSetting(
            f"{variable} is {name!r}; write only the name or the address, without scheme, port,"
            " brackets or asterisk."
        )
    return sent


def _broker(environment: Mapping[str, str], variable: str) -> str:
    url = environment.get(variable) or EMBEDDED_BROKER
    if url != EMBEDDED_BROKER and not _is_redis(url):
        # The address may contain a password, so it is not shown.
        raise BadSetting(f"{variable} cannot be read; set it to redis://HOST:PORT/DB, or unset it.")
    return url


def _is_redis(url: str) -> bool:
    try:
        parts = urlsplit(url)
        _ = parts.port  # raises if it is not a number
    except ValueError:
        return False
    database = parts.path.strip("/")
    return (
        parts.scheme in ("redis", "rediss")
        and bool(parts.hostname)
        and (not database or (database.isascii() and database.isdigit()))
    )


def _days(environment: Mapping[str, str], variable: str) -> timedelta | None:
    days = _whole_number(environment, variable, 0, 1, 36_500)
    return timedelta(days=days) if days else None


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

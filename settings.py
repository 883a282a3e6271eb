"""All settings. Each is an environment variable, declared once, in a field of ``Settings``.

The text below a declaration says what the variable means; ``make docs`` writes the table of
``docs/settings.md`` from both. Only ``Settings.from_environment`` reads the variables.
"""
# ruff: noqa: RUF009 (the functions that declare return a field, no default)

from __future__ import annotations

import ipaddress
import os
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field, fields
from datetime import timedelta
from difflib import get_close_matches
from hashlib import sha256
from pathlib import Path
from typing import Any, Literal, TypeAlias, TypeVar, cast

from retrieval.index.elastic.location import ElasticLocation
from retrieval.llm_judge.choice import LanguageModelChoice, Price, is_local, read_prices
from retrieval.models.folders import ModelFolders, NamedModel
from retrieval.sources.address import SourceAddress, read_sources
from retrieval.system import setting_texts as read

T = TypeVar("T")
Access: TypeAlias = Literal["tokens", "proxy", "open"] | None

CHECKOUT = Path(__file__).resolve().parent
EMBEDDED_STORE = "embedded"
EMBEDDED_BROKER = read.EMBEDDED_BROKER
Network = read.Network
_MISSPELT = 0.85  # likeness of two names


class BadSetting(Exception):
    """A variable has a value that cannot be used; the message says how to fix it."""


class _Reading:
    """The settings while they are read: each is an attribute, read when it is first asked for."""

    def __init__(self, environment: Mapping[str, str]) -> None:
        variables = [one.variable for one in TABLE]
        self.texts: dict[str, str] = {name: environment.get(name) or "" for name in variables}

    def __getattr__(self, name: str) -> Any:
        value = _DECLARED[name].value(self)
        setattr(self, name, value)
        return value


@dataclass(frozen=True, slots=True)
class Setting:
    """The declaration of a setting.

    ``reader`` makes the value from the text of the variable, or from ``default`` if that is empty
    or its value ``None``. It may ask for other settings, and so may a default that is a function.
    Its ``ValueError`` says what is wrong and how to fix it, after the name of the variable.
    ``shown``: the default as users see it. ``parts``: settings that are read only for this one.
    """

    variable: str
    reader: Callable[[str, _Reading], Any]
    default: str | Callable[[_Reading], str] = ""
    shown: str = "none"
    parts: tuple[Setting, ...] = ()

    def value(self, others: _Reading) -> Any:
        """Return the value; raises ``BadSetting`` if the text cannot be used."""
        default = self.default if isinstance(self.default, str) else self.default(others)
        try:
            value = self.reader(others.texts[self.variable] or default, others)
            return self.reader(default, others) if value is None else value
        except ValueError as error:
            raise BadSetting(f"{self.variable} {error}") from error

    def with_parts(self) -> Iterator[Setting]:
        """Yield this setting and those that are read for it."""
        yield self
        for part in self.parts:
            yield from part.with_parts()


def setting(
    variable: str,
    reader: Callable[[str], T | None],
    default: str | Callable[[_Reading], str] = "",
    shown: str = "",
) -> T:
    """Declare a setting whose text says all, as a field of a dataclass; see ``Setting``."""
    return cast(T, joined(variable, lambda text, _: reader(text), default, shown))


def joined(
    variable: str,
    reader: Callable[[str, _Reading], T],
    default: str | Callable[[_Reading], str] = "",
    shown: str = "",
    parts: tuple[Setting, ...] = (),
    is_secret: bool = False,
) -> T:
    """Declare a setting whose text is read together with others."""
    declared = Setting(variable, reader, default, shown or str(default) or "none", parts)
    return cast(T, field(repr=not is_secret, metadata={"setting": declared}))


def _declared_in(declaring: type) -> dict[str, Setting]:
    return {one.name: one.metadata["setting"] for one in fields(declaring)}


def secret(variable: str) -> str:
    """Declare a secret, which may also be in the file that ``variable``_FILE names."""
    in_file = Setting(f"{variable}_FILE", lambda text, _: read.existing_file(text))

    def read_either(text: str, others: _Reading) -> str:
        file = in_file.value(others)
        if file and not text:
            try:
                text = Path(file).read_text("utf-8")
            except (OSError, ValueError) as error:
                raise BadSetting(
                    f"{in_file.variable} is {file!r}, which cannot be read: make it readable for"
                    " this user, and put only the key into it."
                ) from error
        return read.key(text)

    return joined(variable, read_either, parts=(in_file,), is_secret=True)


def limit(variable: str, usual: int, most: int) -> int | None:
    """Declare a limit for each client; usually there is none where ESOTERIC_ACCESS is not set."""
    return setting(
        variable,
        read.whole_number(1, most),
        lambda others: str(usual) if others.access else "",
        f"{usual}; without ESOTERIC_ACCESS none",
    )


def named_model(variable: str) -> NamedModel | None:
    """Declare a model of sentence-transformers."""

    def read_name(text: str) -> NamedModel | None:
        name = read.model_name(text)
        return NamedModel(variable, name) if name else None

    return setting(variable, read_name)


def _days(text: str) -> timedelta | None:
    days = read.whole_number(1, 36_500)(text)
    return timedelta(days=days) if days else None


def _megabytes(text: str) -> int | None:
    megabytes = read.whole_number(1, 10_000)(text)
    return megabytes * 1_000_000 if megabytes else None


def _store(url: str, others: _Reading) -> Path | ElasticLocation:
    if url == EMBEDDED_STORE:
        return cast(Path, others.home / "index")
    try:
        return ElasticLocation.read(url, others.store_api_key, others.store_ca)
    except ValueError as error:
        # The URL may contain a password, so it is not shown.
        raise ValueError(
            f"cannot be used: {error}. Set it to elasticsearch://HOST:PORT/INDEX, or unset it for"
            " the index in ESOTERIC_HOME."
        ) from error


def _trusted_hosts(text: str, others: _Reading) -> tuple[str, ...]:
    return ("localhost", others.host.casefold(), *read.host_names(text))


def _access(text: str, others: _Reading) -> Access:
    if text not in ("", "tokens", "proxy", "open"):
        raise ValueError(f"is {text!r}; set it to tokens, proxy or open, or unset it.")
    if text == "proxy" and not others.proxies:
        raise ValueError(
            "is proxy, but ESOTERIC_PROXIES names no proxy; set it to the address of the proxy"
            " that users log in at, such as 127.0.0.1."
        )
    return cast(Access, text or None)


def _bart(text: str, others: _Reading) -> Path | None:
    of_report = others.report_models / "bart" if others.report_models else None
    return read.existing_folder(text) or (of_report if of_report and of_report.is_dir() else None)


def is_loopback(host: str) -> bool:
    """Return whether only this computer can reach this host."""
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return host.casefold() == "localhost"


@dataclass(frozen=True, slots=True)
class _LanguageModel:
    """Declares what ``LanguageModelChoice.read`` needs beside the name of the model."""

    url: str = setting(
        "ESOTERIC_LLM_URL",
        read.server,
        shown="https://api.mistral.ai for mistral:, http://localhost:11434/v1 for local",
    )
    """Address of the language model's server, such as http://localhost:11434/v1. Claims and
    evidence are sent there; over http they are not encrypted."""
    url_key: str = secret("ESOTERIC_LLM_KEY")
    """Key for the server at ESOTERIC_LLM_URL; sent only to that address."""
    mistral_key: str = secret("MISTRAL_API_KEY")
    """Key for Mistral's own address; sent only to that address."""
    decides: bool = setting(
        "ESOTERIC_LLM_DECIDES",
        read.is_yes,
        lambda others: "no" if others.texts["ESOTERIC_LLM"] == "local" else "yes",
        "yes, no for local",
    )
    """yes: the language model gives the verdict, and the verifier's opinion is shown beside it. no:
    the verifier gives the verdict, and the language model adds its opinion."""
    seconds: int = setting(
        "ESOTERIC_LLM_SECONDS",
        read.whole_number(1, 600),
        lambda others: "120" if is_local(others.texts["ESOTERIC_LLM"]) else "20",
        "20, 120 for local",
    )
    """Time limit for a language model per claim, in seconds, all tries included."""
    prices: dict[str, Price] = setting("ESOTERIC_LLM_PRICES", read_prices)
    """Prices of language models, as MODEL=READ/WRITTEN per million tokens read and written,
    comma-separated; esoteric evaluate --llm then reports the cost."""


def _language_model(name: str, others: _Reading) -> LanguageModelChoice | None:
    if not name:
        return None  # keys that are set for other programs are then ignored
    rest = {one.name: getattr(others, one.name) for one in fields(_LanguageModel)}
    try:
        return LanguageModelChoice.read(name, **rest)
    except ValueError as error:
        raise ValueError(f"is {name!r}; {error}.") from error


@dataclass(frozen=True, slots=True)
class Settings:
    """The settings of this process, read once and passed on.

    ``store`` is where the index is: the folder of the embedded one, or a place on Elasticsearch.
    ``keep_for``: how long finished claims are kept, ``None`` for good. ``claims_per_minute``: of a
    client, ``None`` without limit. ``most_rows``: of the lists of a client, that wait. ``streams``:
    event streams of a client. ``most_upload`` is in bytes. ``folders``: those that may become
    corpora, by their last names.
    """

    home: Path = setting(
        "ESOTERIC_HOME",
        read.folder_of_database,
        f"{CHECKOUT}/.esoteric",
        ".esoteric beside the code",
    )
    """Folder for the index, the database, the embedded queue, unpacked models and the logs."""
    store: Path | ElasticLocation = joined("ESOTERIC_STORE", _store, EMBEDDED_STORE)
    """Where the index is: embedded, as files in ESOTERIC_HOME, or on Elasticsearch, as
    elasticsearch://HOST:PORT/INDEX, or elasticsearch+https:// to encrypt; several hosts with
    commas, USER:PASSWORD@ before them."""
    store_api_key: str = joined("ESOTERIC_STORE_API_KEY", lambda text, _: text, is_secret=True)
    """API key for Elasticsearch, instead of USER:PASSWORD@."""
    store_ca: str = setting(
        "ESOTERIC_STORE_CA", read.existing_file, shown="the system's authorities"
    )
    """File with the certificate of the authority that signed the certificates of Elasticsearch."""
    host: str = setting("HOST", read.host, "127.0.0.1")
    """Address that the web server listens on."""
    port: int = setting("PORT", read.whole_number(1, 65535), "8000")
    """Port that the web server listens on."""
    trusted_hosts: tuple[str, ...] = joined("TRUSTED_HOSTS", _trusted_hosts)
    """More names and addresses for the web server that browsers may use, comma-separated, without
    scheme or port; those of its machine, localhost, HOST and ESOTERIC_PUBLISHED_HOST are always
    accepted."""
    access: Access = joined("ESOTERIC_ACCESS", _access)
    """Who may use the service; needed if HOST is not an address of this machine alone. tokens:
    users of esoteric users add. proxy: users whom a proxy in ESOTERIC_PROXIES names. open:
    everybody who reaches it (docs/access.md)."""
    proxies: tuple[Network, ...] = setting("ESOTERIC_PROXIES", read.networks)
    """Addresses or networks of proxies before the web server, comma-separated, such as 127.0.0.1 or
    10.0.0.0/8. Only from these, X-Forwarded-For, -Proto and -Host are believed, and the header with
    the user's name."""
    user_header: str = setting("ESOTERIC_USER_HEADER", read.header, "X-Forwarded-User")
    """Header in which the proxy names the user; Remote-User for Authelia. The proxy must remove it
    from what it gets."""
    token: str = secret("ESOTERIC_TOKEN")
    """Token with which esoteric check, batch and mcp use the service (esoteric users add)."""
    published_host: str = setting(
        "ESOTERIC_PUBLISHED_HOST", read.host, lambda others: others.host, "HOST"
    )
    """Address at which others reach the web server, if that is not HOST: for a container, the
    address at which its port is published."""
    public_url: str = setting(
        "ESOTERIC_PUBLIC_URL", read.public_address, shown="the address that a browser asked"
    )
    """Address at which others reach the pages, such as https://check.example.org; links that leave
    the service and exports have it."""
    claims_per_minute: int | None = limit("ESOTERIC_CLAIMS_PER_MINUTE", 60, most=1_000_000)
    """How many claims a user, or an address where nobody logs in, may submit in a minute."""
    most_rows: int | None = limit("ESOTERIC_MOST_ROWS", 10_000, most=1_000_000)
    """How many rows of the lists of a user, or of a browser or address where nobody logs in, may
    wait for their turn; a list that goes beyond is refused."""
    most_queued: int = setting("ESOTERIC_MOST_QUEUED", read.whole_number(1, 10_000_000), "10000")
    """How many claims may wait for their turn; then no more are accepted."""
    streams: int | None = limit("ESOTERIC_STREAMS", 4, most=10_000)
    """How many event streams a user or an address may have open at once."""
    database_url: str = setting(
        "ESOTERIC_DATABASE_URL",
        str,
        lambda others: f"sqlite:///{others.home}/esoteric.db",
        "SQLite in ESOTERIC_HOME",
    )
    """SQLAlchemy URL of the database of claims, their events and results, such as
    postgresql+psycopg://USER:PASSWORD@HOST/NAME."""
    keep_for: timedelta | None = setting("ESOTERIC_KEEP_DAYS", _days)
    """Days after which a worker deletes finished claims with all that belongs to them; without it
    they are kept until somebody deletes them."""
    broker_url: str = setting(
        "ESOTERIC_BROKER_URL", read.broker, EMBEDDED_BROKER, "files in ESOTERIC_HOME"
    )
    """Celery broker: the embedded one, or redis://HOST:PORT/DB to share a queue."""
    bart: Path | None = joined("ESOTERIC_BART", _bart)
    """Folder with the weights of BART or GENRE, which then generate titles instead of the shipped
    model."""
    report_models: Path | None = setting("ESOTERIC_REPORT_MODELS", read.folder)
    """Folder with the models of the ESOTERIC report, for the recipes report and card, and for index
    encode --vectors dpr; a folder bart in it is used as ESOTERIC_BART."""
    recipes: Path | None = setting("ESOTERIC_RECIPES", read.existing_folder)
    """Folder of recipes as YAML files, which the service offers beside its own; web server and
    worker read it when they start (docs/recipes.md, "Your own recipe")."""
    verifier: Path | None = setting("ESOTERIC_VERIFIER", read.existing_folder)
    """Folder with a sequence-classification model of Hugging Face, which then labels evidence
    instead of the shipped verifier."""
    encoder: NamedModel | None = named_model("ESOTERIC_ENCODER")
    """Bi-encoder of sentence-transformers, such as sentence-transformers/all-mpnet-base-v2: a
    folder, or a name on the Hugging Face hub. It then makes the vectors of indexes, and of claims,
    instead of MiniLM and M3's query encoder, and only an index with its vectors can be searched
    (esoteric index encode). Claims and texts get the same prompt, if any; thresholds are fitted to
    MiniLM."""
    reranker: NamedModel | None = named_model("ESOTERIC_RERANKER")
    """Cross-encoder of sentence-transformers with one score, such as
    cross-encoder/ms-marco-MiniLM-L6-v2: a folder, or a name on the Hugging Face hub. It then says
    how relevant sentences are, instead of the shipped relevance model; the verifier still labels
    them. relevance_cutoff is fitted to the shipped model."""
    llm: LanguageModelChoice | None = joined(
        "ESOTERIC_LLM", _language_model, parts=tuple(_declared_in(_LanguageModel).values())
    )
    """Language model that reads the selected evidence and gives the verdict: mistral:MODEL, or
    openai:MODEL for any server with OpenAI's chat completions (Ollama, llama.cpp, vLLM, LM Studio);
    local:MODEL for a model of Ollama on this computer; or local for its qwen2.5-coder:1.5b, which
    adds its opinion."""
    fetch: bool = setting("ESOTERIC_FETCH", read.is_yes, "no")
    """Whether the web server may open web pages whose addresses users enter, to read their texts
    (yes or no). Private addresses and this computer's own networks are not opened; other hosts of
    yours with public addresses need a firewall (docs/access.md)."""
    uploads: bool = setting(
        "ESOTERIC_UPLOADS",
        read.is_yes,
        lambda others: "no" if others.access or not is_loopback(others.published_host) else "yes",
        "yes if HOST is this computer's own address and ESOTERIC_ACCESS is not set, else no",
    )
    """Where nobody logs in: whether everybody who reaches the service may upload, change and remove
    documents (yes or no; docs/corpora.md). Where users log in, this is ignored: only operators
    may."""
    most_upload: int = setting("ESOTERIC_MOST_UPLOAD_MB", _megabytes, "50")
    """Largest upload of documents in megabytes, all files of it together. A zip may unpack to ten
    times as much."""
    folders: Mapping[str, Path] = setting("ESOTERIC_FOLDERS", read.folders)
    """Folders, separated by colons, that may be searched as corpora beside uploads; their files
    stay where they are."""
    sources: Mapping[str, SourceAddress] = setting("ESOTERIC_SOURCES", read_sources)
    """Corpora that are searched where they are, separated by spaces, each with a name:
    wikipedia=mediawiki:en, or mediawiki:URL for another wiki, zim-search:FILE for a file of Kiwix.
    Words and names of a claim that is checked there are sent to the wiki (docs/corpora.md)."""
    contact: str = setting("ESOTERIC_CONTACT", read.one_line)
    """Mail address, or address of a page, that wikis find in each request, to write to whoever runs
    this service; those of Wikimedia are asked only with it."""
    stall_seconds: int = setting(
        "ESOTERIC_STALL_SECONDS",
        read.whole_number(1, 86400),
        lambda others: str(60 + others.llm.seconds if others.llm else 60),
        "60, and ESOTERIC_LLM_SECONDS more with a language model",
    )
    """How long the check of a claim may take without any progress. Then it is ended, the claim
    fails, and another worker process goes on with the next one. Loading models and an index may
    take 15 minutes."""
    log_json: bool = setting("ESOTERIC_LOG", read.is_json, "text")
    """How web server and workers write their logs: text, or json, with a line of JSON for each
    event (docs/operating.md)."""
    log_claims: bool = setting("ESOTERIC_LOG_CLAIMS", read.is_yes, "no")
    """yes: the worker's log has the text of each claim that it checks. No log has it otherwise."""
    threads: int = setting(
        "ESOTERIC_THREADS",
        read.whole_number(1, 1024),
        str(min(os.cpu_count() or 1, 1024)),
        "number of cores",
    )
    """Threads that the models may use."""

    @classmethod
    def from_environment(cls, environment: Mapping[str, str] = os.environ) -> Settings:
        """Read the settings.

        Raises:
            BadSetting: a value cannot be used, or a variable has nearly the name of a setting.
        """
        _check_names(environment)
        reading = _Reading(environment)
        return cls(**{one.name: getattr(reading, one.name) for one in fields(cls)})

    def check_who_may(self) -> None:
        """Check that whoever can reach the web server is meant to.

        Raises:
            BadSetting: others can, and nothing says who may use it.
        """
        if self.access is None and not is_loopback(self.published_host):
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


_DECLARED = _declared_in(Settings) | _declared_in(_LanguageModel)
TABLE = tuple(part for one in _declared_in(Settings).values() for part in one.with_parts())


def _check_names(environment: Mapping[str, str]) -> None:
    """Refuse a misspelt setting: one that protects the service would be left out unseen."""
    names = [setting.variable for setting in TABLE]
    for name in environment:
        if name.startswith("ESOTERIC_") and name not in names:
            for meant in get_close_matches(name, names, n=1, cutoff=_MISSPELT):
                raise BadSetting(f"there is no setting {name}; do you mean {meant}?")

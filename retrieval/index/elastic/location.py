"""The location of an index in Elasticsearch, read from the setting ``ESOTERIC_STORE``."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from urllib.parse import unquote, urlsplit

_SCHEMES = {"elasticsearch": "http", "elasticsearch+https": "https"}
_HOST = re.compile(r"[\w.:-]+")  # "%" and letters that are not ASCII are checked by the resolver
# Names that Elasticsearch accepts, short enough for the names of versions.
_NAME = re.compile(r"[a-z0-9][a-z0-9_.-]{0,199}")
_PORT = 9200


@dataclass(frozen=True, slots=True)
class ElasticLocation:
    """The nodes of a cluster, the name of an index there, and the credentials.

    ``nodes`` are addresses such as ``http://es1:9200``. Credentials are never shown: ``str``
    leaves them out, and so does ``repr``.
    """

    nodes: tuple[str, ...]
    index: str
    basic_auth: tuple[str, str] | None = field(default=None, repr=False)
    api_key: str = field(default="", repr=False)
    ca_file: str = ""

    @classmethod
    def read(cls, url: str, api_key: str = "", ca_file: str = "") -> ElasticLocation:
        """Read ``elasticsearch://[USER:PASSWORD@]HOST[:PORT][,HOST[:PORT]…]/INDEX``.

        ``elasticsearch+https://`` encrypts. ``ca_file``: who signed the nodes' certificates.

        Raises:
            ValueError: the URL cannot be used; the message says why, without credentials.
        """
        scheme, separator, rest = url.partition("://")
        if not separator or scheme not in _SCHEMES:
            raise ValueError(f"its scheme is none of {', '.join(_SCHEMES)}")
        authority, _, index = rest.partition("/")
        user, at, hosts = authority.rpartition("@")
        index = index.rstrip("/")
        if not _NAME.fullmatch(index):
            raise ValueError(
                "it must end with /INDEX, a name of small letters, digits, '_', '.' and '-'"
            )
        if index.endswith("-lock"):
            raise ValueError("the name of the index must not end with -lock")
        basic_auth = None
        if at:
            name, colon, password = user.partition(":")
            if not (name and colon and password):
                raise ValueError("before the @ there must be USER:PASSWORD")
            if "@" in user:
                raise ValueError("an @ in the name or the password must be written as %40")
            basic_auth = (unquote(name), unquote(password))
        if basic_auth and api_key:
            raise ValueError("it contains USER:PASSWORD but there is an API key; use one of them")
        if ca_file and _SCHEMES[scheme] == "http":
            raise ValueError("a certificate authority needs elasticsearch+https://")
        nodes = tuple(_node(_SCHEMES[scheme], host) for host in hosts.split(","))
        return cls(nodes, index, basic_auth, api_key, ca_file)

    def __str__(self) -> str:
        """Return the URL without credentials."""
        scheme, hosts = "", []
        for node in self.nodes:
            scheme, _, host = node.partition("://")
            hosts.append(host)
        kind = next(kind for kind, of in _SCHEMES.items() if of == scheme)
        return f"{kind}://{','.join(hosts)}/{self.index}"


def _node(scheme: str, host: str) -> str:
    try:
        parts = urlsplit(f"{scheme}://{host}")
        port = _PORT if parts.port is None else parts.port
    except ValueError:
        raise ValueError("the port of a host is not a number") from None
    if not parts.hostname or not _HOST.fullmatch(parts.hostname) or not port:
        raise ValueError("it has no host, or an invalid one")
    name = f"[{parts.hostname}]" if ":" in parts.hostname else parts.hostname
    return f"{scheme}://{name}:{port}"

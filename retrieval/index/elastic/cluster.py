"""Sends requests to a cluster of Elasticsearch, and turns its errors into plain messages.

A call tries up to three nodes, or one node three times. After a failed call further ones fail at
once for some seconds, so that claims in the queue do not wait again.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, TypeAlias, TypeVar

from elastic_transport import ConnectionTimeout, TlsError, TransportError
from elastic_transport.client_utils import DEFAULT
from elasticsearch import ApiError, Elasticsearch, UnsupportedProductError
from elasticsearch.helpers import BulkIndexError

from retrieval.errors import IndexAway, IndexUnavailable
from retrieval.index.elastic.location import ElasticLocation
from retrieval.index.errors import index_missing

Answer = TypeVar("Answer")
Hit: TypeAlias = Mapping[str, Any]

_OLDEST = (8, 19)
_NEWEST = 9  # the major version
_SECONDS = 2.0  # for one call while a claim is checked
_BUILDING_SECONDS = 120.0
_TRIES = 3
_BROKEN_SECONDS = 3.0
# Part of the reason if an index is read-only because a disk is nearly full.
_DISK_BLOCK = "/12/"
# Errors that may not occur with another copy or later.
_PASSING = {429, 502, 503, 504}
_PAGE = 2000
_RECORDS_A_PAGE = 100


class Cluster:
    """The connections of one process to a cluster."""

    def __init__(self, location: ElasticLocation) -> None:
        """Store the location; no request is sent yet."""
        self.location = location
        self._client = Elasticsearch(
            list(location.nodes),
            basic_auth=location.basic_auth,
            api_key=location.api_key or None,
            request_timeout=_SECONDS,
            max_retries=0,  # ``ask`` does it, so that another copy of the index is asked too
            sniff_on_start=False,
            sniff_on_node_failure=False,
            sniff_before_requests=False,
            dead_node_backoff_factor=1,
            max_dead_node_backoff=5,
            ca_certs=location.ca_file or DEFAULT,
        )
        self._failed: tuple[float, IndexUnavailable] | None = None

    @property
    def patient(self) -> Elasticsearch:
        """A client for building, whose calls may take minutes and are tried again."""
        return self._client.options(
            request_timeout=_BUILDING_SECONDS,
            max_retries=8,
            retry_on_timeout=True,
            retry_on_status=sorted(_PASSING),
        )

    def ask(self, question: Callable[[Elasticsearch, str], Answer]) -> Answer:
        """Return the result of ``question``, called with the client and a ``preference``.

        The preference always chooses the same copy of the index, because copies order documents of
        the same score differently. After an error it chooses another copy.

        Raises:
            IndexUnavailable: the cluster does not answer (``IndexAway``), or answers with an error.
        """
        if self._failed is not None and time.monotonic() < self._failed[0]:
            _, known = self._failed
            raise type(known)(known.code, known.message, known.hint)
        for number in range(_TRIES):
            try:
                answer = question(self._client, f"esoteric{number}")
            except (TransportError, ApiError, UnsupportedProductError) as error:
                if number + 1 < _TRIES and _may_pass(error):
                    time.sleep(0.1 * number)
                    continue
                failure = problem(error, self.location)
                if _may_pass(error):
                    self._failed = (time.monotonic() + _BROKEN_SECONDS, failure)
                raise failure from error
            self._failed = None
            return answer
        raise AssertionError("the last try returns or raises")

    def searches(
        self, index: str, bodies: Sequence[Mapping[str, Any]], patient: bool = False
    ) -> list[list[Any]]:
        """Return the hits of each of the searches, sent in one request.

        ``patient``: they are not part of a check and may take minutes.

        Raises:
            IndexUnavailable: one of them was not answered, or only by a part of the index.
        """
        if not bodies:
            return []

        def question(client: Elasticsearch, preference: str) -> list[list[Any]]:
            header = {"preference": preference, "allow_partial_search_results": False}
            lines = [line for body in bodies for line in (header, body)]
            asked = self.patient if patient else client
            answered = asked.msearch(index=index, searches=lines)
            hits = []
            for response in answered["responses"]:
                if "error" in response:
                    raise ApiError(str(response["error"]["type"]), answered.meta, response)
                hits.append(response["hits"]["hits"])
            return hits

        return self.ask(question)

    def scan(
        self,
        version: str,
        fields: Sequence[str],
        record: bool = False,
        query: Mapping[str, Any] | None = None,
    ) -> Iterator[Hit]:
        """Yield all hits of a query, or all documents, each with its fields.

        ``record``: with its record too.

        The index does not change, so each page of hits can begin after the last id of the one
        before.

        Raises:
            IndexUnavailable: the cluster does not answer.
        """
        body: dict[str, Any] = {
            "size": _RECORDS_A_PAGE if record else _PAGE,
            "sort": "id",
            "docvalue_fields": list(fields),
            "_source": record,
            "track_total_hits": False,
        } | ({"query": query} if query else {})
        while True:
            (hits,) = self.searches(version, [body], patient=True)
            yield from hits
            if len(hits) < body["size"]:
                return
            body["search_after"] = hits[-1]["sort"]

    def check_version(self) -> None:
        """Check that the server's version is supported.

        Raises:
            IndexUnavailable: it is not, or the server does not answer.
        """
        info = self.ask(lambda client, _: client.info())
        number = str(info["version"]["number"])
        major, minor = (int(part) for part in number.split(".")[:2])
        if (major, minor) < _OLDEST or major > _NEWEST:
            raise IndexUnavailable(
                "store_version",
                f"Elasticsearch at {self.location} is version {number}.",
                "Use version 8.19 or 9.",
            )

    def close(self) -> None:
        """Close the connections."""
        self._client.close()


def _may_pass(error: Exception) -> bool:
    """Return whether the same question may be answered by another node, or a moment later."""
    if isinstance(error, ApiError):
        return status_of(error) in _PASSING
    return isinstance(error, TransportError) and not isinstance(error, TlsError)


def status_of(error: ApiError) -> int:
    """Return the HTTP status of an answer, or of the one search in it that failed."""
    body = error.body
    own = body.get("status") if isinstance(body, dict) else None
    return own if isinstance(own, int) else error.meta.status


def problem(error: Exception, location: ElasticLocation) -> IndexUnavailable:
    """Return the error for the user."""
    where = f"Elasticsearch at {location}"
    if isinstance(error, UnsupportedProductError):
        return IndexUnavailable(
            "store_unknown", f"The server at {location} is not Elasticsearch.", _CHECK_ADDRESS
        )
    if not isinstance(error, ApiError):
        why = "did not answer in time" if isinstance(error, ConnectionTimeout) else "is unreachable"
        unavailable = IndexAway if _may_pass(error) else IndexUnavailable
        message = f"{where} {why} ({_reason(error)})."
        return unavailable("store_unreachable", message, _CHECK_RUNNING)
    status, kind = status_of(error), _kind(error)
    if status == 401 or kind == "security_exception":
        return IndexUnavailable(
            "store_refused",
            f"{where} refuses the user or the key.",
            "Put USER:PASSWORD@ before the host in ESOTERIC_STORE, or set ESOTERIC_STORE_API_KEY.",
        )
    if kind == "index_not_found_exception":
        asked = _cause(error).get("index", location.index)
        return index_missing(location) if asked == location.index else _replaced(location)
    if kind == "cluster_block_exception" and _DISK_BLOCK in str(_cause(error).get("reason")):
        return read_only(location)
    if status == 429:
        return IndexAway(
            "store_busy", f"{where} has more work than it can do.", "Try again in a minute."
        )
    if status in _PASSING:
        return IndexAway(
            "store_red",
            f"{where} does not have all parts of the index ({kind}): a node is down or starting.",
            "Wait a minute; if the error remains, look at GET /_cluster/health.",
        )
    return IndexUnavailable(
        "store_failed", f"{where} answered {status}, {kind}.", "See the log of Elasticsearch."
    )


def read_only(location: ElasticLocation) -> IndexUnavailable:
    """Return the error that says why nothing can be written."""
    return IndexUnavailable(
        "store_read_only",
        f"Elasticsearch at {location} has no room for changes: the disks of its nodes are nearly"
        " full. The existing index is still used.",
        "Make room on them. If you were building, run the same command again: it continues where it"
        " stopped.",
    )


def document_refused(error: BulkIndexError, location: ElasticLocation) -> IndexUnavailable:
    """Return the error of the first document that was refused."""
    (answer,) = error.errors[0].values()
    cause = answer.get("error")
    cause = cause if isinstance(cause, dict) else {"type": str(cause)}
    if _DISK_BLOCK in str(cause.get("reason")):
        return read_only(location)
    return IndexUnavailable(
        "store_failed",
        f"Elasticsearch at {location} refused the document {answer.get('_id')!r}"
        f" ({answer.get('status')}, {cause.get('type')}).",
        "See its log, then run the same command again: it continues where it stopped.",
    )


def _replaced(location: ElasticLocation) -> IndexUnavailable:
    return IndexUnavailable(
        "index_replaced",
        f"The index at {location} was replaced or removed meanwhile.",
        "Check the claim again.",
    )


def _cause(error: ApiError) -> Mapping[str, Any]:
    detail = error.body.get("error") if isinstance(error.body, dict) else None
    if not isinstance(detail, dict):
        return {}
    causes = detail.get("root_cause") or [detail]
    first: Mapping[str, Any] = causes[0]
    return first


def _kind(error: ApiError) -> str:
    return str(_cause(error).get("type", error.message))


def _reason(error: Exception) -> str:
    """Return the first line of an error, without the additions of the client."""
    return str(error).partition("\n")[0].partition(" Caused by")[0][:200]


_CHECK_RUNNING = "Check that it runs and that its address is right."
_CHECK_ADDRESS = "Check the address of the store."

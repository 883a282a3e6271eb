"""The metrics for Prometheus, in a separate registry.

Each web process has its own numbers of requests and streams; they add up. What is in the database
(``app.monitoring.shared_metrics``) is the same in each of them.
"""

from __future__ import annotations

import time

from flask import Flask, Response, g, request
from prometheus_client import (
    CollectorRegistry,
    Counter,
    Gauge,
    Histogram,
    ProcessCollector,
    disable_created_metrics,
    generate_latest,
)
from prometheus_client.registry import Collector

from app.http.errors import LIMITS
from app.http.streams import MOST_STREAMS, Streams

_BUCKETS = (0.002, 0.005, 0.01, 0.02, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0)
# Prometheus does not read these series from the text format.
disable_created_metrics()  # type: ignore[no-untyped-call]
_METHODS = {"GET", "HEAD", "POST", "DELETE", "OPTIONS", "PUT", "PATCH"}


class Metrics:
    """Durations of requests, what limits have refused, open streams, and the process itself."""

    def __init__(self, streams: Streams) -> None:
        self._registry = CollectorRegistry()
        self._durations = Histogram(
            "esoteric_http_request_duration_seconds",
            "Seconds from a request's arrival in the application to its answer.",
            ["method", "route", "status"],
            buckets=_BUCKETS,
            registry=self._registry,
        )
        self._refused = Counter(
            "esoteric_refused_requests",
            "Requests that a limit has refused.",
            ["limit"],
            registry=self._registry,
        )
        for limit in LIMITS:
            self._refused.labels(limit)  # 0 is a number too: its first growth is seen
        self._pages = Counter(
            "esoteric_pages_fetched",
            "Web pages that were to be read as texts: read, or why not.",
            ["outcome"],
            registry=self._registry,
        )
        self._pages.labels("read")
        Gauge(
            "esoteric_event_streams", "Event streams that are open.", registry=self._registry
        ).set_function(lambda: streams.open)
        Gauge(
            "esoteric_event_streams_limit",
            "Event streams that this process can have open.",
            registry=self._registry,
        ).set(MOST_STREAMS)
        ProcessCollector(registry=self._registry)

    def add(self, collector: Collector) -> None:
        """Add more metrics."""
        self._registry.register(collector)

    def page(self, outcome: str) -> None:
        """Count a web page that was to be read; ``outcome``: "read", or the code of the problem."""
        self._pages.labels(outcome).inc()

    def watch(self, app: Flask) -> None:
        """Time every request of the application."""

        @app.before_request
        def begin() -> None:
            g.began = time.perf_counter()

        @app.after_request
        def end(response: Response) -> Response:
            # Only known routes and methods become labels, so that requests cannot create new ones.
            rule = "unknown" if request.url_rule is None else request.url_rule.rule
            method = request.method if request.method in _METHODS else "other"
            self._durations.labels(method, rule, str(response.status_code)).observe(
                time.perf_counter() - g.began
            )
            if "refused_by" in g:
                self._refused.labels(g.refused_by).inc()
            return response

    def exposition(self) -> bytes:
        """Return all metrics in Prometheus's text format."""
        return generate_latest(self._registry)

"""The metrics for Prometheus, in a separate registry."""

from __future__ import annotations

import time
from collections.abc import Iterator

from flask import Flask, Response, g, request
from prometheus_client import CollectorRegistry, Histogram, ProcessCollector, generate_latest
from prometheus_client.core import GaugeMetricFamily, Metric
from prometheus_client.registry import Collector

from worker.database import StoreUnavailable
from worker.job_store import JobStore

_BUCKETS = (0.002, 0.005, 0.01, 0.02, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0)
_METHODS = {"GET", "HEAD", "POST", "DELETE", "OPTIONS", "PUT", "PATCH"}


class Metrics:
    """Durations of requests, jobs by state, and the process itself."""

    def __init__(self, store: JobStore) -> None:
        self._registry = CollectorRegistry()
        self._durations = Histogram(
            "esoteric_http_request_duration_seconds",
            "Seconds from a request's arrival in the application to its answer.",
            ["method", "route", "status"],
            buckets=_BUCKETS,
            registry=self._registry,
        )
        self._registry.register(_Jobs(store))
        ProcessCollector(registry=self._registry)

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
            return response

    def exposition(self) -> bytes:
        """Return all metrics in Prometheus's text format."""
        return generate_latest(self._registry)


class _Jobs(Collector):
    """Reads the database at each scrape, so that the numbers cover all processes."""

    def __init__(self, store: JobStore) -> None:
        self._store = store

    def describe(self) -> Iterator[Metric]:
        """Return no metrics, so that registering does not open the database."""
        return iter(())

    def collect(self) -> Iterator[Metric]:
        """Return the current numbers."""
        jobs = GaugeMetricFamily("esoteric_jobs", "Claims in each state.", labels=["state"])
        up = GaugeMetricFamily("esoteric_database_up", "Whether the database of claims answers.")
        try:
            for state, number in self._store.counts().items():
                jobs.add_metric([state], number)
        except StoreUnavailable:
            up.add_metric([], 0)
        else:
            up.add_metric([], 1)
        yield jobs
        yield up

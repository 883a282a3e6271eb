"""The metrics that are the same in every web process: database, workers, queue, documents, disk.

They are read at each scrape. Where several web processes are watched, take one of them (``max``).
"""

from __future__ import annotations

import shutil
from collections import Counter
from collections.abc import Iterator, Mapping
from typing import get_args

from prometheus_client.core import (
    CounterMetricFamily,
    GaugeMetricFamily,
    HistogramMetricFamily,
    Metric,
)
from prometheus_client.registry import Collector

from app.monitoring.health import readiness
from app.services import Services
from retrieval.errors import Problem
from worker.corpora.corpus_folders import StoredFile
from worker.corpora.corpus_store import State as CorpusState
from worker.database import StoreUnavailable
from worker.health import Overview, overview
from worker.home_check import last_outcome
from worker.lists import EntryState, ListState
from worker.tallies import KINDS, bounds_of


class SharedMetrics(Collector):
    """Reads database and disk at each scrape."""

    def __init__(self, services: Services) -> None:
        self._services = services

    def describe(self) -> Iterator[Metric]:
        """Return no metrics, so that registering does not open the database."""
        return iter(())

    def collect(self) -> Iterator[Metric]:
        """Return the current numbers; what the database does not say is left out."""
        found = readiness(self._services)
        model = found.language_model
        yield _gauge("esoteric_ready", "Whether a claim would be checked now.", not found.problems)
        yield _by("esoteric_problems", "What is missing for that.", "code", _codes(found.problems))
        degraded = (model.problem,) if model and model.problem else ()
        yield _by(
            "esoteric_degraded", "What is missing, but stops no claim.", "code", _codes(degraded)
        )
        yield from self._disk()
        yield from self._documents()
        yield from self._home_check()
        try:
            now = overview(self._services.database)
        except StoreUnavailable:
            yield _gauge("esoteric_database_up", "Whether the database of claims answers.", 0)
            return
        yield _gauge("esoteric_database_up", "Whether the database of claims answers.", 1)
        yield _by("esoteric_workers", "Workers with a heartbeat.", "state", now.workers)
        yield from _states(now)
        most = self._services.settings.most_queued
        yield _gauge("esoteric_queue_limit", "How many claims may wait at most.", most)
        yield from _tallies(now)

    def _disk(self) -> Iterator[Metric]:
        services, labels = self._services, ["of"]
        folders = {
            "database": services.database.folder,
            "queue": services.queue.folder,
            "documents": services.settings.documents,
        }
        free = GaugeMetricFamily(
            "esoteric_disk_free_bytes", "Free space on the disk of a folder.", labels=labels
        )
        size = GaugeMetricFamily("esoteric_disk_bytes", "Size of that disk.", labels=labels)
        for name, folder in folders.items():
            try:
                usage = shutil.disk_usage(folder) if folder is not None else None
            except OSError:
                continue  # it is not made yet
            if usage is not None:
                free.add_metric([name], usage.free)
                size.add_metric([name], usage.total)
        yield free
        yield size
        taken = services.database.size_bytes()
        if taken is not None:
            yield _gauge("esoteric_database_bytes", "Size of the database.", taken)

    def _documents(self) -> Iterator[Metric]:
        states, files = Counter[str](), Counter[str](waiting=0, read=0, problems=0)
        for corpus in self._services.corpora.all():
            states[corpus.state] += 1
            files.update(map(_end, corpus.files))
        corpora = "Corpora of uploaded documents; waiting: for a worker."
        yield _by(
            *("esoteric_corpora", corpora, "state"),
            {state: states[state] for state in get_args(CorpusState)},
        )
        made = "Their files, by what indexing made of them."
        yield _by("esoteric_corpus_files", made, "end", files)

    def _home_check(self) -> Iterator[Metric]:
        outcome = last_outcome(self._services.settings)
        wrong = Counter[str]()
        for part in outcome.parts if outcome is not None else ():
            wrong[part.kind] += part.problem is not None
        found = "Parts of the home that the last daily check has found damaged or missing."
        yield _by("esoteric_home_problems", found, "part", wrong)


def _states(now: Overview) -> Iterator[Metric]:
    yield _by("esoteric_jobs", "Claims in each state.", "state", now.claims)
    waiting = {"true": now.typed, "false": now.others}
    yield _by(
        *("esoteric_queue_claims", "Claims that wait; typed: a person waits for them.", "typed"),
        {typed: one.claims for typed, one in waiting.items()},
    )
    yield _by(
        *("esoteric_queue_oldest_seconds", "For how long the oldest of them has waited.", "typed"),
        {typed: one.oldest for typed, one in waiting.items()},
    )
    yield _by(
        *("esoteric_lists", "Lists of claims.", "state"),
        {state: now.lists.get(state, 0) for state in get_args(ListState)},
    )
    yield _by(
        *("esoteric_list_rows", "Rows of the lists that have not ended.", "state"),
        {state: now.rows.get(state, 0) for state in get_args(EntryState)},
    )


def _tallies(now: Overview) -> Iterator[Metric]:
    for kind in KINDS:
        if kind.buckets:
            histogram = HistogramMetricFamily(kind.name, kind.help, labels=kind.labels)
            for labels, timed in now.totals.histograms[kind.name].items():
                buckets = list(zip(bounds_of(kind), timed.counts, strict=True))
                histogram.add_metric(labels, buckets, timed.sum)
            yield histogram
        else:
            counter = CounterMetricFamily(kind.name, kind.help, labels=kind.labels)
            for labels, value in now.totals.counters[kind.name].items():
                counter.add_metric(labels, value)
            yield counter


def _end(file: StoredFile) -> str:
    if file.report is None:
        return "waiting"
    return "problems" if file.report.problems else "read"


def _codes(problems: tuple[Problem, ...]) -> Mapping[str, float]:
    return {problem.code: 1 for problem in problems}


def _gauge(name: str, help: str, value: float) -> Metric:  # noqa: A002 - Prometheus's name
    return GaugeMetricFamily(name, help, value=float(value))


def _by(name: str, help: str, label: str, values: Mapping[str, float]) -> Metric:  # noqa: A002
    family = GaugeMetricFamily(name, help, labels=[label])
    for one, value in values.items():
        family.add_metric([one], value)
    return family

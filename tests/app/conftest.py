"""A home with an index's description, the application on it, and a worker by hand."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

import pytest
from flask import Flask
from flask.testing import FlaskClient

from app import create_app
from app.services import services_of
from settings import Settings
from tests.app.worker_by_hand import WorkerByHand
from worker.jobs import JobStore


def describe_index(home: Path, **changes: object) -> None:
    """Lay down what an index says of itself."""
    current = home / "index" / "current"
    current.mkdir(parents=True, exist_ok=True)
    meta = {
        "name": "vital",
        "source": "vital",
        "documents": 9842,
        "sentences": 48211,
        "built_at": "2026-11-20T09:30:00Z",
        **changes,
    }
    (current / "meta.json").write_text(json.dumps(meta))


@pytest.fixture
def settings(tmp_path: Path) -> Settings:
    describe_index(tmp_path)
    return Settings.from_environment({"ESOTERIC_HOME": str(tmp_path)})


@pytest.fixture
def app(settings: Settings) -> Iterator[Flask]:
    app = create_app(settings)
    yield app
    services_of(app).close()


@pytest.fixture
def client(app: Flask) -> FlaskClient:
    return app.test_client()


@pytest.fixture
def store(app: Flask) -> JobStore:
    return services_of(app).store


@pytest.fixture
def worker(store: JobStore) -> WorkerByHand:
    return WorkerByHand(store)

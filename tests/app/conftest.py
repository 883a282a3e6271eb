"""A home with the description of an index, the application, and a worker by hand."""

from __future__ import annotations

import shutil
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, TypeAlias

import pytest
from flask import Flask
from jinja2 import FileSystemBytecodeCache
from selenium.webdriver import Chrome

from app import create_app
from app.services import services_of
from settings import Settings
from tests.app.browser import console_messages, open_chromium, resize
from tests.app.client import Client
from tests.app.index import describe_index
from tests.app.web_process import WebProcess
from tests.app.worker_by_hand import WorkerByHand
from worker.database import Database
from worker.job_store import JobStore

PageOf: TypeAlias = Callable[..., str]
Start: TypeAlias = Callable[..., Client]


@pytest.fixture(scope="session", autouse=True)
def compiled_templates(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    """Let all applications of this process share the compiled templates, and have our clients."""
    cache = FileSystemBytecodeCache(str(tmp_path_factory.mktemp("templates")))
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(Flask, "jinja_options", {"bytecode_cache": cache})
        patch.setattr(Flask, "test_client_class", Client)
        yield


@pytest.fixture(scope="session")
def empty_database(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A database with its tables, which takes longer to make than most tests."""
    file = tmp_path_factory.mktemp("database") / "esoteric.db"
    database = Database(f"sqlite:///{file}")
    database.reach()
    database.close()
    return file


@pytest.fixture
def settings(tmp_path: Path, empty_database: Path) -> Settings:
    describe_index(tmp_path)
    shutil.copy(empty_database, tmp_path)
    return Settings.from_environment({"ESOTERIC_HOME": str(tmp_path)})


@pytest.fixture
def app(settings: Settings) -> Iterator[Flask]:
    app = create_app(settings)
    yield app
    services_of(app).close()


@pytest.fixture
def start(settings: Settings) -> Iterator[Start]:
    """Returns a client of an application with these variables of its environment, or settings."""
    apps = []

    def started(own: Settings | None = None, **environment: str) -> Client:
        read = Settings.from_environment({"ESOTERIC_HOME": str(settings.home), **environment})
        apps.append(create_app(own or read))
        return apps[-1].test_client()

    yield started
    for app in apps:
        services_of(app).close()


@pytest.fixture
def client(app: Flask) -> Client:
    return app.test_client()


@pytest.fixture
def store(request: pytest.FixtureRequest) -> JobStore:
    """The store of the web server where a test has one, else of the application."""
    if "web" in request.fixturenames:
        web: WebProcess = request.getfixturevalue("web")
        return web.store
    return services_of(request.getfixturevalue("app")).store


@pytest.fixture
def worker(store: JobStore) -> WorkerByHand:
    return WorkerByHand(store)


@pytest.fixture
def page_of(client: Client) -> PageOf:
    """Return the page, or the export of this format, of a claim with this result."""

    def shown(result: dict[str, Any], export: str = "") -> str:
        job = client.done(result)
        path = f"/api/v1/claims/{job.id}/export?format={export}" if export else f"/claims/{job.id}"
        return client.get(path).text

    return shown


@pytest.fixture(scope="module")
def chromium(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Chrome]:
    browser = open_chromium(tmp_path_factory.mktemp("profile"))
    yield browser
    browser.quit()


@pytest.fixture
def browser(chromium: Chrome) -> Chrome:
    """The browser at 1024 pixels, with scripts and an empty log."""
    chromium.get("about:blank")
    chromium.execute_cdp_cmd("Emulation.setScriptExecutionDisabled", {"value": False})
    resize(chromium, 1024)
    console_messages(chromium)
    return chromium

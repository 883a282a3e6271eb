"""One service for all walks of a run, one browser for those of a process, a cookie for each."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import asdict
from pathlib import Path

import pytest
from selenium.webdriver import Chrome

from tests.app.browser import open_chromium
from tests.app.walks.walker import Service, Walker, start
from tests.support.shared import made_once, one_at_a_time


@pytest.fixture(scope="session")
def service(unpacked: Path) -> Service:
    """The service, which ends with the run."""

    def make(folder: Path) -> str:
        return json.dumps(asdict(start(folder, unpacked)), default=str)

    made = json.loads(made_once("walks", make))
    return Service(**made | {"home": Path(made["home"])})


@pytest.fixture(scope="session")
def chromium(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Chrome]:
    browser = open_chromium(tmp_path_factory.mktemp("profile"))
    yield browser
    browser.quit()


@pytest.fixture
def walker(browser: Chrome, service: Service, tmp_path: Path) -> Iterator[Walker]:
    """A person who is here for the first time, and alone: others hold and kill the worker."""
    with one_at_a_time("walk"):
        yield Walker(browser, service, tmp_path)

"""A real Chromium, and the application behind a real server for it."""

from __future__ import annotations

import os
import shutil
from pathlib import Path
from threading import Thread

import pytest
import waitress
from flask import Flask
from selenium import webdriver
from selenium.webdriver.chrome.service import Service

_CHROMIUM = ("chromium", "chromium-browser", "google-chrome")
_ARGUMENTS = (
    *("--headless", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run"),
    *("--disable-background-networking", "--disable-component-update", "--disable-sync"),
    "--disable-dev-shm-usage",
)


class Served:
    """An application on a free port of this machine, in a thread."""

    def __init__(self, app: Flask) -> None:
        self._server = waitress.create_server(app, host="127.0.0.1", port=0, threads=8)
        self.address = f"http://127.0.0.1:{self._server.effective_port}"
        self._thread = Thread(target=self._server.run, daemon=True)
        self._thread.start()

    def close(self) -> None:
        """Stop listening, and end the threads."""
        self._server.close()
        self._thread.join(10)
        self._server.task_dispatcher.shutdown()


def open_chromium(profile: Path) -> webdriver.Chrome:
    """Start a browser with a fresh profile, or skip (fail where CI is set)."""
    program = next((path for name in _CHROMIUM if (path := shutil.which(name))), None)
    driver = shutil.which("chromedriver")
    if program is None or driver is None:
        missing = "Chromium or its driver is not installed (Debian: chromium, chromium-driver)"
        if os.environ.get("CI") == "true":
            pytest.fail(missing)
        pytest.skip(missing)
    options = webdriver.ChromeOptions()
    options.binary_location = program
    for argument in (*_ARGUMENTS, f"--user-data-dir={profile}"):
        options.add_argument(argument)
    options.set_capability("goog:loggingPrefs", {"browser": "ALL"})
    return webdriver.Chrome(options=options, service=Service(driver))

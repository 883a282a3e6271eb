"""A person who walks through the pages of the whole service, which searches the library."""

from __future__ import annotations

import os
import signal
import sqlite3
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from dataclasses import dataclass
from pathlib import Path

from selenium.webdriver import ActionChains, Chrome, Keys
from selenium.webdriver.common.by import By
from selenium.webdriver.remote.webelement import WebElement

from tests.app.browser import text_of, wait_for, wait_for_element
from tests.ops.up_process import environment, esoteric, free_port, programs
from tests.support.shared import one_at_a_time, start_server
from tests.support.waiting import wait_until

# Thirty short documents with plain facts, which the walks search.
LIBRARY = Path(__file__).with_name("library.jsonl")
SECONDS_TO_START = 180.0  # at most, also where the worker has to convert the models first


def _stop(process: int) -> None:
    """Stop a process; one of its threads may still lock the database until it has stopped too."""
    os.kill(process, signal.SIGSTOP)
    threads = Path(f"/proc/{process}/task")

    def have_stopped() -> bool:
        states = (one.joinpath("stat").read_text().rpartition(")")[2] for one in threads.iterdir())
        return all(state.split()[0] == "T" for state in states)

    wait_until(have_stopped, "all threads to stop")


@dataclass(frozen=True, slots=True)
class Service:
    """A running ``esoteric up``; ``pid``: its process, which has started all others."""

    home: Path
    address: str
    pid: int

    @contextmanager
    def held_worker(self) -> Iterator[None]:
        """Let no claim be checked in this block, so that one sees how its page begins."""
        with one_at_a_time("worker"):
            worker = self._worker()
            _stop(worker)
            while not self._can_write():
                os.kill(worker, signal.SIGCONT)
                time.sleep(0.05)  # in which it ends its write
                _stop(worker)
            try:
                yield
            finally:
                os.kill(worker, signal.SIGCONT)

    def _can_write(self) -> bool:
        """Return whether the pages can write, which the worker, stopped amid a write, prevents."""
        with closing(sqlite3.connect(self.home / "esoteric.db", timeout=0.2)) as database:
            try:
                database.execute("BEGIN IMMEDIATE")
            except sqlite3.OperationalError:
                return False
            return True

    def kill_worker(self) -> None:
        """End the worker as a fault does, amid whatever it does."""
        with one_at_a_time("worker"):
            os.kill(self._worker(), signal.SIGKILL)

    def _worker(self) -> int:
        """Return the process that checks claims: the last one, below the one that watches it."""
        return programs("worker", self.pid)[-1]


def start(folder: Path, models: Path) -> Service:
    """Build the index in this folder, and start the service."""
    home = folder / "home"
    home.mkdir()
    (home / "models").symlink_to(models)
    built = esoteric("index", "build", "--source", f"jsonl:{LIBRARY}", home=home)
    assert built.returncode == 0, built.stderr
    port, log = free_port(), home / "up.log"
    # Small files are too large for this service, so that nobody has to make large ones.
    settings = environment(home) | {"ESOTERIC_MOST_UPLOAD_MB": "1"}
    command = [sys.executable, "-m", "cli", "up", "--port", str(port)]
    up = start_server(command, log, settings)
    ready = "the line that it is ready"
    wait_until(lambda: "is ready" in log.read_text(), ready, SECONDS_TO_START)
    return Service(home, f"http://127.0.0.1:{port}", up.pid)


class Walker:
    """Has a browser, a cookie of the own, and a folder for files."""

    def __init__(self, browser: Chrome, service: Service, folder: Path) -> None:
        self.browser = browser
        self.service = service
        self._files, self._downloads = folder / "files", folder / "downloads"
        for one in (self._files, self._downloads):
            one.mkdir()
        self.be_somebody_else()
        to_folder = {"behavior": "allow", "downloadPath": str(self._downloads)}
        browser.execute_cdp_cmd("Browser.setDownloadBehavior", to_folder)

    def be_somebody_else(self) -> None:
        """Forget the cookie, by which the service knows this person."""
        self.browser.execute_cdp_cmd("Network.clearBrowserCookies", {})

    def open(self, path: str) -> None:
        self.browser.get(self.service.address + path)

    def address(self) -> str:
        """Return where this person is, without the name of the service."""
        return self.browser.current_url.removeprefix(self.service.address)

    def text(self, selector: str) -> str:
        return text_of(self.browser, selector)

    def see(self, selector: str) -> WebElement:
        """Wait until there is an element."""
        return wait_for_element(self.browser, selector)

    def all(self, selector: str) -> list[WebElement]:
        return self.browser.find_elements(By.CSS_SELECTOR, selector)

    def wait(self, script: str) -> None:
        wait_for(self.browser, script)

    def named(self, words: str) -> WebElement:
        """Return what can be pressed and has these words, in the menu if the page has none."""
        kinds = "self::a or self::button or self::summary or self::label"
        found = (
            one
            for where in ("//main", "")
            for one in self.browser.find_elements(
                By.XPATH, f'{where}//*[{kinds}][normalize-space()="{words}"]'
            )
        )
        return next(one for one in found if one.is_displayed())

    def press(self, words: str) -> None:
        """Press what leads to no other page."""
        self.named(words).click()

    def follow(self, words: str) -> None:
        """Press what leads to another page, and wait for that."""
        self.leave(self.named(words).click)

    def leave(self, act: Callable[[], object]) -> None:
        """Do what leads to another page, and wait for that."""
        self.browser.execute_script("window.isLeft = true")
        act()
        self.wait("!window.isLeft && document.readyState !== 'loading'")

    def keys(self, *keys: str) -> None:
        ActionChains(self.browser).send_keys(*keys).perform()

    def fill(self, selector: str, text: str) -> None:
        """Replace what stands in a field."""
        field = self.see(selector)
        field.clear()
        field.send_keys(text)

    def write_in_box(self, text: str) -> None:
        """Open the first page and write a text with several lines into its box."""
        self.open("/")
        lines = text.split("\n")
        self.fill("#claim", (Keys.SHIFT + Keys.ENTER + Keys.NULL).join(lines))

    def check(self, claim: str) -> str:
        """Check a claim as most people do; return the words of its verdict."""
        self.write_in_box(claim)
        self.leave(lambda: self.keys(Keys.ENTER))
        return self.verdict()

    def send(self) -> None:
        """Press the button of the box."""
        self.leave(self.see("#check").click)

    def verdict(self) -> str:
        """Wait for the verdict on this page and return its words."""
        self.wait("document.querySelector('.verdict h2')")
        label = self.all("#label")  # an answer that settles nothing is its own label
        return label[0].text if label else self.text(".verdict h2").removesuffix(".")

    def download(self, words: str) -> Path:
        """Press the link or button of a file, and return the file when it is here."""

        def whole() -> list[Path]:
            files = self._downloads.iterdir()
            return [one for one in files if one.suffix != ".crdownload" and one.name[0] != "."]

        self.press(words)
        wait_until(lambda: bool(whole()), f"the file of “{words}”")
        (file,) = whole()
        return file.rename(self._files / file.name)

    def attach(self, selector: str, **files: bytes) -> None:
        """Choose files in a form; the last underscore of a name stands for a dot."""
        paths = [self._files / ".".join(name.rsplit("_", 1)) for name in files]
        for path, content in zip(paths, files.values(), strict=True):
            path.write_bytes(content)
        self.see(selector).send_keys("\n".join(map(str, paths)))

    def wait_until_indexed(self) -> None:
        """Wait on the page of a corpus."""
        self.wait("document.querySelector('#corpus:not([data-works])')")

    def choose_recipe(self, name: str) -> None:
        self.see(".recipes summary").click()
        self.see(f"label[for=recipe-{name}]").click()

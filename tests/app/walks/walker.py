"""A person who walks through the pages."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from selenium.webdriver import ActionChains, Chrome, Keys
from selenium.webdriver.common.by import By
from selenium.webdriver.remote.webelement import WebElement

from tests.app.browser import text_of, wait_for, wait_for_element
from tests.app.walks.service import Service
from tests.support.waiting import wait_until


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
        """Return what can be pressed and has these words."""
        kinds = "self::a or self::button or self::summary or self::label"
        found = self.browser.find_elements(By.XPATH, f'//*[{kinds}][normalize-space()="{words}"]')
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

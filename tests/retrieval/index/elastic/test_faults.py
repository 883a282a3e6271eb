"""What happens when servers, disks and builders fail: real servers, really killed."""

import json
import signal
import time
import urllib.request
from collections.abc import Callable, Iterator
from pathlib import Path
from threading import Timer
from typing import TypeVar

import pytest

from retrieval.corpora.corpus import Page
from retrieval.errors import EsotericError, IndexUnavailable
from retrieval.index.elastic.elastic_index import ElasticIndex
from retrieval.index.interface import DocumentStore
from tests.retrieval.index.elastic.conftest import index_at
from tests.retrieval.index.elastic.node import Node, store_url
from tests.retrieval.index.pages import PAGES, ListCorpus, holding, many
from tests.support.encoders import WordEncoder

pytestmark = [pytest.mark.elasticsearch, pytest.mark.rare]

WAIT = 240.0  # seconds; a loaded machine takes many times as long as an idle one
MANY = many().pages
_PASSING = {"store_unreachable", "store_red", "store_busy", "store_read_only"}
Answer = TypeVar("Answer")


def call(url: str, method: str, body: object = None) -> None:
    given = {"data": None if body is None else json.dumps(body).encode(), "method": method}
    request = urllib.request.Request(url, headers={"Content-Type": "application/json"}, **given)
    urllib.request.urlopen(request, timeout=30).close()


class Killing(ListCorpus):
    """Many pages, of which the fourth chunk comes after something was done."""

    kill: Callable[[], object]

    def chunks(self) -> Iterator[tuple[tuple[Page, ...], int]]:
        for number, chunk in enumerate(super().chunks()):
            if number == 3:
                self.kill()
            yield chunk


def answers(store: DocumentStore) -> list[object]:
    """Return what a claim would ask: titles, words, sentences and documents."""
    query = WordEncoder().encode(["Ships come to the harbour."])
    return [
        store.title_matches(["savage"]),
        holding(store, "ships"),
        store.nearest_sentences(query, 5),
        store.documents(["Zoe"]),
    ]


def answered(ask: Callable[[], Answer]) -> Answer:
    """Ask until the servers are ready again."""
    end = time.monotonic() + WAIT
    while True:
        try:
            return ask()
        except EsotericError as error:
            if error.code not in _PASSING or time.monotonic() > end:
                raise
            time.sleep(0.5)


def refused(ask: Callable[[], object]) -> IndexUnavailable:
    """Ask until it is an error, and return that: a server looks at its disk every ten seconds."""
    end = time.monotonic() + WAIT
    while time.monotonic() < end:
        try:
            ask()
        except IndexUnavailable as error:
            return error
        time.sleep(0.5)
    raise AssertionError("It was never refused.")


def test_a_store_answers_again_after_its_server_started(node: Node, tmp_path: Path) -> None:
    index = index_at(node.host, tmp_path, "killed")
    index.build(ListCorpus(PAGES), WordEncoder())
    store = index.open("words")
    before = answers(store)
    node.kill()
    with pytest.raises(IndexUnavailable, match="is unreachable") as caught:
        store.documents(["Savage"])
    assert caught.value.code == "store_unreachable"
    begun = time.monotonic()
    with pytest.raises(IndexUnavailable):  # further calls do not try again for a while
        store.documents(["Savage"])
    assert time.monotonic() - begun < 0.5
    node.start()
    assert answered(lambda: answers(store)) == before


def test_a_call_to_a_paused_server_fails_and_a_later_works(node: Node, tmp_path: Path) -> None:
    index = index_at(node.host, tmp_path, "still")
    index.build(ListCorpus(PAGES), WordEncoder())
    store = index.open("words")
    before = answered(lambda: answers(store))
    node.send(signal.SIGSTOP)
    try:
        with pytest.raises(IndexUnavailable, match="did not answer in time"):
            store.documents(["Savage"])
    finally:
        node.send(signal.SIGCONT)
    assert answered(lambda: answers(store)) == before


def test_a_build_continues_after_its_server_was_killed(node: Node, tmp_path: Path) -> None:
    index = index_at(node.host, tmp_path, "bulk")
    corpus = Killing(MANY)
    corpus.kill = lambda: (node.kill(), Timer(2, node.start).start())
    try:
        info = index.build(corpus, WordEncoder())
    except IndexUnavailable as error:
        if error.code not in _PASSING:
            raise
        node.wait()
        info = index.build(ListCorpus(MANY), WordEncoder())
    undisturbed = index_at(node.host, tmp_path, "undisturbed")
    assert info.checksum == undisturbed.build(ListCorpus(MANY), WordEncoder()).checksum
    assert info.documents == len(MANY)
    index.verify()


def add(index: ElasticIndex) -> None:
    more = (Page("Buoy", "Buoy", None, "A buoy floats."),)
    index.add(ListCorpus(more, content=str(time.monotonic())), WordEncoder())


def test_a_full_disk_is_reported_and_then_the_build_goes_on(node: Node, tmp_path: Path) -> None:
    index = index_at(node.host, tmp_path, "disk")
    index.build(ListCorpus(PAGES), WordEncoder())
    store = index.open("words")
    full = dict.fromkeys(("low", "high", "flood_stage"), "1000000gb")
    watermarks = "cluster.routing.allocation.disk.watermark"
    settings = f"{node.url}/_cluster/settings"
    call(settings, "PUT", {"persistent": {f"{watermarks}.{n}": v for n, v in full.items()}})
    try:
        assert refused(lambda: add(index)).code == "store_read_only"
        assert answers(store)  # the served version is still served
        assert "nearly full" in refused(index.diagnose).message
    finally:
        call(settings, "PUT", {"persistent": {f"{watermarks}.{n}": None for n in full}})
    answered(lambda: add(index))
    assert [d.title for d in index.open("words").documents(["Buoy"])] == ["Buoy"]


def test_an_index_that_is_deleted_while_it_serves_is_missed(index: ElasticIndex) -> None:
    index.build(ListCorpus(PAGES), WordEncoder())
    store = index.open("words")
    call(f"{store_url('x').replace('elasticsearch', 'http')[:-2]}/{index.version()}", "DELETE")
    with pytest.raises(IndexUnavailable, match="was replaced or removed meanwhile") as caught:
        store.documents(["Savage"])
    assert caught.value.hint == "Check the claim again."
    with pytest.raises(IndexUnavailable, match="There is no index yet"):
        index.version()
    index.build(ListCorpus(PAGES), WordEncoder())
    assert answers(index.open("words"))


def test_no_call_fails_while_one_of_three_is_killed(nodes: list[Node], tmp_path: Path) -> None:
    corpus = Killing(MANY)
    corpus.kill = nodes[2].kill
    index = index_at(",".join(one.host for one in nodes), tmp_path, "three")
    assert index.build(corpus, WordEncoder()).documents == len(MANY)
    index.verify()
    nodes[2].start()
    index.build(ListCorpus(PAGES, content="2"), WordEncoder())
    nodes[0].wait("green", nodes=3)
    store = index.open("words")
    before = answers(store)
    for victim in (2, 1):
        end = time.monotonic() + 6
        assert answers(store) == before
        nodes[victim].kill()
        while time.monotonic() < end:
            assert answers(store) == before
        nodes[victim].start()
        nodes[0].wait("green", nodes=3)

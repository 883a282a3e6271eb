"""The embedded index: its files, and builds that are interrupted or refused."""

import json
import os
import resource
import shutil
import tempfile
import time
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from numpy.typing import NDArray

from retrieval.corpora.corpus import Page
from retrieval.errors import IndexUnavailable
from retrieval.index.embedded import documents, embedded_store
from retrieval.index.embedded.embedded_index import EmbeddedIndex
from retrieval.index.embedded.layout import needs_build
from retrieval.index.errors import IndexNotBuilt
from retrieval.index.interface import IndexInfo
from retrieval.models.encoders import EncodableDocument
from retrieval.types import SentenceKey
from tests.retrieval.index.build_many import start_build
from tests.retrieval.index.pages import PAGES, ListCorpus, holding, many
from tests.support.command import printed
from tests.support.encoders import WordEncoder

TITLES = [f"title_{name}.npy" for name in ("tokens", "starts", "documents")]
VERSION = [*TITLES, "rotation.npy", "signs.npy", "removed.npy", "lexical/*.term"]
DATABASES = ["databases/*.documents", "databases/*.vectors"]
FILES = [*DATABASES, *(f"versions/*/{name}" for name in VERSION)]


def file_of(folder: Path, pattern: str) -> Path:
    (path,) = folder.glob(pattern)
    return path


def damage(path: Path) -> None:
    """Change one bit: of a title in a database, whose last bytes may be unused."""
    content = bytearray(path.read_bytes())
    content[content.find(b"Harbour light") if path.suffix == ".documents" else -9] ^= 1
    path.write_bytes(content)


def build(folder: Path, corpus: ListCorpus | None = None) -> IndexInfo:
    return EmbeddedIndex(folder).build(corpus or ListCorpus(), WordEncoder())


@pytest.fixture(scope="module")
def whole(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("whole") / "index"
    build(folder)
    return folder


@pytest.mark.parametrize("name", [*FILES, "versions/*/meta.json"])
def test_a_changed_or_cut_off_file_is_noticed(tmp_path: Path, whole: Path, name: str) -> None:
    # SQLite's own files may go while they are copied, and are empty.
    own = shutil.ignore_patterns("*-wal", "*-shm")
    shutil.copytree(whole, tmp_path / "index", symlinks=True, ignore=own)
    path = file_of(tmp_path / "index", name)
    content = path.read_bytes()
    if name in FILES:
        damage(path)
        with pytest.raises(IndexUnavailable, match="damaged"):
            EmbeddedIndex(tmp_path / "index").verify()
    path.write_bytes(content[:-7])
    with pytest.raises(IndexUnavailable, match="damaged"):
        EmbeddedIndex(tmp_path / "index").open("words")


@pytest.mark.server
@pytest.mark.rare
def test_a_change_that_is_killed_at_any_moment_is_made_by_the_next_try(tmp_path: Path) -> None:
    code = "from tests.retrieval.index.killed_anywhere import all_changes; all_changes(6)"
    assert all(int(moments) > 5 for moments in printed(code, tmp_path))


class InterruptedEncoder(WordEncoder):
    """Ends a build when it comes to the vectors."""

    def encode_documents(
        self, documents: Sequence[EncodableDocument]
    ) -> tuple[NDArray[np.float32], list[NDArray[np.float32]]]:
        raise KeyboardInterrupt


def interrupted(change: Callable[[], object]) -> None:
    with pytest.raises(KeyboardInterrupt):
        change()


def test_work_of_another_source_is_neither_taken_over_nor_lost(tmp_path: Path) -> None:
    index = EmbeddedIndex(tmp_path)
    interrupted(lambda: index.build(many(), InterruptedEncoder()))
    kept = sorted(tmp_path.glob("building-*/documents-0-new"))
    (begun,) = index.unfinished()
    assert begun.startswith("Unfinished: a build of many, ")
    assert begun.endswith(str(kept[0].parent))
    assert build(tmp_path, ListCorpus(PAGES[:3], content="2")).documents == 3
    assert sorted(tmp_path.glob("building-*/documents-0-new")) == kept != []
    assert build(tmp_path, many()).documents == 1400
    assert index.unfinished() == []


def test_a_build_that_is_begun_anew_is_not_taken_for_the_one_that_ended(tmp_path: Path) -> None:
    build(tmp_path)
    damage(file_of(tmp_path, "databases/*.documents"))
    interrupted(lambda: EmbeddedIndex(tmp_path).build(ListCorpus(), InterruptedEncoder()))
    (begun,) = tmp_path.glob("building-*")
    build(tmp_path)
    EmbeddedIndex(tmp_path).verify()
    assert not begun.exists()


def test_what_is_left_over_is_removed_and_the_index_stays(tmp_path: Path) -> None:
    index = EmbeddedIndex(tmp_path)
    index.build(ListCorpus(), None)
    interrupted(lambda: index.encode(InterruptedEncoder()))
    (begun,) = tmp_path.glob("building-*")
    (line,) = index.unfinished()
    assert line.startswith("Unfinished: vectors of words, ")
    assert " MB. The same command continues it" in line
    assert line.endswith(str(begun))
    (tmp_path / "versions" / "20200101").mkdir()
    (tmp_path / "databases" / "old.documents").touch()
    assert sorted(index.prune()) == [begun.name, "databases/old.documents", "versions/20200101"]
    assert index.unfinished() == []
    index.verify()
    assert index.encode(WordEncoder()).encoder == "words"


def test_an_index_of_a_link_may_be_swapped(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "large disk").mkdir()
    link = tmp_path / "index"
    link.symlink_to("large disk")
    build(link)
    EmbeddedIndex(link).remove(["Zoe"])
    with pytest.raises(IndexUnavailable):
        EmbeddedIndex(link).open("words").documents(["Zoe"])
    assert len(list((tmp_path / "large disk" / "versions").iterdir())) == 1
    now = embedded_store.current_version(link)
    told = iter([link / "versions" / "gone", now, now])
    monkeypatch.setattr(embedded_store, "current_version", lambda folder: next(told))
    assert EmbeddedIndex(link).open("words").info().documents == len(PAGES) - 1


def test_an_index_that_the_system_does_not_let_be_opened_is_not_called_damaged() -> None:
    with tempfile.TemporaryDirectory() as name:
        index = Path(name) / "index"
        build(index)
        soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
        with Path("/dev/null").open() as stream:
            free = stream.fileno()  # the lowest number that is, and the only one with this limit
        resource.setrlimit(resource.RLIMIT_NOFILE, (free + 1, hard))
        try:
            with pytest.raises(IndexUnavailable, match="more files open than the system allows"):
                EmbeddedIndex(index).open("words")
        finally:
            resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))
        for path in [Path(name), index, *index.rglob("*")]:
            path.chmod(0o555 if path.is_dir() else 0o444)
        user = os.geteuid()
        try:
            os.seteuid(user or 65534)  # who may do everything tries it as one who may not
            with pytest.raises(IndexUnavailable, match=r"cannot be opened \(Permission denied\)"):
                EmbeddedIndex(index).open("words")
        finally:
            os.seteuid(user)
            for path in [Path(name), index, *index.rglob("*")]:
                path.chmod(0o755)


def test_a_folder_of_other_things_is_left_as_it_is(tmp_path: Path) -> None:
    theirs = tmp_path / "versions" / "mine.txt"
    theirs.parent.mkdir()
    theirs.write_text("mine")
    with pytest.raises(IndexNotBuilt, match="contains files that are not an index"):
        build(tmp_path)
    assert [path for path in tmp_path.rglob("*") if path.is_file()] == [theirs]


@pytest.mark.server
def test_a_full_disk_loses_nothing_that_stood_before(tmp_path: Path) -> None:
    before = build(tmp_path)
    with start_build(tmp_path, tmp_path, limit=60_000) as process:
        said = process.stdout.read()
    assert "IndexNotBuilt The disk that holds" in said
    assert "continues where it stopped" in said
    assert EmbeddedIndex(tmp_path).open("words").info() == before
    assert build(tmp_path, many()).documents == 1400


@pytest.mark.parametrize("changed", [False, True])
def test_an_index_of_another_format_is_refused_and_stays(tmp_path: Path, changed: bool) -> None:
    assert needs_build(tmp_path, "list") == "missing"
    build(tmp_path)
    needed, hint = "outdated", "Run: "
    if changed:  # its source alone does not bring that back
        EmbeddedIndex(tmp_path).remove(["Zoe"])
        needed, hint = None, "add and remove again what was added and removed since: "
    assert needs_build(tmp_path, "list") is None
    path = tmp_path / "current" / "meta.json"
    path.write_text(json.dumps(json.loads(path.read_text()) | {"format": 0}))
    before = sorted(tmp_path.rglob("*"))
    for use in (EmbeddedIndex(tmp_path).prune, lambda: EmbeddedIndex(tmp_path).open("words")):
        with pytest.raises(IndexUnavailable, match="another version of ESOTERIC") as refused:
            use()
    assert hint in refused.value.hint
    assert refused.value.hint.endswith("index build --source list")
    assert sorted(tmp_path.rglob("*")) == before
    assert needs_build(tmp_path, "list") == needed
    path.write_text("[]")  # what cannot be read is not outdated
    assert needs_build(tmp_path, "list") is None


def test_several_batches_are_in_order(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(documents, "_MOST_KEPT", 3)  # ids that were found long ago are found too
    build(tmp_path, many())
    store = EmbeddedIndex(tmp_path).open("words")
    # Page 1000 is in the second batch of 512 documents.
    query = WordEncoder().encode(["Page 1000. Page 1000 is a page. It is number 1000 of many."])
    similar = store.similarities(["p1000", "p3"], query)
    assert similar[0] == pytest.approx(1, abs=1 / 127)
    assert similar[1] < similar[0]
    (matches,) = store.nearest_sentences(WordEncoder().encode(["It is number 1000 of many."]), 1)
    assert [match.key for match in matches] == [SentenceKey("p1000", 1)]
    told = [match.document_id for match in holding(store, "many", limit=20)]
    assert (len(told), [m.document_id for m in holding(store, "number 7")]) == (20, ["p7"])
    assert [document.id for document in store.documents([*told, "p7"])] == [*told, "p7"]


def test_sentences_keep_their_numbers_and_links_where_some_are_empty(tmp_path: Path) -> None:
    texts = ("", "Pears are green.", "", "They are sweet.")
    pages = (
        Page("e", "Empty", None, ""),
        Page("p", "Pear", None, "", texts, links=((), (), (), ("Fruit", "Taste"))),
        Page("q", "Quince", None, "Quinces are yellow."),
    )
    build(tmp_path, ListCorpus(pages))
    store = EmbeddedIndex(tmp_path).open("words")
    (matches,) = store.nearest_sentences(WordEncoder().encode(["They are sweet."]), 1)
    assert [match.key for match in matches] == [SentenceKey("p", 3)]
    pear, quince = store.documents(["p", "q"])
    assert [sentence.links for sentence in pear.sentences] == [(), ("Fruit", "Taste")]
    assert [sentence.links for sentence in quince.sentences] == [()]


@pytest.mark.slow
def test_pages_without_text_with_too_much_of_it_and_with_endless_titles(tmp_path: Path) -> None:
    said = tuple(f"Buoy {number} is red." for number in range(30_000))
    endless = " ".join(["Name"] * 2000)
    pages = (
        Page("e", "Empty", None, ""),
        Page("b", "Buoys", None, "", said),
        Page("t", endless, None, "It is long."),
    )
    assert build(tmp_path, ListCorpus(pages)).sentences == 30_001
    store = EmbeddedIndex(tmp_path).open("words")
    empty, buoys, long = store.documents(["e", "b", "t"])
    assert (empty.text, empty.sentences) == ("", ())
    assert buoys.sentences[29_999].text == "Buoy 29999 is red."
    assert len(long.title) == 9999
    assert [match.document_id for match in store.title_matches([endless, "Empty"])] == ["t", "e"]
    query = WordEncoder().encode(["Buoy 29999 is red."])
    (matches,) = store.nearest_sentences(query, 1, among=["b", "e"])
    assert matches[0].similarity == pytest.approx(1, abs=0.2)


def test_an_index_keeps_what_is_credited_and_the_newest_day_of_all_sources(tmp_path: Path) -> None:
    file = Page("a.txt", "Lamp", None, "It is red.", source="a.txt, modified on 2024-03-05")
    made = EmbeddedIndex(tmp_path / "index")
    made.build(ListCorpus(date="2025-10-27"), None)
    assert made.add(ListCorpus((file,), content="2", date="2024-03-05"), None).date == "2025-10-27"
    lamp, zoe = made.open(None).documents(["a.txt", "Zoe"])
    assert (lamp.source, zoe.source) == (file.source, None)
    touched = replace(file, source="a.txt, modified on 2026-01-02")
    info = made.add(ListCorpus((touched,), content="3", date="2026-01-02"), None)
    assert info.as_corpus().text_date == info.date == "2026-01-02"
    assert info.built_at[:4] == time.strftime("%Y", time.gmtime())
    assert made.open(None).documents(["a.txt"])[0].source == touched.source

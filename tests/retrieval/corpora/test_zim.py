"""``zim:FILE``: introductions, redirects, and files that are damaged."""

import os
import signal
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

from tests.support.cases import cases, rules

pytest.importorskip("libzim", reason="no libzim, which reads and writes ZIM files")

from cli.index import command
from retrieval.corpora import corpus
from retrieval.corpora.cleaning import without_pronunciations
from retrieval.corpora.corpus import BadPage, Page, Passage
from retrieval.corpora.sources import of_whole_articles, open_corpus
from retrieval.corpora.wiki import zim
from retrieval.corpora.wiki.article import introduction as introduction_of
from retrieval.corpora.wiki.zim import ArticleRequest, Damaged, Paths, ZimReader, shared_reader
from retrieval.corpora.wiki.zim_directory import ZimFile
from retrieval.errors import BadSource
from tests.retrieval.corpora.zim_files import METADATA, Entry, article, newer_page, write_zim

pytestmark = pytest.mark.server


@pytest.fixture(autouse=True)
def _no_process_left() -> Iterator[None]:
    yield
    shared_reader.cache_clear()


def read(path: Path) -> list[Page | BadPage]:
    return [page for chunk, _ in open_corpus(f"zim:{path}").chunks() for page in chunk]


def refusal(path: Path) -> str:
    with pytest.raises(BadSource) as caught:
        read(path)
    return str(caught.value)


def by_id(pages: list[Page | BadPage]) -> dict[str, Page]:
    assert all(isinstance(page, Page) for page in pages)
    return {page.id: page for page in pages if isinstance(page, Page)}


@rules(
    ("introductions", "text", "plain", without_pronunciations),
    ("introductions", "lead", "introduction", lambda lead: introduction(newer_page("Pier", lead))),
    ("introductions", "page", "introduction", lambda page: introduction(page)),
)
def test_an_introduction_is_plain_text(rule: Any, given: list[str], expected: str) -> None:
    assert rule(*given) == expected


def introduction(page: str) -> str:
    return introduction_of(page.encode("latin-1" if "\xff" in page else "utf-8"))


def test_deeply_nested_pages_and_paths_of_older_files_are_read() -> None:
    page = newer_page("Pier", "<p>It is old.</p><p>" + "<b>" * 50_000 + "x")
    assert introduction(page).startswith("It is old.")
    paths = Paths(True, "https://be.wikibooks.org/wiki/")
    assert paths.name_of("A/Old_Pier.html") == "Old_Pier.html"
    assert paths.name_of("-/Old_Pier.html") is None
    assert paths.url_of("Pier_Deck.html", "Pier/Deck") == "https://be.wikibooks.org/wiki/Pier/Deck"
    assert Paths(False, "").name_of("A/B_test") == "A/B_test"


def test_articles_have_their_addresses_and_the_titles_of_redirects(tmp_path: Path) -> None:
    pier = article("Old Pier", "<p>Old Pier is a pier.</p>")
    entries = [
        *(pier, article("A/B test?", "<p>It is a test.</p>"), article("No lead", "")),
        article("Main Page", "<p>Welcome.</p>"),
        article("Special:Search", "<p>Search.</p>"),
        Entry("style.css", "style", "p {}", "text/css"),
    ]
    redirects = [
        ("The_Pier", "The Pier", "Old_Pier"),
        ("Pier_(old)", "Pier (old)", "The_Pier"),
        ("Home", "Home", "Main_Page"),
    ]
    path = write_zim(tmp_path / "wiki.zim", entries, redirects, main="Main_Page")
    corpus = open_corpus(f"zim:{path}")
    assert (corpus.name, corpus.date, corpus.language) == ("wikipedia_en_all", "2025-10-27", "eng")
    assert corpus.fingerprint() == open_corpus(f"zim:{path}").fingerprint()
    no_day = METADATA | {"Date": "2025-02-31"}
    other = write_zim(tmp_path / "other.zim", [pier], metadata=no_day)
    assert corpus.fingerprint() != open_corpus(f"zim:{other}").fingerprint()
    assert open_corpus(f"zim:{other}").date == ""
    pages = by_id(read(path))
    assert pages.keys() == {"Old_Pier", "A/B_test?"}
    assert pages["A/B_test?"].url == "https://en.wikipedia.org/wiki/A/B_test%3F"
    assert (pages["Old_Pier"].title, pages["Old_Pier"].text) == ("Old Pier", "Old Pier is a pier.")
    assert set(pages["Old_Pier"].other_titles) == {"The Pier", "Pier (old)"}


def test_whole_articles_are_passages_with_rows_of_tables_and_links(tmp_path: Path) -> None:
    body = (
        '<table class="infobox"><tr><th>Length</th><td>90 m</td></tr></table>'
        '<p>Old Pier is a pier near <a href="Rowan">the town</a>.</p>'
        '<h2 id="Ships">Ships</h2><table><tr><th>Year</th><th>Ships</th></tr>'
        "<tr><td>1901</td><td>3</td></tr></table>"
        '<h2>References</h2><div class="reflist">A book.</div>'
    )
    several = "<p>Pier may refer to:</p><ul><li><a href='Old_Pier'>Old Pier</a></li></ul>"
    entries = [
        Entry("Old_Pier", "Old Pier", f"<body><h1>Old Pier</h1>{body}</body>"),
        Entry("Pier", "Pier", f"<body>{several}</body>"),
        Entry("Empty", "Empty", "<body></body>"),
    ]
    path = write_zim(tmp_path / "w.zim", entries, [("The_Pier", "The Pier", "Old_Pier")])
    corpus = open_corpus(of_whole_articles(f"zim:{path}"))
    pages = by_id([page for chunk, _ in corpus.chunks() for page in chunk])
    assert pages.keys() == {"Old_Pier#1", "Old_Pier#2"}
    first, second = pages["Old_Pier#1"], pages["Old_Pier#2"]
    assert first.sentences == ("Old Pier is a pier near the town.", "Length: 90 m.")
    assert first.links == (("Rowan",), ())
    assert (first.other_titles, second.other_titles) == (("The Pier",), ())
    assert second.sentences == ("Year: 1901, Ships: 3.",)
    assert second.passage == Passage("Old_Pier", 2, ("Ships",))
    assert second.url == "https://en.wikipedia.org/wiki/Old_Pier#Ships"
    assert corpus.source == f"zim-whole:{path}"


def test_all_articles_are_read_in_chunks(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(zim, "_CHUNK", 3)
    articles = [article(f"Pier {n}", f"<p>It is pier {n}.</p>") for n in range(7)]
    path = write_zim(tmp_path / "wiki.zim", articles)
    corpus = open_corpus(f"zim:{path}")
    chunks = list(corpus.chunks())
    assert [size for _, size in chunks] == [3, 3, 1]
    assert corpus.size() == 7
    assert chunks == list(open_corpus(f"zim:{path}").chunks())
    texts = {page.text for page in by_id(read(path)).values()}
    assert texts == {f"It is pier {n}." for n in range(7)}


@cases("zim", "metadata", "address")
def test_an_address_is_of_its_origin(tmp_path: Path, metadata: Any, address: Any) -> None:
    path = write_zim(tmp_path / "w.zim", [article("Pier", "<p>Old.</p>")], metadata=metadata)
    assert by_id(read(path))["Pier"].url == address


@pytest.mark.parametrize("named", ["wiki.zim", "wiki.zimaa"])
def test_a_file_in_parts_is_read_whole(tmp_path: Path, named: str) -> None:
    content = write_zim(tmp_path / "x.zim", [article("Pier", "<p>Old.</p>")]).read_bytes()
    (tmp_path / "wiki.zimaa").write_bytes(content[:70])
    (tmp_path / "wiki.zimab").write_bytes(content[70:501])
    (tmp_path / "wiki.zimac").write_bytes(content[501:])
    assert by_id(read(tmp_path / named))["Pier"].text == "Old."
    (tmp_path / "wiki.zimab").unlink()
    assert "wiki.zimab is missing" in refusal(tmp_path / named)


def test_what_is_no_zim_file_or_is_cut_off_is_refused_in_one_line(tmp_path: Path) -> None:
    path = tmp_path / "wiki.zim"
    assert "does not exist" in refusal(path)
    for nothing in (b"", b"PK\x03\x04" * 100):
        path.write_bytes(nothing)
        assert "is not a ZIM file" in refusal(path)
    content = write_zim(tmp_path / "whole.zim", [article("Pier", "<p>Old.</p>")]).read_bytes()
    for end in (90, len(content) // 2, len(content) - 1):
        path.write_bytes(content[:end])
        message = refusal(path)
        assert str(path) in message
        assert "damaged or cut off" in message
        assert "\n" not in message


def test_articles_after_a_damaged_one_are_read(tmp_path: Path) -> None:
    # Each article has a cluster of its own, because its text is longer than a cluster.
    texts = [f"{n}{os.urandom(3000).hex()}" for n in range(5)]
    articles = [article(f"Pier {n}", f"<p>{text}</p>") for n, text in enumerate(texts)]
    path = write_zim(tmp_path / "wiki.zim", articles, cluster=1024)
    content = bytearray(path.read_bytes())
    file = ZimFile(path)
    third = file.directory().articles[2]
    begin = content.find(b"\x28\xb5\x2f\xfd")  # zstd
    for _ in range(2):
        begin = content.find(b"\x28\xb5\x2f\xfd", begin + 4)
    content[begin + 4 : begin + 200] = b"\xff" * 196
    path.write_bytes(content)
    pages = read(path)
    (bad,) = (page for page in pages if isinstance(page, BadPage))
    assert bad.message.startswith(f"{path}, entry {third}")
    assert len(pages) == 5


def test_articles_after_a_bad_one_are_read(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    # More than a pipe holds: the process waits for the answers to be taken.
    articles = [article(f"Pier {n}", f"<p>{n} {'x' * 60_000}</p>") for n in range(9)]
    path = write_zim(tmp_path / "wiki.zim", articles)
    wanted = [ArticleRequest(entry, ()) for entry in ZimFile(path).directory().articles.tolist()]
    reader = ZimReader(path)
    answers = reader.articles(wanted)
    read = [next(answers)]
    assert reader._child.pid is not None
    os.kill(reader._child.pid, signal.SIGKILL)
    read += answers
    reader.end()
    assert len(read) == 9
    assert sum(isinstance(answer, Damaged) for answer in read) == 1
    assert not isinstance(read[-1], Damaged)
    reader = ZimReader(path)
    reader.facts()
    assert reader._child.pid is not None
    os.kill(reader._child.pid, signal.SIGSTOP)
    monkeypatch.setattr(zim, "_SECONDS", 0.2)
    assert [type(answer) for answer in reader.articles(wanted[:1])] == [Damaged]
    reader.end()


def test_without_libzim_an_error_helps(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(corpus, "find_spec", lambda _: None)
    message = refusal(tmp_path / "wiki.zim")
    assert "libzim, which is not installed" in message
    assert "-m pip install -r" in message
    assert message.endswith("requirements-zim.txt")


@pytest.mark.parametrize(("language", "warned"), [("eng", False), ("bel", True), ("", False)])
def test_another_language_is_warned_of(tmp_path: Path, language: str, warned: bool) -> None:
    pier, metadata = article("Pier", "<p>It is old.</p>"), METADATA | {"Language": language}
    path = write_zim(tmp_path / "wiki.zim", [pier], metadata=metadata)
    arguments = ["build", "--source", f"zim:{path}", "--vectors", "none", "--to", f"{tmp_path}/i"]
    result = CliRunner().invoke(command, arguments)
    assert result.exit_code == 0
    assert ("The models read English" in result.stderr) is warned

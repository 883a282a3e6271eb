from __future__ import annotations

from pathlib import Path

import pytest
from click.testing import CliRunner

from research.benchmarks import synthetic_pages
from research.benchmarks.make_corpus import main
from research.benchmarks.synthetic_pages import Encyclopaedia
from retrieval.corpora.corpus import readable_pages
from retrieval.corpora.wiki.fever import FeverCorpus
from tests.support.json_lines import write_json_lines

REAL = [
    {"id": "Skerrow_Light", "text": "Lamps burn lamps .", "lines": "0\tLamps burn lamps ."},
    {"id": "Ann_Lee_-LRB-engineer-RRB-", "text": "Lamps .", "lines": "0\tLamps ."},
]


@pytest.fixture
def few_words(monkeypatch: pytest.MonkeyPatch) -> None:
    """Invent no more words than the names of pages need, since inventing them takes seconds."""
    monkeypatch.setattr(synthetic_pages, "MADE_UP", 25_000)


def made(tmp_path: Path, name: str, *options: str) -> Path:
    out = tmp_path / name
    run = CliRunner().invoke(main, ["--out", str(out), *options])
    assert run.exit_code == 0, run.output
    return out


@pytest.fixture(scope="module")
def encyclopaedia() -> Encyclopaedia:
    return Encyclopaedia(100_000, 0, titles=[page["id"] for page in REAL], words=["lamps"])


def test_no_two_pages_and_no_real_one_have_the_same_title(encyclopaedia: Encyclopaedia) -> None:
    titles = [encyclopaedia.title(number) for number in range(100_000)]
    assert len({*titles, *(page["id"] for page in REAL)}) == 100_002


def test_titles_share_names_and_differ_in_parentheses(encyclopaedia: Encyclopaedia) -> None:
    name, disambiguation, *_ = (encyclopaedia.title(number) for number in range(10))
    assert name.startswith("Skerrow_Light_")
    assert disambiguation == f"{name}_-LRB-disambiguation-RRB-"
    assert all(name in encyclopaedia.title(number) for number in range(10))


def test_a_page_is_as_long_as_an_introduction(encyclopaedia: Encyclopaedia) -> None:
    pages = list(encyclopaedia.pages(0, 2_000))
    sentences = [text.split() for page in pages for text, _ in page.sentences]
    assert len(sentences) / len(pages) == pytest.approx(5, abs=0.4)
    assert sum(map(len, sentences)) / len(pages) == pytest.approx(100, abs=10)
    assert all(page.sentences for page in pages)


def test_words_are_as_frequent_as_zipf_has_them() -> None:
    pages = Encyclopaedia(1_000, 0).pages(0, 1_000)
    words = [word.lower() for page in pages for text, _ in page.sentences for word in text.split()]
    assert words.count("the") > 1.5 * words.count("and") > 0
    assert len(set(words)) > len(words) / 10


def test_pages_mention_real_ones_and_use_their_words(encyclopaedia: Encyclopaedia) -> None:
    pages = list(encyclopaedia.pages(0, 200))
    linked = {title for page in pages for _, links in page.sentences for _, title in links}
    assert {page["id"] for page in REAL} < linked
    assert any(" lamps " in text for page in pages for text, _ in page.sentences)


@pytest.mark.usefixtures("few_words")
def test_the_same_options_write_the_same_files_and_another_seed_others(tmp_path: Path) -> None:
    first = made(tmp_path, "first", "--pages", "50").joinpath("synthetic-001.jsonl").read_bytes()
    again = made(tmp_path, "again", "--pages", "50").joinpath("synthetic-001.jsonl").read_bytes()
    other = made(tmp_path, "other", "--pages", "50", "--seed", "1") / "synthetic-001.jsonl"
    assert first == again != other.read_bytes()


@pytest.mark.usefixtures("few_words")
def test_what_is_written_reads_as_fevers_pages(tmp_path: Path) -> None:
    real = tmp_path / "real"
    write_json_lines(real / "wiki-001.jsonl", *REAL)
    corpus = FeverCorpus(made(tmp_path, "out", "--pages", "60", "--around", str(real)))
    pages = list(readable_pages(corpus))
    assert len(pages) == 60
    assert all(page.sentences and all(page.sentences) for page in pages)
    assert any("Skerrow Light" in titles for page in pages for titles in page.links)
    assert not any("LRB" in page.title for page in pages)


def test_a_folder_without_pages_is_refused(tmp_path: Path) -> None:
    options = ["--out", str(tmp_path / "out"), "--pages", "5", "--around", str(tmp_path)]
    run = CliRunner().invoke(main, options)
    assert run.exit_code == 2
    assert "contains no page in FEVER's format" in run.output

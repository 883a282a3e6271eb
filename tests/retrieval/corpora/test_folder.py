"""``folder:DIR``: what it reads of each format, and what it leaves out with a message."""

import os
import signal
import subprocess
import sys
import zipfile
from datetime import datetime
from io import BytesIO
from pathlib import Path
from threading import Timer

import docx
import pypdf
import pytest

from retrieval.corpora import child_process
from retrieval.corpora.child_process import ChildProcess, ChildTooSlow
from retrieval.corpora.corpus import BadPage, Page, Passage
from retrieval.corpora.folder import document, folder_corpus, office, reading
from retrieval.corpora.folder.document import Unreadable
from retrieval.corpora.sources import open_corpus
from retrieval.errors import BadSource
from settings import CHECKOUT
from tests.retrieval.corpora import half_answer
from tests.retrieval.corpora.office_files import zipped as packed
from tests.retrieval.corpora.pdf_files import pdf_of, stream, written
from tests.support.cases import cases
from tests.support.waiting import wait_until

pytestmark = pytest.mark.server

LONG = " ".join(f"Lamp number {n} stands in the old town of Rowan." for n in range(8))
ARTICLE = (CHECKOUT / "tests" / "cases" / "lamps.html").read_text(encoding="utf-8")


def read(folder: Path) -> tuple[list[Page], list[str]]:
    """Return the pages of a folder, and the messages on what was left out."""
    found = [page for chunk, _ in open_corpus(f"folder:{folder}").chunks() for page in chunk]
    bad = [f"{page.message} {page.hint}" for page in found if isinstance(page, BadPage)]
    return [page for page in found if isinstance(page, Page)], bad


def complaint(folder: Path) -> str:
    """Return the only message; a text beside the bad file is read."""
    (folder / "good.txt").write_text("It is red.", encoding="utf-8")
    (page,), (message,) = read(folder)
    assert (page.id, page.title, page.text) == ("good.txt", "good", "It is red.")
    return message


def sentences(page: Page) -> str:
    return " ".join(page.sentences or ())


def test_a_document_is_credited_to_its_file_and_page_and_its_date(tmp_path: Path) -> None:
    (tmp_path / "minutes").mkdir()
    (tmp_path / "minutes" / "may.txt").write_text("The lamp is red.", encoding="utf-8")
    pages = ["The lamp is red.\nIt is old.", "", "It burns \\(well\\)."]
    (tmp_path / "lamps.pdf").write_bytes(pdf_of(pages, title="Lamps of Rowan"))
    for name, day in (("lamps.pdf", "2023-01-02"), ("minutes/may.txt", "2024-03-05")):
        at = datetime.fromisoformat(f"{day}T23:30:00Z").timestamp()
        os.utime(tmp_path / name, (at, at))
    assert open_corpus(f"folder:{tmp_path}").date == "2024-03-05"
    found, complaints = read(tmp_path)
    assert complaints == []
    assert [page.source for page in found] == [
        "lamps.pdf, page 1, modified on 2023-01-02",
        "lamps.pdf, page 3, modified on 2023-01-02",
        "minutes/may.txt, modified on 2024-03-05",
    ]
    one, three, _ = found
    assert (one.id, one.title, one.url) == ("lamps.pdf#1", "Lamps of Rowan", None)
    assert one.sentences == ("The lamp is red.", "It is old.")
    assert one.passage == Passage("lamps.pdf", 1, (), 1)
    assert three.passage == Passage("lamps.pdf", 2, (), 3)


@cases("pdf", "title", "largest", "expected")
def test_a_pdf_has_a_title(tmp_path: Path, title: str, largest: str, expected: str) -> None:
    file = pdf_of(["The lamp is red.\nIt is old."], title=title, largest=largest)
    (tmp_path / "lamps.pdf").write_bytes(file)
    assert [page.title for page in read(tmp_path)[0]] == [expected]


@cases("pdf", "printed", "sentences")
def test_pages_have_lines(tmp_path: Path, printed: list[str], sentences: list[list[str]]) -> None:
    (tmp_path / "lamps.pdf").write_bytes(pdf_of(printed))
    assert [list(page.sentences or ()) for page in read(tmp_path)[0]] == sentences


def test_html_is_read_without_menus_in_the_sections_of_its_headings(tmp_path: Path) -> None:
    (tmp_path / "lamps.html").write_text(ARTICLE, encoding="utf-8")
    pages, complaints = read(tmp_path)
    assert complaints == []
    assert {page.title for page in pages} == {"Old lamps"}
    assert [(page.id, page.url, page.passage and page.passage.section) for page in pages] == [
        ("lamps.html#1", "https://example.org/lamps", ()),
        ("lamps.html#2", "https://example.org/lamps#history", ("History",)),
        ("lamps.html#3", "https://example.org/lamps#early", ("History", "Early years")),
    ]
    assert sentences(pages[0]) == f"The first lamp was made by Ann Lee. {LONG}"
    assert sentences(pages[1]) == f"It was found in 1930. {LONG}"
    assert (pages[2].sentences or ())[:2] == ("a red lamp", "a blue lamp")
    assert sentences(pages[2]).endswith(f"{LONG} Lamp: red, Made: 1921.")


def test_html_has_a_title_for_readers_and_an_address_that_is_one(tmp_path: Path) -> None:
    for head, body, title in (
        ("<title>Lamps | Site</title><meta property='og:title' content='Lamps'>", "", "Lamps"),
        ("<title>Lamps | Site</title>", "<h1>Two</h1><h1>Headings</h1>", "Lamps | Site"),
        ("<link rel=canonical href='javascript:alert(1)'>", "", "page"),
    ):
        html = f"<html><head>{head}</head><body>{body}<p>The lamp is red.</p></body></html>"
        (tmp_path / "page.htm").write_text(html, encoding="utf-8")
        (page,), _ = read(tmp_path)
        assert (page.title, page.text or sentences(page)) == (title, "The lamp is red.")
        assert page.url is None


def test_a_docx_is_read_in_the_sections_of_its_headings(tmp_path: Path) -> None:
    document = docx.Document()
    document.core_properties.title = ""
    document.add_paragraph("Old lamps", style="Title")
    document.add_paragraph(f"The first lamp was made by Ann Lee. {LONG}")
    document.add_heading("History", level=1)
    document.add_paragraph(LONG)
    document.add_heading("Early years", level=2)
    document.add_paragraph("a red lamp", style="List Bullet")
    document.add_paragraph(LONG)
    table = document.add_table(rows=2, cols=2)
    for cell, text in zip(table._cells, ["Lamp", "Made", "red", "1921"], strict=True):
        cell.text = text
    document.save(str(tmp_path / "lamps.docx"))
    pages, complaints = read(tmp_path)
    assert complaints == []
    assert [(page.id, page.title, page.passage and page.passage.section) for page in pages] == [
        ("lamps.docx#1", "Old lamps", ()),
        ("lamps.docx#2", "Old lamps", ("History",)),
        ("lamps.docx#3", "Old lamps", ("History", "Early years")),
    ]
    assert (pages[2].sentences or ())[0] == "a red lamp"
    assert (pages[2].sentences or ())[-1] == "Lamp: red, Made: 1921."
    document.core_properties.title = "Lamps of Rowan"
    document.save(str(tmp_path / "lamps.docx"))
    pages, _ = read(tmp_path)
    assert pages[0].title == "Lamps of Rowan"
    assert pages[0].passage == Passage("lamps.docx", 1, ("Old lamps",))


def test_hidden_files_are_skipped_and_odd_names_are_read_and_can_be_printed(tmp_path: Path) -> None:
    (tmp_path / ".git").mkdir()
    names = (b"a\nb #1?.txt", b"caf\xc3\xa9.txt", b"\xff.txt", b".git/notes.md", b".hidden.txt")
    for name in (*names, b"~$lamps.docx", b"a.png"):
        Path(tmp_path, os.fsdecode(name)).write_bytes(b"It is red.")
    Path(tmp_path, os.fsdecode(b"\xfe.txt")).write_bytes(b"\xff\1")
    pages, (others, bad) = read(tmp_path)
    assert [page.id for page in pages] == ["a b #1?.txt", "café.txt", ".txt"]
    assert "1 file in" in others
    assert others.partition("not read: ")[2].startswith("1 .png.")
    assert "\\xfe.txt: the file is not a text in UTF-8" in bad
    bad.encode("utf-8")


def test_a_link_out_of_the_folder_is_left_out_and_one_within_is_read(tmp_path: Path) -> None:
    folder = tmp_path / "lamps"
    (folder / "sub").mkdir(parents=True)
    (tmp_path / "secret.txt").write_text("It is secret.", encoding="utf-8")
    (folder / "a.txt").write_text("It is red.", encoding="utf-8")
    (folder / "b.txt").symlink_to("a.txt")
    (folder / "c.txt").symlink_to(tmp_path / "secret.txt")
    (folder / "d.txt").symlink_to("d.txt")
    (folder / "sub" / "loop").symlink_to(folder)
    pages, (message,) = read(folder)
    assert [page.id for page in pages] == ["a.txt", "b.txt"]
    assert "c.txt is a link to a file outside of the folder." in message


def encrypted(user: str, algorithm: str = "RC4-128") -> bytes:
    writer = pypdf.PdfWriter(BytesIO(pdf_of(["It is red."])))
    writer.encrypt(user_password=user, owner_password="owner", algorithm=algorithm)
    file = BytesIO()
    writer.write(file)
    return file.getvalue()


def test_a_pdf_is_read_with_its_password(tmp_path: Path) -> None:
    for name, user, algorithm in (
        ("a", "", "RC4-128"),
        ("b", "", "AES-128"),
        ("c", "", "AES-256"),
        ("d", "secret", "AES-256"),
    ):
        (tmp_path / f"{name}.pdf").write_bytes(encrypted(user, algorithm))
    for password, said in (
        ("secret", ""),
        ("other", "d.pdf: the file is encrypted with another password."),
        (None, "d.pdf: the file is encrypted with a password."),
    ):
        corpus = open_corpus(f"folder:{tmp_path}", password=password)
        found = [page for chunk, _ in corpus.chunks() for page in chunk]
        complaints = [page for page in found if isinstance(page, BadPage)]
        read = [sentences(page) for page in found if isinstance(page, Page)]
        assert read == ["It is red."] * (3 if said else 4)
        assert [said in bad.message for bad in complaints] == [True] * bool(said)
        assert all(bad.hint == "Give its password: --password WORD" for bad in complaints)


def word_with(body: str, before: str = "") -> bytes:
    """Return a .docx whose text is ``body``, in XML; ``before`` is its document type."""
    file = BytesIO()
    docx.Document().save(file)
    with zipfile.ZipFile(file) as archive:
        members = {name: archive.read(name) for name in archive.namelist()}
    space = "http://schemas.openxmlformats.org/wordprocessingml/2006/main"
    text = f'{before}<w:document xmlns:w="{space}"><w:body>{body}</w:body></w:document>'
    return packed(members | {"word/document.xml": text.encode()})


ENTITIES = "".join(f"<!ENTITY a{n} '{f'&a{n - 1};' * 10}'>" for n in range(1, 10))
BOMB = f"<!DOCTYPE d [<!ENTITY a0 'It is red. '>{ENTITIES}]>"


BAD = {
    "1.pdf": (encrypted(user="secret"), "the file is encrypted with a password."),
    "2.pdf": (pdf_of(["", ""]), "the file has no text. Run OCR first"),
    "3.pdf": (pdf_of(["It is red."])[:400], "the file is damaged"),
    "4.pdf": (b"%PDF-1.7\n" + bytes(range(256)) * 40, "the file is damaged"),
    "5.pdf": (ARTICLE.encode(), "the file is not a PDF."),
    "6.pdf": (b"", "the file is empty."),
    "7.txt": (b"", "the file is empty."),
    "8.html": (pdf_of(["It is red."]), "the file is not HTML; it contains binary data."),
    "9.html": (b"<html><body></body></html>", "the file has no main text."),
    "a.html": (b" " * 10_000_001, "the file has 10.0 MB; at most 10 MB are read of"),
    "b.docx": (ARTICLE.encode(), "the file is damaged, or is not a .docx"),
    "c.docx": (packed({"a.txt": b"red"}), "the file is damaged, or is not a .docx"),
    "d.docx": (b"\xd0\xcf\x11\xe0" + bytes(600), "encrypted, or is not a .docx but of an older"),
    "e.docx": (word_with(""), "the file has no text."),
    "f.docx": (word_with("<w:p>"), "the file is damaged, or is not a .docx"),
    "g.docx": (word_with("<w:p><w:r><w:t>&a9;</w:t></w:r></w:p>", BOMB), "g.docx: the file"),
}


def test_a_bad_file_is_named_with_the_reason_and_the_others_are_read(tmp_path: Path) -> None:
    for name, (content, _) in BAD.items():
        (tmp_path / name).write_bytes(content)
    (tmp_path / "good.txt").write_text("It is red.", encoding="utf-8")
    (page,), messages = read(tmp_path)
    assert page.text == "It is red."
    for (name, (_, expected)), message in zip(BAD.items(), messages, strict=True):
        assert message.startswith(f"{tmp_path / name}: ")
        assert expected in message


def test_a_docx_that_unpacks_to_too_much_is_not_unpacked(tmp_path: Path) -> None:
    zeros = bytes(office._LARGEST + 1)
    (tmp_path / "a.docx").write_bytes(packed({"word/document.xml": zeros}))
    assert (tmp_path / "a.docx").stat().st_size < 300_000
    assert "the file unpacks to 268 MB; at most 268 MB are read." in complaint(tmp_path)


def test_a_page_that_cannot_be_read_is_named_and_the_others_are_read(tmp_path: Path) -> None:
    file = pdf_of(["It is red.", "It is old.", "It burns."])
    damaged = file.replace(b"[5 0 R 7 0 R 9 0 R]", b"[5 0 R 99 0 R 9 0 R]")  # there is no 99
    (tmp_path / "a.pdf").write_bytes(damaged)
    pages, (message,) = read(tmp_path)
    assert [page.passage and page.passage.page for page in pages] == [1, 3]
    assert "a.pdf, page 2: it cannot be read (" in message


def endless() -> bytes:
    """Return a PDF of 20,000 pages, each a form of ten forms of ten forms, and so on.

    A page has 10,000 words, so that the file takes minutes, but no more memory than others.
    """
    forms = [
        stream(
            f"/X{n + 1} Do ".encode() * 10 if n < 4 else b"BT /F 9 Tf (red) Tj ET",
            f"/Type /XObject /Subtype /Form /BBox [0 0 600 800] /Resources << /XObject <<"
            f" /X{n + 1} {n + 7} 0 R >> /Font << /F 3 0 R >> >>",
        )
        for n in range(5)
    ]
    page = (
        b"<< /Type /Page /Parent 2 0 R /MediaBox [0 0 600 800] /Contents 11 0 R"
        b" /Resources << /XObject << /X0 6 0 R >> >> >>"
    )
    font = b"<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica >>"
    pages = b"<< /Type /Pages /Count 20000 /Kids [" + b"5 0 R " * 20_000 + b"] >>"
    catalog = b"<< /Type /Catalog /Pages 2 0 R >>"
    return written([catalog, pages, font, b"<< >>", page, *forms, stream(b"/X0 Do")])


def test_what_takes_too_long_is_left_out(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(reading, "_SECONDS_AT_LEAST", 5)
    monkeypatch.setattr(reading, "_SECONDS_PER_MEGABYTE", 0)
    (tmp_path / "a.pdf").write_bytes(endless())
    (tmp_path / "b.pdf").write_bytes(pdf_of(["It is red."]))
    (page,), (message,) = read(tmp_path)
    assert page.id == "b.pdf"
    assert "a.pdf: the file takes more than 5 seconds to read." in message
    # A large text has the same limit, and a small one is read at once.
    monkeypatch.setattr(reading, "_SECONDS_AT_LEAST", 0)
    (tmp_path / "texts").mkdir()
    (tmp_path / "texts" / "large.csv").write_text("Town,People\n" + "Varnby,12\n" * 60_000)
    (tmp_path / "texts" / "small.csv").write_text("Town,People\nVarnby,12\n")
    (page,), (message,) = read(tmp_path / "texts")
    assert page.id == "small.csv"
    assert "large.csv: the file takes more than 0 seconds to read." in message


def test_an_ended_process_loses_its_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(reading, "SECONDS", 20)
    (tmp_path / "a.pdf").write_bytes(endless())
    (tmp_path / "b.pdf").write_bytes(pdf_of(["It is red."]))
    with ChildProcess(reading.__name__) as process:
        kind = document.BY_SUFFIX[".pdf"]
        reading.read_file(process, tmp_path / "b.pdf", kind)
        assert process.pid is not None
        Timer(0.5, os.kill, (process.pid, signal.SIGKILL)).start()
        with pytest.raises(Unreadable, match="the process that read the file was ended"):
            reading.read_file(process, tmp_path / "a.pdf", kind)
        assert reading.read_file(process, tmp_path / "b.pdf", kind).blocks[0].text == "It is red."
    # One that stops in the middle of an answer is ended in time.
    with ChildProcess(half_answer.__name__) as process:
        process.send("anything")
        with pytest.raises(ChildTooSlow):
            process.receive(0.2)
        assert process.pid is None


def test_a_process_ends_with_its_parent(tmp_path: Path) -> None:
    (tmp_path / "a.pdf").write_bytes(endless())
    program = (
        "import sys; from pathlib import Path; from retrieval.corpora.folder.reading import *;"
        "process = ChildProcess('retrieval.corpora.folder.reading'); process._start();"
        "print(process.pid, flush=True); from retrieval.corpora.folder.document import BY_SUFFIX;"
        "read_file(process, Path(sys.argv[1]), BY_SUFFIX['.pdf'])"
    )
    with subprocess.Popen(
        [sys.executable, "-c", program, str(tmp_path / "a.pdf")], stdout=subprocess.PIPE
    ) as parent:
        reader = int(parent.stdout.readline())
        os.kill(reader, 0)
        parent.kill()
    stat = Path(f"/proc/{reader}/stat")
    # Perhaps its exit status was not asked for yet.
    wait_until(lambda: not stat.exists() or stat.read_text().split()[2] == "Z", "its end", 10)


def test_a_file_may_take_some_memory(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    run = "".join(f"<w:p><w:r><w:t>Lamp {n} is red.</w:t></w:r></w:p>" for n in range(100))
    path = tmp_path / "a.docx"
    path.write_bytes(word_with(run * 18_000))
    most = 768 + path.stat().st_size * 100 // 2**20
    assert most < 900
    with (
        ChildProcess(reading.__name__) as process,
        pytest.raises(Unreadable, match=f"the file needs more than {most} MiB of memory"),
    ):
        reading.read_file(process, path, document.BY_SUFFIX[".docx"], seconds=200)
    monkeypatch.setattr(child_process, "MEMORY", 400 << 20)
    assert "a.docx: the file needs more than 400 MiB of memory." in complaint(tmp_path)


def test_without_a_library_it_counts(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    there = document.find_spec
    monkeypatch.setattr(
        document, "find_spec", lambda name: None if name in {"pypdfium2", "docx"} else there(name)
    )
    for n in range(100):
        (tmp_path / f"{n}.pdf").write_bytes(pdf_of(["It is red."]))
    (tmp_path / "a.docx").write_bytes(b"PK")
    message = complaint(tmp_path)
    assert message.startswith(
        f"1 .docx file and 100 .pdf files in {tmp_path} were left out, because pypdfium2 and"
        " python-docx are not installed. Run: "
    )
    command = str(folder_corpus.install_service_command())
    assert message.endswith(f"pip install -r {command.split()[-1]}")
    (tmp_path / "a.heic").write_bytes(b"x")
    first = complaint(tmp_path)
    assert first.startswith(f"{message} 1 file in {tmp_path} is of formats that are not read: 1 .h")
    (tmp_path / "good.txt").unlink()
    with pytest.raises(BadSource, match=r"1 \.docx file and 100 \.pdf files"):
        open_corpus(f"folder:{tmp_path}")


def test_many_files_are_several_chunks(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(folder_corpus, "_CHUNK", 3)
    for n in range(7):
        (tmp_path / f"{n}.txt").write_text(f"Lamp {n}.", encoding="utf-8")
    corpus = open_corpus(f"folder:{tmp_path}")
    chunks = list(corpus.chunks())
    assert [size for _, size in chunks] == [3, 3, 1]
    assert sum(size for _, size in chunks) == corpus.size() == 7
    monkeypatch.setattr(folder_corpus, "_CHUNK_BYTES", 10)
    assert [size for _, size in corpus.chunks()] == [2, 2, 2, 1]

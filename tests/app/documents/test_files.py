"""The files of the user that a result was read from."""

from __future__ import annotations

from pathlib import Path

import pytest
from flask.testing import FlaskClient
from werkzeug.test import TestResponse

from settings import Settings
from tests.app.claim_documents import REPORT_CLAIM, document_with_passages
from tests.app.index import describe_index
from tests.app.worker_by_hand import WorkerByHand
from worker.job_store import JobStore

PDF = b"%PDF-1.4 a report"


@pytest.fixture
def folder(tmp_path: Path, settings: Settings) -> Path:
    """Return the folder that the searched corpus was built from."""
    folder = tmp_path / "papers"
    folder.mkdir()
    (folder / "report.pdf").write_bytes(PDF)
    (folder / "rules.html").write_text("<h2>Dues</h2><script>alert(1)</script>", "utf-8")
    describe_index(settings.home, name="papers", source=f"folder:{folder}")
    return folder


def finished(store: JobStore, worker: WorkerByHand, *ids: str) -> str:
    """Return the id of a claim whose result has documents of files, with these ids if given."""
    result = document_with_passages()
    result["corpus"]["name"] = "papers"
    for item in (*result["evidence"], *result["documents"]):
        item["url"] = None
    for document, name in zip(result["documents"], ids, strict=False):
        document["id"] = name
    job = store.submit(REPORT_CLAIM, "esoteric")[0]
    worker.finish(job, result)
    return job.id


def get(client: FlaskClient, job: str, number: int = 1, **headers: str) -> TestResponse:
    """Return an answer whose file is closed."""
    address = f"/claims/{job}/files/{number}"
    with client.get(address, headers=headers, buffered=True) as answer:
        return answer


def status(client: FlaskClient, job: str, number: int = 1) -> int:
    return get(client, job, number).status_code


@pytest.mark.usefixtures("folder")
def test_a_pdf_and_a_web_page_are_shown_without_rights_on_this_server(
    client: FlaskClient, store: JobStore, worker: WorkerByHand
) -> None:
    job = finished(store, worker)
    page = client.get(f"/claims/{job}").text
    for link in (f"/claims/{job}/files/1#page=12", f"/claims/{job}/files/6#:~:text=Dues"):
        assert f'<a href="{link}" rel="external noopener nofollow">' in page
    answer = get(client, job)
    assert (answer.status_code, answer.data) == (200, PDF)
    assert answer.headers["Content-Type"] == "application/pdf"
    assert answer.headers["Content-Disposition"] == "inline; filename=report.pdf"
    assert answer.headers["X-Content-Type-Options"] == "nosniff"
    part = get(client, job, Range="bytes=1-3")
    assert (part.status_code, part.data) == (206, b"PDF")
    unchanged = get(client, job, **{"If-None-Match": part.headers["ETag"]})
    assert (unchanged.status_code, unchanged.data) == (304, b"")
    headers = get(client, job, 6).headers
    assert headers["Content-Type"] == "text/html; charset=utf-8"
    assert headers["Content-Security-Policy"].startswith("sandbox; default-src 'none';")


@pytest.mark.parametrize(
    ("name", "content", "sent"),
    [
        ("a.csv", "Ort;Köln".encode("cp1252"), "text/plain; charset=windows-1252"),
        ("a.csv", "Ort;Köln".encode(), "text/plain; charset=utf-8"),
        ("a.md#2", b"# Dues", "text/plain; charset=utf-8"),
        ("a.txt", b"a" * 999_999 + "ö".encode(), "text/plain; charset=utf-8"),
        ("a.html", "<meta charset=iso-8859-2>Łódź".encode("iso-8859-2"), "text/html"),
    ],
)
def test_a_text_is_sent_with_its_encoding(
    client: FlaskClient,
    store: JobStore,
    worker: WorkerByHand,
    folder: Path,
    name: str,
    content: bytes,
    sent: str,
) -> None:
    for file in (name.partition("#")[0], "b.docx"):
        (folder / file).write_bytes(content)
    job = finished(store, worker, name, "b.docx")
    answer = get(client, job)
    assert (answer.headers["Content-Type"], answer.data) == (sent, content)
    assert get(client, job, 2).headers["Content-Disposition"] == "attachment; filename=b.docx"


def test_only_files_in_the_folder_are_sent(
    client: FlaskClient, store: JobStore, worker: WorkerByHand, folder: Path
) -> None:
    secret = folder.parent / "secret.txt"
    for path in (secret, folder / ".hidden.txt", folder / "program.sh"):
        path.write_text("secret", encoding="utf-8")
    (folder / ".git").mkdir()
    (folder / ".git" / "notes.md").write_text("secret", encoding="utf-8")
    (folder / "link.txt").symlink_to(secret)
    (folder / "folder.txt").mkdir()
    outside = ("../secret.txt", "/etc/hostname.txt", "link.txt", "missing.pdf")
    of_no_kind = (".git/notes.md", ".hidden.txt", "folder.txt", "program.sh")
    of_no_name = ("a\0.txt", "a" * 5000 + ".txt", "")
    for names in (outside, of_no_kind, of_no_name):
        job = finished(store, worker, *names)
        page = client.get(f"/claims/{job}").text
        for number in range(1, len(names) + 1):
            assert status(client, job, number) == 404
            assert f"/claims/{job}/files/{number}" not in page


@pytest.mark.usefixtures("folder")
def test_a_document_that_a_result_does_not_have_has_no_file(
    client: FlaskClient, store: JobStore, worker: WorkerByHand
) -> None:
    job = finished(store, worker)
    assert [status(client, job, number) for number in (0, 7, 8)] == [404, 200, 404]
    answer = get(client, job, 8)
    assert "This server does not have the file of this document." in answer.text
    assert status(client, "no-claim") == 404
    pending = store.submit("Snow is white.", "esoteric")[0]
    assert status(client, pending.id) == 404


@pytest.mark.parametrize("change", [{"source": "vital"}, {"name": "other"}])
def test_files_of_a_corpus_that_is_not_searched_any_more_are_not_sent(
    client: FlaskClient,
    store: JobStore,
    worker: WorkerByHand,
    folder: Path,
    change: dict[str, str],
) -> None:
    describe_index(folder.parent, **{"name": "papers", "source": f"folder:{folder}"} | change)
    job = finished(store, worker)
    assert status(client, job) == 404
    assert f"/claims/{job}/files/" not in client.get(f"/claims/{job}").text

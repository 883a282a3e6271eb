"""The pages and the API of documents, with a worker that indexes by hand, and files of results."""

from __future__ import annotations

import io
import re
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import jsonschema  # type: ignore[import-untyped]
import pytest
from sqlalchemy import select
from werkzeug.datastructures import FileStorage
from werkzeug.test import TestResponse, encode_multipart

from settings import Settings
from tests.app.claim_documents import REPORT_CLAIM, claim_document, document_with_passages
from tests.app.client import Client, refusal
from tests.app.conftest import Start
from tests.app.index import describe_index
from tests.app.test_escaping import HOSTILE, assert_harmless
from tests.support.corpora import for_workers
from tests.support.encoders import WordEncoder
from worker.corpora.corpus_store import CorpusStore
from worker.corpora.indexing import index_corpus
from worker.schema import ComparedRow, ListRow

CLAIM = "The pier cost 4 million."
MB = 1_000_000
PDF = b"%PDF-1.4 a report"


@pytest.fixture
def client(start: Start, settings: Settings, tmp_path: Path) -> Client:
    minutes = tmp_path / "minutes"
    minutes.mkdir()
    (minutes / "may.txt").write_text("The council met in May.")
    return start(replace(settings, most_upload=MB, folders={"minutes": minutes}))


def sent_file(name: str, said: bytes) -> FileStorage:
    return FileStorage(io.BytesIO(said), name)


def form(title: str | None = None, **files: bytes) -> dict[str, Any]:
    """A form with files; of their names the last underscore stands for a dot."""
    sent: dict[str, Any] = {
        "files": [sent_file(".".join(f.rsplit("_", 1)), said) for f, said in files.items()]
    }
    return sent if title is None else sent | {"title": title}


def posted(client: Client, path: str, data: dict[str, Any]) -> TestResponse:
    boundary, body = encode_multipart(data)
    return client.post(path, data=body, content_type=f"multipart/form-data; boundary={boundary}")


def indexed(client: Client, name: str) -> str:
    index_corpus(for_workers(client.corpora), name, WordEncoder)
    return name


def made(client: Client, title: str = "Papers", **files: bytes) -> str:
    """Return the name of an indexed corpus with one file, or with these."""
    answer = posted(client, "/documents", form(title, **(files or {"a_txt": b"Ships go."})))
    assert answer.status_code == 303, answer.text
    return indexed(client, answer.location.rpartition("/")[2])


def test_files_are_uploaded_indexed_replaced_and_removed_on_the_pages(client: Client) -> None:
    answer = posted(client, "/documents", form("Norvik papers", pier_txt=b"It cost 4 million."))
    address = answer.location
    page = client.get(address).text
    assert "Waiting: the files are to be read and made searchable." in page
    assert "No worker is running" in page
    indexed(client, address.rpartition("/")[2])
    page = client.get(address).text
    assert "pier.txt" in page
    assert "1 passage" in page
    assert "data-works" not in page
    assert posted(client, f"{address}/files", form(pier_txt=b"A", b_exe=b"B")).status_code == 303
    assert "“b.exe” is not of a format that is read." in client.get(address).text
    assert client.post(f"{address}/rename", data={"title": "Piers"}).status_code == 303
    assert "<bdi>Piers</bdi>" in client.get("/documents").text
    assert client.post(f"{address}/files/remove", data={"file": "pier.txt"}).status_code == 303
    assert "There are no files yet." in client.get(address).text
    assert client.post(f"{address}/remove").location == "/documents"
    assert client.get(address).status_code == 404


def test_what_was_read_of_a_file_is_shown_as_text_with_its_headings_and_days(
    client: Client,
) -> None:
    minutes = (
        b"# Minutes of 3 January 2023\n\n## Mill & sails\n\nThe mill has 6 sails. Is 5 < 6?"
        b" It turns.\n\n## Pier\n\nThe pier is red.\n"
    )
    name = made(client, a_md=minutes, b_txt=b"Ships go.", c_txt=b"")
    corpus = client.get(f"/documents/{name}").text
    links = re.findall(rf'href="/documents/{name}/text\?file=(.*?)"', corpus)
    assert links == ["a.md", "b.txt"]
    page = client.get(f"/documents/{name}/text?file=a.md").text
    main = page.split("<main")[1].split("</main>")[0]
    assert re.findall(r"<h2><bdi>(.*?)</bdi></h2>", main) == ["Mill &amp; sails", "Pier"]
    assert re.findall(r'text of <time datetime="([\d-]+)', main) == ["2023-01-03"] * 2
    assert re.findall(r'<p dir="auto">(.*?)</p>', main) == [
        "The mill has 6 sails.",
        "Is 5 &lt; 6?",
        "It turns.",
        "The pier is red.",
    ]
    for file in ("c.txt", "b", "../../esoteric.db", ""):
        assert client.get(f"/documents/{name}/text", query_string={"file": file}).status_code == 404
    assert client.post(f"/documents/{name}/files/remove", data={"file": "a.md"}).status_code == 303
    assert client.get(f"/documents/{name}/text?file=a.md").status_code == 404
    assert client.get("/documents/nowhere/text?file=a.md").status_code == 404


def test_what_cannot_be_uploaded_is_said_in_the_form_and_leaves_nothing(client: Client) -> None:
    for data, says in (
        (form("Papers", a_exe=b"MZ"), "“a.exe” is not of a format that is read."),
        (form("Papers"), "No file was chosen."),
        (form("", a_txt=b"A"), "The corpus needs a title."),
        (form("Papers", a_txt=bytes(MB + 1)), "The upload is larger than 1 MB."),
        ({"title": "Papers", "folder": "/etc"}, "not among those that may be searched"),
    ):
        answer = posted(client, "/documents", data)
        assert answer.status_code == 422
        assert says in answer.text
        assert client.corpora.names() == []
    name = made(client)
    answer = posted(client, f"/api/v1/corpora/{name}/files", form(b_txt=bytes(3 * MB)))
    assert refusal(answer) == (413, "upload_too_large")  # before it is read
    assert [file.name for file in client.corpora.get(name).files] == ["a.txt"]


def test_a_service_for_others_takes_documents_if_its_operator_allows_it(
    settings: Settings, start: Start
) -> None:
    for more in ({"HOST": "0.0.0.0"}, {"ESOTERIC_ACCESS": "open"}):
        assert not Settings.from_environment(more).uploads
        assert Settings.from_environment(more | {"ESOTERIC_UPLOADS": "yes"}).uploads
    for alone in ({}, {"HOST": "::1"}):
        assert Settings.from_environment(alone).uploads
    client = start(replace(settings, uploads=False))
    name = client.services.corpora.make("Papers")
    assert "ESOTERIC_UPLOADS=yes" in client.get("/documents").text
    for path in ("/documents", f"/documents/{name}/files", f"/documents/{name}/remove"):
        assert posted(client, path, form("More", a_txt=b"A")).status_code == 403
    assert client.delete(f"/api/v1/corpora/{name}").status_code == 403
    assert client.services.corpora.names() == [name]


def test_a_program_makes_fills_lists_and_removes_a_corpus_as_described(client: Client) -> None:
    components = client.json("/api/v1/openapi.json")["components"]

    def detail(answer: TestResponse, status: int) -> Any:
        assert answer.status_code == status, answer.text
        schema = {"$ref": "#/components/schemas/CorpusDetail", "components": components}
        jsonschema.Draft202012Validator(schema).validate(answer.get_json())
        return answer.get_json()

    answer = client.post("/api/v1/corpora", json={"title": "Papers"})
    made = detail(answer, 201)
    address = answer.headers["Location"]
    assert (made["state"], made["searchable"]) == ("empty", False)
    waiting = detail(posted(client, f"{address}/files", form(a_txt=b"Ships go.", b_txt=b"")), 202)
    assert waiting["state"] == "waiting"
    indexed(client, made["name"])
    ready = detail(client.get(address), 200)
    assert (ready["state"], ready["documents"]) == ("ready", 1)
    files = [(file["name"], file["passages"]) for file in ready["files"]]
    assert files == [("a.txt", 1), ("b.txt", 0)]
    assert "empty" in ready["files"][1]["problems"][0]
    assert detail(client.patch(address, json={"title": "Piers"}), 200)["title"] == "Piers"
    listed = client.json("/api/v1/corpora")["corpora"]
    assert [one["title"] for one in listed] == ["Wikipedia introductions", "Piers"]
    assert len(detail(client.delete(f"{address}/files/b.txt"), 202)["files"]) == 1
    assert detail(client.post(f"{address}/index"), 202)["state"] == "waiting"
    folder = client.post("/api/v1/corpora", json={"title": "Minutes", "folder": "minutes"})
    assert detail(folder, 201)["folder"] == "minutes"
    assert client.delete(address).status_code == 204
    assert client.get(address).status_code == 404
    bodies: list[Any] = [{"name": "x"}, {"title": 7}, []]
    for wrong in bodies:
        assert client.post("/api/v1/corpora", json=wrong).status_code == 422
    malformed = client.post("/api/v1/corpora", data="{", content_type="application/json")
    assert malformed.status_code == 400
    assert client.post("/api/v1/corpora", data="title").status_code == 415


def test_a_claim_names_its_corpora_in_the_form_and_by_the_api(client: Client) -> None:
    name = made(client)
    for named, searched in (
        *(([], None), (["vital"], None), (["default"], None), ([name], (name,))),
        ([name, "vital", name], ("default", name)),
    ):
        assert client.sent(CLAIM, corpora=named).corpora == searched
    for named, code in (
        (["none-123456"], "unknown_corpus"),
        ([client.corpora.make("Empty")], "corpus_not_ready"),
    ):
        answer = client.post("/api/v1/claims", json={"claim": CLAIM, "corpora": named})
        assert refusal(answer)[1] == code
    page = client.get(f"/?corpora={name}").text
    assert f'value="{name}" aria-describedby="about-corpus-{name}" checked' in page
    answer = client.post("/claims", data={"claim": "It is long.", "corpora": ["default", name]})
    assert client.job_at(answer.location).corpora == ("default", name)
    client.corpora.remove(name)
    answer = client.post("/claims", data={"claim": "It is short.", "corpora": [name]})
    assert answer.status_code == 404
    assert "It is short." in answer.text  # what was typed stays


def test_what_follows_from_a_claim_is_checked_in_its_corpora_too(client: Client) -> None:
    name = made(client)
    job = client.store.submit(CLAIM, "combined", None, corpora=(name,))[0]
    client.worker.finish(job, claim_document(CLAIM))
    assert client.store.checked_before(CLAIM, "combined") is None  # in the default corpus
    hidden = f'<input type="hidden" name="corpora" value="{name}">'
    assert hidden in client.get(f"/claims/{job.id}").text
    box = f'value="{name}" aria-describedby="about-corpus-{name}" checked'
    assert box in client.get(f"/?edited_from={job.id}").text
    assert client.job_at(client.post(f"/claims/{job.id}/search-on").location).corpora == (name,)
    listed = {"claim": "Ships go.\nShips come.", "as": "list", "corpora": [name]}
    assert client.post("/claims", data=listed).status_code == 303
    assert f"corpora={name}" in client.get(f"/claims/{job.id}").text  # Compare recipes
    assert box in client.get(f"/compare?claim=Ships+go.&corpora={name}").text
    client.post("/compare", data={"claim": "Ships go.", "recipe": ["fer", "m3"], "corpora": [name]})
    with client.store.database.reading() as session:
        assert session.scalars(select(ListRow.corpora)).all() == [(name,)]
        compared = session.scalars(select(ComparedRow.claim_id)).all()
    assert [client.store.get(one).corpora for one in compared] == [(name,)] * 2
    client.corpora.remove(name)
    assert client.post(f"/claims/{job.id}/search-on").status_code == 404


def test_a_result_names_its_corpora_and_opens_the_files_of_each(client: Client) -> None:
    name = made(client)
    result = claim_document(CLAIM)
    part = {"documents": 1, "built_at": "2026-11-20T09:30:00Z", "text_date": None}
    result["corpus"]["parts"] = [
        part | {"name": "vital", "title": "Wikipedia introductions"},
        part | {"name": name, "title": "Papers", "text_date": "2024-03-05"},
    ]
    ids = (f"{name}:a.txt", "a.txt", f"{name}:../corpus.json")
    for document, of_file in zip(result["documents"], ids, strict=False):
        document |= {"id": of_file, "url": None}
    job = client.store.submit(CLAIM, "esoteric", corpora=("default", name))[0]
    client.worker.finish(job, result)
    page = client.get(f"/claims/{job.id}").text
    for said in ("<bdi>Wikipedia introductions</bdi>", "<bdi>Papers</bdi>, text of", "5 March"):
        assert said in page
    with client.get(f"/claims/{job.id}/files/1", buffered=True) as answer:
        assert answer.data == b"Ships go."
    for number in (2, 3):  # of the default corpus, and none
        assert client.get(f"/claims/{job.id}/files/{number}").status_code == 404
    client.corpora.remove(name)
    assert client.get(f"/claims/{job.id}/files/1").status_code == 404
    assert client.get(f"/claims/{job.id}").status_code == 200


def test_a_corpus_that_a_list_needs_is_removed_with_a_warning(client: Client) -> None:
    name = made(client, "Minutes")
    assert "1 list that is not done" not in client.get(f"/documents/{name}").text
    form = {"claims": "Trains go.\nTea is hot.", "corpora": name}
    address = client.post("/lists", data=form).location
    assert "Searched: <bdi>Minutes</bdi>" in client.get(address).text
    client.post(f"{address}/pause")  # it may go on
    assert "1 list that is not done" in client.get(f"/documents/{name}").text
    client.post(f"/documents/{name}/remove")
    page = client.get(address).text
    assert "A corpus of this list was removed, so 2 rows cannot be checked any more." in page
    assert name not in page
    client.post(f"{address}/cancel")  # no row waits any more
    assert "A corpus of this list" not in client.get(address).text


def test_hostile_titles_do_nothing_and_no_path_is_shown(client: Client, tmp_path: Path) -> None:
    hostile = HOSTILE[:59]
    files = [sent_file(f"{hostile[2:].replace('/', '')}.txt", b"A"), sent_file("b.txt", b"")]
    address = posted(client, "/documents", {"title": hostile, "files": files}).location
    folder = client.corpora.make("Folder", folder="minutes")
    for path in ("/documents", address, "/"):
        assert_harmless(client.get(path).text)
    indexed(client, address.rpartition("/")[2])
    for path in (address, "/"):
        assert_harmless(client.get(path).text)
    assert hostile in [one["title"] for one in client.json("/api/v1/corpora")["corpora"]]
    (tmp_path / "minutes" / "b.txt").write_bytes(b"")
    (tmp_path / "minutes" / "c.mp3").write_bytes(b"x")
    indexed(client, folder)
    for path in (address, f"/documents/{folder}"):
        for shown in (path, f"/api/v1/corpora/{path.rpartition('/')[2]}"):
            assert str(tmp_path) not in client.get(shown).text


def test_documents_that_a_worker_elsewhere_does_not_have_are_refused(client: Client) -> None:
    client.corpora.make_mark()
    workers, now = client.services.workers, datetime.now(UTC)
    workers.beat("near", now, "ready", documents=client.corpora.mark())
    name = made(client)
    workers.beat("far", now, "ready", documents=CorpusStore(Path("elsewhere"), {}).mark())
    answer = posted(client, "/documents", form("More", b_txt=b"Trains go."))
    assert (answer.status_code, client.corpora.names()) == (422, [name])
    assert "A worker on another machine does not have the documents" in answer.text
    for path, body in (
        ("/api/v1/claims", {"claim": CLAIM, "corpora": [name]}),
        ("/api/v1/corpora", {"title": "More"}),
    ):
        assert refusal(client.post(path, json=body)) == (422, "documents_not_shared")
    client.sent(CLAIM)
    workers.forget("far")
    assert posted(client, "/documents", form("More", b_txt=b"Trains go.")).status_code == 303


# The files of the user that a result was read from


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """Return the folder that the searched corpus was built from."""
    folder = tmp_path / "papers"
    folder.mkdir()
    (folder / "report.pdf").write_bytes(PDF)
    (folder / "rules.html").write_text("<h2>Dues</h2><script>alert(1)</script>", "utf-8")
    describe_index(tmp_path, name="papers", source=f"folder:{folder}")
    return folder


def finished(client: Client, *ids: str) -> str:
    """Return the id of a claim whose result has documents of files, with these ids if given."""
    result = document_with_passages()
    result["corpus"]["name"] = "papers"
    for item in (*result["evidence"], *result["documents"]):
        item["url"] = None
    for document, name in zip(result["documents"], ids, strict=False):
        document["id"] = name
    assert result["claim"] == REPORT_CLAIM
    return client.done(result).id


def file_of(client: Client, job: str, number: int = 1, **headers: str) -> TestResponse:
    """Return an answer whose file is closed."""
    with client.get(f"/claims/{job}/files/{number}", headers=headers, buffered=True) as answer:
        return answer


def test_files_are_shown_without_rights_in_their_encoding(client: Client, folder: Path) -> None:
    job = finished(client)
    page = client.get(f"/claims/{job}").text
    for link in (f"/claims/{job}/files/1#page=12", f"/claims/{job}/files/6#:~:text=Dues"):
        assert f'<a href="{link}" rel="external noopener nofollow">' in page
    answer = file_of(client, job)
    assert (answer.status_code, answer.data) == (200, PDF)
    assert answer.headers["Content-Type"] == "application/pdf"
    assert answer.headers["Content-Disposition"] == "inline; filename=report.pdf"
    assert answer.headers["X-Content-Type-Options"] == "nosniff"
    part = file_of(client, job, Range="bytes=1-3")
    assert (part.status_code, part.data) == (206, b"PDF")
    unchanged = file_of(client, job, **{"If-None-Match": part.headers["ETag"]})
    assert (unchanged.status_code, unchanged.data) == (304, b"")
    headers = file_of(client, job, 6).headers
    assert headers["Content-Type"] == "text/html; charset=utf-8"
    assert headers["Content-Security-Policy"].startswith("sandbox; default-src 'none';")
    for name, content, sent in (
        ("a.csv", "Ort;Köln".encode("cp1252"), "text/plain; charset=windows-1252"),
        ("a.csv", "Ort;Köln".encode(), "text/plain; charset=utf-8"),
        ("a.md#2", b"# Dues", "text/plain; charset=utf-8"),
        ("a.txt", b"a" * 999_999 + "ö".encode(), "text/plain; charset=utf-8"),
        ("a.html", "<meta charset=iso-8859-2>Łódź".encode("iso-8859-2"), "text/html"),
    ):
        for file in (name.partition("#")[0], "b.docx"):
            (folder / file).write_bytes(content)
        job = finished(client, name, "b.docx")
        answer = file_of(client, job)
        assert (answer.headers["Content-Type"], answer.data) == (sent, content)
        named = file_of(client, job, 2).headers["Content-Disposition"]
        assert named == "attachment; filename=b.docx"


def test_only_files_in_the_folder_of_the_corpus_are_sent(client: Client, folder: Path) -> None:
    def status(job: str, number: int = 1) -> int:
        return file_of(client, job, number).status_code

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
        job = finished(client, *names)
        page = client.get(f"/claims/{job}").text
        for number in range(1, len(names) + 1):
            assert status(job, number) == 404
            assert f"/claims/{job}/files/{number}" not in page
    job = finished(client)
    assert [status(job, number) for number in (0, 7, 8)] == [404, 200, 404]
    said = "This server does not have the file of this document."
    assert said in file_of(client, job, 8).text
    assert status("no-claim") == 404
    assert status(client.sent("Snow is white.").id) == 404
    for change in ({"source": "vital"}, {"name": "other"}):  # is searched now
        about = {"name": "papers", "source": f"folder:{folder}"} | change
        describe_index(folder.parent, **about)
        assert status(job) == 404
        assert f"/claims/{job}/files/" not in client.get(f"/claims/{job}").text

"""The pages and the API of documents, with a worker that indexes by hand."""

from __future__ import annotations

import io
import json
from collections.abc import Iterator
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import jsonschema  # type: ignore[import-untyped]
import pytest
from flask import Flask
from flask.testing import FlaskClient
from sqlalchemy import select
from werkzeug.datastructures import FileStorage
from werkzeug.test import TestResponse, encode_multipart

from app import create_app
from app.services import services_of
from settings import Settings
from tests.app.claim_documents import claim_document
from tests.app.test_escaping import HOSTILE, assert_harmless
from tests.app.worker_by_hand import WorkerByHand
from tests.support.corpora import for_workers
from tests.support.encoders import WordEncoder
from worker.corpora.corpus_store import CorpusStore
from worker.corpora.indexing import index_corpus
from worker.job_store import JobStore
from worker.schema import ComparedRow, ListRow

CLAIM = "The pier cost 4 million."
MB = 1_000_000


@pytest.fixture
def app(settings: Settings, tmp_path: Path) -> Iterator[Flask]:
    minutes = tmp_path / "minutes"
    minutes.mkdir()
    (minutes / "may.txt").write_text("The council met in May.")
    app = create_app(replace(settings, most_upload=MB, folders={"minutes": minutes}))
    yield app
    services_of(app).close()


@pytest.fixture
def corpora(app: Flask) -> CorpusStore:
    return services_of(app).corpora


def sent_file(name: str, said: bytes) -> FileStorage:
    return FileStorage(io.BytesIO(said), name)


def form(title: str | None = None, **files: bytes) -> dict[str, Any]:
    """A form with files; of their names the last underscore stands for a dot."""
    sent: dict[str, Any] = {
        "files": [sent_file(".".join(f.rsplit("_", 1)), said) for f, said in files.items()]
    }
    return sent if title is None else sent | {"title": title}


def posted(client: FlaskClient, path: str, data: dict[str, Any]) -> TestResponse:
    boundary, body = encode_multipart(data)
    return client.post(path, data=body, content_type=f"multipart/form-data; boundary={boundary}")


def made(client: FlaskClient, corpora: CorpusStore, title: str = "Papers", **files: bytes) -> str:
    """Return the name of an indexed corpus with one file, or with these."""
    answer = posted(client, "/documents", form(title, **(files or {"a_txt": b"Ships go."})))
    assert answer.status_code == 303, answer.text
    name = answer.headers["Location"].rpartition("/")[2]
    index_corpus(for_workers(corpora), name, WordEncoder)
    return name


def test_files_are_uploaded_indexed_replaced_and_removed_on_the_pages(
    client: FlaskClient, corpora: CorpusStore
) -> None:
    answer = posted(client, "/documents", form("Norvik papers", pier_txt=b"It cost 4 million."))
    address = answer.headers["Location"]
    name = address.rpartition("/")[2]
    page = client.get(address).text
    assert "Waiting for a worker to index the files." in page
    assert "No worker is running" in page
    index_corpus(for_workers(corpora), name, WordEncoder)
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
    assert client.post(f"{address}/remove").headers["Location"] == "/documents"
    assert client.get(address).status_code == 404


@pytest.mark.parametrize(
    ("data", "says"),
    [
        (form("Papers", a_exe=b"MZ"), "“a.exe” is not of a format that is read."),
        (form("Papers"), "No file was chosen."),
        (form("", a_txt=b"A"), "The corpus needs a title."),
        (form("Papers", a_txt=bytes(MB + 1)), "The upload is larger than 1 MB."),
        ({"title": "Papers", "folder": "/etc"}, "not among those that may be searched"),
    ],
)
def test_what_cannot_be_uploaded_is_said_in_the_form_and_leaves_nothing(
    client: FlaskClient, corpora: CorpusStore, data: dict[str, Any], says: str
) -> None:
    answer = posted(client, "/documents", data)
    assert answer.status_code == 422
    assert says in answer.text
    assert corpora.names() == []


def test_an_upload_that_is_far_too_large_is_refused_before_it_is_read(
    client: FlaskClient, corpora: CorpusStore
) -> None:
    name = made(client, corpora)
    answer = posted(client, f"/api/v1/corpora/{name}/files", form(b_txt=bytes(3 * MB)))
    assert answer.status_code == 413
    assert answer.get_json()["error"]["code"] == "upload_too_large"
    assert [file.name for file in corpora.get(name).files] == ["a.txt"]


def test_a_service_for_others_takes_no_documents_unless_its_operator_allows_it(
    settings: Settings, tmp_path: Path
) -> None:
    read = Settings.from_environment
    home = {"ESOTERIC_HOME": str(tmp_path)}
    assert not read(home | {"HOST": "0.0.0.0"}).uploads
    assert read(home | {"HOST": "0.0.0.0", "ESOTERIC_UPLOADS": "yes"}).uploads
    assert read(home | {"HOST": "::1"}).uploads
    app = create_app(replace(settings, uploads=False))
    name = services_of(app).corpora.make("Papers")
    client = app.test_client()
    assert "ESOTERIC_UPLOADS=yes" in client.get("/documents").text
    for path in ("/documents", f"/documents/{name}/files", f"/documents/{name}/remove"):
        assert posted(client, path, form("More", a_txt=b"A")).status_code == 403
    assert client.delete(f"/api/v1/corpora/{name}").status_code == 403
    assert services_of(app).corpora.names() == [name]
    services_of(app).close()


def test_a_program_makes_fills_lists_and_removes_a_corpus_as_described(
    client: FlaskClient, corpora: CorpusStore
) -> None:
    described = client.get("/api/v1/openapi.json").get_json()

    def detail(answer: TestResponse, status: int) -> Any:
        assert answer.status_code == status, answer.text
        reference = {"$ref": "#/components/schemas/CorpusDetail"}
        schema = reference | {"components": described["components"]}
        jsonschema.Draft202012Validator(schema).validate(answer.get_json())
        return answer.get_json()

    answer = client.post("/api/v1/corpora", json={"title": "Papers"})
    made = detail(answer, 201)
    address = answer.headers["Location"]
    assert (made["state"], made["searchable"]) == ("empty", False)
    waiting = detail(posted(client, f"{address}/files", form(a_txt=b"Ships go.", b_txt=b"")), 202)
    assert waiting["state"] == "waiting"
    index_corpus(for_workers(corpora), made["name"], WordEncoder)
    ready = detail(client.get(address), 200)
    assert (ready["state"], ready["documents"]) == ("ready", 1)
    assert [(file["name"], file["passages"]) for file in ready["files"]] == [
        ("a.txt", 1),
        ("b.txt", 0),
    ]
    assert "empty" in ready["files"][1]["problems"][0]
    assert detail(client.patch(address, json={"title": "Piers"}), 200)["title"] == "Piers"
    listed = client.get("/api/v1/corpora").get_json()
    assert [one["title"] for one in listed["corpora"]] == ["Wikipedia introductions", "Piers"]
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


def test_a_claim_names_its_corpora_in_the_form_and_by_the_api(
    client: FlaskClient, corpora: CorpusStore, store: JobStore
) -> None:
    name = made(client, corpora)

    def submitted(named: list[str]) -> Any:
        answer = client.post("/api/v1/claims", json={"claim": CLAIM, "corpora": named})
        return (
            store.get(answer.get_json()["id"]).corpora
            if answer.status_code == 202
            else answer.get_json()
        )

    assert submitted([]) is submitted(["vital"]) is submitted(["default"]) is None
    assert submitted([name]) == (name,)
    assert submitted([name, "vital", name]) == ("default", name)
    assert submitted(["none-123456"])["error"]["code"] == "unknown_corpus"
    assert submitted([corpora.make("Empty")])["error"]["code"] == "corpus_not_ready"
    page = client.get(f"/?corpora={name}").text
    assert f'value="{name}" aria-describedby="about-corpus-{name}" checked' in page
    answer = client.post("/claims", data={"claim": "It is long.", "corpora": ["default", name]})
    assert store.get(answer.headers["Location"].rpartition("/")[2]).corpora == ("default", name)
    corpora.remove(name)
    answer = client.post("/claims", data={"claim": "It is short.", "corpora": [name]})
    assert answer.status_code == 404
    assert "It is short." in answer.text  # what was typed stays


def test_what_follows_from_a_claim_is_checked_in_its_corpora_too(
    client: FlaskClient, corpora: CorpusStore, store: JobStore, worker: WorkerByHand
) -> None:
    name = made(client, corpora)
    job = store.submit(CLAIM, "combined", None, corpora=(name,))[0]
    worker.finish(job, claim_document(CLAIM))
    assert store.checked_before(CLAIM, "combined") is None  # in the default corpus
    hidden = f'<input type="hidden" name="corpora" value="{name}">'
    assert hidden in client.get(f"/claims/{job.id}").text
    box = f'value="{name}" aria-describedby="about-corpus-{name}" checked'
    assert box in client.get(f"/?edited_from={job.id}").text
    address = client.post(f"/claims/{job.id}/search-on").headers["Location"]
    assert store.get(address.rpartition("/")[2]).corpora == (name,)
    listed = {"claim": "Ships go.\nShips come.", "as": "list", "corpora": [name]}
    assert client.post("/claims", data=listed).status_code == 303
    with store.database.reading() as session:
        assert session.scalars(select(ListRow.corpora)).all() == [(name,)]
    assert f"corpora={name}" in client.get(f"/claims/{job.id}").text  # Compare recipes
    assert box in client.get(f"/compare?claim=Ships+go.&corpora={name}").text
    client.post("/compare", data={"claim": "Ships go.", "recipe": ["fer", "m3"], "corpora": [name]})
    with store.database.reading() as session:
        compared = session.scalars(select(ComparedRow.claim_id)).all()
    assert [store.get(one).corpora for one in compared] == [(name,)] * 2
    corpora.remove(name)
    assert client.post(f"/claims/{job.id}/search-on").status_code == 404


def of_both(name: str) -> dict[str, Any]:
    """Return a result of the default corpus and of another, whose first document is a file."""
    result = claim_document(CLAIM)
    part = {"documents": 1, "built_at": "2026-11-20T09:30:00Z", "text_date": None}
    result["corpus"]["parts"] = [
        part | {"name": "vital", "title": "Wikipedia introductions"},
        part | {"name": name, "title": "Papers", "text_date": "2024-03-05"},
    ]
    result["documents"][0] |= {"id": f"{name}:a.txt", "url": None}
    result["documents"][1] |= {"id": "a.txt", "url": None}
    result["documents"][2] |= {"id": f"{name}:../corpus.json", "url": None}
    return result


def test_a_result_names_its_corpora_and_opens_the_files_of_each(
    client: FlaskClient, corpora: CorpusStore, store: JobStore, worker: WorkerByHand
) -> None:
    name = made(client, corpora)
    job = store.submit(CLAIM, "esoteric", corpora=("default", name))[0]
    worker.finish(job, of_both(name))
    page = client.get(f"/claims/{job.id}").text
    for said in ("<bdi>Wikipedia introductions</bdi>", "<bdi>Papers</bdi>, text of", "5 March"):
        assert said in page
    with client.get(f"/claims/{job.id}/files/1", buffered=True) as answer:
        assert answer.data == b"Ships go."
    for number in (2, 3):  # of the default corpus, and none
        assert client.get(f"/claims/{job.id}/files/{number}").status_code == 404
    corpora.remove(name)
    assert client.get(f"/claims/{job.id}/files/1").status_code == 404
    assert client.get(f"/claims/{job.id}").status_code == 200


def test_a_corpus_that_a_list_needs_is_removed_only_after_a_warning_and_the_list_says_so(
    client: FlaskClient, corpora: CorpusStore
) -> None:
    name = made(client, corpora, "Minutes")
    assert "1 list that is not done" not in client.get(f"/documents/{name}").text
    form = {"claims": "Trains go.\nTea is hot.", "corpora": name}
    address = client.post("/lists", data=form).headers["Location"]
    assert "Searched: <bdi>Minutes</bdi>" in client.get(address).text
    assert "1 list that is not done" in client.get(f"/documents/{name}").text
    client.post(f"/documents/{name}/remove")
    page = client.get(address).text
    assert "A corpus of this list was removed, so 2 rows cannot be checked any more." in page
    assert name not in page
    client.post(f"{address}/cancel")  # no row waits any more
    assert "A corpus of this list" not in client.get(address).text


def test_hostile_titles_and_names_of_files_do_nothing(
    client: FlaskClient, corpora: CorpusStore
) -> None:
    hostile = HOSTILE[:59]
    answer = posted(
        client,
        "/documents",
        {"title": hostile, "files": [sent_file(f"{hostile[2:].replace('/', '')}.txt", b"A")]},
    )
    address = answer.headers["Location"]
    for path in ("/documents", address, "/"):
        assert_harmless(client.get(path).text)
    index_corpus(for_workers(corpora), address.rpartition("/")[2], WordEncoder)
    for path in (address, "/"):
        assert_harmless(client.get(path).text)
    assert json.loads(client.get("/api/v1/corpora").text)["corpora"][1]["title"] == hostile


def test_documents_that_a_worker_on_another_machine_does_not_have_are_refused(
    app: Flask, client: FlaskClient, corpora: CorpusStore
) -> None:
    corpora.make_mark()
    workers, now = services_of(app).workers, datetime.now(UTC)
    workers.beat("near", now, "ready", documents=corpora.mark())
    name = made(client, corpora)
    workers.beat("far", now, "ready", documents=CorpusStore(Path("elsewhere"), {}).mark())
    answer = posted(client, "/documents", form("More", b_txt=b"Trains go."))
    assert (answer.status_code, corpora.names()) == (422, [name])
    assert "A worker on another machine does not have the documents" in answer.text
    for path, body in (
        ("/api/v1/claims", {"claim": CLAIM, "corpora": [name]}),
        ("/api/v1/corpora", {"title": "More"}),
    ):
        refused = client.post(path, json=body)
        assert refused.status_code == 422
        assert refused.get_json()["error"]["code"] == "documents_not_shared"
    assert client.post("/api/v1/claims", json={"claim": CLAIM}).status_code == 202
    workers.forget("far")
    assert posted(client, "/documents", form("More", b_txt=b"Trains go.")).status_code == 303


def test_no_path_of_the_server_is_shown(
    client: FlaskClient, corpora: CorpusStore, tmp_path: Path
) -> None:
    name = made(client, corpora, "Minutes", a_txt=b"")
    folder = corpora.make("Folder", folder="minutes")
    (tmp_path / "minutes" / "b.txt").write_bytes(b"")
    (tmp_path / "minutes" / "c.mp3").write_bytes(b"x")
    index_corpus(for_workers(corpora), folder, WordEncoder)
    for one in (name, folder):
        for path in (f"/documents/{one}", f"/api/v1/corpora/{one}"):
            assert str(tmp_path) not in client.get(path).text

"""Whatever was accepted can be exported in every format, with all characters of Unicode in it."""

from __future__ import annotations

import csv
import io
import json
from typing import get_args

import openpyxl
from flask.testing import FlaskClient
from werkzeug.test import TestResponse

from app.comparisons.files import FILES
from app.lists.export import ListFormat
from app.result.export import EXPORTS
from tests.app.claim_documents import claim_document
from tests.app.worker_by_hand import WorkerByHand
from worker.job_store import JobStore

CLAIM = "The Lighthouse of Varn was built by Ida Holm."
HALVES = range(0xD800, 0xE000)
WHOLE = "".join(chr(code) for code in range(0x110000) if code not in HALVES)


def exports(client: FlaskClient, submitted: TestResponse) -> dict[str, TestResponse]:
    """Return every export of a list; of one that nobody has confirmed there is no ClaimReview."""
    assert submitted.status_code == 202
    address = f"{submitted.headers['Location']}/export"
    names = [name for name in get_args(ListFormat) if name != "claimreview"]
    answers = {name: client.get(f"{address}?format={name}") for name in names}
    assert {name: one.status_code for name, one in answers.items()} == dict.fromkeys(answers, 200)
    return answers


def cells(answers: dict[str, TestResponse], row: int, column: int) -> list[object]:
    """Return one cell of each export of a list that is a table."""
    table = io.StringIO(answers["csv"].data.decode("utf-8-sig"), newline="")
    book = openpyxl.load_workbook(io.BytesIO(answers["xlsx"].data))
    return [rows[row][column] for rows in (list(csv.reader(table)), list(book.active.values))]


def test_a_list_with_all_of_unicode_has_every_export(client: FlaskClient) -> None:
    notes = [WHOLE[at : at + 16_000] for at in range(0, len(WHOLE), 16_000)]
    rows = [{"claim": f"Tea {note[:400]} is hot.", "note": note} for note in notes]
    body = json.dumps({"claims": rows}, ensure_ascii=False).encode()
    sent = client.post("/api/v1/lists", data=body, content_type="application/json")
    answers = exports(client, sent)
    number = next(number for number, note in enumerate(notes) if "\ufffe" in note)
    line = json.loads(answers["jsonl"].text.split("\n")[number])
    assert line["row"]["note"] == notes[number]
    in_csv, in_xlsx = cells(answers, number + 1, 1)
    assert str(in_csv).replace("'", "") == notes[number]  # no cell is a formula
    assert in_xlsx == str(in_csv).translate({0xFFFE: None, 0xFFFF: None})  # nor can XML have these


def test_a_file_with_half_characters_and_endless_numbers_has_every_export(
    client: FlaskClient,
) -> None:
    note = "".join(map(chr, reversed(HALVES)))  # in their order two would become one character
    halves = json.dumps({"claim": "Ice is cold.", "note": note, "\ud800": 1})
    lines = f'{{"claim": "Rain is wet.", "note": 1e999}}\n{halves}'.encode()
    file = (io.BytesIO(lines), "a\x85\u2028\ufffe\uffff\U0010ffff.jsonl")
    answers = exports(client, client.post("/api/v1/lists", data={"file": file}))
    assert cells(answers, 1, 1) == ["1e999", "1e999"]
    assert cells(answers, 2, 1) == [len(HALVES) * "\ufffd"] * 2


def test_a_result_with_all_of_unicode_has_every_export(
    client: FlaskClient, store: JobStore, worker: WorkerByHand
) -> None:
    result = claim_document(CLAIM)
    result["evidence"][0] |= {"sentence": WHOLE, "title": WHOLE[:0x3000]}
    result["evidence"][1] |= {"url": f"https://a.example/{WHOLE[:0x3000]}"}
    jobs = [store.submit(f"{CLAIM} {recipe}", recipe)[0] for recipe in ("esoteric", "combined")]
    for job in jobs:
        worker.finish(job, result)
    address = f"/api/v1/claims/{jobs[0].id}"
    given = {"agrees": True, "name": WHOLE[:99], "note": WHOLE[0xD000:0xD700]}
    assert client.post(f"{address}/feedback", json=given).status_code == 201
    both = ",".join(job.id for job in jobs)
    addresses = [
        *(f"{address}/export?format={name}" for name in EXPORTS),
        *(f"/api/v1/compare/export?claims={both}&format={name}" for name in FILES),
        *(f"/api/v1/feedback/export?format={name}" for name in ("claims", "pairs")),
        "/yours.json",
    ]
    answers = {name: client.get(name).status_code for name in addresses}
    for name in ("csv", "json"):
        sent = {"claim": both.split(","), "do": name}
        answers[name] = client.post("/claims/selected", data=sent).status_code
    assert answers == dict.fromkeys(answers, 200)

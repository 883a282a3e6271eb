"""Claims, what is typed into the box, and lists that are pasted: read, or refused in words."""

from __future__ import annotations

import json
import unicodedata

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from app.claims.box import entered
from app.lists.input import list_input, pasted
from retrieval.claim import LONGEST, read_claim
from retrieval.claim_lists.files import ListFile, read_claims
from retrieval.errors import BadSource, EsotericError, InvalidClaim
from tests.hostile.strategies import quickly, texts, values, whole
from worker.schema import storable


def assert_said(error: EsotericError) -> None:
    """Check that an error has all three parts."""
    assert error.code
    assert 0 < len(error.message) < 2000
    assert error.hint


@given(texts, st.booleans())
@example("Tea is hot\x85", False)
@example("It is \xc3\xa0 la carte.", False)
@example("Mar\xc3\xada was a queen.", False)
@example("\x85\xe2\u20ac\u2122 is an apostrophe.", False)
def test_a_claim_is_read_or_refused_and_what_was_read_stays_the_same(
    text: str, anyway: bool
) -> None:
    with quickly():
        try:
            read = read_claim(text, anyway)
        except InvalidClaim as error:
            assert_said(error)
            return
    assert 0 < len(read.original) <= LONGEST
    for shown in (read.text, read.original):
        assert unicodedata.is_normalized("NFC", shown)
        assert not {"Cc", "Cf", "Cs"} & {unicodedata.category(c) for c in read.text}
    assert read_claim(read.original, anyway).text == read.text


@given(values)
def test_what_is_no_text_is_no_claim(value: object) -> None:
    if not isinstance(value, str):
        with pytest.raises(InvalidClaim) as refused:
            read_claim(value)
        assert refused.value.code == "claim_not_text"


@given(texts)
@example("a" * 20_000)
@example("A. " * 7_000)
@example("\n" * 20_000)
def test_what_is_typed_into_the_box_is_a_claim_a_list_or_a_text(text: str) -> None:
    with quickly():
        found = entered(text)
    assert all(row.strip() for row in found.rows)


@given(texts)
@example("\ud800 is half of a character.\nTea is hot.")
@example("claim\tnote\nTea is hot.\t\\u0000\nTea is cold.\t\x00")
def test_a_pasted_list_is_read_or_refused_and_can_be_stored(text: str) -> None:
    with quickly():
        try:
            found = list_input(pasted(text), "", "")
        except BadSource as error:
            assert_said(error)
            return
    json.dumps(storable([[one.claim, one.others] for one in found.entries])).encode()
    assert "\0" not in str(storable([one.claim for one in found.entries]))


def test_a_row_that_is_nested_too_deep_is_refused_and_the_others_are_read() -> None:
    deep = "[" * 600 + "]" * 600
    lines = f'{{"claim": "Tea is hot.", "note": {deep}}}\n{{"claim": "Tea is cold.", "note": [[]]}}'
    first, second = read_claims(ListFile("list.jsonl", lines.encode()))
    assert first.problem is not None
    assert "50 levels" in first.problem.message
    assert storable(second.others) == {"note": [[]]}


@given(st.lists(st.dictionaries(st.sampled_from(["claim", "note", "\x00", "\\"]), values)))
@example([{"claim": "Tea is hot.", "note": "\\u0000"}, {"claim": "Tea is cold.", "note": {}}])
def test_objects_of_json_are_read_row_by_row_and_can_be_stored(rows: list[object]) -> None:
    content = json.dumps(rows).encode()
    lines = "\n".join(map(json.dumps, rows)).encode()
    for file in (ListFile("list.json", content), ListFile("list.jsonl", lines)):
        with quickly():
            try:
                found = list_input(file, "", "")
            except BadSource as error:
                assert_said(error)
                continue
        assert len(found.entries) == len(rows)
        others = storable([entry.others for entry in found.entries])
        json.dumps(others, ensure_ascii=False).encode()


_ENDINGS = (".csv", ".tsv", ".xlsx", ".xlsm", ".json", ".jsonl", ".ndjson", ".txt", "", ".xls")


@given(
    st.one_of(st.binary(max_size=2000), texts.map(lambda text: whole(text).encode())),
    st.sampled_from(_ENDINGS),
    st.one_of(st.none(), texts),
)
@example(b"claim\n" + b'"' * 20_000, ".csv", None)
@example(b"[" * 100_000, ".json", None)
@example(b"1" * 10_000, ".json", None)
@example(b"PK\x03\x04" + bytes(1000), ".xlsx", None)
def test_any_bytes_under_any_name_are_a_list_or_refused(
    content: bytes, ending: str, column: str | None
) -> None:
    with quickly():
        try:
            rows = read_claims(ListFile(f"list{ending}", content), column)
        except BadSource as error:
            assert_said(error)
            return
    assert all(isinstance(row.claim, str) for row in rows)


@given(st.lists(texts.map(whole).filter(lambda text: text.strip()), min_size=1))
def test_claims_in_json_come_back_as_they_were_written(claims: list[str]) -> None:
    rows = read_claims(ListFile("list.json", json.dumps(claims).encode()))
    assert [row.claim for row in rows] == claims


def test_ten_megabytes_in_one_line_are_read_or_refused() -> None:
    line = "Tea is hot. " * 850_000
    for ending in (".txt", ".csv", ".jsonl", ".json"):
        with quickly(10):
            try:
                rows = read_claims(ListFile(f"list{ending}", line.encode()))
            except BadSource as error:
                assert_said(error)
            else:
                assert len(rows) <= 1

"""Claims, lists, records, uploads, answers of models: read, or refused in words, and in time."""

from __future__ import annotations

import io
import json
import re
import struct
import tempfile
import unicodedata
import warnings
import zipfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path, PurePosixPath

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from app.claims.box import entered
from app.lists.input import list_input, pasted
from research.evaluation.claims import read_fever_claims
from retrieval.claim import LONGEST, read_claim
from retrieval.claim_lists.files import ListFile, read_claims
from retrieval.corpora import passages
from retrieval.corpora.corpus import BadPage, Corpus, Page
from retrieval.corpora.folder import columns, plain_text, running_text, tree
from retrieval.corpora.records import USUAL, JsonlCorpus
from retrieval.corpora.wiki import fever
from retrieval.corpora.wiki.fever import FeverCorpus
from retrieval.errors import BadSource, EsotericError, InvalidClaim
from retrieval.llm_judge.answer import LONGEST_MISSING, LONGEST_RATIONALE, AnswerInvalid, checked
from retrieval.llm_judge.prompt import Prompt
from retrieval.quantities.computed import with_computed
from retrieval.stages.decide import comparison
from retrieval.text import subject
from tests.hostile.strategies import quickly, texts, values, whole
from worker.corpora.corpus_store import CorpusStore
from worker.corpora.errors import CorpusRefused
from worker.corpora.uploads import Upload, receive
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
def test_a_claim_is_refused_or_read_and_then_stays_the_same(text: str, anyway: bool) -> None:
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


@given(values, st.lists(texts.map(whole).filter(lambda text: text.strip()), min_size=1))
def test_what_is_no_text_is_no_claim_and_texts_in_json_come_back(
    value: object, claims: list[str]
) -> None:
    if not isinstance(value, str):
        with pytest.raises(InvalidClaim) as refused:
            read_claim(value)
        assert refused.value.code == "claim_not_text"
    rows = read_claims(ListFile("list.json", json.dumps(claims).encode()))
    assert [row.claim for row in rows] == claims


def test_a_row_that_is_nested_too_deep_is_refused_and_the_others_are_read() -> None:
    deep = "[" * 600 + "]" * 600
    lines = f'{{"claim": "Tea is hot.", "note": {deep}}}\n{{"claim": "Tea is cold.", "note": [[]]}}'
    first, second = read_claims(ListFile("list.jsonl", lines.encode()))
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
def test_any_bytes_are_a_list_or_refused(content: bytes, ending: str, column: str | None) -> None:
    with quickly():
        try:
            rows = read_claims(ListFile(f"list{ending}", content), column)
        except BadSource as error:
            assert_said(error)
            return
    assert all(isinstance(row.claim, str) for row in rows)


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


_KEYS = ["id", "text", "lines", "title", "url", "claim", "label", "evidence", "verifiable"]
records = st.one_of(
    st.fixed_dictionaries({}, optional=dict.fromkeys(_KEYS, st.one_of(texts, values))), values
)
lines = st.one_of(
    records.map(lambda record: json.dumps(record).encode()),
    texts.map(lambda text: whole(text).encode()),
    st.binary(max_size=200),
)
files = st.lists(lines, max_size=6).map(b"\n".join)


def read_corpus(make: Callable[[Path], Corpus], name: str, content: bytes) -> None:
    """Read a file of these bytes; each page is whole, or says why it is none."""
    with tempfile.TemporaryDirectory() as folder, quickly(6):
        (Path(folder) / name).write_bytes(content)
        try:
            found = [page for chunk, _ in make(Path(folder)).chunks() for page in chunk]
        except BadSource as error:
            assert_said(error)
            return
    for page in found:
        if isinstance(page, BadPage):
            assert page.message
            assert page.hint
        else:
            assert isinstance(page, Page)
            assert page.id


@given(files)
@example(b"[" * 2000)
@example(b'{"id": "a", "text": "' + b"x" * 1_000_000 + b'"}')
@example(b'[{"id": "a", "text": "b"}, ' + b"[" * 2000)
@example(b'{"id": "\\ud800", "title": "\\ud800", "text": "\\ud800 is half of a character."}')
@example(b'{"id": 1' + b"0" * 10_000 + b', "text": "A ship."}')
def test_any_file_of_json_lines_is_read_line_by_line(content: bytes) -> None:
    read_corpus(lambda folder: JsonlCorpus(folder / "a.jsonl", USUAL), "a.jsonl", content)


@given(files)
@example(b'{"id": "A", "text": "A .", "lines": "0\\tA .\\tA\\n1\\t\\n9' + b"9" * 5000 + b'\\tB ."}')
@example(b'{"id": "A", "text": "A .", "lines": "' + b"-LRB- " * 20_000 + b'"}')
@example(b'{"id": "' + b"-LRB-" * 10_000 + b'", "text": "A .", "lines": "0\\tA ."}')
def test_any_file_of_fever_is_read_line_by_line(content: bytes) -> None:
    read_corpus(FeverCorpus, "wiki-001.jsonl", content)


@given(files)
@example(b'{"id": 1, "label": "SUPPORTS", "claim": "A", "evidence": [[[1, 2, "A", 9e999]]]}')
@example(b'{"id": 1, "label": "SUPPORTS", "claim": "A", "evidence": [[["A"]], 4, null]}')
def test_any_file_of_fevers_claims_is_read_or_refused(content: bytes) -> None:
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "dev.jsonl"
        file.write_bytes(content)
        with quickly():
            try:
                found = read_fever_claims(file)
            except BadSource as error:
                assert_said(error)
                return
    assert all(one.text for one in found)


MOST = 200_000
SAID = b"Ships go."
NAMES = (
    *("../../x.txt", "/etc/passwd.txt", "..\\..\\x.txt", "C:\\x.txt", "\\\\host\\x.txt"),
    *("CON.txt", "nul.txt", "LPT1.txt", ".hidden.txt", ". ./x.txt", "\u200b../x.txt", "~/x.txt"),
    *("a.txt", "A.TXT", "å.txt", "a\u030a.txt", "a\u200b.txt", "\u202etxt.a.txt", "x.txt/y.txt"),
    *("x\0.txt", "\0", "a/" * 400 + "x.txt", "x" * 300 + ".txt", "é" * 300 + ".txt", "a.txt/"),
    *("corpus.json", "../corpus.json", "lock", "a.zip", "a.exe", "%2e%2e/x.txt", "x.txt\n"),
    *(" .txt", "a//b.txt"),
)
names = st.one_of(st.sampled_from(NAMES), texts.map(lambda text: f"{whole(text)[:400]}.txt"))


@contextmanager
def corpus() -> Iterator[tuple[CorpusStore, str, Path]]:
    with tempfile.TemporaryDirectory() as folder:
        store = CorpusStore(Path(folder) / "documents", {})
        yield store, store.make("Papers"), Path(folder)


def zipped(files: list[tuple[str, bytes]]) -> bytes:
    content = io.BytesIO()
    with warnings.catch_warnings(), zipfile.ZipFile(content, "w") as archive:
        warnings.simplefilter("ignore")  # about names that come twice
        for name, said in files:
            member = zipfile.ZipInfo(name)
            member.filename = name  # NUL and what comes after it too
            archive.writestr(member, said, zipfile.ZIP_DEFLATED)
    return content.getvalue()


def taken(uploads: list[Upload]) -> list[str] | None:
    """Upload files to a new corpus; return their names there, or ``None`` if they are refused."""
    with corpus() as (store, name, folder):
        try:
            with quickly(), store.receiving() as place:
                received = receive(uploads, place, MOST)
                store.add(name, received.files, received.left_out)
        except CorpusRefused as error:
            assert_said(error)
            assert store.get(name).files == ()
            return None
        finally:
            # Nothing is left beside the corpus, and nothing left its folder.
            assert [path.name for path in folder.iterdir()] == ["documents"]
            assert [path.name for path in (folder / "documents").iterdir()] == [name]
            kept = sorted(path.name for path in (folder / "documents" / name).iterdir())
            assert set(kept) <= {"corpus.json", "digests.json", "files", "lock"}
        found = [one.name for one in store.get(name).files]
        assert store.get(name).title == "Papers"
        for file in found:
            assert unicodedata.is_normalized("NFC", file)
            assert all(unicodedata.category(c)[0] != "C" for c in file)
            assert all(len(part.encode()) <= 255 for part in PurePosixPath(file).parts)
            store.remove_file(name, file)
        return found


@given(st.lists(names, min_size=1, max_size=6))
@example(["x.txt", "x.txt/y.txt"])
@example(["a\u030a.txt", "å.txt"])
def test_files_of_any_name_are_stored_below_their_corpus_or_refused(written: list[str]) -> None:
    taken([Upload(name, io.BytesIO(SAID)) for name in written])


@given(st.lists(st.tuples(names, st.binary(max_size=200)), max_size=6))
@example([("a.txt", b"1"), ("A.TXT", b"2"), ("å.txt", b"3"), ("a\u030a.txt", b"4")])
@example([("\0.txt", SAID)])
@example([("x.txt", SAID), ("inner.zip", zipped([("y.txt", SAID)]))])
def test_a_zip_is_unpacked_below_its_corpus_or_refused(files: list[tuple[str, bytes]]) -> None:
    taken([Upload("papers.zip", io.BytesIO(zipped(files)))])


@given(st.integers(0, 400), st.binary(min_size=1, max_size=8))
def test_a_zip_with_other_bytes_anywhere_is_unpacked_or_refused(at: int, other: bytes) -> None:
    content = bytearray(zipped([("a.txt", SAID * 9), ("b/c.txt", bytes(range(99)))]))
    at %= len(content)
    content[at : at + len(other)] = other
    taken([Upload("papers.zip", io.BytesIO(bytes(content)))])


def test_a_directory_of_a_million_files_is_refused_before_it_is_read() -> None:
    header = struct.pack("<HHHHHIIIHH", 20, 0, 0, 0, 33, 0, 0, 0, 1, 0)
    one = b"PK\x03\x04" + header + b"a"
    entry = b"PK\x01\x02\x14\x00" + header + struct.pack("<HHHII", 0, 0, 0, 0, 0) + b"a"
    directory = entry * 1_000_000
    end = struct.pack("<HHHHIIH", 0, 0, 65535, 65535, len(directory), len(one), 0)
    content = one + directory + b"PK\x05\x06" + end
    with (
        tempfile.TemporaryDirectory() as folder,
        quickly(),
        pytest.raises(CorpusRefused) as refused,
    ):
        receive([Upload("a.zip", io.BytesIO(content))], Path(folder), len(content))
    assert refused.value.code == "zip_too_large"


def test_a_zip_whose_files_share_their_bytes_is_refused_and_one_in_a_zip_stays() -> None:
    # As in David Fifield's bomb: many entries name one file, so that 40 kB unpack to gigabytes.
    said = zipped([("a.txt", bytes(MOST))])
    start = said.index(b"PK\x01\x02")
    directory = said[start : said.index(b"PK\x05\x06")] * 500
    end = struct.pack("<HHHHIIH", 0, 0, 500, 500, len(directory), start, 0)
    bomb = said[:start] + directory + b"PK\x05\x06" + end
    assert len(bomb) < 50_000
    assert taken([Upload("a.zip", io.BytesIO(bomb))]) is None
    both = zipped([("x.txt", SAID), ("b.zip", zipped([("y.txt", SAID)]))])
    assert taken([Upload("a.zip", io.BytesIO(both))]) == ["x.txt"]


ASKED = Prompt("Tea is hot.", {1: ("Tea", "Tea is a hot drink."), 3: ("Cup", "A cup.")}, False, ())
LABELS = ["SUPPORTS", "REFUTES", "NOT ENOUGH INFO"]
answers = st.fixed_dictionaries(
    {
        "rationale": st.one_of(texts, values),
        "cites": st.one_of(st.lists(st.integers(0, 4), max_size=4), values),
        "label": st.one_of(st.sampled_from(LABELS), values),
        "missing": st.one_of(st.just(""), texts, values),
    },
    optional={"more": values},
)


def read_answer(text: str) -> None:
    with quickly():
        try:
            answer = checked(text, ASKED)
        except AnswerInvalid as error:
            said = str(error)
        else:
            said = ""
    assert len(said) < 200  # nothing of the answer, which may be hostile
    if said:
        return
    assert 0 < len(answer.rationale) <= LONGEST_RATIONALE
    assert len(answer.missing) <= LONGEST_MISSING
    assert set(answer.cites) <= ASKED.pieces.keys()
    assert answer.cites or answer.label == LABELS[2]


@given(st.one_of(texts, values.map(json.dumps)))
@example("[" * 200_000)
@example('{"rationale": "' + "“" * 50_000)
@example("```" * 50_000)
@example("```json" + "\n" * 200_000 + "{}")
def test_any_text_is_an_answer_or_is_refused(text: str) -> None:
    read_answer(text)


@given(answers, st.sampled_from(["{}", "```json\n{}\n```", "```{}", " {} ", "Here: {}"]))
@example({"rationale": "\u2018a" * 300, "cites": [1], "label": "SUPPORTS", "missing": ""}, "{}")
@example({"rationale": '"' * 700, "cites": [1], "label": "SUPPORTS", "missing": ""}, "{}")
@example({"rationale": ". " * 350, "cites": [1], "label": "SUPPORTS", "missing": ""}, "{}")
def test_any_object_is_an_answer_or_is_refused(answer: object, around: str) -> None:
    read_answer(around.replace("{}", json.dumps(answer)))


def test_an_answer_that_keeps_the_rules_comes_back_as_it_is() -> None:
    for label in LABELS:
        said = {"rationale": "It is “a hot drink”.", "cites": [1, 3], "label": label, "missing": ""}
        assert checked(json.dumps(said), ASKED).model_dump(mode="json") == said


MANY = 100_000


@pytest.mark.parametrize(
    ("expression", "text"),
    [
        (tree._COMMENT, "/*" * MANY),
        (tree._RULE, "a" * MANY),
        (tree._RULE, "a{" * MANY),
        (tree._NESTED, "@" * MANY),
        (tree._NESTED, "@a{" * MANY),
        (tree._TRICKS, "opacity:" * MANY),
        (plain_text._CELLS, "a" + " " * MANY),
        (passages._EDIT, " " * MANY + "x"),
        (running_text._LEADERS, "." * MANY + " a b c"),
        (running_text._LEADERS, ". " * MANY + "a b c"),
        (running_text._TO_A_PAGE, "." * MANY + "a"),
        (running_text._TO_A_PAGE, ". " * MANY + "a"),
        (columns.FIGURES, "1" * MANY + "ab"),
        (fever._BEFORE, " " * MANY + "x"),
        (subject._ASIDE, "(" * MANY),
        (comparison._BRACKETS, "(" * MANY),
        (comparison._BRACKETS, " " * MANY),
    ],
)
def test_many_repetitions_take_no_minutes(expression: re.Pattern[str], text: str) -> None:
    with quickly(5):
        expression.sub("", text)
        expression.fullmatch(text)


def test_what_is_computed_of_a_long_text_takes_no_minutes() -> None:
    text = "in 1914 5 women, from 3 to 4 of 60 men and " * MANY
    with quickly(5):
        noted = with_computed("More than 4 women and 40 percent of the men came by 1920.", text)
    assert len(text) < len(noted) < len(text) + 1000

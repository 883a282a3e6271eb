"""Lines of FEVER and of JSON: a page, or why it is none."""

from __future__ import annotations

import json
import tempfile
from pathlib import Path

from hypothesis import example, given
from hypothesis import strategies as st

from research.evaluation.claims import read_fever_claims
from retrieval.corpora.corpus import BadPage, Corpus, Page
from retrieval.corpora.records import USUAL, JsonlCorpus
from retrieval.corpora.wiki.fever import FeverCorpus
from retrieval.errors import BadSource
from tests.hostile.strategies import quickly, texts, values, whole
from tests.hostile.test_claims import assert_said

_KEYS = ["id", "text", "lines", "title", "url", "claim", "label", "evidence", "verifiable"]
records = st.one_of(
    st.fixed_dictionaries({}, optional=dict.fromkeys(_KEYS, st.one_of(texts, values))),
    values,
)
lines = st.one_of(
    records.map(lambda record: json.dumps(record).encode()),
    texts.map(lambda text: whole(text).encode()),
    st.binary(max_size=200),
)
files = st.lists(lines, max_size=6).map(b"\n".join)


def read(corpus: Corpus) -> None:
    with quickly(6):
        try:
            found = [page for chunk, _ in corpus.chunks() for page in chunk]
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
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "pages.jsonl"
        file.write_bytes(content)
        try:
            corpus = JsonlCorpus(file, USUAL)
        except BadSource:
            return
        read(corpus)


@given(files)
@example(b'{"id": "A", "text": "A .", "lines": "0\\tA .\\tA\\n1\\t\\n9' + b"9" * 5000 + b'\\tB ."}')
@example(b'{"id": "A", "text": "A .", "lines": "' + b"-LRB- " * 20_000 + b'"}')
@example(b'{"id": "' + b"-LRB-" * 10_000 + b'", "text": "A .", "lines": "0\\tA ."}')
def test_any_file_of_fever_is_read_line_by_line(content: bytes) -> None:
    with tempfile.TemporaryDirectory() as folder:
        (Path(folder) / "wiki-001.jsonl").write_bytes(content)
        read(FeverCorpus(Path(folder)))


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

"""In which encoding a file is read; in the cases each character stands for one byte."""

from __future__ import annotations

from retrieval.corpora.decoding import decoded, encoding_of_page, is_binary
from tests.support.cases import cases


@cases("decoding", "content", "declared", "text")
def test_a_text_is_read_in_its_encoding(content: str, declared: str | None, text: str) -> None:
    assert decoded(content.encode("latin-1"), declared) == text
    assert not is_binary(content.encode("latin-1"))


@cases("decoding", "page", "declared")
def test_a_page_declares_its_encoding(page: str, declared: str | None) -> None:
    assert encoding_of_page(page.encode()) == declared


@cases("decoding", "binary")
def test_pictures_and_texts_in_unknown_encodings_are_not_read(binary: str) -> None:
    assert is_binary(binary.encode("latin-1"))

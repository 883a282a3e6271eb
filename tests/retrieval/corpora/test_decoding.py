"""In which encoding a file is read."""

from __future__ import annotations

import pytest

from retrieval.corpora.decoding import decoded, encoding_of_page, is_binary

TEXT = "Zoë’s café – 5 €"  # noqa: RUF001


@pytest.mark.parametrize(
    ("content", "declared"),
    [
        (TEXT.encode(), None),
        (TEXT.encode("utf-8-sig"), None),
        (TEXT.encode("utf-16"), None),
        (b"\xfe\xff" + TEXT.encode("utf-16-be"), "utf-8"),
        (TEXT.encode("utf-32"), None),
        (TEXT.encode("utf-16-le"), None),
        (TEXT.encode("utf-16-be"), "iso-8859-1"),
        (TEXT.encode("cp1252"), None),
        (TEXT.encode("cp1252"), "iso-8859-1"),
        (TEXT.encode("cp1252"), "nobody-knows"),
        (TEXT.encode("cp1252"), "hex"),
        (TEXT.encode("cp1252"), "utf-8"),
        (TEXT.encode(), "iso-8859-1"),
    ],
)
def test_a_text_is_read_in_its_encoding(content: bytes, declared: str | None) -> None:
    assert decoded(content, declared) == TEXT
    assert not is_binary(content)


def test_a_declared_encoding_counts_if_the_text_is_not_utf_8() -> None:
    assert decoded("Żółw".encode("iso-8859-2"), "iso-8859-2") == "Żółw"


def test_a_damaged_byte_is_lost_and_the_others_of_utf_8_are_not() -> None:
    assert decoded(TEXT.encode() * 2 + b" \xe9") == f"{TEXT}{TEXT} \ufffd"


@pytest.mark.parametrize(
    ("page", "declared"),
    [
        (b'<meta charset="windows-1250">', "windows-1250"),
        (b'<META content="text/html; charset=ISO-8859-2" http-equiv=x>', "ISO-8859-2"),
        (b'<?xml version="1.0" encoding="koi8-r"?>', "koi8-r"),
        (b"<p>charset=koi8-r</p>", None),
    ],
)
def test_a_page_declares_its_encoding(page: bytes, declared: str | None) -> None:
    assert encoding_of_page(page) == declared


@pytest.mark.parametrize(
    "content",
    [b"\x89PNG\r\n\x1a\n\0\0\xff", b"It is red.\0", "Это старая лампа.".encode("cp1251")],
)
def test_pictures_and_texts_in_unknown_encodings_are_not_read(content: bytes) -> None:
    assert is_binary(content)


def test_a_name_that_no_encoding_can_have_is_unknown() -> None:
    assert decoded(b"caf\xe9", "a\0b") == "caf\xe9"

"""How operators name sources, and what is refused."""

from __future__ import annotations

from pathlib import Path

import pytest

from retrieval.sources.address import SourceAddress, given_source, read_sources
from tests.support.cases import cases


@cases("source_addresses", "written", "place")
def test_an_address_says_where_a_source_is(written: str, place: str) -> None:
    assert SourceAddress.read(written).place == place


@cases("source_addresses", "written", "refused")
def test_what_is_no_address_is_refused(written: str, refused: str) -> None:
    with pytest.raises(ValueError, match=refused):
        SourceAddress.read(written)


def test_a_setting_names_several_sources(tmp_path: Path) -> None:
    file = tmp_path / "small wiki.zim"
    file.touch()
    found = read_sources(f"wikipedia=mediawiki:en 'small=zim-search:{file}'")
    assert list(found) == ["wikipedia", "small"]
    assert (found["wikipedia"].title, found["small"].title) == ("Wikipedia", "small wiki")
    assert found["wikipedia"].sent == "Words and names of the claim are sent to en.wikipedia.org."
    assert found["small"].sent == ""
    for wrong in ("mediawiki:en", "a=mediawiki:en a=mediawiki:de", "default=mediawiki:en", "'a"):
        with pytest.raises(ValueError, match="cannot be used"):
            read_sources(wrong)


def test_a_wiki_may_be_named_with_a_day(tmp_path: Path) -> None:
    (tmp_path / "a.zim").touch()
    known = read_sources(f"wikipedia=mediawiki:en file=zim-search:{tmp_path}/a.zim")
    older = given_source("wikipedia@2024-05-01", known)
    assert older is not None
    assert (older.before, older.title) == ("2024-05-01", "Wikipedia before 2024-05-01")
    assert given_source("papers", known) is None
    for wrong, why in (("wikipedia@2024-13-01", "is no day"), ("file@2024-05-01", "of one day")):
        with pytest.raises(ValueError, match=why):
            given_source(wrong, known)

"""Sources on the command line: named by an address, before a day, listed and cleared."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.cli.test_commands import error_line, esoteric

pytestmark = [pytest.mark.models, pytest.mark.server]

CLAIM = "Skerrow bridge is open to carts."


def test_a_claim_is_checked_in_a_wiki_as_it_was_before_a_day(
    index: Path, wiki_address: str
) -> None:
    home = index.parent
    corpus = ("--corpus", f"mediawiki:{wiki_address}")
    run = esoteric(home, "check", CLAIM, *corpus, "--before", "2020-05-31", "--json")
    document = json.loads(run.stdout)
    assert run.stderr == "Words and names of the claim are sent to 127.0.0.1.\n"
    assert document["verdict"]["label"] == "SUPPORTS"
    assert document["evidence"][0]["date"] == "2019-03-01"
    assert "&oldid=" in document["evidence"][0]["url"]
    (part,) = document["corpus"]["parts"]
    assert (part["kind"], part["title"]) == ("mediawiki", "127.0.0.1 before 2020-05-31")

    listed = esoteric(home, "sources").stdout
    assert "No sources." in listed
    assert "1 article" in listed
    assert "removed" in esoteric(home, "sources", "--clear").stderr
    assert json.loads(esoteric(home, "sources", "--json").stdout) == {"sources": [], "kept": []}


@pytest.mark.parametrize(
    ("arguments", "status", "said"),
    [
        (("--corpus", "mediawiki:nowhere.org"), 2, "is no address of a wiki"),
        (("--corpus", "zim-search:/no/file.zim"), 2, "is not a file"),
        (("--corpus", "mediawiki:en"), 1, "Set ESOTERIC_CONTACT"),
        (("--corpus", "mediawiki:en", "--before", "May"), 2, "is no day"),
        (("--before", "2024-05-01"), 2, "--before reads a wiki"),
    ],
)
def test_a_source_that_cannot_be_searched_is_one_line(
    index: Path, arguments: tuple[str, ...], status: int, said: str
) -> None:
    run = esoteric(index.parent, "check", CLAIM, *arguments)
    assert said in error_line(run, status)

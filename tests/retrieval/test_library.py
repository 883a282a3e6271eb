"""ESOTERIC as a library: ``from retrieval import check, open_index``."""

from __future__ import annotations

from pathlib import Path

import pytest

from examples.check_in_python import main as example
from retrieval import check, open_index
from retrieval.errors import IndexUnavailable, InvalidClaim, UnknownRecipe
from tests.support.command import printed

_IMPORT = """
import os, sys
before, loaded = dict(os.environ), set(sys.modules)
import retrieval
print(dict(os.environ) == before)
new = {m.split(".")[0] for m in set(sys.modules) - loaded}
print(sorted(new - sys.stdlib_module_names))
"""


@pytest.mark.server
def test_its_import_loads_no_library_and_leaves_the_environment_as_it_is() -> None:
    assert printed(_IMPORT) == ["True", "['retrieval']"]


def test_a_folder_without_an_index_is_refused(tmp_path: Path) -> None:
    with pytest.raises(IndexUnavailable):
        open_index(tmp_path / "index")


def test_a_password_in_a_location_that_cannot_be_used_is_not_shown() -> None:
    with pytest.raises(IndexUnavailable, match="Name a folder, or elasticsearch:") as refused:
        open_index("elasticsearch://elastic:secret@localhost:port/notes")
    assert "secret" not in str(refused.value)


@pytest.mark.models
def test_a_claim_is_checked_in_three_lines(index: Path) -> None:
    opened = open_index(index)
    result = check("Ann Lee designed Skerrow Light.", opened)
    assert (result.verdict.label, result.recipe) == ("SUPPORTS", "combined")
    assert result.evidence[0].document == "Skerrow_Light"
    assert result.document()["corpus"]["documents"] == 6
    assert check("Ann Lee died in Paris.", index=opened, recipe="esoteric").recipe == "esoteric"


@pytest.mark.models
def test_what_cannot_be_checked_is_refused_before_any_search(index: Path) -> None:
    opened = open_index(str(index))
    with pytest.raises(InvalidClaim):
        check("Who designed Skerrow Light?", opened)
    with pytest.raises(UnknownRecipe):
        check("Ann Lee designed Skerrow Light.", opened, recipe="unknown")


@pytest.mark.models
def test_the_example_prints_verdict_and_evidence(
    index: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    example(str(index), "Ann Lee designed Skerrow Light.")
    first, second, *_ = capsys.readouterr().out.splitlines()
    assert first.startswith("SUPPORTS (0.")
    assert "It was designed by Ann Lee" in second

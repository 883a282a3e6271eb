"""ESOTERIC as a library: ``from retrieval import check, open_index``, and what a check returns."""

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from pydantic import TypeAdapter, ValidationError

from examples.check_in_python import main as example
from retrieval import check, open_index
from retrieval.errors import IndexUnavailable, InvalidClaim, UnknownRecipe
from retrieval.index.embedded.layout import write_meta
from retrieval.index.interface import Description
from retrieval.index.open import description_of
from retrieval.result import ClaimResult, claim_result, esoteric_version
from retrieval.types import RankedDocument, Report
from tests.app.claim_documents import claim_document, document_kept_from_before
from tests.app.index import description_file
from tests.support.command import printed

_IMPORT = """
import os, sys
before, loaded = dict(os.environ), set(sys.modules)
import retrieval
print(dict(os.environ) == before)
new = {m.split(".")[0] for m in set(sys.modules) - loaded}
print(sorted(new - sys.stdlib_module_names))
import retrieval.index.open
import settings
print({"elasticsearch", "faiss", "numpy", "tantivy"} & set(sys.modules))
"""


@pytest.mark.server
def test_its_import_loads_no_library_and_leaves_the_environment_as_it_is() -> None:
    assert printed(_IMPORT) == ["True", "['retrieval']", "set()"]


def test_what_is_no_index_is_refused_and_no_password_is_shown(tmp_path: Path) -> None:
    with pytest.raises(IndexUnavailable):
        open_index(tmp_path / "index")
    with pytest.raises(IndexUnavailable, match="Name a folder, or elasticsearch:") as refused:
        open_index("elasticsearch://elastic:secret@localhost:port/notes")
    assert "secret" not in str(refused.value)


@pytest.mark.models
def test_a_claim_is_checked_in_three_lines(index: Path, capsys: pytest.CaptureFixture[str]) -> None:
    opened = open_index(index)
    result = check("Ann Lee designed Skerrow Light.", opened)
    assert (result.verdict.label, result.recipe) == ("SUPPORTS", "combined")
    assert result.evidence[0].document == "Skerrow_Light"
    assert result.document()["corpus"]["documents"] == 6
    assert check("Ann Lee died in Paris.", index=opened, recipe="esoteric").recipe == "esoteric"
    with pytest.raises(InvalidClaim):
        check("Who designed Skerrow Light?", open_index(str(index)))
    with pytest.raises(UnknownRecipe):
        check("Ann Lee designed Skerrow Light.", opened, recipe="unknown")
    example(str(index), "Ann Lee designed Skerrow Light.")
    first, second, *_ = capsys.readouterr().out.splitlines()
    assert first.startswith("SUPPORTS (0.")
    assert "It was designed by Ann Lee" in second


NOTES = Description(name="notes", source="folder:/notes", encoder="words", documents=3)


def test_a_description_is_read_from_an_index_of_any_format(tmp_path: Path) -> None:
    path = description_file(tmp_path)
    with pytest.raises(IndexUnavailable, match="There is no index yet"):
        description_of(tmp_path / "index")
    path.parent.mkdir(parents=True)
    write_meta(path.parent, NOTES)
    assert description_of(tmp_path / "index") == NOTES
    path.write_text(json.dumps({"format": 0, "name": "notes", "source": "list", "pages": 3}))
    assert description_of(tmp_path / "index") == Description(name="notes", source="list")


# --- the claim document

CASES = Path(__file__).parents[1] / "cases"
REPORT = TypeAdapter(Report).validate_json((CASES / "report.json").read_text(encoding="utf-8"))
PIER = REPORT.documents[0].document
# Numbers have four decimal places; keys stand in this order, which is what scripts read.
DOCUMENT = (CASES / "claim_document.json").read_text(encoding="utf-8").strip()
DOCUMENT = DOCUMENT.replace("VERSION", esoteric_version())


def written(result: ClaimResult) -> str:
    return json.dumps(result.document())


def test_a_report_becomes_this_document_byte_for_byte_and_is_read_and_written_as_it_was() -> None:
    assert written(claim_result(REPORT)) == DOCUMENT
    assert written(ClaimResult.model_validate_json(DOCUMENT)) == DOCUMENT


def test_a_document_is_credited_to_its_file_or_its_site_or_the_corpus() -> None:
    file = replace(PIER, source="report.pdf, page 2, modified on 2024-03-05")
    nowhere = replace(PIER, url="https://[::1")
    documents = tuple(RankedDocument(one, 1, ("title",), 1) for one in (file, PIER, nowhere))
    result = claim_result(replace(REPORT, documents=documents))
    credited = [document.source for document in result.documents]
    assert credited == ["report.pdf, page 2, modified on 2024-03-05", "a.example", "coast"]


def test_a_document_of_another_version_has_defaults_and_other_keys_are_ignored() -> None:
    older = document_kept_from_before("The pier is old.")
    del older["notices"]
    result = ClaimResult.model_validate(older)
    assert (result.notices, result.verdict.opinions, result.usage) == ((), (), None)
    assert (result.claim_as_written, result.statements) == (None, ())
    assert result.not_settled is None
    assert {item.path for item in result.evidence} == {()}
    assert {(hop.label, hop.best, hop.stopped) for hop in result.hops} == {(None, (), None)}
    assert written(result) == json.dumps(older)
    # Unknown keys are ignored, and a number that JSON lacks is refused.
    document = claim_document("The pier is old.")
    other: dict[str, Any] = {**document, "mood": "calm"}
    other["verdict"] = {**document["verdict"], "mood": ["calm"]}
    assert ClaimResult.model_validate(other) == ClaimResult.model_validate(document)
    with pytest.raises(ValidationError):
        ClaimResult.model_validate({**json.loads(DOCUMENT), "seconds": {"total": "nan"}})

"""What users bring to commands: corpora, sources and a verifier of their own; with real models."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from mcp import Client

from cli.options import AmbiguousCorpus, corpora_asked
from retrieval.models.encoders import MiniLMEncoder
from retrieval.models.own_verifier import SequenceClassifier, read_calibration, read_classifier
from retrieval.types import LABELS
from settings import Settings
from tests.app.index import describe_index
from tests.cli.test_commands import error_line
from tests.cli.test_mcp import session, text_of
from tests.retrieval.models.tiny_models import write_tiny_classifier
from tests.support.command import esoteric
from tests.support.corpora import for_workers
from tests.support.json_lines import write_json_lines
from worker.corpora.corpus_store import CorpusStore
from worker.corpora.errors import CorpusNotReady
from worker.corpora.indexing import index_corpus
from worker.database import Database
from worker.job_store import JobStore

pytestmark = [pytest.mark.models, pytest.mark.server]

SOLD = "Skerrow Light was sold to Tom Berg in 1960."


@pytest.fixture(scope="module")
def home(index: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A home with the index of all tests, the corpus “Papers”, and an empty one."""
    home = tmp_path_factory.mktemp("home")
    for one in index.parent.iterdir():
        (home / one.name).symlink_to(one)
    store = CorpusStore(home / "documents", {})
    name = store.make("Papers")
    with store.receiving() as place:
        (place / "deed.txt").write_text(f"{SOLD} The keeper moved to Varnby.\n")
        store.add(name, [("deed.txt", place / "deed.txt")], [])
    index_corpus(for_workers(store), name, MiniLMEncoder)
    store.make("Empty")
    return home


def test_claim_and_list_are_checked_against_the_corpora_named(home: Path, tmp_path: Path) -> None:
    run = esoteric(home, "check", SOLD, "--corpus", "papers", "--json")
    found = json.loads(run.stdout)
    assert found["verdict"]["label"] == "SUPPORTS"
    assert [part["title"] for part in found["corpus"]["parts"]] == ["Papers"]
    default = json.loads(esoteric(home, "check", SOLD, "--json", "--corpus", "islands").stdout)
    assert (default["corpus"]["name"], default["corpus"]["parts"]) == ("islands", [])

    claims, out = tmp_path / "claims.txt", tmp_path / "out.jsonl"
    claims.write_text(f"{SOLD}\nSkerrow Light was designed by Ann Lee.\n")
    named = ("--corpus", "Papers", "--corpus", "default")
    first = esoteric(home, "batch", str(claims), "-o", str(out), *named)
    assert "could not be checked" not in first.stderr
    lines = [json.loads(line) for line in out.read_text().splitlines()]
    assert [line["verdict"]["label"] for line in lines] == ["SUPPORTS", "SUPPORTS"]
    again = esoteric(home, "batch", str(claims), "-o", str(out), *named)
    assert "2 had been checked before" in again.stderr
    other = esoteric(home, "batch", str(claims), "-o", str(out))
    assert "the current index" in error_line(other)  # of the default corpus alone
    settings = Settings.from_environment({"ESOTERIC_HOME": str(home)})
    jobs = JobStore(Database(settings.database_url))
    assert all(len(jobs.get(job.id).corpora or ()) == 2 for job in jobs.recent(2))

    wrong = error_line(esoteric(home, "check", SOLD, "--corpus", "Paper"))
    assert "There is no corpus with the name or title 'Paper'" in wrong
    assert "“Papers”" in wrong
    assert "cannot be searched yet" in error_line(esoteric(home, "check", SOLD, "--corpus=empty"))


def test_an_assistant_lists_corpora_and_searches_and_checks_in_one(home: Path) -> None:
    async def talk(client: Client) -> None:
        listed = await client.call_tool("list_corpora", {})
        assert listed.structured_content is not None
        corpora = {one["title"]: one for one in listed.structured_content["corpora"]}
        assert list(corpora) == ["islands", "Empty", "Papers"]
        assert [one["searchable"] for one in corpora.values()] == [True, False, True]
        assert [one["default"] for one in corpora.values()] == [True, False, False]

        chosen = {"corpus": [corpora["Papers"]["name"]]}
        near = await client.call_tool("search_evidence", {"query": "a sale", "limit": 1, **chosen})
        assert SOLD in text_of(near)
        checked = await client.call_tool("check_claim", {"claim": SOLD, **chosen})
        assert checked.structured_content is not None
        assert checked.structured_content["verdict"] == "SUPPORTS"
        wrong = await client.call_tool("check_claim", {"claim": SOLD, "corpus": ["none"]})
        assert wrong.is_error
        assert "Use one of: default (“islands”), " in text_of(wrong)

    session(home, talk)


BRIDGE = "Skerrow bridge is open to carts."


def test_a_claim_is_checked_in_a_wiki_as_before_a_day(index: Path, wiki_address: str) -> None:
    home = index.parent
    corpus = ("--corpus", f"mediawiki:{wiki_address}")
    run = esoteric(home, "check", BRIDGE, *corpus, "--before", "2020-05-31", "--json")
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


def test_a_name_that_several_corpora_have_is_refused_with_all_of_them(tmp_path: Path) -> None:
    describe_index(tmp_path)
    settings = Settings.from_environment({"ESOTERIC_HOME": str(tmp_path)})
    store = CorpusStore(settings.documents, {})
    papers, other, third = (store.make(title) for title in ("Papers", "Other", "Third"))
    # Titles that an older version allowed.
    for name, title in ((other, papers.upper()), (third, "Default")):
        file = store.place(name) / "corpus.json"
        file.write_text(json.dumps(json.loads(file.read_text()) | {"title": title}))

    for asked, meant in ((papers, (papers, other)), ("DEFAULT", ("default", third))):
        with pytest.raises(AmbiguousCorpus) as caught:
            corpora_asked(settings, [asked])
        assert all(name in caught.value.message for name in meant)
    with pytest.raises(CorpusNotReady):  # its title is its own, and it has no files
        corpora_asked(settings, ["papers"])
    assert corpora_asked(settings, []) is None


PAIRS = [
    {"claim": f"Ann Lee designed {n} lighthouses.", "label": LABELS[n % 3], "title": "Ann Lee"}
    | {"evidence": "She designed four lighthouses and two bridges."}
    for n in range(40)
]


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return write_tiny_classifier(tmp_path / "my-nli")


@pytest.fixture
def pairs(tmp_path: Path) -> Path:
    return write_json_lines(tmp_path / "pairs.jsonl", *PAIRS)


def version_in(folder: Path) -> str:
    files = read_classifier(folder)
    return SequenceClassifier(files, read_calibration(files)).version


def verifier_finding(home: Path, folder: Path) -> dict[str, Any]:
    run = esoteric(home, "doctor", "--json", ESOTERIC_VERIFIER=folder)
    findings = json.loads(run.stdout)["findings"]
    found: dict[str, Any] = next(f for f in findings if f["subject"] == "verifier")
    return found


def test_a_verifier_is_calibrated_and_used_with_its_calibration(
    index: Path, folder: Path, pairs: Path, tmp_path: Path
) -> None:
    home = index.parent
    before = verifier_finding(home, folder)
    assert before["works"]
    assert before["detail"].startswith(f"{version_in(folder)}, labels REFUTES, NOT ENOUGH INFO, SU")
    assert f"calibrate --verifier {folder} --data DATA" in before["detail"]

    run = esoteric(home, "calibrate", "--verifier", folder, "--data", pairs)
    assert run.returncode == 0, run.stderr
    assert run.stdout.startswith("temperature ")
    assert run.stderr.strip() == str(folder / "esoteric-calibration.json")
    calibration = json.loads((folder / "esoteric-calibration.json").read_text(encoding="utf-8"))
    assert set(calibration) == {"temperature", "bias", "fitted_to"}

    after = verifier_finding(home, folder)
    assert after["detail"] == f"{version_in(folder)}, labels REFUTES, NOT ENOUGH INFO, SUPPORTS"
    assert "calibrated" in version_in(folder)

    out = tmp_path / "out"
    measured = esoteric(home, "evaluate", "--pairs", pairs, "--out", out, ESOTERIC_VERIFIER=folder)
    assert measured.returncode == 0, measured.stderr
    results = json.loads((out / "pairs" / "results.json").read_text(encoding="utf-8"))
    assert results["model"] == version_in(folder)
    assert version_in(folder) in (out / "pairs" / "report.md").read_text(encoding="utf-8")


def test_a_verifier_that_cannot_be_used_gets_one_line_from_every_command(
    index: Path, folder: Path, pairs: Path, tmp_path: Path
) -> None:
    few = tmp_path / "few.jsonl"
    few.write_text("".join(pairs.read_text().splitlines(keepends=True)[:29]))
    run = esoteric(index.parent, "calibrate", "--verifier", folder, "--data", few)
    assert (run.returncode, run.stdout) == (1, "")
    assert "contains 29 claims with evidence, too few" in run.stderr
    assert not (folder / "esoteric-calibration.json").exists()
    (folder / "model.safetensors").unlink()
    home, broken = index.parent, {"ESOTERIC_VERIFIER": folder}
    commands = [
        ("check", "Skerrow Light was designed by Ann Lee."),
        ("batch", pairs, "-o", tmp_path / "out.jsonl"),
        ("evaluate", "--pairs", pairs, "--out", tmp_path / "out"),
        ("calibrate", "--verifier", folder, "--data", pairs),
    ]
    for command in commands:
        run = esoteric(home, *command, **broken)
        assert (run.returncode, run.stdout) == (1, ""), command
        (line,) = run.stderr.strip().splitlines()
        assert "my-nli contains no model.safetensors." in line
    finding = verifier_finding(home, folder)
    assert not finding["works"]
    assert "tokenizer.json" in finding["mend"]
    nowhere = esoteric(home, "check", "A claim.", ESOTERIC_VERIFIER=tmp_path / "nowhere")
    assert nowhere.returncode == 2
    assert "ESOTERIC_VERIFIER is" in nowhere.stderr

"""What ``--corpus`` names: an uploaded corpus or a source, or it is refused; with real models."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from mcp import Client

from cli.options import AmbiguousCorpus, corpora_asked
from retrieval.models.encoders import MiniLMEncoder
from settings import Settings
from tests.app.index import describe_index
from tests.cli.test_commands import error_line, esoteric
from tests.cli.test_mcp import session, text_of
from tests.support.corpora import for_workers
from worker.corpora.corpus_store import CorpusStore
from worker.corpora.errors import CorpusNotReady
from worker.corpora.indexing import index_corpus
from worker.database import Database
from worker.job_store import JobStore

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


@pytest.mark.models
@pytest.mark.server
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


@pytest.mark.models
@pytest.mark.server
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


@pytest.mark.models
@pytest.mark.server
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

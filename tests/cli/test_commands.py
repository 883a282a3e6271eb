"""The command line as users run it: an error is one line, never a traceback."""

from __future__ import annotations

import json
import os
import shutil
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import click
import openpyxl
import pytest
from click.testing import CliRunner

from cli.batch import Made
from cli.main import main
from research.commands import train
from retrieval.index.embedded.embedded_index import EmbeddedIndex
from retrieval.index.interface import BuildProgress
from retrieval.llm_judge.choice import LanguageModelChoice
from retrieval.recipes.recipes import DEFAULT_RECIPE, RECIPES
from retrieval.result import ClaimResult
from retrieval.types import CorpusInfo
from settings import CHECKOUT
from tests.app.claim_documents import (
    claim_document,
    document_with_a_model,
    document_without_evidence,
)
from tests.retrieval.index.pages import many
from tests.support.cases import cases
from tests.support.command import Ran, esoteric, in_a_process
from tests.support.islands import write_source
from tests.support.waiting import wait_until
from tests.worker.test_database_file import damage_events
from worker.database import Database
from worker.job_store import ClaimFilter, JobStore

pytestmark = [pytest.mark.models, pytest.mark.server]

CLAIM = "Skerrow Light was designed by Ann Lee."


def error_line(run: Ran, status: int = 1) -> str:
    assert run.returncode == status, run.stderr
    assert run.stdout == ""
    lines = run.stderr.strip().splitlines()
    assert len(lines) == 1
    assert lines[0].startswith("esoteric: ")
    return lines[0]


@pytest.fixture(scope="module")
def home(index: Path) -> Path:
    return index.parent


def test_check_prints_one_json_document_and_nothing_else(home: Path) -> None:
    run = in_a_process(home, "check", CLAIM, "--json", PYTHONIOENCODING="ascii")
    document = json.loads(run.stdout)
    assert (run.returncode, run.stderr) == (0, "")
    assert document["claim"] == CLAIM
    assert document["verdict"]["label"] == "SUPPORTS"
    assert set(document) == set(ClaimResult.model_fields)
    # A terminal that lacks some characters still gets the verdict.
    run = in_a_process(home, "check", CLAIM, PYTHONIOENCODING="ascii")
    assert run.stdout.startswith("SUPPORTED ("), run.stderr
    assert "Skerrow Light: It was designed by Ann Lee" in " ".join(run.stdout.split())
    assert in_a_process(home, "--version").stdout.startswith("esoteric")


@cases("commands_refused", "arguments", "status", "said")
def test_what_is_refused_gets_one_line_without_a_password(
    home: Path, tmp_path: Path, arguments: list[str], status: int, said: str
) -> None:
    for name, content in (
        *(("claims.txt", CLAIM), ("bad.jsonl", "nonsense\n"), ("claims.ods", "")),
        *(("claims.csv", "id,sentence\n1,foo\n"), ("claims.json", "[{]")),
    ):
        (tmp_path / name).write_text(content)
    line = error_line(esoteric(home, *(word.format(tmp_path) for word in arguments)), status)
    assert said in line
    assert "secret" not in line
    assert (tmp_path / "bad.jsonl").read_text() == "nonsense\n"
    assert (tmp_path / "claims.txt").read_text() == CLAIM


def test_settings_and_disks_that_cannot_be_used_get_one_line(home: Path, tmp_path: Path) -> None:
    run = in_a_process(home, "check", CLAIM, ESOTERIC_THREADS="many")
    assert "ESOTERIC_THREADS is 'many'; set it to a whole number" in error_line(run, status=2)
    said = error_line(esoteric(tmp_path, "check", CLAIM, "--json"))
    assert "esoteric index build --source vital" in said
    (tmp_path / "claims.txt").write_text(CLAIM + "\n")
    full = esoteric(home, "batch", tmp_path / "claims.txt", "-o", "/dev/full").stderr
    assert "esoteric: The disk is full. Make room" in full


def commands(of: click.Command | None = main, *path: str) -> Iterator[tuple[str, ...]]:
    yield path
    if isinstance(of, click.Group):
        for name in of.list_commands(context := click.Context(of)):
            yield from commands(of.get_command(context, name), *path, name)


def test_the_help_of_every_command_has_an_example(home: Path) -> None:
    found = list(commands())
    assert len(found) > 25
    for command in found:
        run = esoteric(home, *command, "--help")
        assert run.returncode == 0
        assert "Example: esoteric" in run.stdout, command


@pytest.fixture
def mine(tmp_path: Path) -> Path:
    """The recipe esoteric with one hop, in a file."""
    printed = esoteric(tmp_path, "recipes", "esoteric", "--yaml")
    changed = printed.stdout.replace("name: esoteric", "name: mine").replace("hops: 2", "hops: 1")
    file = tmp_path / "mine.yaml"
    file.write_text(changed)
    return file


def test_a_recipe_is_printed_changed_and_checked_from_its_file(home: Path, mine: Path) -> None:
    document = json.loads(esoteric(home, "check", CLAIM, "--recipe", mine, "--json").stdout)
    assert (document["recipe"], document["verdict"]["label"]) == ("mine", "SUPPORTS")
    assert len(document["hops"]) == 1
    assert "ends:     decided, after 1 hop at most" in esoteric(home, "recipes", mine).stdout
    question = ("check", "Who designed Skerrow Light?", "--anyway", "--recipe", "mine", "--json")
    by_name = json.loads(esoteric(home, *question, ESOTERIC_RECIPES=mine.parent).stdout)
    assert (by_name["recipe"], by_name["claim"]) == ("mine", "Who designed Skerrow Light?")
    mine.write_text(mine.read_text().replace("- relevance", "- relevence"))
    for arguments in (
        ("check", CLAIM, "--recipe", mine),
        ("evaluate", "--claims", __file__, "--out", mine.parent, "--recipe", mine),
    ):
        assert error_line(esoteric(home, *arguments), status=2).endswith(
            "mine.yaml, line 12: 'hop' cannot have the stage 'relevence'. Do you mean relevance?"
        )
    said = error_line(esoteric(home, "up", ESOTERIC_RECIPES=mine.parent), status=2)
    assert "mine.yaml, line 12" in said


def test_recipes_are_listed_and_shown_with_their_stages_and_settings(home: Path) -> None:
    lines = esoteric(home, "recipes").stdout.splitlines()
    assert [line.split(": ")[0].removesuffix(" (default)") for line in lines] == list(RECIPES)
    assert [line for line in lines if line.startswith(f"{DEFAULT_RECIPE} (default): ")]
    lines = [line.strip() for line in esoteric(home, "recipes", "report").stdout.splitlines()]
    assert lines[0].startswith("report: ")
    assert "first:    spans:wikineural, titles:spacy, texts, questions:t5, ranking:dpr" in lines
    assert "* document_limit = 10" in lines  # in the other recipes 6
    recipe = json.loads(esoteric(home, "recipes", "report", "--json").stdout)["recipes"][0]
    assert recipe["hop"][-1] == "verdict"


def test_batch_keeps_its_recipe_and_mixes_no_other_in(
    home: Path, mine: Path, tmp_path: Path
) -> None:
    (tmp_path / "claims.txt").write_text(f"{CLAIM}\n")
    out, kept = tmp_path / "out.jsonl", tmp_path / "out.jsonl.recipe.yaml"
    batch = ("batch", tmp_path / "claims.txt", "-o", out, "--recipe", mine)
    run = esoteric(home, *batch)
    assert run.returncode == 0, run.stderr
    assert json.loads(out.read_text())["recipe"] == "mine"
    assert kept.read_text() == mine.read_text()
    mine.write_text(mine.read_text().replace("document_limit: 6", "document_limit: 5"))
    assert "than the recipe mine of now" in error_line(esoteric(home, *batch))
    # Results that were moved away are of no recipe.
    out.rename(tmp_path / "older.jsonl")
    assert esoteric(home, *batch).returncode == 0
    assert kept.read_text() == mine.read_text()


def test_evaluate_measures_recipes_of_files_beside_others(
    home: Path, mine: Path, tmp_path: Path
) -> None:
    gold = {"claim": CLAIM, "label": "SUPPORTS", "evidence": [[["Skerrow Light", 0]]]}
    (tmp_path / "claims.jsonl").write_text(json.dumps(gold) + "\n")
    out = tmp_path / "out"
    arguments = ("evaluate", "--claims", tmp_path / "claims.jsonl", "--out", out, "--recipe")
    run = esoteric(home, *arguments, f"fer,{mine}")
    assert run.returncode == 0, run.stderr
    assert [line.partition(":")[0] for line in run.stdout.splitlines()[:2]] == ["fer", "mine"]
    assert (out / "mine" / "recipe.yaml").read_text() == mine.read_text()
    # What was measured before stays in the results,
    esoteric(home, *arguments, "fer")
    assert set(json.loads((out / "results.json").read_text())["recipes"]) == {"fer", "mine"}
    # and is not continued with another recipe of the same name.
    mine.write_text(mine.read_text().replace("document_limit: 6", "document_limit: 5"))
    assert "than the recipe mine of now" in error_line(esoteric(home, *arguments, mine))


def test_the_relevance_model_is_trained_by_its_former_name_too() -> None:
    def usage(*arguments: str) -> str:
        return CliRunner().invoke(train.command, [*arguments, "--help"]).output

    assert usage("reader") == usage("relevance")
    assert usage("path", "--reader", "models") == usage("path", "--relevance", "models")
    assert "reader" not in usage() + usage("path")


def test_documents_are_added_and_removed_and_the_index_verified(tmp_path: Path) -> None:
    write_source(tmp_path / "islands.jsonl")
    source = f"jsonl:{tmp_path}/islands.jsonl"
    built = esoteric(tmp_path, "index", "build", "--source", source)
    assert built.stdout.startswith("islands: 6 documents, 13 sentences, "), built.stderr
    info = json.loads(esoteric(tmp_path, "index", "info", "--json").stdout)
    assert (info["documents"], info["sentences"], info["name"]) == (6, 13, "islands")
    more = {"id": "buoy", "title": "Buoy", "text": "A buoy floats. It is red."}
    (tmp_path / "more.jsonl").write_text(json.dumps(more) + "\nnonsense\n")
    added = esoteric(tmp_path, "index", "add", "--source", f"jsonl:{tmp_path}/more.jsonl")
    assert added.stdout.startswith("islands: 7 documents, 15 sentences, ")
    assert "1 page left out, because it could not be read" in added.stderr
    assert f"{tmp_path}/more.jsonl, line 2: not JSON." in added.stderr
    removed = esoteric(tmp_path, "index", "remove", "buoy")
    assert removed.stdout.startswith("islands: 6 documents, 13 sentences, ")
    assert removed.stderr == ""  # reported only by the command that read it
    assert "contains no document with the id 'buoy'" in error_line(
        esoteric(tmp_path, "index", "remove", "buoy")
    )
    assert "whole" in esoteric(tmp_path, "index", "verify").stdout
    (vectors,) = (tmp_path / "index").glob("databases/*.vectors")
    content = bytearray(vectors.read_bytes())
    content[-1] ^= 1
    vectors.write_bytes(content)
    said = error_line(esoteric(tmp_path, "index", "verify"))
    assert f"The index is damaged: {vectors.name} is not whole." in said
    assert "esoteric index build" in said
    # It is fixed by a build with the same vectors.
    esoteric(tmp_path, "index", "build", "--source", source, "--vectors", "none")
    newest = (tmp_path / "index").glob("databases/*.documents")
    documents = max(newest, key=lambda file: file.stat().st_mtime)
    documents.write_bytes(documents.read_bytes()[:-1])
    said = error_line(esoteric(tmp_path, "index", "info"))
    assert said.endswith(f"index build --source {source} --vectors none")


def test_if_missing_builds_an_existing_index_again_only_if_it_is_outdated(tmp_path: Path) -> None:
    (tmp_path / "notes").mkdir()
    (tmp_path / "notes" / "a.txt").write_text("A lamp is red.")
    wanted = ("index", "build", "--vectors", "none", "--if-missing", "--source")
    assert esoteric(tmp_path, *wanted, f"folder:{tmp_path}/notes").stdout.startswith("notes: 1 doc")
    assert "nothing to do" in esoteric(tmp_path, *wanted, f"folder:{tmp_path}/notes").stdout
    current = tmp_path / "index" / "current"
    first = current.resolve()
    meta = first / "meta.json"
    meta.write_text(json.dumps(json.loads(meta.read_text()) | {"format": 1}))
    # Its source is recognised with any form of the path.
    built = esoteric(tmp_path, *wanted, f"folder:{os.path.relpath(tmp_path / 'notes', CHECKOUT)}/")
    assert built.stdout.startswith("notes: 1 document, 1 sentence, ")
    assert current.resolve() != first


def test_fields_name_the_keys_of_a_source(tmp_path: Path) -> None:
    (tmp_path / "towns.jsonl").write_text('{"_id": 7, "contents": "Varn is a town."}\n')
    build = ("index", "build", "--vectors", "none", "--source", f"jsonl:{tmp_path}/towns.jsonl")
    said = error_line(esoteric(tmp_path, *build))
    assert "If one of '_id', 'contents' holds it, add: --fields id=NAME." in said
    wrong = esoteric(tmp_path, *build, "--fields", "id")
    assert "--fields 'id' cannot be used" in error_line(wrong, status=2)
    run = esoteric(tmp_path, *build, "--fields", "id=_id,text=contents")
    assert run.stdout.startswith("towns: 1 document, 1 sentence"), run.stderr


def broken(home: Path, **environment: str) -> dict[str, Any]:
    """Return the only thing that does not work there, as ``esoteric doctor`` says it."""
    run = esoteric(home, "doctor", "--json", **environment)
    assert run.returncode == 1
    (found,) = [f for f in json.loads(run.stdout)["findings"] if not f["works"]]
    return found


def test_doctor_names_what_is_broken_with_a_cure(
    tmp_path: Path, home: Path, unpacked: Path
) -> None:
    (tmp_path / "models").symlink_to(unpacked)
    healthy = json.loads(esoteric(home, "doctor", "--json").stdout)["findings"]
    assert [finding["subject"] for finding in healthy if not finding["works"]] == []
    found = broken(tmp_path)
    assert found["subject"] == "index"
    assert "esoteric index build" in found["mend"]
    shutil.copytree(home / "index", tmp_path / "index", symlinks=True)
    found = broken(tmp_path, ESOTERIC_BROKER_URL="redis://h:port/0")
    assert found["subject"] == "settings"
    assert "ESOTERIC_BROKER_URL" in found["detail"]
    database = Database(f"sqlite:///{tmp_path}/esoteric.db")
    JobStore(database).submit("Tea is a drink.", "esoteric")
    database.close()
    damage_events(tmp_path / "esoteric.db")
    found = broken(tmp_path)
    assert (found["subject"], "is damaged" in found["detail"]) == ("database", True)
    assert "esoteric restore" in found["mend"]
    (tmp_path / "esoteric.db").unlink()
    (documents,) = (tmp_path / "index").glob("databases/*.documents")
    content = bytearray(documents.read_bytes())
    content[content.index(b"Dundee")] ^= 1
    documents.write_bytes(content)
    found = broken(tmp_path)
    assert found["detail"] == f"The index is damaged: {documents.name} is not whole."
    assert "esoteric index build --source jsonl:" in found["mend"]


def stop(_: BuildProgress) -> None:
    raise KeyboardInterrupt


def test_an_unfinished_build_is_shown_where_there_is_no_index_yet(tmp_path: Path) -> None:
    store = tmp_path / "store"
    with pytest.raises(KeyboardInterrupt):
        EmbeddedIndex(store).build(many(), None, stop)
    run = esoteric(tmp_path, "index", "info", "--to", str(store))
    begun, missing = run.stderr.splitlines()
    assert begun.startswith("Unfinished: a build of many, ")
    assert "There is no index yet" in missing
    pruned = esoteric(tmp_path, "index", "prune", "--to", str(store))
    assert pruned.stdout.startswith("Removed: building-")
    assert list(store.glob("building-*")) == []
    again = esoteric(tmp_path, "index", "prune", "--to", str(store))
    assert again.stdout == f"There was nothing to remove in {store}.\n"


def test_batch_reads_a_table_and_writes_failed_claims_in_order(home: Path, tmp_path: Path) -> None:
    claims = [CLAIM, "", "Dundee, a city, is in Scotland.", "Where is it?"]
    rows = "".join(f'{n},"{claim}"\n' for n, claim in enumerate(claims, 1))
    (tmp_path / "claims.csv").write_text(f"n,claim\n{rows}")
    run = esoteric(home, "batch", tmp_path / "claims.csv", "-o", tmp_path / "out.jsonl")
    assert run.returncode == 0, run.stderr
    lines = [json.loads(line) for line in (tmp_path / "out.jsonl").read_text().splitlines()]
    assert [line["claim"] for line in lines] == claims
    assert lines[1]["error"]["code"] == "claim_empty"
    assert lines[3]["error"]["code"] == "claim_wh_question"
    assert lines[2]["verdict"]["label"] == "SUPPORTS"
    assert lines[1]["error"]["message"].startswith("Line 3: ")
    assert [line["row"] for line in lines] == [{"n": str(number)} for number in range(1, 5)]


def test_batch_continues_results_of_the_same_models_and_index(home: Path, tmp_path: Path) -> None:
    source, out = tmp_path / "claims.txt", tmp_path / "out.jsonl"
    source.write_text(CLAIM + "\n")
    for before in (False, True):
        said = esoteric(home, "batch", source, "-o", out).stderr
        assert ("1 had been checked before" in said) is before
    made = json.loads(out.read_text())
    for other in (
        {"claim": "Something else."},
        {"recipe": "fer"},
        {"row": {"desk": "food"}},
        {"verdict": made["verdict"] | {"judge": "An older verifier 0"}},
        {"corpus": made["corpus"] | {"built_at": "2020-01-01T00:00:00+00:00"}},
    ):
        line = json.dumps(made | other) + "\n"
        out.write_text(line)
        refused = error_line(esoteric(home, "batch", source, "-o", out))
        assert "out.jsonl, line 1 is not claim 1 of the input" in refused
        assert out.read_text() == line


def test_batch_writes_a_table_and_the_history_shows_its_claims(home: Path, tmp_path: Path) -> None:
    source, out = tmp_path / "claims.csv", tmp_path / "verdicts.xlsx"
    claims = [f"Ann Lee designed lighthouse number {n} in the table." for n in (7, 8)]
    source.write_text(f"Desk;Sentence\nnews;{claims[0]}\nsport;{claims[1]}\n")
    run = esoteric(home, "batch", str(source), "-o", str(out), "--column", "sentence")
    assert run.returncode == 0, run.stderr
    assert sorted(tmp_path.iterdir()) == [source, out]
    rows = list(openpyxl.load_workbook(out).active.iter_rows(max_col=2, values_only=True))
    assert rows == [("claim", "Desk"), (claims[0], "news"), (claims[1], "sport")]
    kept, number = JobStore(Database(f"sqlite:///{home}/esoteric.db")).listed(
        ClaimFilter("in the table"), 5
    )
    assert ([job.claim for job in kept], number) == (claims[::-1], 2)
    again = error_line(esoteric(home, "batch", str(source), "-o", str(out), "--column", "sentence"))
    assert "verdicts.xlsx exists already" in again


@pytest.mark.rare
def test_a_killed_batch_continues_where_it_stopped(home: Path, tmp_path: Path) -> None:
    claims = [f"Ann Lee designed {n} lighthouses." for n in range(16)]
    source, out = tmp_path / "claims.txt", tmp_path / "out.jsonl"
    source.write_text("\n".join(claims) + "\n")
    command = [sys.executable, "-m", "cli", "batch", str(source), "-o", str(out)]
    environment = {**os.environ, "ESOTERIC_HOME": str(home)}
    with subprocess.Popen(command, cwd=CHECKOUT, env=environment, stderr=subprocess.DEVNULL) as run:
        wait_until(
            lambda: out.exists() and out.read_text().count("\n") >= 3, "the third verdict", 240
        )
        run.send_signal(signal.SIGKILL)
    kept = out.read_text().splitlines()[:3]
    with out.open("a") as stream:
        stream.write('{"claim": "cut o')  # as after a full disk
    assert esoteric(home, "batch", source, "-o", out).returncode == 0
    lines = out.read_text().splitlines()
    assert [json.loads(line)["claim"] for line in lines] == claims
    assert lines[:3] == kept


def test_batch_checks_many_claims_in_two_processes_in_order(home: Path, tmp_path: Path) -> None:
    claims = [f"{'Vellmar' if n % 3 else ' '} is island number {n}." for n in range(40)]
    claims[7] = "?"
    (tmp_path / "claims.txt").write_text("\n".join(claims) + "\n")
    out = tmp_path / "out.jsonl"
    run = in_a_process(home, "batch", str(tmp_path / "claims.txt"), "-o", str(out))
    assert "40 claims in" in run.stderr, run.stderr
    records = [json.loads(line) for line in out.read_text().splitlines()]
    assert [record["claim"] for record in records] == [claim.strip() for claim in claims]
    assert [n for n, record in enumerate(records) if "error" in record] == [7]
    (tmp_path / "half.jsonl").write_text('{"claim": "The sun \\ud800 is hot."}\n')
    run = esoteric(home, "batch", str(tmp_path / "half.jsonl"), "-o", "-")
    assert json.loads(run.stdout)["claim"] == "The sun \ud800 is hot."  # half a character


VARN = "The Lighthouse of Varn was built in 1874."
VERIFIER = "cross-encoder-1"
CORPUS = CorpusInfo(name="vital", documents=9842, built_at="2026-11-20T09:30:00Z")


def document_by(judge: str) -> dict[str, Any]:
    document = claim_document(VARN)
    document["verdict"]["judge"] = judge
    for opinion in document["verdict"]["opinions"]:
        opinion["judge"] = judge
    return document


def asked_too(**more: Any) -> Made:
    """Settings with a language model, if there is more of it."""
    model = LanguageModelChoice("small", "http://models.example:8080/v1", "", **more)
    return Made("esoteric", VERIFIER, model if more else None, CORPUS)


def test_a_verdict_is_kept_if_the_same_judges_were_asked() -> None:
    alone, decides, asked = asked_too(), asked_too(decides=True), asked_too(decides=False)
    by_model = document_with_a_model(VARN, "REFUTES")
    unanswered = claim_document(VARN)
    unanswered["seconds"]["explain"] = 20.0  # the language model was asked and gave no answer
    for document, keeps, drops in (
        (claim_document(VARN), [alone], [decides]),
        (document_by("other"), [], [alone]),
        (document_by(f"{VERIFIER} + quantities"), [alone], []),  # arithmetic had a part in
        (unanswered, [decides], []),
        (document_without_evidence(VARN), [decides], []),
        (by_model, [decides], [alone, asked]),
        (document_with_a_model(VARN, "REFUTES", decides=False), [asked], []),
    ):
        result = ClaimResult.model_validate(document)
        assert [made.judged(result) for made in keeps] == [True] * len(keeps)
        assert [made.judged(result) for made in drops] == [False] * len(drops)

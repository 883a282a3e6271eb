"""Recipes side by side: the form, the page, the API and the files."""

from __future__ import annotations

import csv
import io
import json
import re
import zipfile
from dataclasses import replace
from typing import Any

import pytest
from werkzeug.test import TestResponse

from app.comparisons.given import MOST_CHECKS, _gold
from retrieval.errors import EsotericError
from settings import Settings
from tests.app.claim_documents import claim_document, document_without_evidence
from tests.app.client import CLAIM, Client, words
from tests.app.conftest import Start
from tests.support.cases import cases
from worker.comparison_store import Gold
from worker.jobs import Job

BEST = "It was built in 1874 by the engineer Ida Holm, who lived in it until her death."
PLANNED = "She planned eleven lighthouses and two bridges."


class Checks:
    """Submits checks, ends them and compares them."""

    def __init__(self, client: Client) -> None:
        self.client, self.store, self.worker = client, client.store, client.worker

    def pending(self, recipe: str, claim: str = CLAIM) -> Job:
        return self.store.submit(claim, recipe)[0]

    def done(self, recipe: str, label: str = "SUPPORTS", claim: str = CLAIM) -> str:
        return self.ended(recipe, claim_document(claim, label))

    def ended(self, recipe: str, result: dict[str, Any]) -> str:
        return self.client.done(result | {"recipe": recipe}, recipe).id

    def asked(self, address: str, ids: tuple[str, ...]) -> TestResponse:
        answer = self.client.get(f"{address}claims={','.join(ids)}")
        assert answer.status_code == 200
        return answer

    def compare(self, *ids: str) -> Any:
        return self.asked("/api/v1/compare?", ids).get_json()

    def page(self, *ids: str) -> str:
        return self.asked("/compare?", ids).text

    def exported(self, form: str, *ids: str) -> bytes:
        answer = self.asked(f"/api/v1/compare/export?format={form}&", ids)
        assert answer.headers["Content-Disposition"].startswith("attachment; filename=")
        return answer.data

    def table(self, *ids: str) -> list[dict[str, str]]:
        return list(csv.DictReader(io.StringIO(self.exported("csv", *ids).decode())))

    def runs(self, *ids: str) -> dict[str, str]:
        """Return the files of an export for TREC."""
        return zipped(self.asked("/api/v1/compare/export?format=trec&", ids))


def zipped(answer: TestResponse) -> dict[str, str]:
    """Return the files of a zip."""
    with zipfile.ZipFile(io.BytesIO(answer.data)) as archive:
        return {name: archive.read(name).decode() for name in archive.namelist()}


@pytest.fixture
def checks(client: Client) -> Checks:
    return Checks(client)


def other_document(claim: str = CLAIM) -> dict[str, Any]:
    """Return a result that refutes the claim: it has the first sentence second, and not all."""
    result = claim_document(claim, "REFUTES")
    best, holm, stands, _ = result["evidence"]
    result["evidence"] = [holm, best | {"selected": False}, stands]
    result["hops"] = result["hops"][:1]
    return result


def rows(page: str) -> list[list[str]]:
    """Return the words of the cells of all rows, as a screen reader says them."""
    found = []
    for row in re.findall(r'<tr role="row".*?</tr>', page, re.DOTALL):
        cells = re.findall(r'role="(?:cell|rowheader|columnheader)".*?</t[hd]>', row, re.DOTALL)
        found.append([words_of(cell.partition(">")[2]) for cell in cells])
    return found


def words_of(markup: str) -> str:
    spoken = re.sub(r'<(\w+)[^>]* aria-hidden="true".*?</\1>', "", markup, flags=re.DOTALL)
    return " ".join(re.sub(r"<[^>]+>", " ", spoken).split())


def test_each_sentence_has_its_rank_and_use_with_each_recipe(checks: Checks) -> None:
    ids = checks.done("esoteric"), checks.ended("m3", other_document())
    found = checks.compare(*ids)
    assert found["recipes"] == ["esoteric", "m3"]
    (claim,) = found["claims"]
    assert claim["claim"] == CLAIM
    # 1/1 + 1/2 for the first two, in the order of the first recipe; 1/3 + 1/3; 1/4.
    ranks = {
        (one["document"], one["sentence_id"]): {
            recipe: (cell["rank"], cell["used"]) for recipe, cell in one["found"].items()
        }
        for one in claim["sentences"]
    }
    assert list(ranks.items()) == [
        (("Lighthouse of Varn", 1), {"esoteric": (1, True), "m3": (2, False)}),
        (("Ida Holm", 0), {"esoteric": (2, True), "m3": (1, True)}),
        (("Lighthouse of Varn", 0), {"esoteric": (3, True), "m3": (3, True)}),
        (("Ida Holm", 1), {"esoteric": (4, False)}),
    ]
    first = claim["sentences"][0]["found"]["esoteric"]
    assert (first["score"], first["hop"], first["found_by"]) == (0.981, 1, ["title", "text"])
    esoteric, m3 = claim["runs"]["esoteric"], claim["runs"]["m3"]
    assert (esoteric["verdict"]["label"], m3["verdict"]["label"]) == ("SUPPORTS", "REFUTES")
    assert (esoteric["hops"], m3["hops"]) == (2, 1)
    assert (esoteric["documents"], esoteric["seconds"]) == (4, 0.8123)
    assert (found["agreement"]["claims"], found["agreement"]["same"]) == (1, 0)
    page = checks.page(*ids)
    verdicts, sentences, single = page.split("<table role")[1:]
    assert ["Verdict", "Supported 93%", "Refuted 93%"] in rows(verdicts)
    assert ["Documents opened", "4", "4"] in rows(verdicts)
    first = rows(sentences)[1]
    assert BEST in first[0]
    assert first[1:] == ["rank 1, used", "rank 2, not used"]
    assert len(rows(sentences)) == 4  # the head and three sentences
    assert "1 sentence that only one recipe found" in page
    assert rows(single)[1][1:] == ["rank 4, not used", "not found"]
    assert "m3: rank 2, not used · refutes 93% · relevance 0.98 · round 1 · found by" in sentences
    assert "The recipes differ: 1 says supported and 1 says refuted." in page
    assert "The verdicts rest on 3 sentences, of which all recipes use 2." in page
    # Both use two sentences, one of them at different ranks.
    assert sentences.count('class="alike"') == 2
    assert "hides 2 sentences that" in page


def test_the_page_fills_in_while_checks_are_pending(checks: Checks) -> None:
    ids = checks.done("esoteric"), checks.pending("m3").id
    page = checks.page(*ids)
    assert 'data-pending="1"' in page
    assert "1 of 2 checks have ended." in page
    assert ["Verdict", "Supported 93%", "Waiting"] in rows(page)
    assert rows(page)[6][1:] == ["rank 1, used", "no result"]
    assert "compare.js" in page
    assert f'href="/compare?claims={ids[0]},{ids[1]}">Show the checks' in page
    # Files have what there is, and say that it is not all.
    assert [row["state"] for row in checks.table(*ids)] == [*["done"] * 4, "queued"]
    assert "% 1 of 2 checks had not ended" in checks.exported("latex", *ids).decode()
    refused = checks.client.get(f"/api/v1/compare/export?claims={ids[1]}&format=csv")
    assert refused.status_code == 409


def test_failed_and_cancelled_checks_are_said_and_do_not_count(checks: Checks) -> None:
    done, failing, cancelled = checks.done("esoteric"), checks.pending("m3"), checks.pending("fer")
    gone = EsotericError("worker_lost", "It is gone.", "Try again.")
    checks.worker.fail(failing, gone)
    checks.store.cancel(cancelled.id)
    ids = done, failing.id, cancelled.id
    page = checks.page(*ids)
    assert ["Verdict", "Supported 93%", "Failed", "Cancelled"] in rows(page)
    assert "m3 failed: It is gone." in page
    assert 'data-pending="0"' in page
    assert checks.compare(*ids)["claims"][0]["runs"]["m3"]["error"]["code"] == "worker_lost"
    (failed,) = [row for row in checks.table(*ids) if row["recipe"] == "m3"]
    assert (failed["state"], failed["error"]) == ("failed", "It is gone. Try again.")


def test_unknown_ids_are_named_and_without_a_known_one_nothing_is_compared(checks: Checks) -> None:
    page = checks.page(checks.done("esoteric"), checks.done("m3"), "<b>gone</b>")
    assert "1 check of this address does not exist" in page
    assert "<code>&lt;b&gt;gone&lt;/b&gt;</code>" in page
    assert "Both recipes agree: supported.</strong> The verdicts rest on the same 3 sent" in page
    assert checks.client.get("/compare?claims=gone,away").status_code == 404
    old, new, other = checks.done("m3"), checks.done("m3", "REFUTES"), checks.done("fer")
    found = checks.compare(new, old, other)
    assert (found["claims"][0]["runs"]["m3"]["id"], found["left_out"]) == (new, [old])
    assert "1 check of this address was repeated later" in checks.page(new, old, other)
    # Recipes that the service does not have any more.
    six = [checks.done(name) for name in ("a", "b", "c", "d", "e", "f")]
    checks.page(*six[1:])
    assert MOST_CHECKS == 200
    for ids, status, code in (
        ("gone,away", 404, "unknown_checks"),
        ("", 400, "no_checks"),
        (" , ", 400, "no_checks"),
        (",".join(map(str, range(201))), 400, "too_many_checks"),
        (",".join(six), 400, "too_many_recipes"),
    ):
        answer = checks.client.get("/api/v1/compare", query_string={"claims": ids})
        assert (answer.status_code, answer.get_json()["error"]["code"]) == (status, code)
    wrong = checks.client.get(f"/api/v1/compare/export?claims={new}&format=pdf")
    assert wrong.status_code == 400
    assert wrong.get_json()["error"]["hint"] == "Use one of: csv, latex, trec, json."


def test_several_claims_are_rows_with_a_verdict_for_each_recipe(checks: Checks) -> None:
    harbour = "Varnby has a harbour."
    ids = [
        checks.done("esoteric"),
        checks.done("m3"),
        checks.done("esoteric", "REFUTES", harbour),
        checks.done("m3", "NOT ENOUGH INFO", harbour),
        checks.done("m3", claim="Varnby has a <i>theatre</i>."),
    ]
    page = checks.page(*ids)
    assert rows(page) == [
        # Same on 1 of 2; chance is 1/2 times 1/2 for "supported", so (1/2 - 1/4) / (1 - 1/4).
        *(["Two recipes", "Same verdict", "Kappa"], ["esoteric and m3", "1 of 2", "0.33"]),
        ["Claim", "esoteric", "m3"],
        [CLAIM, "Supported 93%", "Supported 93%"],
        [harbour, "Refuted 93%", "Not settled"],
        ["Varnby has a &lt;i&gt;theatre&lt;/i&gt;.", "not checked", "Supported 93%"],
        *(["Supported", "1", "2"], ["Refuted", "1", "0"], ["Not settled", "0", "1"]),
        ["Without a verdict", "1", "0"],
    ]
    assert "Both recipes give the same verdict on 1 of the 2 claims" in page
    assert page.count('class="alike"') == 1
    assert f'href="/compare?claims={ids[0]},{ids[1]}"' in page
    assert checks.compare(*ids)["agreement"]["pairs"] == [
        {"first": "esoteric", "second": "m3", "claims": 2, "same": 1, "kappa": 0.3333333333333333}
    ]


def test_checks_over_different_indexes_or_by_different_judges_are_noted(checks: Checks) -> None:
    result = claim_document(CLAIM)
    result["corpus"] |= {"documents": 12, "built_at": "2026-11-21T09:30:00Z"}
    result["verdict"]["judge"] = "another"
    first, second = checks.compare(checks.done("fer"), checks.ended("m3", result))["notes"]
    assert "different indexes: Wikipedia introductions, 9,842 documents" in first
    assert second == "Different models gave the verdicts: another; cross-encoder-1."
    arithmetic = claim_document(CLAIM)
    arithmetic["verdict"]["judge"] += " + quantities"
    assert checks.compare(checks.done("fer"), checks.ended("m3", arithmetic))["notes"] == []
    states = [
        checks.ended("m3", claim_document(claim) | {"recipe_digest": digest, "version": version})
        for claim, digest, version in (("Tea is hot.", "aa", "1"), ("Ice is cold.", "bb", "2"))
    ]
    assert checks.compare(*states)["notes"] == [
        "Between these checks, recipes were changed: m3.",
        "Different versions of ESOTERIC made the checks: 1 and 2.",
    ]


def test_recipes_are_compared_only_over_the_same_corpora(checks: Checks) -> None:
    papers = {"name": "papers-1a2b3c", "title": "Papers", "documents": 3}
    papers |= {"built_at": "2026-11-21T09:30:00Z", "text_date": None}
    refuting = claim_document(CLAIM, "REFUTES")
    refuting["corpus"] |= {"name": papers["name"], "parts": [papers]}

    def in_papers(recipe: str) -> str:
        job, _ = checks.store.submit(CLAIM, recipe, corpora=(str(papers["name"]),))
        checks.worker.finish(job, refuting | {"recipe": recipe})
        return job.id

    ids = [checks.done("fer"), in_papers("m3"), checks.done("m3"), in_papers("fer")]
    found = checks.compare(*ids)
    assert [(one["corpus"], len(one["runs"])) for one in found["claims"]] == [
        ("Wikipedia introductions", 2),
        ("Papers", 2),
    ]
    assert (found["agreement"]["claims"], found["agreement"]["same"]) == (2, 2)
    assert (found["notes"], found["left_out"]) == ([], [])
    page = checks.page(*ids)
    assert rows(page)[3:5] == [
        [f"{CLAIM} in Wikipedia introductions", "Supported 93%", "Supported 93%"],
        [f"{CLAIM} in Papers", "Refuted 93%", "Refuted 93%"],
    ]
    assert "2 recipes on 1 claim, in 2 corpora" in page
    pending = checks.pending("esoteric")  # is in the row of the default corpus before it ends
    assert [len(one["runs"]) for one in checks.compare(*ids, pending.id)["claims"]] == [3, 2]
    assert checks.runs(*ids)["topics.tsv"] == f"1\t{CLAIM}\n2\t{CLAIM}\n"


# Files


def test_the_csv_has_a_row_for_each_sentence_of_each_recipe(checks: Checks) -> None:
    nothing = document_without_evidence(CLAIM)
    other = other_document()
    other["evidence"][0]["sentence"] = "=1+1"
    ids = checks.done("esoteric"), checks.ended("m3", other), checks.ended("fer", nothing)
    found = checks.table(*ids)
    assert [(row["recipe"], row["rank"], row["used"]) for row in found] == [
        *(("esoteric", "1", "True"), ("esoteric", "2", "True")),
        *(("esoteric", "3", "True"), ("esoteric", "4", "False")),
        *(("m3", "1", "True"), ("m3", "2", "False"), ("m3", "3", "True")),
        ("fer", "", ""),
    ]
    first, last = found[0], found[-1]
    assert (first["claim"], first["verdict"], first["confidence"]) == (CLAIM, "SUPPORTS", "0.93")
    assert (first["document"], first["sentence_id"]) == ("Lighthouse of Varn", "1")
    assert (first["found_by"], first["judge"]) == ("title;text", "cross-encoder-1")
    assert (last["verdict"], last["confidence"]) == ("NOT ENOUGH INFO", "")
    # Both recipes name this sentence; it is shown as the first of them has it.
    assert found[4]["sentence"] == "Ida Holm (1831 to 1899) was an Ostrean engineer."


def test_the_latex_table_of_a_claim_has_its_ranks_with_bold_for_use(checks: Checks) -> None:
    other = other_document()
    other["recipe"] = "m_3"
    ids = checks.done("esoteric"), checks.ended("m_3", other)
    lines = checks.exported("latex", *ids).decode().splitlines()
    at = lines.index(r"\begin{tabular}{p{0.4\linewidth}cc}")
    assert all(line.startswith("% ") for line in lines[:at])
    assert f"% Claim: {CLAIM}" in lines
    assert lines[at + 1 : at + 10] == [
        *(r"\toprule", r" & esoteric & m\_3 \\", r"\midrule"),
        r"Verdict & Supported & Refuted \\",
        *(r"Confidence & 0.93 & 0.93 \\", r"Hops & 2 & 1 \\", r"Documents & 4 & 4 \\"),
        *(r"Seconds & 0.8 & 0.8 \\", r"\midrule"),
    ]
    begin = "It was built in 1874 by the engineer Ida Holm, who lived in it until"
    assert lines[at + 10] == rf"Lighthouse of Varn: {begin} … & \textbf{{1}} & 2 \\"
    assert lines[at + 13] == rf"Ida Holm: {PLANNED} & 4 & -- \\"
    assert lines[at + 14 :] == [r"\bottomrule", r"\end{tabular}"]
    result = claim_document(CLAIM)  # no text is a command of LaTeX
    hostile = '50 % of\n{$x_1^2} & \\input{a} ~#|<"`--a-b' + "''c'd"
    result["evidence"] = [result["evidence"][0] | {"title": "[*]", "sentence": hostile}]
    written = checks.exported("latex", checks.ended("m3", result)).decode()
    assert (
        r"{[}{*}]: 50 \% of \{\$x\_1\textasciicircum{}2\} \& \textbackslash{}input\{a\}"
        r" \textasciitilde{}\#\textbar{}\textless{}{\char34}{\char96}"
        r"{-}{-}a-b{\char39}{\char39}c'd & \textbf{1} \\"
    ) in written


def test_the_latex_table_of_several_claims_has_their_verdicts_and_sums(checks: Checks) -> None:
    harbour = checks.done("m3", "NOT ENOUGH INFO", "Varnby has a harbour.")
    ids = [checks.done("esoteric"), checks.done("m3"), harbour]
    lines = checks.exported("latex", *ids).decode().splitlines()
    assert lines[lines.index(r"\midrule") + 1 : -2] == [
        rf"{CLAIM} & S 0.93 & S 0.93 \\",
        r"Varnby has a harbour. & -- & N \\",
        r"\midrule",
        *(r"Supported & 1 & 1 \\", r"Refuted & 0 & 0 \\", r"Not settled & 0 & 1 \\"),
        r"\midrule",
        r"\multicolumn{3}{l}{All recipes agree on 1 of 1 claims} \\",
        r"\multicolumn{3}{l}{esoteric and m3: kappa {-}{-}} \\",
    ]


def test_trec_runs_are_a_file_for_each_recipe_with_decreasing_scores(checks: Checks) -> None:
    harbour = checks.done("m3", claim="Varnby has a harbour.")
    ids = [checks.done("esoteric"), checks.ended("m3", other_document()), harbour]
    files = checks.runs(*ids)
    of_each = ("documents.run", "scores/documents.run", "scores/sentences.run", "sentences.run")
    runs = [f"{recipe}/{name}" for recipe in ("esoteric", "m3") for name in of_each]
    assert sorted(files) == ["about.txt", *runs, "topics.tsv"]
    # The models' scores, in their order: the second sentence of the evidence has the highest.
    assert files["m3/scores/sentences.run"].splitlines()[:2] == [
        "1 Q0 Lighthouse%20of%20Varn#1 1 0.981 m3",
        "1 Q0 Ida%20Holm#0 2 0.84 m3",
    ]
    assert files["topics.tsv"] == f"1\t{CLAIM}\n2\tVarnby has a harbour.\n"
    assert files["m3/sentences.run"].splitlines()[:4] == [
        "1 Q0 Ida%20Holm#0 1 3 m3",
        "1 Q0 Lighthouse%20of%20Varn#1 2 2 m3",
        "1 Q0 Lighthouse%20of%20Varn#0 3 1 m3",
        "2 Q0 Lighthouse%20of%20Varn#1 1 4 m3",
    ]
    assert files["esoteric/documents.run"].splitlines()[0] == "1 Q0 Ostrea 1 4 esoteric"


def test_every_file_says_what_is_needed_to_check_the_claims_again(checks: Checks) -> None:
    made = {"recipe_digest": "0123456789ab", "version": "0.1.0"}
    usage = {"model": "mistral:large", "calls": 1, "prompt_tokens": 9, "answer_tokens": 9}
    by_model = other_document() | made | {"usage": usage}
    ids = checks.ended("esoteric", claim_document(CLAIM) | made), checks.ended("m3", by_model)
    first, *_, last = checks.table(*ids)
    assert (first["recipe_digest"], first["esoteric_version"]) == ("0123456789ab", "0.1.0")
    assert (first["language_model"], last["language_model"]) == ("", "mistral:large")
    run = checks.compare(*ids)["claims"][0]["runs"]["m3"]
    assert (run["version"], run["recipe_digest"]) == ("0.1.0", "0123456789ab")
    day = run["finished_at"][:10]
    by = "version 0123456789ab; verdicts by cross-encoder-1"
    said = [
        "Checked by ESOTERIC 0.1.0",
        f"Recipe esoteric: {by}; language model: none; checked on {day}",
        f"Recipe m3: {by}; language model: mistral:large; checked on {day}",
    ]
    latex = checks.exported("latex", *ids).decode().splitlines()
    assert [line for line in said if f"% {line}" in latex] == said
    assert any(line.startswith("% Corpus: Wikipedia introductions, 9,842") for line in latex)
    about = checks.runs(*ids)["about.txt"].splitlines()
    assert [line for line in said if line in about] == said


# Right labels

# Gold, kind, and what esoteric and m3 say: S, R or N.
_LABELLED = (
    ("Tea is hot.", "SUPPORTS", "food", "SS"),
    ("Ice is cold.", "true", "food", "SR"),
    ("Varnby has a harbour.", "refuted", "place", "RS"),
    ("Varnby has a theatre.", "False", "place", "RN"),
    ("Varnby has a castle.", "nei", "place", "RN"),
    ("Varnby has a mill.", "who knows", "place", "SS"),
)
_SAID = {"S": "SUPPORTS", "R": "REFUTES", "N": "NOT ENOUGH INFO"}


def test_right_labels_in_a_column_measure_the_recipes(client: Client) -> None:
    table = "claim,label,kind\n" + "".join(f"{c},{gold},{k}\n" for c, gold, k, _ in _LABELLED)
    file = (io.BytesIO(table.encode()), "set.csv")
    sent = {"recipe": ["esoteric", "m3"], "file": file, "name": " Two   judges "}
    address = client.post("/compare", data=sent).location
    labels = {claim: said for claim, _, _, said in _LABELLED}
    for listed in client.store.recent(99):
        said = _SAID[labels[listed.claim][listed.recipe == "m3"]]
        result = claim_document(listed.claim, said) | {"recipe": listed.recipe}
        client.worker.finish(client.store.get(listed.id), result)
    found = client.json(f"/api/v1{address}")
    assert found["name"] == "Two judges"
    assert [one["gold"] for one in found["claims"]] == [
        *("SUPPORTS", "SUPPORTS", "REFUTES", "REFUTES", "NOT ENOUGH INFO", None)
    ]
    everything, food, place = found["measured"]
    assert [(one["kind"], one["claims"]) for one in (everything, food, place)] == [
        *(("", 5), ("food", 2), ("place", 3))
    ]
    # esoteric is right on the first four of five, m3 on the first and the last.
    esoteric, m3 = everything["accuracies"].values()
    assert (esoteric["right"], esoteric["claims"], esoteric["share"]) == (4, 5, 0.8)
    # Wilson, by hand: (.8 + .384 ± 1.96 √(.032 + .0384)) / 1.768.
    assert esoteric["interval"] == pytest.approx([0.3755, 0.9638], abs=1e-4)
    assert (m3["right"], place["accuracies"]["m3"]["right"]) == (2, 1)
    # Three against one of four tosses: 2 times (1 + 4) / 16.
    (difference,) = everything["differences"]
    assert (difference["only_first"], difference["only_second"]) == (3, 1)
    assert difference["p"] == 0.625
    page = client.get(address).text
    assert "<bdi>Two judges</bdi></h1>" in page
    assert ["All 5 claims", "80% 38 to 96% · 4 of 5", "40% 12 to 77% · 2 of 5"] in rows(page)
    assert ["food 2 claims", "100% 34 to 100% · 2 of 2", "50% 9 to 91% · 1 of 2"] in rows(page)
    file_of = f"/api/v1/compare/export?id={address.partition('id=')[2]}&format="
    lines = client.get(f"{file_of}latex").text.splitlines()
    assert r"Right, all (5 claims) & 80.0 (38 to 96) & 40.0 (12 to 77) \\" in lines
    either = "only esoteric is right on 3, only m3 on 1, McNemar p = 0.625"
    assert rf"\multicolumn{{3}}{{l}}{{{either}}} \\" in lines
    # Compared again, also with other claims, the labels stay.
    (again,) = re.findall(r'href="(/compare\?like=\w+)">Change the claims or the recipes', page)
    form = client.get(again).text
    assert re.findall(r'value="(\w+)"[^>]* checked', form) == ["esoteric", "m3"]
    hidden = dict(re.findall(r'<input type="\w+"[^>]*name="(like|name)" value="([^"]*)"', form))
    assert hidden["name"] == "Two judges"
    claims = f"{_LABELLED[0][0]}\nRope is long."
    sent = hidden | {"claim": claims, "recipe": ["esoteric", "m3"]}
    found = client.json(f"/api/v1{client.post('/compare', data=sent).location}")
    assert [one["gold"] for one in found["claims"]] == ["SUPPORTS", None]
    first = next(csv.DictReader(io.StringIO(client.get(f"{file_of}csv").text)))
    assert (first["gold"], first["kind"]) == ("SUPPORTS", "food")
    for job in client.store.recent(99):
        client.store.delete(job.id)
    assert client.get(address).status_code == 404


def test_the_right_labels_of_a_list_go_with_its_claims(client: Client) -> None:
    table = b"claim,gold\nTea is hot.,SUPPORTS\nIce is cold.,REFUTES\nTea is hot.,REFUTES\n"
    table += b"Tea is hot.,SUPPORTS\n"
    listed = client.post("/lists", data={"file": (io.BytesIO(table), "a.csv")}).location
    form = client.get(f"/compare?list={listed.rpartition('/')[2]}").text
    given = dict(
        re.findall(r'<input type="(?:hidden|text)"[^>]*name="(list|name)" value="([^"]*)"', form)
    )
    assert given["name"] == "a.csv"
    sent = given | {"claim": "Tea is hot.\nIce is cold.", "recipe": ["esoteric", "m3"]}
    found = client.get(f"/api/v1{client.post('/compare', data=sent).location}").get_json()
    # Two rows say two things of the first claim, so neither counts.
    assert [one["gold"] for one in found["claims"]] == [None, "REFUTES"]
    assert _gold({"kind": None, "gold": True}) == Gold("SUPPORTS")  # a kind that is null is none


def test_right_evidence_is_exported_as_qrels_and_where_there_is_none_the_files_say_so(
    client: Client, start: Start, settings: Settings
) -> None:
    ada = {"claim": "Ada ran.", "label": "SUPPORTS", "evidence": [[["Ada Vale", 2], ["Runs", 0]]]}
    # As in FEVER, with two ids of annotations; the second set has a sentence of the first again.
    bo = {"claim": "Bo sat.", "evidence": [[[7, 8, "Bo", 1]], [[7, 9, "Bo", 1], [7, 9, "Bo", 3]]]}
    cy = {"claim": "Cy hid.", "evidence": [[[5, None, None, None]]]}
    file = io.BytesIO("\n".join(map(json.dumps, (ada, bo, cy))).encode()), "claims.jsonl"
    made = client.post("/compare", data={"recipe": ["esoteric", "m3"], "file": file}).location
    for listed in client.store.recent(9):
        client.worker.finish(client.store.get(listed.id), claim_document(listed.claim))
    files = zipped(client.get(f"/api/v1/compare/export?format=trec&id={made.partition('=')[2]}"))
    assert files["qrels/documents.qrels"] == "1 0 Ada%20Vale 1\n1 0 Runs 1\n2 0 Bo 1\n"
    assert files["qrels/sentences.qrels"].splitlines() == [
        *("1 0 Ada%20Vale#2 1", "1 0 Runs#0 1"),
        *("2 0 Bo#1 1", "2 0 Bo#3 1"),
    ]
    about = files["about.txt"].splitlines()
    assert about[0] == f"http://localhost{made} (opens only on the computer that made the checks)"
    assert any("right documents and sentences, of 2 of 3 claims" in line for line in about)
    assert "The right sentences (qrels) of 2 claims are with it" in client.get(made).text
    # They stay with a claim that is compared again; those of others are not known.
    again = {"like": made.partition("=")[2], "claim": "Ada ran.", "recipe": ["esoteric", "fer"]}
    (found,) = client.json(f"/api/v1{client.post('/compare', data=again).location}")["claims"]
    assert found["gold_evidence"] == [["Ada Vale", 2], ["Runs", 0]]
    public = start(replace(settings, public_url="https://check.example.org"))
    ids = ",".join(listed.id for listed in client.store.recent(9) if listed.claim == "Cy hid.")
    files = zipped(public.get(f"/api/v1/compare/export?format=trec&claims={ids}"))
    assert not [name for name in files if name.startswith("qrels")]
    about = files["about.txt"].splitlines()
    assert re.fullmatch(r"https://check.example.org/compare\?claims=[0-9a-f,]+", about[0])
    assert any(line.startswith("No qrels: no right documents") for line in about)
    assert "Without qrels" in public.get(f"/compare?claims={ids}").text


# What its maker can change


def test_a_comparison_is_stopped_and_what_was_checked_stays(client: Client) -> None:
    # A row of a list waits for one of the checks, as the same visitor has submitted both.
    client.post("/lists", data={"claims": "Ice is cold.\nTea is hot.", "recipe": "m3"})
    assert client.worker.feed(client.services)
    sent = {"claim": f"{CLAIM}\nTea is hot.", "recipe": ["esoteric", "m3"]}
    address = client.post("/compare", data=sent).location
    which = address.partition("=")[2]
    (first,) = (
        job.id for job in client.store.recent(9) if (job.claim, job.recipe) == (CLAIM, "m3")
    )
    client.worker.finish(client.store.get(first), claim_document(CLAIM))
    stop = f"/compare/{which}/stop"
    assert f'action="{stop}"' in client.get(address).text
    for stranger in (client.another(), client.application.test_client()):
        assert f'action="{stop}"' not in stranger.get(address).text
        assert stranger.post(stop).status_code == 403
        assert stranger.delete(f"/api/v1/compare?id={which}").status_code == 403
    assert "Being checked" in client.get("/compare").text
    assert client.post(stop).location == address
    states = {(job.claim, job.recipe): job.state for job in client.store.recent(9)}
    assert states == {
        ("Ice is cold.", "m3"): "queued",
        (CLAIM, "esoteric"): "cancelled",
        (CLAIM, "m3"): "done",
        ("Tea is hot.", "esoteric"): "cancelled",
        ("Tea is hot.", "m3"): "queued",
    }
    page = words(client.get(address).text)
    assert "2 of 4 checks were stopped, and have no verdict. What was checked before stays." in page
    latex = client.get(f"/api/v1/compare/export?id={which}&format=latex").text
    assert "% 2 of 4 checks were not made, because they were stopped" in latex


def test_a_program_stops_and_deletes_a_comparison(client: Client) -> None:
    made = client.post("/compare", data={"claim": CLAIM, "recipe": ["esoteric", "m3"]}).location
    address = f"/api/v1{made}"
    (claim,) = client.delete(address).get_json()["claims"]
    assert {run["state"] for run in claim["runs"].values()} == {"cancelled"}
    assert client.delete("/api/v1/compare?id=gone").status_code == 404
    assert client.delete("/api/v1/compare").status_code == 400
    assert client.delete(f"{address}&forget=yes").status_code == 400
    assert client.delete(f"{address}&forget=1").status_code == 204
    assert client.get(made).status_code == 404
    assert len(client.store.recent(9)) == 2  # its checks stay


def test_a_comparison_gets_another_name_and_can_be_deleted(client: Client) -> None:
    sent = {"claim": f"{CLAIM}\nTea is hot.", "recipe": ["esoteric", "m3"], "name": "First"}
    address = client.post("/compare", data=sent).location
    which = address.partition("=")[2]
    rename, delete = f"/compare/{which}/rename", f"/compare/{which}/delete"
    assert client.another().post(rename, data={"name": "Mine"}).status_code == 403
    assert client.another().post(delete).status_code == 403
    assert client.post(rename, data={"name": " <b>Tea</b>\n or  not "}).location == address
    assert "<h1><bdi>&lt;b&gt;Tea&lt;/b&gt; or not</bdi></h1>" in client.get(address).text
    assert "&lt;b&gt;Tea&lt;/b&gt; or not</bdi></a>" in client.get("/compare").text
    client.post(rename, data={"name": " "})
    assert f"“{CLAIM}” and 1 more" in client.get(address).text
    assert client.post(delete).location == "/compare"
    assert client.get(address).status_code == 404
    assert client.post(rename, data={"name": "Late"}).status_code == 404
    assert "Your comparisons" not in client.get("/compare").text
    # Of one claim, the claim stays the heading.
    sent = {"claim": CLAIM, "recipe": ["esoteric", "m3"], "name": "Who built it"}
    page = words(client.get(client.post("/compare", data=sent).location).text)
    assert f"Who built it · 2 recipes on one claim {CLAIM}" in page


# The form


def test_where_the_queue_fails_the_form_names_what_was_accepted(client: Client) -> None:
    client.post("/compare", data={"claim": CLAIM, "recipe": ["esoteric", "m3"]})
    m3, _ = client.store.recent(9)
    (client.home / "queue").rename(client.home / "moved")
    (client.home / "queue").write_text("in the way")
    answer = client.post("/compare", data={"claim": CLAIM, "recipe": ["m3", "fer"]})
    assert answer.status_code == 503
    assert "Of these checks only the first was accepted." in answer.text
    assert f'href="/compare?claims={m3.id}"' in answer.text
    assert f"{CLAIM}</textarea>" in answer.text
    assert str(client.home) not in answer.text
    assert len(client.store.recent(9)) == 2


def test_the_form_submits_each_claim_once_with_each_recipe(client: Client) -> None:
    harbour = "La neige est blanche et belle."
    sent = {"claim": harbour, "recipe": ["esoteric", "m3"]}
    refused = client.post("/compare", data=sent)
    assert (refused.status_code, client.store.recent(9)) == (422, [])
    assert "Check it anyway" in refused.text
    sent |= {"claim": f"{CLAIM}\r\n\r\n  {harbour}\r\n{CLAIM}\r\n", "anyway": "1"}
    answer = client.post("/compare", data=sent)
    assert answer.status_code == 303
    assert "esoteric_visitor=" in answer.headers["Set-Cookie"]  # they belong to this browser
    runs = client.json(f"/api/v1{answer.location}")["claims"]
    jobs = [client.store.get(run["id"]) for claim in runs for run in claim["runs"].values()]
    assert [(job.claim, job.recipe) for job in jobs] == [
        *((CLAIM, "esoteric"), (CLAIM, "m3")),
        *((harbour, "esoteric"), (harbour, "m3")),
    ]
    page = client.get(answer.location).text
    assert f"“{CLAIM}” and 1 more" in page
    assert re.fullmatch(r"/compare\?id=[0-9a-f]{16}", answer.location)
    # Who comes back finds it; who has another browser does not.
    assert f'href="{answer.location}"' in client.get("/compare").text
    client.delete_cookie("esoteric_visitor")
    assert "Your comparisons" not in client.get("/compare").text
    change = re.search(r'href="(/compare\?like=\w+)"', page)
    assert change is not None
    form = client.get(change[1]).text
    assert f"{CLAIM}\n{harbour}</textarea>" in form
    assert "Cannot run here: <strong>report, card</strong>" in form


@cases("comparisons_refused", "claim", "times", "recipes", "said")
def test_what_cannot_be_compared_is_said_and_nothing_is_submitted(
    client: Client, claim: str, times: int, recipes: list[str], said: str
) -> None:
    claims = "".join(claim.replace("NUMBER", str(number)) for number in range(times))
    answer = client.post("/compare", data={"claim": claims, "recipe": recipes})
    assert answer.status_code == 422
    assert said in answer.text
    assert f"{claims}</textarea>" in answer.text  # nothing has to be typed again
    assert client.store.recent(1) == []


def test_the_form_takes_the_claims_of_a_file_and_of_a_list(client: Client) -> None:
    table = io.BytesIO(f"id;claim\n1;{CLAIM}\n2;Varnby has a harbour.\n".encode())
    data = {"claim": "", "recipe": ["esoteric", "m3"], "file": (table, "speech.csv")}
    assert client.post("/compare", data=data).status_code == 303
    assert len(client.store.recent(9)) == 4
    wrong = {"recipe": ["esoteric", "m3"], "file": (io.BytesIO(b"%PDF-1.7"), "a.csv")}
    refused = client.post("/compare", data=wrong)
    assert refused.status_code == 422
    assert "a.csv is not a text, but a PDF" in refused.text

    def listed(claims: str) -> tuple[str, str]:
        address = client.post("/lists", data={"claims": claims}).location
        return address, f"/compare?list={address.rpartition('/')[2]}"

    address, leads = listed(f"{CLAIM}\nhttps://a.example\nVarnby has a harbour.")
    assert f'href="{leads}"' in client.get(address).text
    form = client.get(leads).text
    assert f"{CLAIM}\nVarnby has a harbour.</textarea>" in form
    assert "left out: 1 row that cannot be checked." in form
    _, long = listed("\n".join(f"Ship {n} is old." for n in range(101)))
    refused = client.get(long)
    assert refused.status_code == 422
    too_many = "The list has 101 different claims. 2 recipes can be compared on at most 100."
    assert too_many in refused.text
    assert client.get("/compare?list=none").status_code == 404

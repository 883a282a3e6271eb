"""What commands print: the text of a claim, progress of long work, and that they wait."""

from __future__ import annotations

import sys
from contextlib import ExitStack, closing
from threading import Timer
from typing import Any

import pytest

from cli import progress
from cli.claim_text import as_text
from cli.progress import LongWork, patiently
from retrieval.errors import IndexAway, IndexUnavailable
from retrieval.index.elastic.cluster import Cluster
from retrieval.index.elastic.location import ElasticLocation
from retrieval.result import ClaimResult
from retrieval.words import NOT_SETTLED
from tests.app.claim_documents import (
    LONG_CLAIM,
    claim_document,
    document_with_a_long_proof,
    document_with_proof,
    statement,
)
from tests.ops.up_process import free_port
from tests.retrieval.index.elastic.node import stand_in

CLAIM = "The Lighthouse of Varn was built by Ida Holm."
CORPUS = "Wikipedia introductions, 9,842 documents, built 2026-11-20"
ELEVEN = "eleven lighthouses and two bridges"
BEST = "It was built in 1874 by the engineer Ida Holm, who lived in it until her death."


def text_of(result: dict[str, Any]) -> str:
    """Return the text of a result; where a long line is broken does not matter."""
    return " ".join(as_text(ClaimResult.model_validate(result)).split())


def test_a_verdict_has_its_balance_its_evidence_and_the_end_of_the_search() -> None:
    address = "https://en.wikipedia.org/wiki"
    assert as_text(ClaimResult.model_validate(claim_document(CLAIM))).splitlines() == [
        f"SUPPORTED (93% sure): {CLAIM}",
        "",
        "2 support · 1 settles nothing",
        "",
        "“Lighthouse of Varn” says: “It was built in 1874 by the engineer Ida Holm, who lived in",
        "it until her death.”",
        "",
        "Evidence, best first:",
        "1. [supports, 93%] Lighthouse of Varn: It was built in 1874 by the engineer Ida Holm,",
        "   who lived in it until her death.",
        f"   {address}/Lighthouse_of_Varn",
        "2. [supports, 88%] Ida Holm: Ida Holm (1831 to 1899) was an Ostrean engineer.",
        f"   {address}/Ida_Holm",
        "3. [settles nothing] Lighthouse of Varn: The Lighthouse of Varn stands on a rock off the",
        "   coast of Ostrea.",
        f"   {address}/Lighthouse_of_Varn",
        "",
        "The search ended after hop 2: the evidence was enough to decide.",
        f"{CORPUS}; recipe esoteric; judged by cross-encoder-1; 0.81 s.",
    ]


def test_every_part_of_the_claim_has_a_line_with_its_words_in_the_evidence() -> None:
    said = "the evidence says the same"
    text = text_of(document_with_a_long_proof())
    missing = "Nothing that was found settles “was born in Varnby”."
    assert text.startswith(f"NOT SETTLED: {LONG_CLAIM} {NOT_SETTLED} {missing} 1 refutes")
    assert (
        " ".join(
            (
                f'= The Lighthouse of Varn: {said} ("The Lighthouse of Varn", Lighthouse of Varn)',
                f'= was built: {said} ("was built", Lighthouse of Varn)',
                '! in 1875: the evidence gives a different answer ("in 1874", Lighthouse of Varn)',
                f'= by Ida Holm: {said} ("by the engineer Ida Holm", Lighthouse of Varn)',
                f'= an Ostrean engineer: {said} ("an Ostrean engineer", Ida Holm)',
                f'= who planned: {said} ("She planned", Ida Holm)',
                f'! eleven bridges: the evidence says the opposite ("{ELEVEN}", Ida Holm)',
                "? was born in Varnby: nothing found The search ended after hop 3: nothing new",
            )
        )
        in text
    )


def test_a_proof_is_shown_if_it_agrees_and_says_what_it_cannot_combine() -> None:
    assert "says the same" not in text_of(document_with_proof("REFUTES"))
    result = document_with_a_long_proof()
    result["proof"] = result["proof"][:7]  # without the part that is open
    assert (
        "More than one part is contradicted. The proof cannot combine several contradictions, so"
        " the verdict is that of the evidence read as a whole. The search ended"
    ) in text_of(result)
    result = document_with_proof()
    whole = result["documents"][1]["text"].index(BEST)
    result["proof"][0]["evidence"][2:] = [whole, whole + len(BEST)]
    assert "(by the title or the whole sentence, Lighthouse of Varn)" in text_of(result)


def test_a_sentence_that_denies_a_supported_claim_is_shown_against_it() -> None:
    result = claim_document(CLAIM, "SUPPORTS", 0.8)
    result["verdict"] |= {"disagreement": [2]}
    denial = "The Lighthouse of Varn was never built by Ida Holm."
    result["evidence"][1] |= {"stance": "REFUTES", "sentence": denial}
    assert f"Against this verdict: Ida Holm: {denial}" in text_of(result)


def test_a_verdict_is_worded_as_sure_as_it_is() -> None:
    assert text_of(claim_document(CLAIM, "SUPPORTS", 0.69)).startswith("PROBABLY SUPPORTED (69%")
    result = claim_document(CLAIM, "NOT ENOUGH INFO", 0.45)
    result["verdict"] |= {"leans": "REFUTES", "disagreement": [2]}
    result["evidence"][0]["copies"] = 7
    text = text_of(result)
    assert text.startswith(f"LEANS REFUTED: {CLAIM} {NOT_SETTLED}")  # without a percentage
    assert "Against this verdict" not in text  # the second sentence says nothing of a lighthouse
    assert "1. [settles nothing, in 7 documents] Lighthouse of Varn:" in text
    for item in result["evidence"]:
        item["selected"] = False
    assert "Evidence, best first" not in text_of(result)


def test_the_statements_of_a_claim_follow_its_verdict() -> None:
    result = claim_document(CLAIM, "REFUTES") | {"claim_as_written": f"Claim: {CLAIM}"}
    parts = [statement("Old.", 0, 3, "REFUTES", [1]), statement("Tall.", 4, 8, "SUPPORTS", [])]
    parts[1]["verdict"]["label"] = "NOT ENOUGH INFO"
    text = text_of(result | {"statements": parts})
    assert f"{CLAIM} As it was written: Claim: {CLAIM} Its statements: 1. REFUTED" in text
    assert ": Old. 2. NOT SETTLED: Tall." in text


def test_a_file_of_a_folder_is_credited_with_its_date_and_no_text_controls_the_terminal() -> None:
    result = claim_document(CLAIM)
    for document in result["documents"]:
        document["source"] = "varnby.txt, modified on 2024-03-05"
    result["corpus"] |= {"name": "coast", "text_date": "2024-03-05"}
    result["evidence"][0] |= {"title": "\x1b[2J{0}", "sentence": "\x07{} red"}
    text = text_of(result)
    assert "From varnby.txt, modified on 2024-03-05" in text
    assert "coast, 9,842 documents, text of 2024-03-05, built 2026-11-20;" in text
    assert "\N{REPLACEMENT CHARACTER}{} red" in text
    assert "\x1b" not in text


class Clock:
    """A clock that the test sets."""

    def __init__(self) -> None:
        self.now = 100.0

    def monotonic(self) -> float:
        return self.now


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> Clock:
    clock = Clock()
    monkeypatch.setattr(progress, "time", clock)
    return clock


def test_a_log_gets_a_line_after_two_seconds_and_then_every_ten(
    clock: Clock, capsys: pytest.CaptureFixture[str]
) -> None:
    work = LongWork("Indexing islands", of=400)
    lines = []
    for second in range(25):
        clock.now = 100.0 + second
        work.show(10 * second, f"{10 * second} documents")
        if line := capsys.readouterr().err:
            lines.append((second, line))
    work.close()
    # Ten a second: 380 are left after two seconds.
    assert lines == [
        (2, "Indexing islands: 5 %, 20 documents, about 38 s left\n"),
        (12, "Indexing islands: 30 %, 120 documents, about 28 s left\n"),
        (22, "Indexing islands: 55 %, 220 documents, about 18 s left\n"),
    ]
    work = LongWork("Checking", of=2)
    work.show(1, "1 of 2 claims")
    clock.now += 60
    work.show(2, "2 of 2 claims")
    work.close()
    assert capsys.readouterr().err == ""  # it was quick


def test_neither_an_earlier_try_nor_loading_counts_as_speed(
    clock: Clock, capsys: pytest.CaptureFixture[str]
) -> None:
    work = LongWork("Checking", of=100, done=89)
    for seconds, done in ((1000, 90), (10, 95)):  # the models are loaded first
        clock.now += seconds
        work.show(done, f"{done} of 100 claims")
    assert capsys.readouterr().err.splitlines() == [
        "Checking: 90 %, 90 of 100 claims",
        "Checking: 95 %, 95 of 100 claims, about 10 s left",
    ]


def test_a_terminal_gets_a_bar(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(sys.stderr, "isatty", lambda: True)
    work = LongWork("Checking", of=4)
    work.show(4, "4 of 4 claims")
    work.close()
    shown = capsys.readouterr().err
    assert "Checking: 4 of 4 claims |" in shown
    assert "100%" in shown


def test_it_waits_for_a_server_that_is_away_says_so_once_and_goes_on_or_gives_up(
    capsys: pytest.CaptureFixture[str],
) -> None:
    """Real connections, and a server that comes late."""
    port = free_port()
    store = f"elasticsearch://127.0.0.1:{port}/notes"
    with closing(Cluster(ElasticLocation.read(store))) as cluster, ExitStack() as servers:
        with pytest.raises(IndexAway):
            patiently(cluster.check_version, longest_wait=1)
        capsys.readouterr()
        comes = stand_in("9.1.0", port=port)
        timer = Timer(1, servers.enter_context, [comes])
        timer.start()
        patiently(cluster.check_version)
        timer.join()
        waits, goes_on = capsys.readouterr().err.splitlines()
        assert waits.startswith(f"Elasticsearch at {store} is unreachable")
        assert waits.endswith(" Waiting for it, 10 minutes at most.")
        assert goes_on == "The index answers again; the work goes on."
    with (
        stand_in("7.17.0") as host,
        closing(Cluster(ElasticLocation.read(f"elasticsearch://{host}/notes"))) as cluster,
        pytest.raises(IndexUnavailable, match="is version 7"),  # waiting does not mend this
    ):
        patiently(cluster.check_version)
    assert capsys.readouterr().err == ""

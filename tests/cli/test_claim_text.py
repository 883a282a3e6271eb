"""The proof and the end of the search in the text of ``esoteric check``."""

from __future__ import annotations

from dataclasses import replace

import pytest

from cli.claim_text import as_text
from retrieval.result import claim_result
from retrieval.types import (
    CheckedStatement,
    CorpusInfo,
    Document,
    Evidence,
    EvidenceSpan,
    Hop,
    Judgement,
    Label,
    Mutation,
    Proof,
    RankedDocument,
    Report,
    Sentence,
    SentenceKey,
    Stopped,
    Verdict,
)
from retrieval.words import NOT_SETTLED

CLAIM = "Varnby was founded in 1610 by sailors and has a theatre."
TEXT = "Varnby was founded in 1601 by fishermen."
VARNBY = Document("Varnby", "Varnby", None, TEXT, (Sentence("Varnby", 0, TEXT, 0, 40),))


def found(start: int, end: int) -> EvidenceSpan:
    return EvidenceSpan(*SentenceKey("Varnby", 0), start, end)


SENTENCE = Evidence(VARNBY.sentences[0], "Varnby", None, (0.7, 0.2, 0.1), 1, selected=True)
PROOF = Proof(
    (
        Mutation((0, 6), "equivalence", found(0, 6)),
        Mutation((7, 18), "equivalence", found(7, 18)),
        Mutation((19, 26), "alternation", found(19, 26)),
        Mutation((27, 37), "negation", found(27, 39)),
        Mutation((42, 55), "independence", None),
    ),
    "NOT ENOUGH INFO",
)


def report(
    proof: Proof | None, label: Label = "NOT ENOUGH INFO", stopped: Stopped = "hops"
) -> Report:
    best = (SentenceKey("Varnby", 0),)
    return Report(
        claim=CLAIM,
        recipe="combined",
        notices=(),
        corpus=CorpusInfo(
            name="coast", documents=12, built_at="2026-11-20T09:30:00Z", text_date=None
        ),
        verdict=Verdict(label, 0.8, "by hand", "Varnby says so."),
        evidence=(SENTENCE,),
        documents=(RankedDocument(VARNBY, 1.0, ("title",), 1),),
        questions=(),
        proof=proof,
        hops=(
            Hop(
                hop=1,
                sufficient=False,
                missing=((42, 55),),
                documents=1,
                sentences=1,
                label=label,
                best=best,
                stopped=None,
            ),
            Hop(
                hop=2,
                sufficient=False,
                missing=((42, 55),),
                documents=0,
                sentences=0,
                label=label,
                best=best,
                stopped=stopped,
            ),
        ),
        seconds={"total": 0.5},
    )


def text_of(made: Report) -> str:
    return as_text(claim_result(made))


def test_every_part_of_the_claim_has_a_line_with_its_words_in_the_evidence() -> None:
    assert text_of(report(PROOF)).splitlines() == [
        f"NOT SETTLED: {CLAIM}",
        f"{NOT_SETTLED} Nothing that was found settles “has a theatre”.",
        "",
        "1 supports",
        "",
        "Varnby says so.",
        "",
        "Evidence, best first:",
        f"1. [supports, 70%] Varnby: {TEXT}",
        "",
        "The proof, part by part:",
        '= Varnby: the evidence says the same ("Varnby", Varnby)',
        '= was founded: the evidence says the same ("was founded", Varnby)',
        '! in 1610: the evidence gives a different answer ("in 1601", Varnby)',
        '! by sailors: the evidence says the opposite ("by fishermen", Varnby)',
        "? has a theatre: nothing found",
        "",
        "The search ended after hop 2: the limit of hops was reached.",
        "coast, 12 documents, built 2026-11-20; recipe combined; judged by by hand; 0.50 s.",
    ]


def test_evidence_of_a_folder_is_credited_to_its_file_and_the_text_has_its_date() -> None:
    file = replace(VARNBY, source="varnby.txt, modified on 2024-03-05")
    corpus = CorpusInfo(
        name="coast", documents=12, built_at="2026-11-20T09:30:00Z", text_date="2024-03-05"
    )
    documents = (RankedDocument(file, 1.0, ("title",), 1),)
    lines = text_of(replace(report(None), documents=documents, corpus=corpus)).splitlines()
    assert "   From varnby.txt, modified on 2024-03-05" in lines
    assert lines[-1].startswith("coast, 12 documents, text of 2024-03-05, built 2026-11-20;")


def test_the_statements_of_a_claim_follow_its_verdict() -> None:
    cited = (Judgement("by hand", "REFUTES", 0.8, "So.", (1,)),)
    statements = (
        CheckedStatement("Varnby is old.", 0, 6, Verdict("REFUTES", 0.8, "by hand", "So.", cited)),
        CheckedStatement("It is big.", 7, 9, Verdict("NOT ENOUGH INFO", 1.0, "by hand", "So.")),
    )
    made = replace(report(None, "REFUTES"), statements=statements, original="Claim: it is.")
    assert text_of(made).splitlines()[1:6] == [
        "As it was written: Claim: it is.",
        "",
        "Its statements:",
        "1. REFUTED (80% sure): Varnby is old.",
        "2. NOT SETTLED: It is big.",
    ]


def test_a_proof_that_does_not_agree_is_not_shown() -> None:
    text = text_of(report(PROOF, "REFUTES"))
    assert text.startswith("REFUTED (80% sure): Varnby")
    assert "says the same" not in text


def test_several_contradictions_have_no_result_of_the_proof() -> None:
    proof = Proof(PROOF.mutations[:4], "NOT ENOUGH INFO")
    text = " ".join(text_of(report(proof)).split())
    assert (
        "More than one part is contradicted. The proof cannot combine several contradictions, so"
        " the verdict is that of the evidence read as a whole. The search ended"
    ) in text


def test_no_words_are_quoted_if_a_whole_sentence_matches() -> None:
    made = report(Proof((Mutation((0, 6), "equivalence", found(0, 40)),), "SUPPORTS"), "SUPPORTS")
    assert (
        "\n= Varnby: the evidence says the same (by the title or the whole sentence, Varnby)\n"
    ) in text_of(made)


def test_a_verdict_without_selected_evidence_has_no_confidence() -> None:
    unselected = replace(SENTENCE, selected=False)
    text = text_of(replace(report(None), evidence=(unselected,)))
    assert text.startswith(f"NOT SETTLED: {CLAIM}\n")


def test_without_a_proof_only_the_end_of_the_search_is_shown() -> None:
    text = text_of(report(None))
    assert "part by part" not in text
    assert "The search ended after hop 2" in text


@pytest.mark.parametrize(
    ("stopped", "words"),
    [
        ("proved", "every part of the claim is covered"),
        ("decided", "the evidence was enough to decide"),
        ("unchanged", "the best sentences no longer changed"),
        ("nothing new", "nothing new of use was found"),
        ("hops", "the limit of hops was reached"),
        ("time", "the time allowed was used up"),
    ],
)
def test_the_text_says_why_the_search_ended(stopped: Stopped, words: str) -> None:
    assert f"The search ended after hop 2: {words}.\n" in text_of(report(None, stopped=stopped))


def test_control_characters_of_the_corpus_are_replaced() -> None:
    hostile = Document("Varnby", "\x1b[2J{0}", None, "\x07{} red", ())
    made = report(Proof((Mutation((0, 6), "equivalence", found(0, 7)),), "SUPPORTS"), "SUPPORTS")
    text = text_of(replace(made, documents=(RankedDocument(hostile, 1.0, ("title",), 1),)))
    assert '= Varnby: the evidence says the same ("\N{REPLACEMENT CHARACTER}{} red"' in text
    assert "\x1b" not in text


def test_an_undecided_verdict_has_its_lean_and_no_confidence() -> None:
    verdict = Verdict(
        "NOT ENOUGH INFO", 0.45, "by hand", "Why.", leans="REFUTES", disagreement=(1,)
    )
    text = text_of(replace(report(None), verdict=verdict))
    assert text.startswith(
        f"LEANS REFUTED: {CLAIM}\n{NOT_SETTLED} Nothing that was found settles"
        f" “has a theatre”.\n\n1 supports\n\nWhy.\nAgainst this verdict: Varnby: {TEXT}\n"
    )


def test_a_decided_verdict_with_little_confidence_is_worded_as_probable() -> None:
    verdict = Verdict("SUPPORTS", 0.69, "by hand", "Varnby says so.")
    text = text_of(replace(report(None), verdict=verdict))
    assert text.startswith("PROBABLY SUPPORTED (69% sure): ")


def test_a_sentence_says_in_how_many_documents_it_stands() -> None:
    copied = replace(SENTENCE, copies=7)
    text = text_of(replace(report(None), evidence=(copied,)))
    assert "\n1. [supports, 70%, in 7 documents] Varnby: " in text


def test_a_sentence_that_settles_nothing_has_no_percentage() -> None:
    silent = replace(SENTENCE, opinion=(0.01, 0.01, 0.98))
    assert "\n1. [settles nothing] Varnby: " in text_of(replace(report(None), evidence=(silent,)))

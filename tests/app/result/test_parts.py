"""What the page of a result is made of: its answer, highlights, proof and trail."""

from __future__ import annotations

import random
import re
from datetime import UTC, datetime, timedelta
from typing import Any

from app.result import proof
from app.result.answer import FIXED, Answer, answer_of
from app.result.highlighting import Highlight, Segment, segments
from app.result.proof import Excerpt, ProofItem
from app.result.trail import Group, drawn, stances, steps_of, trail
from retrieval.recipes.recipes import Recipe
from retrieval.result import ClaimResult
from retrieval.types import Findings, FoundDocument, FoundSentence, Label, Span
from tests.app.claim_documents import PROVED_CLAIM, claim_document, document_with_proof
from tests.app.conftest import PageOf
from tests.support.cases import cases
from worker.jobs import Event

# The answer, the sentence beside it, and what opposes the verdict

_WORD = re.compile(r"[\w.,'-]*\w")
OPPOSITE = {"SUPPORTS": "REFUTES", "REFUTES": "SUPPORTS"}


def document_of(case: dict[str, Any]) -> dict[str, Any]:
    """Return the result of a case, each sentence of which is a document of its own."""
    result = claim_document(case["claim"], case["label"], case["confidence"])
    like = result["evidence"][0]
    leans = case.get("leans")
    result["evidence"], result["documents"] = [], []
    for number, (title, sentence, stance, *together) in enumerate(case["found"], 1):
        name = f"{title} {number}"
        result["evidence"].append(
            like
            | {"document": name, "title": title, "sentence": sentence, "stance": stance}
            | {"start": 0, "end": len(sentence), "selected": True, "sentence_id": 0}
            | {"stance_together": together[0] if together else None, "context_after": None}
        )
        read = {"id": name, "title": title, "url": None, "score": 1.0, "found_by": ["title"]}
        result["documents"].append(read | {"hop": 1, "text": sentence})
    said = OPPOSITE.get(leans or case["label"])
    against = [n for n, one in enumerate(result["evidence"], 1) if one["stance"] == said]
    result["verdict"] |= {"leans": leans, "disagreement": against}
    if "rationale" in case:
        judge = result["verdict"]["judge"] + " + quantities"
        result["verdict"] |= {"rationale": case["rationale"], "judge": judge}
    return result


def said_words(text: str) -> set[str]:
    return {word.casefold() for word in _WORD.findall(text)}


def assert_nothing_is_invented(answer: Answer, result: ClaimResult) -> None:
    """Each word is one of the claim, of the evidence or its title, or of a fixed phrase."""
    claim = said_words(result.claim)
    read = [item.title + " " + item.sentence for item in result.evidence]
    evidence = said_words(" ".join(read + [document.title for document in result.documents]))
    fixed = said_words(" ".join(FIXED))
    assert said_words(answer.text + " " + answer.lacking) <= claim | evidence | fixed
    for bit in (*answer.bits, *answer.lacks):
        known = {"claim": claim, "evidence": evidence | claim | fixed, "fixed": fixed}
        assert said_words(bit.text) <= known[bit.origin], bit


@cases("answers", "result", "answer", "quoted", "against")
def test_a_claim_is_answered_in_a_line_beside_a_sentence_and_what_opposes(
    result: dict[str, Any], answer: str, quoted: int, against: int | None
) -> None:
    shown = ClaimResult.model_validate(document_of(result))
    found = answer_of(shown)
    assert found.text == answer
    assert found.quoted is not None
    assert found.quoted.rank == quoted
    assert (found.against and found.against.rank) == against
    assert_nothing_is_invented(found, shown)


@cases("lacking", "claim", "left_open", "document", "lacks", "closest")
def test_a_claim_that_is_not_settled_says_what_its_document_lacks(
    claim: str, left_open: list[str], document: list[str], lacks: str, closest: str | None
) -> None:
    title, text = document
    undecided = claim_document(claim, "NOT ENOUGH INFO", 0.9)
    spans = [[claim.index(words), claim.index(words) + len(words)] for words in left_open]
    read = {"id": title, "title": title, "url": None, "score": 1.0, "found_by": ["title"]}
    undecided["documents"], undecided["evidence"] = [read | {"hop": 1, "text": text}], []
    undecided["not_settled"] = {"absent": [], "open": spans, "about": [title]}
    result = ClaimResult.model_validate(undecided)
    answer = answer_of(result)
    assert answer.text == "Not settled."
    assert answer.lacking == lacks
    assert (answer.quoted and answer.quoted.sentence) == closest
    assert_nothing_is_invented(answer, result)


def test_a_sentence_that_supports_too_weakly_is_not_said_to_lack_the_claim() -> None:
    found = [["Ida Holm", "Owns land in Tornby.", "SUPPORTS"]]
    case = {"claim": "Ida Holm owns land in Tornby.", "label": "NOT ENOUGH INFO", "confidence": 0.5}
    answer = answer_of(ClaimResult.model_validate(document_of(case | {"found": found})))
    assert answer.lacking == "“Ida Holm” seems to support it, but not clearly enough."


def test_only_what_opposes_is_counted_coloured_and_quoted(page_of: PageOf) -> None:
    found = [
        ["Banana", "A banana is by its botany a berry.", "SUPPORTS"],
        ["Fruit", "Bananas and other berries have seeds.", "SUPPORTS"],
        ["Plantain", "Plantains are bananas, and berries.", "SUPPORTS"],
        ["Cooking banana", "Cooking bananas are starchy.", "REFUTES"],
    ]
    case = {"claim": "Bananas are berries.", "label": "SUPPORTS", "confidence": 0.9}
    page = page_of(document_of(case | {"found": found}))
    assert "3 support</p>" in page
    assert page.count('<i class="supported">') == 3
    sources = page.split('id="evidence"')[1].split('id="search"')[0]
    assert "Cooking bananas" in sources
    assert "refute" not in sources.lower()
    assert 'class="scale"' not in page_of(document_of(case | {"found": found[:2]}))  # no meter


def test_words_of_claim_and_evidence_are_escaped_in_the_answer(page_of: PageOf) -> None:
    sunk = ["<b>Varn</b>", "The i Varn i sank on 15 April 1912.", "REFUTES"]
    case = {"claim": "The <i>Varn</i> sank on 12 May 1912.", "label": "REFUTES", "confidence": 0.9}
    page = page_of(document_of(case | {"found": [sunk]}))
    block = page.split('id="verdict"')[1].split('class="acts"')[0]
    assert "<i>" not in block
    assert "<b>" not in block
    assert "15 April 1912" in block
    assert "&lt;b&gt;Varn&lt;/b&gt;" in block


# Cutting a claim where something of it was found


def test_overlapping_finds_look_like_the_first_of_them_and_pieces_always_join_to_the_text() -> None:
    found = segments("abcdef", [Highlight(2, -4, 4, "refuted"), Highlight(1, 2, 9, "supported")])
    assert found == (
        Segment("ab", 2, "refuted"),
        Segment("cd", 1, "supported"),
        Segment("ef", 1, "supported"),
    )
    nothing = [Highlight(1, 7, 9, "refuted"), Highlight(2, 1, 1, "refuted")]
    assert segments("abc", nothing) == (Segment("abc"),)
    assert segments("", nothing) == ()
    dice = random.Random(7)
    text = "The quick \U0001f98a fox, naïve and שלום."
    for _ in range(100):
        marks = [
            Highlight(number, start, dice.randint(start + 1, len(text)), "supported")
            for number, start in enumerate((dice.randrange(len(text)) for _ in range(6)), 1)
        ]
        assert "".join(piece.text for piece in segments(text, marks)) == text


# The proof

CLAIM = "Varnby has a blue harbour and a theatre."


def proof_of(result: dict[str, Any]) -> ProofItem | None:
    return proof.proof_item(ClaimResult.model_validate(result))


def proved(parts: list[tuple[str, str]], label: Label) -> ProofItem:
    """Return the proof of ``CLAIM`` with these words and operators, none of which has evidence."""
    result = claim_document(CLAIM, label) | {"proof_label": label}
    result["proof"] = [
        {"claim_span": [at, at + len(words)], "operator": operator, "evidence": None}
        for words, operator in parts
        for at in (CLAIM.index(words),)
    ]
    found = proof_of(result)
    assert found is not None
    return found


@cases("proof_summaries", "parts", "label", "summary")
def test_the_summary_says_what_the_proof_shows(
    parts: list[tuple[str, str]], label: Label, summary: str
) -> None:
    found = proved(parts, label).summary
    quoted = f" {' / '.join(found.quoted)}" if found.quoted else ""
    assert f"{found.before}{quoted}{found.after}" == summary


def test_a_part_that_is_an_auxiliary_verb_alone_is_joined_to_the_next() -> None:
    said = [("Varnby", "equivalence"), ("has", "equivalence"), ("a blue harbour", "alternation")]
    found = proved(said, "REFUTES")
    assert [(part.words, part.operator) for part in found.parts] == [
        ("Varnby", "equivalence"),
        ("has a blue harbour", "alternation"),
    ]


def test_offsets_outside_the_claim_or_a_sentence_are_cut_or_no_words() -> None:
    def with_evidence(offsets: tuple[int, int], span: tuple[int, int]) -> ProofItem | None:
        result = document_with_proof()
        evidence = ["Ida Holm", 0, *offsets]
        mutation = {"claim_span": list(span), "operator": "equivalence", "evidence": evidence}
        return proof_of(result | {"proof": [mutation]})

    for offsets in ((900, 950), (-50, -10), (20, 10), (0, 0)):
        found = with_evidence(offsets, (4, 22))
        assert found is not None
        assert found.parts[0].excerpt == Excerpt("Ida Holm", 2, "")
    for span in ((900, 950), (-9, -2), (20, 10), (4, 4)):
        assert with_evidence((0, 8), span) is None
    found = with_evidence((0, 8), (-5, 3))
    assert found is not None
    assert found.parts[0].words == "The"
    assert "".join(piece.text for piece in found.drawn) == PROVED_CLAIM


def test_only_words_that_are_not_the_same_differ() -> None:
    claim, part = "The pier was built by the United Isles.", "by the United Isles"
    for sentence, words, differ in (
        # A name is marked as a whole, words that both have are not.
        ("It was built by the North Union in 1874.", "North", [("United Isles", "North Union")]),
        ("It was built by the United Isles.", "United Isles", []),
        ("It was built by the United Isles.", "the", []),
    ):
        result = claim_document(claim, "REFUTES") | {"proof_label": "REFUTES"}
        result["documents"][1]["text"] = sentence
        whole = {"sentence": sentence, "start": 0, "end": len(sentence)}
        result["evidence"] = [result["evidence"][0] | whole]
        at, of = sentence.index(words), claim.index(part)
        evidence = ["Lighthouse of Varn", 1, at, at + len(words)]
        changed = {"operator": "alternation", "evidence": evidence}
        result["proof"] = [{"claim_span": [of, of + len(part)]} | changed]
        found = proof.differences(ClaimResult.model_validate(result))
        assert all(sentence[one.start : one.end] == one.words for one in found)
        assert [(one.claim_words, one.words) for one in found] == differ
        # What the proof sets against each other is exchanged where both are names in one role.
        instead = "No: North Union, not United Isles." if differ else "No."
        assert answer_of(ClaimResult.model_validate(result)).text.startswith(instead)


# Events as the lines of a trail, for recipes with other stages than today's

BEGAN = datetime(2026, 11, 27, 12, tzinfo=UTC)
Lines = list[list[str]]


def recipe(most: int) -> Recipe:
    first = ("spans", "titles", "questions", "dense")
    hop = ("sentences", "paths", "proof", "verdict")
    return Recipe("own", "", first, hop, ("mentions",), "decided", most)


def event(
    n: int, stage: str, found: Findings | None = None, done: int = 1, message: str = ""
) -> Event:
    """Return event ``n``, that many seconds after the beginning."""
    at = BEGAN + timedelta(seconds=n)
    return Event(n=n, at=at, stage=stage, message=message or stage, done=done, of=20, found=found)


def states(group: Group) -> Lines:
    return [[stage.name, stage.state] for stage in group.stages]


@cases("trail", "stages", "running", "most", "asks", "lines", "parts")
def test_events_are_lines_of_a_trail(
    stages: list[str], running: bool, most: int, asks: bool, lines: Lines, parts: dict[str, Lines]
) -> None:
    events = [event(0, "start", done=0), *(event(n, one) for n, one in enumerate(stages, 1))]
    found = trail(events, recipe(most), running=running, asks=asks)
    assert [[group.kind, group.state] for group in found] == lines
    for number, those in parts.items():
        assert states(found[int(number)]) == those


def test_a_line_took_the_time_of_its_stages_and_steps_are_counted_in_the_last_hop() -> None:
    done = ("spans", "titles", "sentences", "proof", "verdict", "next", "sentences")
    events = [event(n, one, done=n) for n, one in enumerate(("start", *done))]
    looked, *_, last = found = trail(events, recipe(3), running=True)
    assert [stage.seconds for stage in looked.stages] == [1, 1]
    assert looked.seconds == 2
    assert last.hop == 2
    assert steps_of(found) == (2, 1, 5)
    answered = [event(n, one, done=n) for n, one in enumerate(("spans", "verdict", "explain"), 1)]
    model = trail([*answered, event(4, "explain", done=4)], recipe(1), running=True)[-1]
    assert (model.kind, model.state) == ("model", "done")


def test_a_claim_that_starts_again_forgets_what_was_found_and_a_statement_does_not() -> None:
    spans = event(1, "spans")
    again = [event(0, "start", done=0), spans, event(2, "start", done=0), event(3, "titles")]
    assert states(trail(again, recipe(1), running=True)[0])[0] == ["spans", "skipped"]
    statement = event(2, "start", done=9, message="Statement 2 of 2: It is old.")
    kinds = [group.kind for group in trail([spans, statement], recipe(1), running=True)]
    assert kinds == ["looked", "statement", "looked", "asked", "opened", "read"]


def test_a_line_has_what_its_stages_found_and_a_later_hop_what_is_new() -> None:
    built = FoundSentence("Varn", "It was built in 1874.", 0.4, "NOT ENOUGH INFO")
    holm = FoundSentence("Ida Holm", "She built it.", 0.9, "SUPPORTS")
    spans = (Span("the Lighthouse", 0, 14, "noun chunk"), Span("Lighthouse", 4, 14, "name"))
    close = FoundDocument("Pier", 0.2, ("dense",)), FoundDocument("Varn", 0.9, ("title",))
    led = FoundDocument("Ida Holm", 0.7, ("mention",), "Varn")
    events = [
        event(1, "spans", Findings(1, spans=spans)),
        event(2, "questions", Findings(1, questions=("Who built it?",))),
        event(3, "sentences", Findings(1, documents=close)),
        event(4, "verdict", Findings(1, sentences=(built,))),
        event(5, "next", Findings(1, open=("by Ida Holm",))),
        event(6, "sentences", Findings(2, documents=(led,))),
        event(7, "verdict", Findings(2, sentences=(holm, built))),
    ]
    looked, asked, opened, read, hop = found = trail(events, recipe(2), running=True)
    assert looked.spans == ("the Lighthouse",)
    assert asked.questions == ("Who built it?",)
    assert [one.title for one in opened.documents] == ["Varn", "Pier"]
    assert read.sentences == (built,)
    assert hop.open == ("by Ida Holm",)
    assert hop.leads == (led,)
    assert hop.sentences == (holm,)
    assert stances(found) == {"SUPPORTS": 1}
    marks = [(piece.text, piece.look) for piece in drawn("Is the Lighthouse old?", found)]
    assert marks == [("Is ", None), ("the Lighthouse", "pending"), (" old?", None)]

"""What is checked before an answer of a language model is believed."""

from __future__ import annotations

from dataclasses import replace

import pytest

from retrieval.llm_judge.answer import AnswerInvalid, answer_schema, checked
from retrieval.llm_judge.prompt import prompt
from tests.retrieval.llm_judge.chat_server import verdict
from tests.support.evidence import evidence

ASKED = prompt(
    "The lamp of Varn is red.",
    [
        replace(
            evidence("Lamp", "The lamp's light is red, said J. R. Holm in 1874."), selected=True
        ),
        evidence("Rock", "The rock is grey."),
        replace(evidence("Varn", "Varn is a rock."), selected=True),
    ],
)


def test_a_good_answer_is_returned_with_its_numbers_in_order() -> None:
    answer = checked(verdict("REFUTES", (3, 1, 3), "It says so.", "the year"), ASKED)
    assert (answer.label, answer.cites, answer.missing) == ("REFUTES", (1, 3), "the year")


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("", "not one JSON object"),
        ("SUPPORTS", "not one JSON object"),
        ('{"label": "SUPPORTS"', "not one JSON object"),
        ("[]", "not one JSON object"),
        ('{"label": "SUPPORTS", "cites": [1], "rationale": "x"}', '"missing" is missing'),
        (verdict()[:-1] + ', "extra": 1}', "a key that was not asked for"),
        (verdict("TRUE"), '"label" is'),
        (verdict().replace("[1]", '["1"]'), '"cites" is'),
        (verdict().replace("[1]", "[1.5]"), '"cites" is'),
        (verdict().replace("[1]", "[true]"), '"cites" is'),
        (verdict(cites=(2,)), "a number that no piece"),
        (verdict(cites=(0, 1)), "a number that no piece"),
        (verdict(cites=()), "must cite"),
        (verdict(rationale=" \u200b\u3164 "), "empty"),
        (verdict(rationale="It is red. It is big. It is old. It is his."), "more than 3 sentences"),
        (
            verdict(rationale="It was in the USA. He went there. It was big. So he left."),
            "more than",
        ),
        (verdict(rationale="red " * 300), "too long"),
        (verdict(missing="red " * 300), "too long"),
        (verdict(rationale="It says “The lamp is blue”."), "quotes words"),
        (verdict(rationale="It says 'the lamp is blue'."), "quotes words"),
        (verdict(rationale="It says ‘the lamp is blue’."), "quotes words"),  # noqa: RUF001
        (verdict(rationale="It says “amp”."), "quotes words"),
        (verdict(rationale="The claim says “of Varn is red”."), "quotes words"),
        (verdict(rationale='It says "the lamp".', missing="It lacks «nothing»"), "quotes words"),
        (verdict(rationale="It quotes „a lamp“."), "quotes words"),
        (verdict(rationale="It says “the lamp is red."), "between"),
        (verdict(rationale="It says \u2039red\u203a."), "between"),
        ("[" * 100_000, "not one JSON object"),
        (verdict().replace("1]", "1" + "0" * 5000 + "]"), "not one JSON object"),
        (verdict().replace("1]", "1" + "0" * 50 + "]"), "a number that no piece|cites"),
    ],
)
def test_an_answer_that_is_wrong_is_refused_with_the_reason(text: str, reason: str) -> None:
    with pytest.raises(AnswerInvalid, match=reason):
        checked(text, ASKED)


@pytest.mark.parametrize(
    "rationale",
    [
        "It says “The lamp's light is red”.",
        "It says “the lamp’s light”.",  # noqa: RUF001 - another apostrophe is the same word
        'Holm said "red".',
        "It's the lamp's light, the rocks' light, and 'red' too.",
        "The title “Varn” is a rock.",
        "The lamp, by J. R. Holm, is red. It is of the U.S. Army. That is all.",
    ],
)
def test_words_of_the_claim_and_of_the_evidence_may_be_quoted(rationale: str) -> None:
    assert checked(verdict(rationale=rationale), ASKED).rationale == rationale


def test_an_answer_between_marks_of_code_is_read() -> None:
    assert checked(f"```json\n{verdict()}\n```", ASKED).label == "SUPPORTS"


def test_no_decision_needs_no_evidence() -> None:
    assert checked(verdict("NOT ENOUGH INFO", ()), ASKED).cites == ()


def test_invisible_characters_of_an_answer_are_left_out() -> None:
    assert checked(verdict(rationale="It\u202e says\u200b so."), ASKED).rationale == "It says so."


def test_the_schema_allows_the_numbers_of_the_evidence_alone() -> None:
    schema = answer_schema([1, 3])
    assert schema["properties"]["cites"]["items"] == {"type": "integer", "enum": [1, 3]}
    assert schema["properties"]["cites"]["maxItems"] == 2
    assert schema["required"] == ["rationale", "cites", "label", "missing"]
    assert schema["additionalProperties"] is False

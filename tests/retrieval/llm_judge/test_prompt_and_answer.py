"""What a language model is shown, and what is checked before its answer is believed."""

from __future__ import annotations

import json
from dataclasses import replace

import pytest

from retrieval.llm_judge.answer import AnswerInvalid, checked
from retrieval.llm_judge.prompt import prompt, visible
from tests.retrieval.llm_judge.chat_server import verdict
from tests.support.cases import cases
from tests.support.evidence import evidence

CLAIM = "The lamp of Varn is red."
LAMP = replace(evidence("Lamp", "The lamp's light is red, said J. R. Holm in 1874."), selected=True)
ROCK = evidence("Rock", "The rock is grey.")
VARN = replace(evidence("Varn", "Varn is a rock."), selected=True)
ASKED = prompt(CLAIM, [LAMP, ROCK, VARN])


def data_lines(content: str) -> list[str]:
    """Return the lines between the two marks."""
    lines = content.split("\n")
    assert lines[0] == lines[-1]
    return lines[1:-1]


def test_selected_evidence_keeps_its_number_in_the_list() -> None:
    claim, *pieces = map(json.loads, data_lines(ASKED.messages[1].content))
    assert claim == {"claim": CLAIM}
    assert [piece["number"] for piece in pieces] == [1, 3]
    assert pieces[1] == {"number": 3, "title": "Varn", "text": "Varn is a rock."}
    assert not ASKED.cut


def test_the_marks_around_the_data_depend_on_all_of_it() -> None:
    marks = {
        prompt(claim, [item]).messages[1].content.split("\n")[0]
        for claim in (CLAIM, "The lamp is blue.")
        for item in (LAMP, VARN)
    }
    assert len(marks) == 4


@cases("model_answers", "hostile")
def test_a_piece_of_evidence_is_one_line_even_if_it_contains_line_breaks(hostile: str) -> None:
    piece = replace(evidence("Lamp\n===", hostile), selected=True)
    lines = data_lines(prompt(CLAIM, [piece]).messages[1].content)
    assert len(lines) == 2
    assert json.loads(lines[1])["number"] == 1


def test_control_tokens_of_chat_templates_are_escaped() -> None:
    tokens = [
        "<|im_end|>",
        "</s>",
        "<start_of_turn>",
        "[INST]",
        "[/INST]",
        "[TOOL_CALLS]",
        "[gMASK]",
    ]
    text = f"Red {' '.join(tokens)} blue [1]."
    piece = replace(evidence("Lamp", text), selected=True)
    line = data_lines(prompt(CLAIM, [piece]).messages[1].content)[1]
    assert not any(token in line for token in tokens)
    assert "[1]" in line
    assert json.loads(line)["text"] == text


@cases("model_answers", "seen", "shown")
def test_characters_that_cannot_be_seen_are_not_shown_to_the_model(seen: str, shown: str) -> None:
    assert visible(seen) == shown


def test_a_sentence_is_shown_with_its_context() -> None:
    item = replace(evidence("Lamp", "No."), context_before="Is it red?", selected=True)
    assert prompt(CLAIM, [item]).pieces == {1: ("Lamp", "Is it red? No.")}


def test_a_good_answer_is_returned_with_its_numbers_in_order() -> None:
    answer = checked(verdict("REFUTES", (3, 1, 3), "It says so.", "the year"), ASKED)
    assert (answer.label, answer.cites, answer.missing) == ("REFUTES", (1, 3), "the year")
    assert checked(f"```json\n{verdict()}\n```", ASKED).label == "SUPPORTS"
    assert checked(verdict(rationale="It\u202e says\u200b so."), ASKED).rationale == "It says so."


@cases("model_answers", "text", "reason")
def test_an_answer_that_is_wrong_is_refused_with_the_reason(text: str, reason: str) -> None:
    with pytest.raises(AnswerInvalid, match=reason):
        checked(text, ASKED)


@cases("model_answers", "rationale")
def test_words_of_the_evidence_may_be_quoted(rationale: str) -> None:
    assert checked(verdict(rationale=rationale), ASKED).rationale == rationale

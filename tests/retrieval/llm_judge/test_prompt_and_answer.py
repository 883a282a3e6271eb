"""What a language model is shown, and what is checked before its answer is believed."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import Any

import pytest

from retrieval.llm_judge.answer import AnswerInvalid, checked
from retrieval.llm_judge.ollama import MODELS, Ollama, found
from retrieval.llm_judge.prompt import prompt, visible
from settings import Settings
from tests.retrieval.llm_judge.chat_server import verdict
from tests.support.cases import cases, rules
from tests.support.evidence import evidence
from tests.support.web_server import page, web_server

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


def shown(text: str, **more: Any) -> str:
    """The line of a piece of evidence in the prompt, which is one whatever it contains."""
    piece = replace(evidence("Lamp\n===", text), selected=True, **more)
    claim, line = data_lines(prompt(CLAIM, [piece]).messages[1].content)
    assert (json.loads(claim), json.loads(line)["number"]) == ({"claim": CLAIM}, 1)
    return line


def test_selected_evidence_keeps_its_number_and_the_marks_around_the_data_depend_on_all_of_it() -> (
    None
):
    claim, *pieces = map(json.loads, data_lines(ASKED.messages[1].content))
    assert claim == {"claim": CLAIM}
    assert [piece["number"] for piece in pieces] == [1, 3]
    assert pieces[1] == {"number": 3, "title": "Varn", "text": "Varn is a rock."}
    assert not ASKED.cut
    marks = {
        prompt(claim, [item]).messages[1].content.split("\n")[0]
        for claim in (CLAIM, "The lamp is blue.")
        for item in (LAMP, VARN)
    }
    assert len(marks) == 4


def test_control_tokens_of_chat_templates_are_escaped_and_a_sentence_has_its_context() -> None:
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
    line = shown(text)
    assert not any(token in line for token in tokens)
    assert "[1]" in line
    assert json.loads(line)["text"] == text
    assert json.loads(shown("No.", context_before="Is it red?"))["text"] == "Is it red? No."


def test_a_good_answer_is_returned_with_its_numbers_in_order() -> None:
    answer = checked(verdict("REFUTES", (3, 1, 3), "It says so.", "the year"), ASKED)
    assert (answer.label, answer.cites, answer.missing) == ("REFUTES", (1, 3), "the year")
    assert checked(f"```json\n{verdict()}\n```", ASKED).label == "SUPPORTS"
    assert checked(verdict(rationale="It\u202e says\u200b so."), ASKED).rationale == "It says so."


@cases("model_answers", "text", "reason")
def test_an_answer_that_is_wrong_is_refused_with_the_reason(text: str, reason: str) -> None:
    with pytest.raises(AnswerInvalid, match=reason):
        checked(text, ASKED)


def kept(rationale: str) -> bool:
    return checked(verdict(rationale=rationale), ASKED).rationale == rationale


@rules(
    ("model_answers", "hostile", "", lambda text: bool(shown(text))),
    ("model_answers", "seen", "shown", visible),  # what cannot be seen is not shown to the model
    ("model_answers", "rationale", "", kept),  # words of the evidence may be quoted
)
def test_what_is_shown_is_one_line_that_can_be_seen(
    rule: Any, given: list[Any], expected: object
) -> None:
    assert rule(*given) == expected


# --- Ollama is found on this computer alone, and offered in one line


@pytest.mark.server
def test_ollama_is_what_lists_models_as_it_does(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("http_proxy", "http://proxy.invalid:3128")  # not asked
    answers: dict[str, tuple[str, ...] | None] = {
        '{"models": [{"name": "gemma3:4b"}, {"name": "tiny"}]}': ("gemma3:4b", "tiny"),
        '{"models": []}': (),
        '{"models": [{"size": 1}]}': None,
        "[]": None,
        "<p>Another server.</p>": None,
    }
    with web_server() as server:
        for answer, models in answers.items():
            server.pages["/api/tags"] = page(answer)
            here = found(server.address)
            assert (here and here.models) == models
    assert found(server.address) is None  # it is gone


@pytest.mark.parametrize("models", [(), ("tiny",), ("gemma3:4b",), tuple(MODELS)])
def test_what_is_offered_is_a_setting_that_names_a_model_and_decides(
    models: tuple[str, ...],
) -> None:
    offer = Ollama(models).offer
    *pull, start = offer.split(" && ")
    name = start.removeprefix("ESOTERIC_LLM=").removesuffix(" esoteric up")
    choice = Settings.from_environment({"ESOTERIC_LLM": name}).llm
    assert choice.model in MODELS
    assert (choice.host, choice.decides) == ("localhost:11434", True)
    assert pull == ([] if choice.model in models else [f"ollama pull {choice.model}"])

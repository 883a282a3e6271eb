"""Ollama is found on this computer alone, and offered in one line."""

from __future__ import annotations

import json

import pytest

from retrieval.llm_judge.ollama import MODELS, Ollama, found
from settings import Settings
from tests.support.web_server import page, web_server


@pytest.mark.server
@pytest.mark.parametrize(
    ("answer", "models"),
    [
        (json.dumps({"models": [{"name": "gemma3:4b"}, {"name": "tiny"}]}), ("gemma3:4b", "tiny")),
        (json.dumps({"models": []}), ()),
        (json.dumps({"models": [{"size": 1}]}), None),
        ("[]", None),
        ("<p>Another server.</p>", None),
    ],
)
def test_ollama_is_what_lists_models_as_it_does(
    answer: str, models: tuple[str, ...] | None, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("http_proxy", "http://proxy.invalid:3128")  # not asked
    with web_server() as server:
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
    assert choice is not None
    assert choice.model in MODELS
    assert (choice.host, choice.decides) == ("localhost:11434", True)
    assert pull == ([] if choice.model in models else [f"ollama pull {choice.model}"])

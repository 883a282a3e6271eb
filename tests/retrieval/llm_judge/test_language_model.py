"""A language model's server that fails, over real HTTP, with both clients."""

from __future__ import annotations

import json
import time
from collections.abc import Callable

import pytest

from retrieval.llm_judge import client as language_model
from retrieval.llm_judge.choice import MISTRAL_URL, LanguageModelChoice, Provider
from retrieval.llm_judge.client import MOST_BYTES, LanguageModel
from retrieval.llm_judge.interface import Deadline, LanguageModelUnavailable
from retrieval.llm_judge.prompt import Message
from tests.retrieval.llm_judge.chat_server import (
    Behaviour,
    ChatServer,
    breaks_off,
    closes,
    hangs,
    refuses,
    says,
    sends,
    trickles,
)

MESSAGES = (Message("user", "Is it?"),)
SCHEMA = {"type": "object"}
PROVIDERS: tuple[Provider, ...] = ("openai", "mistral")


@pytest.fixture(autouse=True)
def short_pauses(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(language_model, "FIRST_PAUSE", 0.01)
    monkeypatch.setattr(language_model, "SHOWN_EVERY", 0.05)


@pytest.fixture(params=PROVIDERS)
def model(chat: ChatServer, request: pytest.FixtureRequest) -> LanguageModel:
    return asked_at(chat, request.param)


def asked_at(
    chat: ChatServer, provider: Provider, key: str = "", seconds: int = 5
) -> LanguageModel:
    url = chat.url if provider == "openai" else chat.url.removesuffix("/v1")
    choice = LanguageModelChoice(provider, "small", url, key, seconds=seconds)
    return LanguageModel(choice)


def ask(model: LanguageModel, on_wait: Callable[[float], None] = lambda seconds: None) -> str:
    model.warm_up()
    return model.ask(MESSAGES, SCHEMA, Deadline(model.choice.seconds), on_wait).text


def test_the_question_and_the_schema_are_sent_and_tokens_are_counted(
    model: LanguageModel, chat: ChatServer
) -> None:
    chat.answers(says("yes"))
    reply = model.ask(MESSAGES, SCHEMA, Deadline(5), lambda seconds: None)
    assert (reply.text, reply.prompt_tokens, reply.answer_tokens) == ("yes", 100, 20)
    (request,) = chat.requests
    assert request.path == "/v1/chat/completions"
    assert request.body["model"] == "small"
    assert request.body["messages"] == [{"role": "user", "content": "Is it?"}]
    wanted = request.body["response_format"]["json_schema"]
    assert (wanted["schema"], wanted["strict"]) == (SCHEMA, True)
    assert request.body["temperature"] == 0


@pytest.mark.parametrize("provider", PROVIDERS)
@pytest.mark.parametrize("key", ["", "the-key"])
def test_nothing_but_the_key_for_this_server_leaves(
    chat: ChatServer, monkeypatch: pytest.MonkeyPatch, provider: Provider, key: str
) -> None:
    for variable in (
        "OPENAI_API_KEY",
        "OPENAI_ADMIN_KEY",
        "OPENAI_ORG_ID",
        "OPENAI_PROJECT_ID",
        "MISTRAL_API_KEY",
    ):
        monkeypatch.setenv(variable, "of-another-host")
    monkeypatch.setenv("OPENAI_CUSTOM_HEADERS", "X-Secret: of-another-host")
    chat.answers(says("yes"))
    ask(asked_at(chat, provider, key))
    headers = chat.requests[0].headers
    assert headers.get("authorization", "") == (f"Bearer {key}" if key else "")
    assert "of-another-host" not in json.dumps(headers)


def test_a_redirect_is_not_followed(model: LanguageModel, chat: ChatServer) -> None:
    chat.answers(refuses(307, location="http://127.0.0.1:9/steal"), says("stolen"))
    with pytest.raises(LanguageModelUnavailable, match="status 307"):
        ask(model)
    assert len(chat.requests) == 1


@pytest.mark.parametrize("failure", [refuses(429), refuses(503), closes, breaks_off])
def test_what_may_pass_is_tried_again(
    model: LanguageModel, chat: ChatServer, failure: Behaviour
) -> None:
    chat.answers(failure, failure, says("yes"))
    assert ask(model) == "yes"
    assert len(chat.requests) == 3


@pytest.mark.parametrize(
    ("failure", "reason"),
    [
        (refuses(429), "status 429"),
        (refuses(500), "status 500"),
        (closes, "connection broke off"),
        (breaks_off, "connection broke off"),
    ],
)
def test_three_tries_are_made_and_then_the_reason_is_given(
    model: LanguageModel, chat: ChatServer, failure: Behaviour, reason: str
) -> None:
    chat.answers(failure)
    with pytest.raises(LanguageModelUnavailable, match=reason) as caught:
        ask(model)
    assert len(chat.requests) == 3
    assert caught.value.code == "language_model_unavailable"


@pytest.mark.parametrize(
    ("failure", "reason"),
    [
        (refuses(400), "status 400"),
        (refuses(401), "status 401.*key"),
        (refuses(404), "status 404.*ESOTERIC_LLM"),
        (sends(b"not json"), "not a chat completion"),
        (sends(b'{"half": '), "not a chat completion"),
        (sends(b"{}"), "not a chat completion"),
        (sends(b"[]"), "not a chat completion"),
        (sends(b'{"choices": []}'), "not a chat completion"),
        (sends(b"[" * 200_000), "not a chat completion"),
        (sends(b"{}", content_type="application/json; charset=hex"), "not a chat completion"),
        (refuses(400, content_type="application/json; charset=rot13"), "status 400|not a chat"),
        (sends(b"x" * (10 * MOST_BYTES)), "longer than"),
        (sends(b"\x1f\x8b", content_encoding="gzip"), "compressed"),
    ],
)
def test_what_will_not_pass_is_not_tried_again(
    model: LanguageModel, chat: ChatServer, failure: Behaviour, reason: str
) -> None:
    chat.answers(failure)
    with pytest.raises(LanguageModelUnavailable, match=reason):
        ask(model)
    assert len(chat.requests) == 1


def test_a_pause_that_the_server_asks_for_is_kept(model: LanguageModel, chat: ChatServer) -> None:
    chat.answers(refuses(429, retry_after="0.6"), says("yes"))
    assert ask(model) == "yes"
    first, second = chat.requests
    assert second.at - first.at >= 0.6


def test_a_server_that_asks_for_a_long_pause_is_left_alone(
    model: LanguageModel, chat: ChatServer
) -> None:
    chat.answers(refuses(429, retry_after="3600"))
    with pytest.raises(LanguageModelUnavailable, match="status 429"):
        ask(model)
    assert len(chat.requests) == 1


@pytest.mark.parametrize("provider", PROVIDERS)
@pytest.mark.parametrize("failure", [hangs, trickles])
def test_a_call_ends_at_its_time_limit_even_if_the_server_keeps_sending(
    chat: ChatServer, provider: Provider, failure: Behaviour
) -> None:
    chat.answers(failure)
    begun = time.monotonic()
    with pytest.raises(LanguageModelUnavailable, match="longer than 1 s"):
        ask(asked_at(chat, provider, seconds=1))
    assert time.monotonic() - begun < 3
    assert chat.disconnected.wait(3)


def test_a_call_that_is_no_longer_wanted_is_given_up_at_once(
    model: LanguageModel, chat: ChatServer
) -> None:
    class Unwanted(Exception):
        pass

    def stop(seconds: float) -> None:
        if chat.requests:
            raise Unwanted

    chat.answers(hangs)
    begun = time.monotonic()
    with pytest.raises(Unwanted):
        ask(model, stop)
    assert time.monotonic() - begun < 2
    assert chat.disconnected.wait(3)
    assert model.problem is None  # the server did nothing wrong


def test_a_server_that_is_not_there_is_named(chat: ChatServer) -> None:
    choice = LanguageModelChoice("openai", "small", "http://127.0.0.1:9/v1", "")
    with pytest.raises(
        LanguageModelUnavailable, match=r"small at 127\.0\.0\.1:9 .*cannot be reached"
    ):
        ask(LanguageModel(choice))


def test_after_five_failures_it_is_left_alone_for_a_while_and_then_tried_once(
    chat: ChatServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    model = asked_at(chat, "openai")
    chat.answers(refuses(401))
    for _ in range(language_model.BREAKS_AFTER):
        with pytest.raises(LanguageModelUnavailable):
            ask(model)
    with pytest.raises(LanguageModelUnavailable):
        ask(model)
    assert len(chat.requests) == language_model.BREAKS_AFTER  # the sixth sent nothing
    assert model.problem is not None

    later = time.monotonic() + language_model.REST
    monkeypatch.setattr(language_model.time, "monotonic", lambda: later)
    chat.answers(says("yes"))
    assert ask(model) == "yes"
    model.believed()
    assert model.problem is None


def test_a_name_that_is_looked_up_for_long_does_not_hold_a_claim(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def slow(*arguments: object, **options: object) -> list[object]:
        time.sleep(4)
        return []

    monkeypatch.setattr("socket.getaddrinfo", slow)
    choice = LanguageModelChoice("openai", "small", "http://models.example/v1", "", seconds=1)
    begun = time.monotonic()
    with pytest.raises(LanguageModelUnavailable, match="longer than 1 s"):
        ask(LanguageModel(choice))
    assert time.monotonic() - begun < 3


def test_a_proxy_of_the_environment_is_not_given_what_is_not_encrypted(
    chat: ChatServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("http_proxy", "http://127.0.0.1:9")
    chat.answers(says("yes"))
    assert ask(asked_at(chat, "openai", "the-key")) == "yes"


def test_without_a_key_mistral_is_not_asked() -> None:
    choice = LanguageModelChoice("mistral", "small", MISTRAL_URL, "")
    with pytest.raises(LanguageModelUnavailable, match=r"no key.*MISTRAL_API_KEY"):
        ask(LanguageModel(choice))


def test_answers_that_are_not_believed_show_as_a_problem_but_rest_no_server(
    chat: ChatServer,
) -> None:
    model = asked_at(chat, "openai")
    chat.answers(says("yes"))
    for number in range(language_model.BREAKS_AFTER):
        assert (model.problem is None) == (number < language_model.BREAKS_AFTER)
        model.refused("it is nonsense")
    assert model.problem is not None
    assert ask(model) == "yes"

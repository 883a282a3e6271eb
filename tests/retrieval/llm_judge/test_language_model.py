"""The stage ``explain`` over real HTTP: whose verdict it is, and what happens where it fails."""

from __future__ import annotations

import json
import logging
import time
from collections.abc import Iterator, Sequence
from dataclasses import replace

import pytest

from retrieval.errors import Cancelled
from retrieval.llm_judge import client
from retrieval.llm_judge.choice import MISTRAL_URL, LanguageModelChoice, Provider
from retrieval.llm_judge.explainer import Explainer
from retrieval.llm_judge.interface import Explained, KeptAnswers, Waiting, digest_of
from retrieval.types import REFUTES, SUPPORTS, Evidence, Judgement, Label, Usage, Verdict
from tests.retrieval.llm_judge.chat_server import (
    Behaviour,
    ChatServer,
    breaks_off,
    chat_server,
    closes,
    hangs,
    refuses,
    says,
    sends,
    trickles,
    verdict,
)
from tests.support.evidence import evidence
from worker.database import StoreUnavailable

CLAIM = "The lamp of Varn is red."
EVIDENCE = [replace(evidence("Lamp", "The lamp is red."), selected=True)]
SOON = {"retry_after_ms": "1"}  # when a refused call may be repeated
with_both_sdks = pytest.mark.parametrize("provider", ["openai", "mistral"])


@pytest.fixture
def chat() -> Iterator[ChatServer]:
    with chat_server() as server:
        yield server


class Memory:
    """Keeps answers as the job store does."""

    def __init__(self) -> None:
        self.answers: dict[str, str] = {}

    def kept_answer(self, digest: str) -> str | None:
        return self.answers.get(digest)

    def keep_answer(self, digest: str, answer: str) -> None:
        self.answers[digest] = answer


class Away(Memory):
    """Keeps them as a job store that cannot be opened."""

    def kept_answer(self, digest: str, answer: str = "") -> str | None:
        raise StoreUnavailable("x", "It is away.", "Wait.")

    keep_answer = kept_answer  # type: ignore[assignment]


def stage(
    chat: ChatServer,
    kept: KeptAnswers | None = None,
    *,
    model: str = "small",
    key: str = "",
    decides: bool = True,
    seconds: int = 60,
    provider: Provider = "openai",
) -> Explainer:
    choice = LanguageModelChoice(model, chat.url, key, decides, seconds, provider=provider)
    return Explainer(choice, kept)


def verifiers(label: Label = SUPPORTS, confidence: float = 0.9) -> Verdict:
    opinion = Judgement("verifier 5", label, confidence, "The verifier's reason.", (1,))
    return Verdict(label, confidence, "verifier 5", opinion.rationale, (opinion,))


def ask(
    stage: Explainer,
    claim: str = CLAIM,
    on_wait: Waiting = lambda seconds: None,
    evidence: Sequence[Evidence] = EVIDENCE,
    before: Verdict | None = None,
) -> Explained:
    return stage.explain(claim, evidence, before or verifiers(), on_wait)


def notice(found: Explained) -> str:
    """Return why the model has no part in a verdict, which is the verifier's then."""
    assert found.verdict == verifiers()
    (said,) = found.notices
    assert said.endswith("The verdict is the verifier's.")
    return said


@with_both_sdks
def test_the_model_decides_and_the_verifiers_opinion_is_kept(
    chat: ChatServer, provider: Provider
) -> None:
    chat.answers(says(verdict("REFUTES", (2,), "It is red.", "the colour")))
    both = [evidence("Rock", "It is grey."), *EVIDENCE]
    result = ask(stage(chat, provider=provider), evidence=both)
    after, name = result.verdict, f"small at {chat.host}"
    assert (after.label, after.judge, after.rationale) == (REFUTES, name, "It is red.")
    assert [opinion.judge for opinion in after.opinions] == [name, "verifier 5"]
    assert after.opinions[0].missing == "the colour"
    assert after.opinions[1] == verifiers().opinions[0]
    assert (result.usage, result.notices) == (Usage(name, 1, 100, 20), ())
    # What was sent, and the schema of an answer.
    (request,) = chat.requests
    assert request.path == "/v1/chat/completions"
    assert (request.body["model"], request.body["temperature"]) == ("small", 0)
    assert [message["role"] for message in request.body["messages"]] == ["system", "user"]
    wanted = request.body["response_format"]["json_schema"]
    fields = wanted["schema"]["properties"]
    assert (wanted["strict"], wanted["schema"]["additionalProperties"]) == (True, False)
    assert (
        list(fields) == wanted["schema"]["required"] == ["rationale", "cites", "label", "missing"]
    )
    assert fields["cites"]["items"] == {"type": "integer", "enum": [2]}  # the selected one
    assert fields["cites"]["maxItems"] == 1
    # Where the verifier decides:
    after = ask(stage(chat, decides=False, provider=provider), evidence=both).verdict
    assert replace(after, opinions=()) == replace(verifiers(), opinions=())
    assert [opinion.label for opinion in after.opinions] == [SUPPORTS, REFUTES]


def test_confidence_follows_from_agreement_and_never_from_the_model(chat: ChatServer) -> None:
    """The square roots of .81, .095 and .095 are .9, .308 and .308. With a reliability of 2/3 that
    is 4 * .9 / (4 * .9 + .616) where both agree, and 4 * .308 / (4 * .308 + 1.208) elsewhere.
    """
    chat.answers(says(verdict("SUPPORTS")))
    for before, confidence in ((SUPPORTS, 3.6 / 4.216), (REFUTES, 1.232 / 2.44)):
        after = ask(stage(chat), before=verifiers(before, 0.81))
        assert after.verdict.confidence == pytest.approx(confidence, abs=1e-3)


@with_both_sdks
def test_nothing_but_the_key_for_this_server_leaves_not_by_a_proxy_and_no_log_has_the_claim(
    chat: ChatServer,
    monkeypatch: pytest.MonkeyPatch,
    caplog: pytest.LogCaptureFixture,
    provider: Provider,
) -> None:
    monkeypatch.setenv("MISTRAL_DEBUG", "1")
    caplog.set_level(logging.DEBUG, "mistralai.client")
    monkeypatch.setenv("MISTRAL_API_KEY", "of-another-host")
    for variable in ("API_KEY", "ADMIN_KEY", "ORG_ID", "PROJECT_ID"):
        monkeypatch.setenv(f"OPENAI_{variable}", "of-another-host")
    monkeypatch.setenv("OPENAI_CUSTOM_HEADERS", "X-Secret: of-another-host")
    monkeypatch.setenv("http_proxy", "http://127.0.0.1:9")  # which could read what is sent
    chat.answers(says(verdict()))
    for key in ("", "the-key"):
        assert ask(stage(chat, key=key, provider=provider)).notices == ()
        headers = chat.requests[-1].headers
        assert headers.get("authorization", "") == (f"Bearer {key}" if key else "")
        assert "of-another-host" not in json.dumps(headers)
    assert CLAIM not in caplog.text


@pytest.mark.parametrize(("provider", "status"), [("openai", 503), ("mistral", 429)])
def test_what_may_pass_is_tried_again_after_the_pause_that_the_server_asks_for(
    chat: ChatServer, provider: Provider, status: int
) -> None:
    chat.answers(refuses(status, retry_after="1.2"), says(verdict("REFUTES")))
    begun = time.monotonic()
    assert ask(stage(chat, provider=provider)).verdict.label == REFUTES
    assert len(chat.requests) == 2
    assert time.monotonic() - begun >= 1.2  # the pauses of the SDKs are at most 1 second here
    if provider == "openai":  # as a connection that breaks off
        chat.answers(breaks_off, says(verdict("REFUTES")))
        assert ask(stage(chat)).verdict.label == REFUTES


@pytest.mark.parametrize(
    ("provider", "failure", "requests", "reason"),
    [
        ("openai", refuses(500, **SOON), (3,), "status 500"),
        ("openai", closes, (3,), "connection broke off"),
        ("openai", refuses(429, retry_after="3600"), (1,), "status 429"),
        ("mistral", refuses(500), (2, 3), "status 500"),  # 2 on a slow computer
        ("mistral", closes, (1,), "connection broke off"),
        *(
            (sdk, failure, (1,), reason)
            for sdk in ("openai", "mistral")
            for failure, reason in (
                (refuses(307, location="http://127.0.0.1:9/steal"), "status 307"),
                (refuses(401), "status 401"),
                (sends(b"not json"), "not a chat completion"),
                (sends(b"[]"), "not a chat completion"),
                (sends(b'{"choices": []}'), "not a chat completion"),
                (sends(b"[" * 200_000), "not a chat completion"),
                (sends(b"{}", content_type="application/json; charset=hex"), "not a chat"),
                (sends(b"x" * (10 * client.MOST_BYTES)), "longer than"),
                (sends(b"\x1f\x8b", content_encoding="gzip"), "compressed"),
            )
        ),
    ],
)
def test_a_failing_server_leaves_the_verifiers_verdict_with_the_reason(
    chat: ChatServer, provider: Provider, failure: Behaviour, requests: tuple[int, ...], reason: str
) -> None:
    chat.answers(failure)
    asked = stage(chat, provider=provider)
    said = notice(ask(asked))
    assert said.startswith(f"The language model small at {chat.host} gave no usable answer")
    assert reason in said
    assert len(chat.requests) in requests
    assert asked.problem is not None


@with_both_sdks
@pytest.mark.parametrize("failure", [hangs, trickles])
def test_a_call_ends_at_its_time_limit_even_if_the_server_keeps_sending(
    chat: ChatServer, provider: Provider, failure: Behaviour
) -> None:
    chat.answers(failure)
    begun = time.monotonic()
    assert "longer than 1 s" in notice(ask(stage(chat, seconds=1, provider=provider)))
    assert time.monotonic() - begun < 20
    assert chat.disconnected.wait(30)


def test_a_call_that_is_no_longer_wanted_is_given_up_at_once(
    chat: ChatServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    def stop(seconds: float) -> None:
        if chat.requests:
            raise Cancelled

    monkeypatch.setattr(client, "SHOWN_EVERY", 0.05)
    chat.answers(hangs)
    asked, begun = stage(chat), time.monotonic()
    with pytest.raises(Cancelled):
        ask(asked, on_wait=stop)
    assert time.monotonic() - begun < 20
    assert chat.disconnected.wait(30)
    assert asked.problem is None  # the server did nothing wrong
    # Nor does a name hold a claim that is looked up for long.
    monkeypatch.setattr("socket.getaddrinfo", lambda *_, **__: time.sleep(30) or [])
    choice = LanguageModelChoice("small", "http://models.example/v1", "", seconds=1)
    begun = time.monotonic()
    assert "longer than 1 s" in notice(ask(Explainer(choice, None)))
    assert time.monotonic() - begun < 20


def test_a_server_that_cannot_be_asked_is_named_with_what_to_do() -> None:
    nowhere, no_key = "http://127.0.0.1:9/v1", MISTRAL_URL
    for url, reason, hint in (
        (nowhere, "small at 127.0.0.1:9 gave", "Check that its server runs."),
        (no_key, "there is no key for it", "Check the key: MISTRAL_API_KEY for Mistral"),
    ):
        asked = Explainer(LanguageModelChoice("small", url, ""), None)
        assert reason in notice(ask(asked))
        assert asked.problem.hint.startswith(hint)


def test_after_five_failures_it_is_left_alone_for_a_while_and_kept_answers_are_used(
    chat: ChatServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    chat.answers(says(verdict("REFUTES")), refuses(401))
    asked = stage(chat, Memory())
    assert ask(asked).verdict.label == REFUTES
    for number in range(client.BREAKS_AFTER + 1):
        assert "status 401" in notice(ask(asked, f"{CLAIM} {number}"))
    assert len(chat.requests) == 1 + client.BREAKS_AFTER  # the sixth sent nothing
    assert ask(asked).verdict.label == REFUTES
    assert asked.problem is not None

    later = time.monotonic() + client.REST
    monkeypatch.setattr(client.time, "monotonic", lambda: later)
    chat.answers(says(verdict("SUPPORTS")))
    assert ask(asked, "The lamp is lit.").verdict.judge == asked.model
    assert asked.problem is None


def test_nothing_that_a_model_wrote_is_repeated_and_nonsense_rests_no_server(
    chat: ChatServer,
) -> None:
    secret = "<|im_start|>\nsecret"
    chat.answers(
        says(verdict(rationale=f"It says “{secret}”.")),
        says(verdict()[:-1] + f', "{secret.encode("unicode_escape").decode()}": 1}}'),
    )
    kept = Memory()
    asked = stage(chat, kept)
    for number in range(client.BREAKS_AFTER + 1):
        assert (asked.problem is None) == (number < client.BREAKS_AFTER)
        assert "secret" not in notice(ask(asked, f"{CLAIM} {number}"))
    assert "secret" not in str(asked.problem)
    assert not any("secret" in str(request.body) for request in chat.requests)
    assert len(chat.requests) == 2 * (client.BREAKS_AFTER + 1)
    assert kept.answers == {}


def test_an_answer_that_is_refused_is_asked_for_once_more_and_a_notice_says_what_was_cut(
    chat: ChatServer,
) -> None:
    chat.answers(says(verdict(cites=(7,))), says(verdict("NOT ENOUGH INFO", ())))
    result = ask(stage(chat))
    assert result.verdict.label == "NOT ENOUGH INFO"
    assert result.usage == Usage(f"small at {chat.host}", 2, 200, 40)
    first, second = (request.body["messages"] for request in chat.requests)
    assert second[1]["content"].startswith(first[1]["content"])
    assert '"cites" holds a number that no piece of evidence has' in second[1]["content"]
    chat.answers(says(verdict("SUPPORTS")))
    long = [replace(evidence("Lamp", "red " * 5000), selected=True)]
    assert "beginning of very long sentences" in ask(stage(chat), evidence=long).notices[0]
    assert len(chat.requests[-1].body["messages"][1]["content"]) < 1_300


def test_the_same_question_is_asked_once(chat: ChatServer) -> None:
    chat.answers(says(verdict("SUPPORTS")))
    kept = Memory()
    first = ask(stage(chat, kept))
    (digest,) = kept.answers
    assert digest.startswith(digest_of(CLAIM))  # so that it is deleted with the claim
    again = ask(stage(chat, kept))
    assert again.verdict == first.verdict
    assert again.usage == Usage(f"small at {chat.host}", 0, 0, 0)
    assert len(chat.requests) == 1
    kept.answers[digest] = verdict(cites=(9,))  # which fails the checks
    assert ask(stage(chat, kept)).usage.calls == 1
    assert '"cites":[1]' in kept.answers[digest]

    blue = [replace(evidence("Lamp", "The lamp is blue."), selected=True)]
    ask(stage(chat, kept), evidence=blue)
    ask(stage(chat, kept), "The lamp is blue.")
    ask(stage(chat, kept, model="large"))
    assert len(chat.requests) == 5
    # Answers that cannot be kept cost nothing but a call.
    chat.answers(says(verdict("REFUTES")))
    result = ask(stage(chat, Away()))
    assert (result.verdict.label, result.notices) == (REFUTES, ())

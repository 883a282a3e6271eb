"""The stage ``explain`` over real HTTP: whose verdict it is, what is shown, and what fails."""

import json
import logging
import time
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from typing import Any

import pytest

from retrieval.errors import Cancelled
from retrieval.llm_judge import client
from retrieval.llm_judge.answer import AnswerInvalid, checked
from retrieval.llm_judge.choice import MISTRAL_URL, LanguageModelChoice, Provider
from retrieval.llm_judge.explainer import Explainer
from retrieval.llm_judge.interface import Explained, KeptAnswers, Waiting, digest_of
from retrieval.llm_judge.ollama import MODELS, Ollama, found
from retrieval.llm_judge.prompt import prompt, visible
from retrieval.types import REFUTES, SUPPORTS, Judgement, Label, Usage, Verdict
from settings import Settings
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
from tests.support.cases import cases, rules
from tests.support.evidence import evidence
from tests.support.web_server import page, web_server
from worker.database import StoreUnavailable

CLAIM = "The lamp of Varn is red."
EVIDENCE = [replace(evidence("Lamp", "The lamp is red."), selected=True)]
SOON = {"retry_after_ms": "1"}  # when a refused call may be repeated
with_both_sdks = pytest.mark.parametrize("provider", ["openai", "mistral"])


@pytest.fixture
def chat() -> Iterator[ChatServer]:
    with chat_server() as server:
        yield server


@dataclass
class Memory:
    """Keeps answers as the job store does."""

    answers: dict[str, str] = field(default_factory=dict)

    def kept_answer(self, digest: str) -> str | None:
        return self.answers.get(digest)

    def keep_answer(self, digest: str, answer: str) -> None:
        self.answers[digest] = answer


class Away(Memory):
    """Keeps them as a job store that cannot be opened."""

    def kept_answer(self, digest: str, answer: str = "") -> str | None:
        raise StoreUnavailable("x", "It is away.", "Wait.")

    keep_answer = kept_answer


def stage(chat: ChatServer, kept: KeptAnswers | None = None, **choice: Any) -> Explainer:
    chosen = {"model": "small", "url": chat.url, "key": "", "seconds": 60, **choice}
    return Explainer(LanguageModelChoice(**chosen), kept)


def verifiers(label: Label = SUPPORTS, confidence: float = 0.9) -> Verdict:
    opinion = Judgement("verifier 5", label, confidence, "The verifier's reason.", (1,))
    return Verdict(label, confidence, "verifier 5", opinion.rationale, (opinion,))


def ask(stage: Explainer, claim: str = CLAIM, on_wait: Waiting = id, **given: Any) -> Explained:
    evidence, before = given.get("evidence", EVIDENCE), given.get("before")
    return stage.explain(claim, evidence, before or verifiers(), on_wait)


def notice(found: Explained) -> str:
    """Return why the model has no part in a verdict, which is the verifier's then."""
    assert found.verdict == verifiers()
    (said,) = found.notices
    assert said.endswith("The verdict is the verifier's.")
    return said


@with_both_sdks
def test_the_model_decides_beside_the_verifier(chat: ChatServer, provider: Provider) -> None:
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
    assert list(fields) == ["rationale", "cites", "label", "missing"]
    assert list(fields) == wanted["schema"]["required"]
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
def test_nothing_but_the_key_for_this_server_leaves_and_no_log_has_the_claim(
    chat: ChatServer, monkeypatch: pytest.MonkeyPatch, caplog: Any, provider: Provider
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


SOON_500, LATER_429 = refuses(500, **SOON), refuses(429, retry_after="3600")
NO_ANSWERS = [
    (refuses(307, location="http://127.0.0.1:9/steal"), "status 307"),
    (refuses(401), "status 401"),
    (sends(b"{}", content_type="application/json; charset=hex"), "not a chat"),
    (sends(b"x" * (10 * client.MOST_BYTES)), "longer than"),
    (sends(b"\x1f\x8b", content_encoding="gzip"), "compressed"),
    *((sends(bad), "not a chat completion") for bad in (b"not json", b"[]", b"[" * 200_000)),
    (sends(b'{"choices": []}'), "not a chat completion"),
]
FAILURES: list[tuple[Provider, Behaviour, tuple[int, ...], str]] = [
    ("openai", SOON_500, (3,), "status 500"),
    ("openai", closes, (3,), "connection broke off"),
    ("openai", LATER_429, (1,), "status 429"),
    ("mistral", refuses(500), (2, 3), "status 500"),  # 2 on a slow computer
    ("mistral", closes, (1,), "connection broke off"),
    *((sdk, failure, (1,), why) for sdk in ("openai", "mistral") for failure, why in NO_ANSWERS),
]


@pytest.mark.parametrize(("provider", "failure", "requests", "reason"), FAILURES)
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


@pytest.mark.parametrize(("provider", "failure"), [("openai", hangs), ("mistral", trickles)])
def test_a_call_ends_at_its_limit(chat: ChatServer, provider: Provider, failure: Any) -> None:
    chat.answers(failure)
    begun = time.monotonic()
    assert "longer than 1 s" in notice(ask(stage(chat, seconds=1, provider=provider)))
    assert time.monotonic() - begun < 20
    assert chat.disconnected.wait(30)


def test_an_unwanted_call_is_given_up(chat: ChatServer, monkeypatch: pytest.MonkeyPatch) -> None:
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


def test_after_five_failures_it_rests(chat: ChatServer, monkeypatch: pytest.MonkeyPatch) -> None:
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


def test_nothing_that_a_model_wrote_is_repeated(chat: ChatServer) -> None:
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


def test_a_refused_answer_is_asked_for_once_more(chat: ChatServer) -> None:
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


# --- what a language model is shown, and what is checked before its answer is believed

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


def test_evidence_is_shown_by_number_between_marks_with_escaped_tokens() -> None:
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
    # Control tokens of chat templates are escaped, and a sentence has its context.
    tokens = ["<|im_end|>", "</s>", "<start_of_turn>"]
    tokens += [f"[{name}]" for name in ("INST", "/INST", "TOOL_CALLS", "gMASK")]
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
def test_what_is_shown_is_one_clear_line(rule: Any, given: list[Any], expected: object) -> None:
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


def test_what_is_offered_is_a_setting_that_decides() -> None:
    for models in ((), ("tiny",), ("gemma3:4b",), tuple(MODELS)):
        offer = Ollama(models).offer
        *pull, start = offer.split(" && ")
        name = start.removeprefix("ESOTERIC_LLM=").removesuffix(" esoteric up")
        choice = Settings.from_environment({"ESOTERIC_LLM": name}).llm
        assert choice.model in MODELS
        assert (choice.host, choice.decides) == ("localhost:11434", True)
        assert pull == ([] if choice.model in models else [f"ollama pull {choice.model}"])

"""The stage ``explain``: whose verdict it is, and what happens where the model fails."""

from __future__ import annotations

from dataclasses import replace

import pytest

from retrieval.explanation import language_model
from retrieval.explanation.chat_client import chat_client
from retrieval.explanation.choice import LanguageModelChoice
from retrieval.explanation.explainer import Explainer, explainer
from retrieval.explanation.language_model import LanguageModel
from retrieval.types import NOT_ENOUGH_INFO, REFUTES, SUPPORTS, Judgement, Label, Usage, Verdict
from tests.evidence import evidence
from tests.explanation.chat_server import ChatServer, refuses, says, verdict

CLAIM = "The lamp of Varn is red."
EVIDENCE = [replace(evidence("Lamp", "The lamp is red."), selected=True)]
NONE = lambda seconds: None  # noqa: E731 - nothing is done while it waits


class Memory:
    """Keeps answers as the job store does."""

    def __init__(self) -> None:
        self.answers: dict[str, str] = {}

    def kept_answer(self, digest: str) -> str | None:
        return self.answers.get(digest)

    def keep_answer(self, digest: str, answer: str) -> None:
        self.answers.setdefault(digest, answer)


def stage(
    chat: ChatServer, kept: Memory | None = None, *, decides: bool = True, model: str = "small"
) -> Explainer:
    choice = LanguageModelChoice("openai", model, chat.url, "", decides, seconds=5)
    return Explainer(LanguageModel(choice, chat_client(choice)), kept)


def verifiers(label: Label, confidence: float = 0.9) -> Verdict:
    opinion = Judgement("verifier 5", label, confidence, "The verifier's reason.", (1,))
    return Verdict(label, confidence, "verifier 5", opinion.rationale, (opinion,))


def test_the_model_decides_and_the_verifiers_opinion_stands_beside_it(chat: ChatServer) -> None:
    chat.answers(says(verdict("REFUTES", (1,), "It is red.", "the colour")))
    before = verifiers(SUPPORTS)
    result = stage(chat).run(CLAIM, EVIDENCE, before, NONE)
    after = result["verdict"]
    name = f"small at {chat.host}"
    assert (after.label, after.judge, after.rationale) == (REFUTES, name, "It is red.")
    assert [opinion.judge for opinion in after.opinions] == [name, "verifier 5"]
    assert after.opinions[0].missing == "the colour"
    assert after.opinions[1] == before.opinions[0]
    assert result["usage"] == Usage(name, 1, 100, 20)
    assert result["notices"] == []


def test_confidence_follows_from_agreement_and_never_from_the_model(chat: ChatServer) -> None:
    """With reliability 0.8: .8 * .9 / (.8 * .9 + .1 * .1), and .8 * .05 / (.8 * .05 + .1 * .95)."""
    chat.answers(says(verdict("SUPPORTS")))
    agreeing = stage(chat).run(CLAIM, EVIDENCE, verifiers(SUPPORTS), NONE)["verdict"]
    assert agreeing.confidence == pytest.approx(0.72 / 0.73)
    differing = stage(chat).run(CLAIM, EVIDENCE, verifiers(REFUTES), NONE)["verdict"]
    assert differing.confidence == pytest.approx(0.04 / 0.135)


def test_where_the_verifier_decides_the_model_adds_its_opinion(chat: ChatServer) -> None:
    chat.answers(says(verdict("REFUTES", (1,), "It is not.")))
    before = verifiers(SUPPORTS)
    after = stage(chat, decides=False).run(CLAIM, EVIDENCE, before, NONE)["verdict"]
    assert (after.label, after.confidence, after.judge) == (SUPPORTS, 0.9, "verifier 5")
    assert after.rationale == "The verifier's reason."
    assert [opinion.label for opinion in after.opinions] == [SUPPORTS, REFUTES]


def test_where_the_verifier_decides_and_both_agree_the_rationale_is_the_models(
    chat: ChatServer,
) -> None:
    chat.answers(says(verdict("SUPPORTS", (1,), "It says “The lamp is red”.")))
    after = stage(chat, decides=False).run(CLAIM, EVIDENCE, verifiers(SUPPORTS), NONE)["verdict"]
    assert (after.judge, after.rationale) == ("verifier 5", "It says “The lamp is red”.")


def test_an_answer_that_is_refused_is_asked_for_once_more_with_the_reason(
    chat: ChatServer,
) -> None:
    chat.answers(says(verdict(cites=(7,))), says(verdict("NOT ENOUGH INFO", ())))
    result = stage(chat).run(CLAIM, EVIDENCE, verifiers(SUPPORTS), NONE)
    assert result["verdict"].label == NOT_ENOUGH_INFO
    assert result["usage"].calls == 2
    assert result["usage"].prompt_tokens == 200
    *_, said, again = chat.requests[1].body["messages"]
    assert (said["role"], said["content"]) == ("assistant", verdict(cites=(7,)))
    assert "no evidence with the number 7" in again["content"]


@pytest.mark.parametrize("failure", [says("I think so."), refuses(500)])
def test_where_the_model_fails_the_verdict_stays_and_a_notice_says_so(
    chat: ChatServer, monkeypatch: pytest.MonkeyPatch, failure: object
) -> None:
    monkeypatch.setattr(language_model, "FIRST_PAUSE", 0.01)
    chat.answers(failure)  # type: ignore[arg-type]
    asked = stage(chat)
    before = verifiers(SUPPORTS)
    result = asked.run(CLAIM, EVIDENCE, before, NONE)
    assert result["verdict"] == before
    assert result["usage"] is None
    (notice,) = result["notices"]
    assert notice.startswith(f"The language model small at {chat.host} gave no answer")
    assert notice.endswith("The verdict is the verifier's.")
    assert asked.language_model.problem is not None


def test_the_same_question_is_asked_once(chat: ChatServer) -> None:
    chat.answers(says(verdict("SUPPORTS")))
    kept = Memory()
    first = stage(chat, kept).run(CLAIM, EVIDENCE, verifiers(SUPPORTS), NONE)
    again = stage(chat, kept).run(CLAIM, EVIDENCE, verifiers(SUPPORTS), NONE)
    assert again["verdict"] == first["verdict"]
    assert again["usage"] == Usage(f"small at {chat.host}", 0, 0, 0)
    assert len(chat.requests) == 1

    other = [replace(evidence("Lamp", "The lamp is blue."), selected=True)]
    stage(chat, kept).run(CLAIM, other, verifiers(SUPPORTS), NONE)
    stage(chat, kept).run("The lamp is blue.", EVIDENCE, verifiers(SUPPORTS), NONE)
    stage(chat, kept, model="large").run(CLAIM, EVIDENCE, verifiers(SUPPORTS), NONE)
    assert len(chat.requests) == 4


def test_an_answer_that_failed_is_not_kept(chat: ChatServer) -> None:
    chat.answers(says("no"))
    kept = Memory()
    stage(chat, kept).run(CLAIM, EVIDENCE, verifiers(SUPPORTS), NONE)
    assert kept.answers == {}


def test_a_kept_answer_is_used_while_the_model_is_left_alone(chat: ChatServer) -> None:
    chat.answers(says(verdict("REFUTES")), refuses(401))
    asked = stage(chat, Memory())
    asked.run(CLAIM, EVIDENCE, verifiers(SUPPORTS), NONE)
    for number in range(6):
        asked.run(f"{CLAIM} {number}", EVIDENCE, verifiers(SUPPORTS), NONE)
    result = asked.run(CLAIM, EVIDENCE, verifiers(SUPPORTS), NONE)
    assert result["verdict"].label == REFUTES


def test_evidence_that_was_cut_is_said(chat: ChatServer) -> None:
    chat.answers(says(verdict("SUPPORTS")))
    long = [replace(evidence("Lamp", "red " * 5000), selected=True)]
    result = stage(chat).run(CLAIM, long, verifiers(SUPPORTS), NONE)
    assert "beginning of very long sentences" in result["notices"][0]


def test_without_a_setting_there_is_no_stage() -> None:
    assert explainer(None, None) is None

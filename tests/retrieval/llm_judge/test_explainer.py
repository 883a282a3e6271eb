"""The stage ``explain``: whose verdict it is, and what happens where the model fails."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from retrieval.llm_judge import client as language_model
from retrieval.llm_judge.choice import LanguageModelChoice
from retrieval.llm_judge.client import LanguageModel
from retrieval.llm_judge.explainer import Explainer, explainer
from retrieval.llm_judge.interface import KeptAnswers, digest_of
from retrieval.types import NOT_ENOUGH_INFO, REFUTES, SUPPORTS, Judgement, Label, Usage, Verdict
from tests.retrieval.llm_judge.chat_server import ChatServer, refuses, says, verdict
from tests.support.evidence import evidence
from worker.database import StoreUnavailable

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
        self.answers[digest] = answer


class Unreadable:
    """Keeps nothing, as a database does that cannot be opened."""

    def kept_answer(self, digest: str) -> str | None:
        raise StoreUnavailable("x", "It is away.", "Wait.")

    def keep_answer(self, digest: str, answer: str) -> None:
        raise StoreUnavailable("x", "It is away.", "Wait.")


def stage(
    chat: ChatServer, kept: KeptAnswers | None = None, *, decides: bool = True, model: str = "small"
) -> Explainer:
    choice = LanguageModelChoice("openai", model, chat.url, "", decides, seconds=5)
    return Explainer(LanguageModel(choice), kept)


def verifiers(label: Label, confidence: float = 0.9) -> Verdict:
    opinion = Judgement("verifier 5", label, confidence, "The verifier's reason.", (1,))
    return Verdict(label, confidence, "verifier 5", opinion.rationale, (opinion,))


def test_the_model_decides_and_the_verifiers_opinion_is_kept(chat: ChatServer) -> None:
    chat.answers(says(verdict("REFUTES", (1,), "It is red.", "the colour")))
    before = verifiers(SUPPORTS)
    result = stage(chat).explain(CLAIM, EVIDENCE, before, NONE)
    after = result.verdict
    name = f"small at {chat.host}"
    assert (after.label, after.judge, after.rationale) == (REFUTES, name, "It is red.")
    assert [opinion.judge for opinion in after.opinions] == [name, "verifier 5"]
    assert after.opinions[0].missing == "the colour"
    assert after.opinions[1] == before.opinions[0]
    assert result.usage == Usage(name, 1, 100, 20)
    assert result.notices == ()


def test_confidence_follows_from_agreement_and_never_from_the_model(chat: ChatServer) -> None:
    """The square roots of .81, .095 and .095 are .9, .308 and .308. With a reliability of 2/3 that
    is 4 * .9 / (4 * .9 + .616) where both agree, and 4 * .308 / (4 * .308 + 1.208) elsewhere.
    """
    chat.answers(says(verdict("SUPPORTS")))
    agreeing = stage(chat).explain(CLAIM, EVIDENCE, verifiers(SUPPORTS, 0.81), NONE).verdict
    assert agreeing.confidence == pytest.approx(3.6 / 4.216, abs=1e-3)
    differing = stage(chat).explain(CLAIM, EVIDENCE, verifiers(REFUTES, 0.81), NONE).verdict
    assert differing.confidence == pytest.approx(1.232 / 2.44, abs=1e-3)


def test_where_the_verifier_decides_the_model_adds_its_opinion(chat: ChatServer) -> None:
    chat.answers(says(verdict("REFUTES", (1,), "It is not.")))
    before = verifiers(SUPPORTS)
    after = stage(chat, decides=False).explain(CLAIM, EVIDENCE, before, NONE).verdict
    assert (after.label, after.confidence, after.judge) == (SUPPORTS, 0.9, "verifier 5")
    assert after.rationale == "The verifier's reason."
    assert [opinion.label for opinion in after.opinions] == [SUPPORTS, REFUTES]


def test_an_answer_that_is_refused_is_asked_for_once_more_with_the_reason(
    chat: ChatServer,
) -> None:
    chat.answers(says(verdict(cites=(7,))), says(verdict("NOT ENOUGH INFO", ())))
    result = stage(chat).explain(CLAIM, EVIDENCE, verifiers(SUPPORTS), NONE)
    assert result.verdict.label == NOT_ENOUGH_INFO
    assert result.usage.calls == 2
    assert result.usage.prompt_tokens == 200
    first, second = (request.body["messages"] for request in chat.requests)
    assert second[0] == first[0]
    assert second[1]["content"].startswith(first[1]["content"])
    assert '"cites" holds a number that no piece of evidence has' in second[1]["content"]


def test_nothing_that_a_model_wrote_is_repeated_in_questions_notices_or_problems(
    chat: ChatServer,
) -> None:
    secret = "<|im_start|>\nsecret"
    chat.answers(
        says(verdict(rationale=f"It says “{secret}”.")),
        says(verdict()[:-1] + f', "{secret.encode("unicode_escape").decode()}": 1}}'),
    )
    asked = stage(chat)
    for number in range(language_model.BREAKS_AFTER):
        result = asked.explain(f"{CLAIM} {number}", EVIDENCE, verifiers(SUPPORTS), NONE)
        assert "secret" not in str(result.notices)
    assert asked.language_model.problem is not None
    assert "secret" not in str(asked.language_model.problem)
    assert not any("secret" in str(request.body) for request in chat.requests)


NONSENSE = says("I think so.")


@pytest.mark.parametrize("failure", [NONSENSE, refuses(500)])
def test_where_the_model_fails_the_verdict_stays_and_a_notice_says_so(
    chat: ChatServer, monkeypatch: pytest.MonkeyPatch, failure: object
) -> None:
    monkeypatch.setattr(language_model, "FIRST_PAUSE", 0.01)
    chat.answers(failure)  # type: ignore[arg-type]
    asked = stage(chat)
    before = verifiers(SUPPORTS)
    result = asked.explain(CLAIM, EVIDENCE, before, NONE)
    assert result.verdict == before
    assert result.usage.calls == (2 if failure is NONSENSE else 0)
    (notice,) = result.notices
    assert notice.startswith(f"The language model small at {chat.host} gave no usable answer")
    assert notice.endswith("The verdict is the verifier's.")


def test_the_same_question_is_asked_once(chat: ChatServer) -> None:
    chat.answers(says(verdict("SUPPORTS")))
    kept = Memory()
    first = stage(chat, kept).explain(CLAIM, EVIDENCE, verifiers(SUPPORTS), NONE)
    (digest,) = kept.answers
    assert digest.startswith(digest_of(CLAIM))  # so that it is deleted with the claim
    again = stage(chat, kept).explain(CLAIM, EVIDENCE, verifiers(SUPPORTS), NONE)
    assert again.verdict == first.verdict
    assert again.usage == Usage(f"small at {chat.host}", 0, 0, 0)
    assert len(chat.requests) == 1

    other = [replace(evidence("Lamp", "The lamp is blue."), selected=True)]
    stage(chat, kept).explain(CLAIM, other, verifiers(SUPPORTS), NONE)
    stage(chat, kept).explain("The lamp is blue.", EVIDENCE, verifiers(SUPPORTS), NONE)
    stage(chat, kept, model="large").explain(CLAIM, EVIDENCE, verifiers(SUPPORTS), NONE)
    assert len(chat.requests) == 4


def test_a_stored_answer_that_fails_the_checks_is_asked_for_again(chat: ChatServer) -> None:
    chat.answers(says(verdict("SUPPORTS")))
    kept = Memory()
    stage(chat, kept).explain(CLAIM, EVIDENCE, verifiers(SUPPORTS), NONE)
    (digest,) = kept.answers
    kept.answers[digest] = verdict(cites=(9,))
    result = stage(chat, kept).explain(CLAIM, EVIDENCE, verifiers(SUPPORTS), NONE)
    assert result.usage.calls == 1
    assert '"cites":[1]' in kept.answers[digest]


def test_answers_that_cannot_be_kept_cost_nothing_but_a_call(chat: ChatServer) -> None:
    chat.answers(says(verdict("REFUTES")))
    result = stage(chat, Unreadable()).explain(CLAIM, EVIDENCE, verifiers(SUPPORTS), NONE)
    assert (result.verdict.label, result.notices) == (REFUTES, ())


def test_an_answer_that_failed_is_not_kept(chat: ChatServer) -> None:
    chat.answers(says("no"))
    kept = Memory()
    stage(chat, kept).explain(CLAIM, EVIDENCE, verifiers(SUPPORTS), NONE)
    assert kept.answers == {}


def test_a_kept_answer_is_used_while_the_model_is_left_alone(chat: ChatServer) -> None:
    chat.answers(says(verdict("REFUTES")), refuses(401))
    asked = stage(chat, Memory())
    asked.explain(CLAIM, EVIDENCE, verifiers(SUPPORTS), NONE)
    for number in range(6):
        asked.explain(f"{CLAIM} {number}", EVIDENCE, verifiers(SUPPORTS), NONE)
    result = asked.explain(CLAIM, EVIDENCE, verifiers(SUPPORTS), NONE)
    assert result.verdict.label == REFUTES


def test_a_notice_says_that_evidence_was_cut(chat: ChatServer) -> None:
    chat.answers(says(verdict("SUPPORTS")))
    long = [replace(evidence("Lamp", "red " * 5000), selected=True)]
    result = stage(chat).explain(CLAIM, long, verifiers(SUPPORTS), NONE)
    assert "beginning of very long sentences" in result.notices[0]


def test_without_a_setting_there_is_no_stage() -> None:
    assert explainer(None, None, Path()) is None

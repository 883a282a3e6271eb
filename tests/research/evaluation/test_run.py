from __future__ import annotations

import json
from pathlib import Path

import pytest

from research.evaluation.claims import FeverClaim
from research.evaluation.predictions import Answer, read_predictions
from research.evaluation.run import Crash, SystemOutcome, has_answered, run_system
from retrieval.errors import BadSource, EsotericError
from retrieval.types import Report
from tests.research.evaluation.answers import ANSWERS, CLAIMS


class FromAList:
    """Gives the answers of ``answers.py``; fails or is interrupted at the given claims."""

    def __init__(self, failing: dict[str, BaseException] | None = None) -> None:
        self._failing = failing or {}
        self.asked: list[str] = []

    def warm_up(self) -> None:
        pass

    def answer(self, claim: str) -> Answer:
        self.asked.append(claim)
        if claim in self._failing:
            raise self._failing[claim]
        return ANSWERS[[c.text for c in CLAIMS].index(claim)]

    def report(self, claim: str) -> Report:
        raise NotImplementedError


def run(system: FromAList, folder: Path, claims: list[FeverClaim] = CLAIMS) -> SystemOutcome:
    return run_system(lambda: system, "listed", claims, folder, 1, lambda done: None)


def test_an_interrupted_run_continues_where_it_stopped(tmp_path: Path) -> None:
    with pytest.raises(KeyboardInterrupt):
        run(FromAList({"Claim 3.": KeyboardInterrupt()}), tmp_path)
    with (tmp_path / "predictions.jsonl").open("a") as stream:
        stream.write('{"id": 3, "predicted_la')  # as after a kill
    again = FromAList()
    outcome = run(again, tmp_path)
    assert again.asked == ["Claim 3.", "Claim 4."]
    assert [prediction.answer for prediction in outcome.predictions] == ANSWERS


@pytest.mark.server
def test_several_processes_answer_in_the_order_of_the_claims(tmp_path: Path) -> None:
    outcome = run_system(FromAList, "listed", CLAIMS, tmp_path, 2, lambda done: None)
    assert [prediction.answer for prediction in outcome.predictions] == ANSWERS
    assert read_predictions(tmp_path / "predictions.jsonl") == outcome.predictions


def test_a_crash_is_no_answer_and_the_other_claims_continue(tmp_path: Path) -> None:
    failing = {
        "Claim 1.": EsotericError("x", "The index is damaged.", "Fix it."),
        "Claim 3.": ZeroDivisionError("division by zero"),
    }
    outcome = run(FromAList(failing), tmp_path)
    assert [prediction.claim_id for prediction in outcome.predictions] == [2, 4]
    assert outcome.crashes == [
        Crash(1, "The index is damaged."),
        Crash(3, "ZeroDivisionError: division by zero"),
    ]
    crashes = (tmp_path / "crashes.jsonl").read_text().splitlines()
    assert [json.loads(line)["claim_id"] for line in crashes] == [1, 3]
    again = FromAList()
    assert run(again, tmp_path) == SystemOutcome(run(again, tmp_path).predictions, [])
    assert again.asked == ["Claim 1.", "Claim 3."]


def test_fewer_claims_reuse_their_answers_from_a_longer_run(tmp_path: Path) -> None:
    run(FromAList(), tmp_path)
    outcome = run(FromAList(), tmp_path, CLAIMS[:2])
    assert [prediction.claim_id for prediction in outcome.predictions] == [1, 2]
    assert len(read_predictions(tmp_path / "predictions.jsonl")) == 4


@pytest.mark.parametrize("line", ["[]", "7", '"text"', "{", "{}"])
def test_a_line_that_is_no_prediction_is_refused(tmp_path: Path, line: str) -> None:
    (tmp_path / "predictions.jsonl").write_text(line + "\n")
    with pytest.raises(BadSource, match="line 1"):
        run(FromAList(), tmp_path)


def test_a_system_has_answered_when_no_claim_is_left(tmp_path: Path) -> None:
    assert not has_answered(tmp_path / "never-run", CLAIMS)
    run(FromAList(), tmp_path, CLAIMS[:2])
    assert has_answered(tmp_path, CLAIMS[:2])
    assert not has_answered(tmp_path, CLAIMS)


def test_files_for_the_shared_task_and_for_trec_are_written(tmp_path: Path) -> None:
    run(FromAList(), tmp_path)
    submission = (tmp_path / "submission.jsonl").read_text().splitlines()
    assert json.loads(submission[1]) == {
        "id": 2,
        "predicted_label": "REFUTES",
        "predicted_evidence": [["C", 2], ["C", 0]],
    }
    pages = (tmp_path / "pages.run").read_text().splitlines()
    assert pages[:3] == [
        "1 Q0 X 1 3.000000 listed",
        "1 Q0 A 2 2.000000 listed",
        "1 Q0 B 3 1.000000 listed",
    ]
    assert (tmp_path / "sentences.run").read_text().splitlines()[1] == (
        "1 Q0 A#0 2 2.000000 listed"
    )

"""Files of annotated claims, answers that are kept, and the figures that are published."""

import json
from dataclasses import astuple, replace
from pathlib import Path
from typing import Any

import pytest

from research.evaluation.choice import Choice, half_of
from research.evaluation.claims import (
    FeverClaim,
    Pair,
    read_corpus_claims,
    read_fever_claims,
    read_pairs,
)
from research.evaluation.expected import arguments_of, deviations
from research.evaluation.provenance import Provenance, claim_folder, provenance_of
from research.evaluation.report import latex_of
from research.evaluation.run import Answer, Crash, SystemOutcome, read_predictions, run_system
from research.evaluation.systems import VARIANTS, checked_names, recipe_of
from retrieval.errors import BadSource, EsotericError, UnknownRecipe
from retrieval.models.folders import ModelFolders
from retrieval.recipes.recipes import RECIPES
from retrieval.types import NOT_ENOUGH_INFO, REFUTES, SUPPORTS
from tests.research.evaluation.answers import ANSWERS, CLAIMS, claim
from tests.support.cases import cases, rules
from tests.support.json_lines import write_json_lines

CLAIM = {"label": "SUPPORTS", "claim": "The lamp is red."}
LAMP = CLAIM | {
    "id": 6,
    "evidence": [[[1, 2, "Lamp", 0]], [[1, 3, "Lamp", 1], [1, 4, "Cafe\u0301", 2]]],
}
HUM = {"id": 8, "label": NOT_ENOUGH_INFO, "claim": "It hums.", "evidence": []}


def read(tmp_path: Path, *lines: dict[str, Any] | str) -> list[FeverClaim]:
    return read_fever_claims(write_json_lines(tmp_path / "claims.jsonl", *lines))


def test_a_claim_keeps_its_sets_and_may_have_their_texts(tmp_path: Path) -> None:
    two_pages = LAMP | {"id": 7, "evidence": LAMP["evidence"][1:]}
    lamp, hum, both = read(tmp_path, LAMP, "", HUM, two_pages)
    assert (lamp.id, lamp.text, lamp.label) == (6, "The lamp is red.", SUPPORTS)
    assert lamp.evidence == ((("Lamp", 0),), (("Lamp", 1), ("Caf\u00e9", 2)))
    assert lamp.pages == {"Lamp", "Caf\u00e9"}
    assert hum.evidence == ()
    assert [one.needs_several_pages for one in (lamp, hum, both)] == [False, False, True]
    assert hum.where.endswith("claims.jsonl, line 3")
    assert (lamp.group, hum.group) == ("Lamp", 8)  # the page that it was made from, if it is known
    # It may have the texts of its sets, and a tempting sentence.
    texts = {"texts": [["It is red."], ["It has one colour.", "Red is a colour."]]}
    lamp = CLAIM | {"evidence": [[["Lamp", 0]], [["Lamp", 1], ["Cafe\u0301", 2]]]}
    lines = lamp | texts, HUM | {"tempting": ["Lamp", 3]}
    red, hum = read_corpus_claims(write_json_lines(tmp_path / "claims.jsonl", *lines))
    assert red.texts == (("It is red.",), ("It has one colour.", "Red is a colour."))
    assert hum.tempting == ("Lamp", 3)


def test_a_text_has_its_title_before_it_and_sentences_are_read_as_one_text(tmp_path: Path) -> None:
    pier = {"title": "Pier", "sentence": "It was built by Ida Holm."}
    lines = (
        CLAIM | {"title": "Lamp", "source": "mine", "kind": "colour", "evidence": "It is red."},
        CLAIM | {"title": "", "evidence": "It is red."},
        # Each sentence has a title already; that of the pair only groups it with others.
        CLAIM | {"title": "Holm", "evidence": [pier, {"title": "Holm", "sentence": "A Dane."}]},
    )
    said, both = "The lamp is red.", "Pier : It was built by Ida Holm. [SEP] Holm : A Dane."
    assert list(read_pairs(write_json_lines(tmp_path / "pairs.jsonl", *lines))) == [
        Pair(said, "Lamp : It is red.", SUPPORTS, "Lamp", "mine", "colour"),
        Pair(said, "It is red.", SUPPORTS, None, None, None),
        Pair(said, both, SUPPORTS, "Holm", None, None),
    ]


FACTS = [["Pier", 0], ["Lamp", 2], ["Pier", 0]]
LIT: dict[str, Any] = {"uid": "a1", "claim": "The lamp on the pier that Ida Holm built is red."}
LIT |= {"supporting_facts": FACTS, "label": "SUPPORTED", "num_hops": 2, "hpqa_id": "b2"}


def test_a_list_of_hover_is_read_with_its_hops_and_two_right_labels(tmp_path: Path) -> None:
    unlit = LIT | {"claim": "It is blue.", "label": "NOT_SUPPORTED", "num_hops": 4}
    path = tmp_path / "hover.json"
    path.write_text(json.dumps([LIT, unlit], indent=1), encoding="utf-8")
    lit, not_lit = read_corpus_claims(path)
    assert (lit.kind, lit.label_in_file, lit.right) == ("2 hops", SUPPORTS, {SUPPORTS})
    assert lit.evidence == ((("Pier", 0), ("Lamp", 2)),)
    assert (not_lit.kind, not_lit.label_in_file) == ("4 hops", "NOT_SUPPORTED")
    assert not_lit.right == {REFUTES, NOT_ENOUGH_INFO}
    assert not_lit.evidence == lit.evidence


@cases("annotations", "hover", "said")
def test_what_is_no_claim_of_hover_is_named(hover: list[Any], said: str, tmp_path: Path) -> None:
    """What is given of a claim stands in the place of what LIT has."""
    entries = [LIT | one if isinstance(one, dict) and "uid" not in one else one for one in hover]
    (tmp_path / "hover.json").write_text(json.dumps(entries), encoding="utf-8")
    with pytest.raises(BadSource) as caught:
        read_corpus_claims(tmp_path / "hover.json")
    assert said in caught.value.message


def test_of_feverous_the_sets_of_sentences_alone_are_evidence(tmp_path: Path) -> None:
    def line(label: str, *sets: list[str], challenge: str = "Other") -> dict[str, Any]:
        evidence = [{"content": content, "context": {}} for content in sets]
        given = {"id": 3, "claim": "The pier is long.", "label": label}
        return {**given, "evidence": evidence, "challenge": challenge}

    empty = {"id": "", "claim": "", "label": "", "evidence": [], "challenge": ""}
    sets = (["Pier_sentence_3", "Snake_case_sentence_0"], ["Pier_sentence_3", "Pier_cell_0_1_2"])
    lines = (
        line(SUPPORTS, *sets, challenge="Multi-hop Reasoning"),
        line(REFUTES, ["Pier_header_cell_0_1_2"], ["Pier_item_0_1"]),
        line(NOT_ENOUGH_INFO, ["Pier_sentence_3"]),
    )
    path = write_json_lines(tmp_path / "feverous.jsonl", empty, *lines)
    both, cells, open_claim = read_corpus_claims(path)
    assert both.evidence == ((("Pier", 3), ("Snake_case", 0)),)
    assert (both.kind, both.right) == ("Multi-hop Reasoning", {SUPPORTS})
    assert (cells.label, cells.evidence, cells.kind) == (REFUTES, (), "Other")
    assert (open_claim.label, open_claim.evidence) == (NOT_ENOUGH_INFO, ())


READERS = {"fever": read_fever_claims, "corpus": read_corpus_claims, "pairs": read_pairs}
GOOD = {
    "fever": LAMP,
    "corpus": CLAIM | {"evidence": [[["Lamp", 0]]]},
    "pairs": CLAIM | {"evidence": "It is painted red."},
}


@cases("annotations", "reader", "line", "said")
def test_a_line_that_is_no_annotation_is_named_by_file_and_line(
    reader: str, line: dict[str, Any] | str, said: str, tmp_path: Path
) -> None:
    path = write_json_lines(tmp_path / "lines.jsonl", GOOD[reader], line)
    with pytest.raises(BadSource, match=r"lines\.jsonl, line 2") as caught:
        list(READERS[reader](path))
    assert said in caught.value.message
    path = write_json_lines(tmp_path / "lines.jsonl", GOOD[reader])
    assert len(list(READERS[reader](path))) == 1
    if reader != "pairs":
        with pytest.raises(BadSource, match="contains no"):
            list(READERS[reader](write_json_lines(tmp_path / "empty.jsonl")))


# 40 claims, of which every fourth is undecided and one needs two pages.
FORTY = [
    claim(n, NOT_ENOUGH_INFO) if n % 4 == 0 else claim(n, SUPPORTS, [("A", n)]) for n in range(39)
]
FORTY.append(claim(39, SUPPORTS, [("A", 0), ("B", 0)]))


def chosen(choice: Choice, claims: list[FeverClaim] = FORTY) -> list[int]:
    return [one.id for one in choice.of(claims, Path("claims.jsonl"))]


def test_all_claims_are_asked_or_a_sample_or_a_half_and_not_none() -> None:
    assert chosen(Choice()) == list(range(40))
    assert chosen(Choice(limit=3)) == [0, 1, 2]
    sample = chosen(Choice(sample=10, seed=1))
    assert (len(sample), sample) == (10, sorted(sample))
    assert all(number % 4 for number in sample)  # decided ones
    assert chosen(Choice(sample=10, seed=1)) == sample
    assert chosen(Choice(sample=10, seed=2)) != sample
    # Every claim is in one of two halves, whatever its file and place.
    fitted, published = chosen(Choice(half="fitted")), chosen(Choice(half="published"))
    assert sorted([*fitted, *published]) == list(range(40))
    assert 10 < len(fitted) < 30
    assert chosen(Choice(half="fitted"), FORTY[::-1]) == fitted[::-1]
    # The first bytes of their SHA-256 are 0x66 and 0x6f: even and odd.
    assert (half_of("Claim 1."), half_of("Claim 2.")) == ("fitted", "published")
    # A choice without claims is refused.
    for choice, claims, said in (
        (Choice(several_pages=True), FORTY[:4], "needs several pages"),
        (Choice(sample=5), FORTY[:1], "is decided"),
        (Choice(half="fitted"), FORTY[2:3], "is in the fitted half"),
    ):
        with pytest.raises(BadSource, match=said) as caught:
            chosen(choice, claims)
        assert caught.value.hint.startswith("Leave out --")


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


def run(system: FromAList, folder: Path, claims: list[FeverClaim] = CLAIMS) -> SystemOutcome:
    return run_system(lambda: system, "listed", claims, folder, 1, lambda done: None)


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


def test_a_run_that_was_stopped_goes_on_and_other_lines_are_refused(tmp_path: Path) -> None:
    with pytest.raises(KeyboardInterrupt):
        run(FromAList({"Claim 3.": KeyboardInterrupt()}), tmp_path)
    with (tmp_path / "predictions.jsonl").open("a") as stream:
        stream.write('{"id": 3, "predicted_la')  # as after a kill
    again = FromAList()
    outcome = run(again, tmp_path)
    assert again.asked == ["Claim 3.", "Claim 4."]
    assert [prediction.answer for prediction in outcome.predictions] == ANSWERS
    # A line that is no prediction is refused.
    for line in ("[]", "7", '"text"', "{", "{}"):
        (tmp_path / "predictions.jsonl").write_text(line + "\n")
        with pytest.raises(BadSource, match="line 1"):
            run(FromAList(), tmp_path)


def test_files_for_the_shared_task_and_for_trec_are_written(tmp_path: Path) -> None:
    run(FromAList(), tmp_path)
    submission, pages, sentences = (
        (tmp_path / name).read_text().splitlines()
        for name in ("submission.jsonl", "pages.run", "sentences.run")
    )
    evidence = [["C", 2], ["C", 0]]
    said = {"id": 2, "predicted_label": "REFUTES", "predicted_evidence": evidence}
    assert json.loads(submission[1]) == said
    assert pages[:3] == [
        f"1 Q0 {page} {n} {4 - n}.000000 listed" for n, page in enumerate("XAB", 1)
    ]
    assert sentences[1] == "1 Q0 A#0 2 2.000000 listed"


HERE = Provenance("pages", "claims", "a verifier", "models", "words", "code")


def test_code_is_other_code_if_it_does_other_things_and_results_are_named(tmp_path: Path) -> None:
    """In a checkout in which everything that decides an answer is one line."""
    judge = tmp_path / "retrieval" / "stages" / "judge.py"
    names = ("baselines.py", "systems.py", "changed_recipes.yaml")
    for path in (judge, *(tmp_path / "research" / "evaluation" / name for name in names)):
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text("def answer():\n    return 42\n")

    def here() -> Provenance:
        return provenance_of("pages", "claims", ModelFolders(tmp_path), "words", root=tmp_path)

    before = here()
    judge.write_text("# The answer.\n\n\ndef answer():\n    return (42)\n")
    assert here() == before
    judge.write_text("def answer():\n    return 41\n")
    assert here().code != before.code
    # Results of something else are named.
    claim_folder(tmp_path / "out", HERE)
    for other, said in (
        (replace(HERE, claims="more"), "results of other claims"),
        (replace(HERE, models="more", code="more"), "results of other models and code"),
        (replace(HERE, vectors="none"), "results of other vectors"),
        (replace(HERE, verifier="mine", models="more"), "results of other verifiers and models"),
    ):
        with pytest.raises(BadSource, match=said):
            claim_folder(tmp_path / "out", other)


MINE = Path("my data")


def deviating(published: dict[str, Any], results: dict[str, Any]) -> list[list[Any]]:
    return [[*astuple(one)] for one in deviations(published, results)]


@rules(
    ("annotations", "published results", "deviations", deviating),
    ("annotations", "results", "latex", latex_of),
    (
        "annotations",
        "command",
        "arguments",
        lambda c: arguments_of(c, Path("my data"), Path("out")),
    ),
)
def test_published_figures_are_compared(rule: Any, given: list[Any], expected: object) -> None:
    assert rule(*given) == expected


def test_a_variant_says_what_it_changes_in_the_recipe_that_it_is_named_for() -> None:
    for name in VARIANTS:
        variant, recipe = recipe_of(name), RECIPES[name.partition("-")[0]]
        assert variant.name == name
        assert variant.summary not in ("", recipe.summary)
        assert replace(variant, name=recipe.name, summary=recipe.summary) != recipe
    with pytest.raises(UnknownRecipe) as caught:
        checked_names("m3-scales")
    assert "m3-scale" in caught.value.hint
    assert caught.value.hint.endswith("or all, ablations or variants.")

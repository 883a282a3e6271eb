"""What the relevance model and the verifier read, apart from what ``test_examples`` shows."""

import itertools
import json
import random
from collections import defaultdict
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, TypeAlias

import numpy as np
import pytest
from numpy.typing import NDArray

from research.evaluation.claims import AnnotatedClaim, CorpusClaim, read_pairs
from research.training.checkable import found, read_sentences, resolved_in, train_checkable
from research.training.compositions import Composition
from research.training.contrast import Contrast
from research.training.data import EverydayData
from research.training.loop import Example, labelled
from research.training.papers import PaperClaim, beside_examples, paper_claims
from research.training.relevance import (
    distilled,
    paper_examples,
    paper_figures,
    reading_examples,
)
from research.training.sentence_pool import SentencePool
from research.training.verifier import pairs as pairs_module
from research.training.verifier.by_rule import made_by_rule
from research.training.verifier.pairs import (
    ASSERTIONS,
    MEANING,
    contracted,
    load_meaning,
    pair_examples,
    quoted,
    resurfaced,
    with_stop,
)
from research.training.verifier.retrieved import (
    AGREES,
    composed_examples,
    misread_examples,
    retrieved_examples,
)
from research.training.verifier.rows import row_examples
from research.training.verifier.train import Mix
from retrieval.checkable.kind_rules import WEIGHTS, read_model
from retrieval.errors import BadSource
from retrieval.text.english import EnglishParser
from retrieval.types import LABELS, NOT_ENOUGH_INFO, REFUTES, SUPPORTS, Label, Opinion
from tests.research.training.pages import data_of, label_of, pool_of
from tests.support.encoders import WordEncoder
from tests.support.json_lines import write_json_lines
from tests.support.opinions import Says

PAGES = {
    "Pier": ["The pier is long.", "It was opened in 1931.", "The pier is made of oak."],
    "Lamp": ["The lamp is red.", "The lamp of the pier is bright."],
    "Quay": ["The quay is made of stone."],
    "Ada Orn": ["Ada Orn was mayor of Selm from 1901 to 1909."],
}
Pairs: TypeAlias = Sequence[tuple[str, str]]
OAK, STONE = "Pier : The pier is made of oak.", "Quay : The quay is made of stone."


@pytest.fixture(scope="module")
def pool(tmp_path_factory: pytest.TempPathFactory) -> SentencePool:
    return pool_of(PAGES, WordEncoder(), tmp_path_factory.mktemp("pages"))


OF_IRON = AnnotatedClaim("The pier is made of iron.", REFUTES, ((("Pier", 0),), (("Pier", 2),)))
IRON = Contrast(OF_IRON, original="The pier is made of oak.", old="oak", new="iron")
BUILT = AnnotatedClaim("The long pier was built in 1928.", REFUTES, ((("Pier", 0),),))


def test_readings_change_labels_read_other_years_and_both_pages(pool: SentencePool) -> None:
    # Where evidence is changed too, labels change places.
    data = data_of(pool, contrasts=[IRON])
    made = [reading_examples(data, seed, 100)[1:] for seed in range(6)]
    flipped = [(e.claim, e.evidence, label_of(e)) for e in next(filter(None, made))]
    assert flipped == [
        ("The pier is made of iron.", "Pier : The pier is made of iron.", SUPPORTS),
        ("The pier is made of oak.", "Pier : The pier is made of iron.", REFUTES),
    ]
    assert not all(made)  # half of them are left as they are
    # A claim with a year is read with another of its page.
    for seed in range(6):
        read = reading_examples(data_of(pool, BUILT), seed, 100)
        opened = "Pier : It was opened in 1931."
        assert (opened, NOT_ENOUGH_INFO) in [(e.evidence, label_of(e)) for e in read]
    # A claim that names the page between is read with both.
    claim = AnnotatedClaim("The mayor's pier is long.", REFUTES, ((("Pier", 0), ("Ada Orn", 0)),))
    one = Composition(claim, "apposition", "Ada Orn", (((0, 5),), ((6, 9),)))
    assert {label_of(e) for e in composed_examples([one] * 20, pool, 0)} == {REFUTES}


def test_a_target_is_seven_tenths_opinion_and_three_tenths_label() -> None:
    example = labelled("The pier is made of iron.", "Pier : It is made of wood.", REFUTES)
    (taught,) = distilled([example], np.array([[0.2, 0.5, 0.3]], dtype=np.float32))
    assert (taught.claim, taught.evidence) == (example.claim, example.evidence)
    # 0.7 * 0.2, 0.7 * 0.5 + 0.3, 0.7 * 0.3
    assert taught.target == pytest.approx((0.14, 0.65, 0.21))


def says(words: str, opinion: Opinion) -> Callable[[Pairs], NDArray[np.float32]]:
    """A model that has an opinion of evidence with these words, and settles no other."""
    by_words = Says(lambda _, text: opinion if words in text else (0, 0, 1))
    return by_words.probabilities


def test_wrong_sentences_are_examples_where_a_model_misreads_them_alone(pool: SentencePool) -> None:
    wood = CorpusClaim("It is made of wood.", SUPPORTS, ((("Pier", 2),),), "", (), None)
    for opinion, dropped in (
        ((AGREES + 0.01, 0.0, 0.39), True),
        ((AGREES - 0.01, 0.0, 0.41), False),
        ((0.0, 1.0, 0.0), False),  # no evidence for the label, whatever else it is
    ):
        read = [
            example.evidence
            for seed in range(40)
            for example in retrieved_examples([wood], pool, says("stone", opinion), seed, 0.0)
        ]
        assert OAK in read
        assert any(STONE in evidence for evidence in read) is not dropped
    # What a model misreads becomes an undecided example.
    long = AnnotatedClaim("The pier is long.", SUPPORTS, ((("Pier", 0),),))
    tall = AnnotatedClaim("The pier is tall.", NOT_ENOUGH_INFO, ())

    def misread(claim: AnnotatedClaim, words: str, label: Label) -> list[Example]:
        model = says(words, tuple(float(one == label) for one in LABELS))
        return [one for seed in range(9) for one in misread_examples([claim], pool, model, seed)]

    examples = misread(tall, "oak", REFUTES)
    assert examples
    assert all("oak" in e.evidence and label_of(e) == NOT_ENOUGH_INFO for e in examples)
    # For a decided claim only the opposite label is wrong, and its evidence is not read.
    assert misread(long, "", SUPPORTS) == []
    examples = misread(long, "", REFUTES)
    assert {label_of(example) for example in examples} == {NOT_ENOUGH_INFO}
    assert not [e for e in examples if "The pier is long." in e.evidence]


def test_no_term_of_a_page_that_is_measured_on_is_read(pool: SentencePool, tmp_path: Path) -> None:
    for source in ("vitaminc", "infotabs", "fever", "feverous"):
        write_json_lines(tmp_path / f"{source}.jsonl")
    measured = CorpusClaim("A claim.", SUPPORTS, ((("Ada Orn", 0),),), "date", (), None)
    for dev, read in (([], True), ([measured], False)):
        readings = made_by_rule(EverydayData([], [], dev, pool, {}), [], tmp_path, 0, 9)
        assert bool(readings) == read


def test_the_pairs_of_one_page_are_drawn_together(tmp_path: Path) -> None:
    with pytest.raises(BadSource, match=r"houses\.jsonl cannot be read"):
        pair_examples(tmp_path, 0, {"houses": 4})
    houses = [
        {"claim": f"{house} is old.", "label": label, "evidence": f"Of {year}.", "title": house}
        for house in map("House {}".format, range(6))
        for year, label in ((1610, SUPPORTS), (2010, REFUTES))
    ]
    write_json_lines(tmp_path / "houses.jsonl", *houses)
    for seed in range(8):
        drawn = [(e.claim, label_of(e)) for e in pair_examples(tmp_path, seed, {"houses": 4})]
        both = drawn[0][0], drawn[2][0]
        assert both[0] != both[1]
        assert drawn == [(one, label) for one in both for label in (SUPPORTS, REFUTES)]


def test_a_card_names_exactly_the_kinds_of_a_mix() -> None:
    kinds = {"everyday": 20, "fever": 10, "misread": 30, "by_rule": 40, "composed": 50}
    whole, alone = Mix({"boats": 5}, **kinds, assertions=2).described, Mix({"boats": 5}).described
    assert all(str(number) in whole for number in kinds.values())
    for word in ("everyday", "FEVER", "composed"):
        assert (word in whole, word in alone) == (True, False)
    figures = found(
        ["fact", "fact", "fact", "opinion", "vague"], ["fact", "fact", "opinion", "fact", "vague"]
    )
    # Precision and recall are those of the facts.
    of_facts = (figures.precision, figures.recall, figures.f1)
    assert (*of_facts, figures.kinds) == pytest.approx((2 / 3, 2 / 3, 2 / 3, 3 / 5))


PARTS = ("train", "held-out")


def read_lines(path: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in path.read_text("utf-8").splitlines()]


def test_nothing_that_is_measured_is_trained_on_and_no_kind_of_pair_has_a_usual_label() -> None:
    parts = [read_lines(ASSERTIONS / f"{part}.jsonl") for part in PARTS]
    trained, held_out = ({(p["kind"], p["wording"]) for p in part} for part in parts)
    assert not trained & held_out
    trained, held_out = ({json.dumps(p["evidence"]) for p in part} for part in parts)
    assert not trained & held_out
    labels: dict[str, list[str]] = defaultdict(list)
    for pair in itertools.chain(*parts):
        labels[pair["kind"]].append(pair["label"])
    for kind, given in labels.items():
        for label in LABELS:
            assert 0.2 < given.count(label) / len(given) < 0.5, (kind, label)
    trained, held_out = ({p.evidence for p in read_pairs(MEANING / f"{n}.jsonl")} for n in PARTS)
    assert not trained & held_out
    train, held = map(read_sentences, PARTS)
    assert len(train) + len(held) > 500
    assert not {one.text for one in train} & {one.text for one in held}
    assert not {one.wording for one in train} & {one.wording for one in held}


def test_a_claim_is_read_in_many_forms_and_its_evidence_and_label_in_one() -> None:
    whale = labelled("A whale is not a fish.", "Whale : It is a mammal.", REFUTES)
    read = resurfaced([whale] * 300, random.Random(1))
    forms = {"A whale is not a fish", "a whale isn't a fish", "A whale isn't a fish."}
    forms |= {"A whale is not a fish.", "“A whale is not a fish.”"}
    assert forms <= {one.claim for one in read}
    assert {(one.evidence, one.target) for one in read} == {(whale.evidence, whale.target)}
    assert contracted("It cannot be, nor notable.") == "It can't be, nor notable."
    assert with_stop("Is it?") == "Is it?"
    assert quoted("Yes.") == "“Yes.”"


PIER = {"Pier": ["The pier is long.", "It had no roof until 1931."]}


def test_sentences_are_read_with_titles(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    pool = pool_of(PIER, WordEncoder(), tmp_path)
    with pytest.raises(BadSource, match=r"meaning/train"):
        load_meaning(tmp_path, pool)
    line = {"claim": "It had a roof in 1920.", "label": REFUTES}
    write_json_lines(tmp_path / "train.jsonl", {**line, "title": "Inn", "evidence": "No roof."})
    write_json_lines(tmp_path / "held-out.jsonl", {**line, "evidence": "Nothing."})
    write_json_lines(tmp_path / "documents.jsonl", {**line, "sentences": [["Pier", 1]]})
    given = {"claim": "A hat.", "label": SUPPORTS, "title": "Hat", "evidence": "It is one."}
    write_json_lines(tmp_path / "meaning" / "train-a.jsonl", given)
    monkeypatch.setattr(pairs_module, "MEANING", tmp_path)
    data = load_meaning(tmp_path, pool)
    assert {one.evidence for one in data.examples} == {
        *("Inn : No roof.", "Hat : It is one.", "Pier : It had no roof until 1931.")
    }
    assert [one.evidence for one in data.held_out] == ["Nothing."]
    assert len(data.digests) == 3


@pytest.mark.models
@pytest.mark.rare
def test_the_shipped_model_is_what_training_makes(tmp_path: Path) -> None:
    pytest.importorskip("sklearn")
    train_checkable(tmp_path)
    made, shipped = read_model(tmp_path), read_model()
    assert made.kinds == shipped.kinds
    assert made.weights == pytest.approx(shipped.weights, abs=0.02)
    assert "| rules and model |" in (tmp_path / "README.md").read_text(encoding="utf-8")
    assert (tmp_path / WEIGHTS).stat().st_size < 100_000


@pytest.mark.models
def test_references_of_passages_are_resolved_without_an_error(parser: EnglishParser) -> None:
    resolved = resolved_in("held-out", parser)
    assert resolved.wrong == 0
    assert resolved.right > 30
    traps = resolved_in("traps-held-out", parser)
    assert traps.wrong == 0
    assert traps.unclear > traps.right


def test_the_relevance_model_reads_the_lines_of_a_claim_and_other_lines_of_papers(
    tmp_path: Path,
) -> None:
    mill = "The mill of Oster is old. Rowan built the mill. The roof burned. The land was sold."
    built = {"claim": "Rowan built it.", "label": SUPPORTS, "where": ["Rowan built"]}
    price = {"claim": "It cost 9.", "label": NOT_ENOUGH_INFO, "where": ["was sold"]}
    weir = {"claim": "The weir leaks.", "label": REFUTES, "where": ["weir is dry", "No leak"]}
    write_json_lines(
        tmp_path / "papers",
        {"name": "mill.txt", "text": mill, "claims": [built, price]},
        {"name": "weir.txt", "text": "The weir is dry. No leak was found.", "claims": [weir]},
    )
    claims = list(paper_claims(tmp_path / "papers"))
    old, rowan, burned, sold = (f"mill : {text}." for text in mill.removesuffix(".").split(". "))
    assert [(claim.paper, claim.gold) for claim in claims] == [
        (1, (rowan,)),
        (1, (sold,)),
        (2, ("weir : The weir is dry.", "weir : No leak was found.")),
    ]
    labels = defaultdict(set)
    for example in (one for seed in range(9) for one in paper_examples(claims, seed)):
        labels[label_of(example)].add((example.claim, example.evidence))
    assert labels[SUPPORTS] == {("Rowan built it.", rowan)}
    assert labels[REFUTES] == {("The weir leaks.", text) for text in claims[2].gold}
    others = {("Rowan built it.", text) for text in (old, burned, sold)}
    others |= {("It cost 9.", text) for text in (old, rowan, burned, sold)}
    # Of the paper of another claim: all but that claim's own lines.
    others |= {("The weir leaks.", text) for text in (old, burned, sold)}
    assert labels[NOT_ENOUGH_INFO] == others

    def opinions(pairs: Pairs) -> NDArray[np.float32]:
        neither = [0.2 if text in better else 0.96 for _, text in pairs]
        return np.array([(1 - one, 0.0, one) for one in neither], np.float32)

    # Of the two decided claims only that on the weir has a sentence above the cutoff.
    better = {burned, *claims[2].gold}
    names = ("paper_gold_in_first_five", "paper_gold_kept")
    assert paper_figures(opinions, claims) == dict(zip(names, (100.0, 50.0), strict=True))
    # Five others of its paper come before the sentence of a third one.
    better |= {f"mill : It is {number}." for number in range(5)}
    third = PaperClaim("Rowan built it.", SUPPORTS, 3, (rowan,), tuple(sorted(better)))
    assert paper_figures(opinions, [third, claims[2]])["paper_gold_in_first_five"] == 50.0


def test_the_verifier_reads_a_decided_claim_with_a_line_that_resembles_its_own() -> None:
    rows = tuple(f"Mill: {name}, Sails: 6" for name in ("Elm", "Ash", "Fir", "Yew"))
    mills = (*rows, "The land was sold.", "Rents rose.")
    claims = [
        PaperClaim(f"Mill {name} has {sails} sails.", label, 1, ("Mill: Oster, Sails: 6",), mills)
        for name, sails, label in (("Oster", 6, SUPPORTS), ("Oak", 6, NOT_ENOUGH_INFO))
    ]
    drawn = [one for seed in range(40) for one in beside_examples(claims, seed)]
    assert {one.evidence for one in drawn} == set(rows)
    assert {(one.claim, label_of(one)) for one in drawn} == {
        ("Mill Oster has 6 sails.", NOT_ENOUGH_INFO)
    }
    alone = PaperClaim("Oster has six sails.", REFUTES, 1, ("Mill: Oster, Sails: 4",), ())
    assert beside_examples([alone], 0) == []


def test_a_verifier_reads_rows_with_what_their_cells_say_and_with_the_opposite(
    tmp_path: Path,
) -> None:
    table = 'Offence,2022,2023\nFraud,688,"1,790"\nTheft,90,80\n'
    claim = {"claim": "Fraud rose.", "label": SUPPORTS, "where": ["Fraud"]}
    write_json_lines(tmp_path / "a", {"name": "crime.csv", "text": table, "claims": [claim]})
    labels = defaultdict(set)
    for example in (one for seed in range(60) for one in row_examples(tmp_path / "a", seed)):
        labels[example.claim].add((label_of(example), example.evidence))
    fraud, theft = "Offence: Fraud, 2022: 688, 2023: 1,790.", "Offence: Theft, 2022: 90, 2023: 80."
    assert labels["Fraud was 1,790 in 2023."] == {(SUPPORTS, f"crime : {fraud}")}
    # The figures of another column, and of another row.
    assert labels["Fraud was 688 in 2023."] == {(REFUTES, f"crime : {fraud}")}
    assert labels["Fraud was 80 in 2023."] == {(REFUTES, f"crime : {fraud}")}
    assert labels["Fraud rose from 2022 to 2023."] == {(SUPPORTS, f"crime : {fraud}")}
    assert labels["Theft rose from 2022 to 2023."] == {(REFUTES, f"crime : {theft}")}
    assert labels["Theft down 2023 compared with 2022"] == {(SUPPORTS, f"crime : {theft}")}
    both = f"crime : {theft} [SEP] crime : {fraud}"
    assert labels["2023 lower for Theft than for Fraud"] == {(SUPPORTS, both)}
    assert labels["2023 higher for Theft than for Fraud"] == {(REFUTES, both)}

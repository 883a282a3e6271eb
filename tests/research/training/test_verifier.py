"""The verifier: its calibrations for given evidence and for searches, and its figures."""

from collections.abc import Sequence
from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast

import numpy as np
import pytest
from numpy.typing import NDArray

from research.commands.train import with_seeds
from research.evaluation.claims import AnnotatedClaim, CorpusClaim, Pair
from research.evaluation.measures.scores import calibration_error
from research.training import figures as dev_figures
from research.training.papers import load_papers, paper_pairs
from research.training.sentence_pool import PoolSentence, SentencePool
from research.training.verifier import calibration as fits
from research.training.verifier.figures import DEV_PAIRS, DevReadings, dev_pairs
from retrieval.errors import BadSource
from retrieval.models import own_verifier
from retrieval.models.cross_encoders import VerdictFit
from retrieval.models.folders import ModelFolders
from retrieval.types import (
    LABELS,
    NOT_ENOUGH_INFO,
    REFUTES,
    SUPPORTS,
    Label,
    Opinion,
    VerdictReadings,
)
from tests.retrieval.models.tiny_models import write_tiny_classifier
from tests.support.json_lines import write_json_lines

WORDS = ("lee", "river", "sheep", "tower", "dundee", "song", "island", "bridges")


def pair(number: int, label: Label = SUPPORTS) -> Pair:
    first, second = WORDS[number % 8], WORDS[number // 8 % 8]
    return Pair(f"{first} is {second}", f"{second} : the {first}", label, None, None, None)


ignore = print  # messages about the progress


def test_of_a_large_file_some_pairs_are_fitted_to(tmp_path: Path) -> None:
    def fitted_to(count: int) -> list[str]:
        row = {"label": "SUPPORTS", "evidence": "It is."}
        lines = ({"claim": f"claim {n}", **row} for n in range(count))
        return [
            one.claim for one in fits.pairs_to_fit(write_json_lines(tmp_path / "pairs", *lines))
        ]

    assert len(fitted_to(30)) == 30
    assert fitted_to(5_000) == [f"claim {n}" for n in range(0, 5_000, 3)]


def test_a_verifier_that_is_surer_than_right_is_made_less_sure(tmp_path: Path) -> None:
    files = own_verifier.read_classifier(write_tiny_classifier(tmp_path))
    few = [SUPPORTS, NOT_ENOUGH_INFO] * 30 + [REFUTES] * 4
    with pytest.raises(BadSource, match="4 claims with evidence for the label REFUTES") as no:
        fits.calibrate_to_pairs(files, [pair(n, label) for n, label in enumerate(few)], ignore)
    assert no.value.hint.startswith("Give at least 5 for each of ")
    assert not files.calibration_file.exists()

    asked = [(one.claim, one.evidence) for one in map(pair, range(64))]
    said = own_verifier.SequenceClassifier(files).probabilities(asked)
    # Of every four pairs one has the label that the model gives, the others have the next one.
    labels = [LABELS[(int(row.argmax()) + (n % 8 > 1)) % 3] for n, row in enumerate(said)]
    pairs = [pair(n, label) for n, label in enumerate(labels)]
    figures = fits.calibrate_to_pairs(files, pairs, ignore)
    calibration = own_verifier.read_calibration(files)
    assert calibration["temperature"] == figures["temperature"] > 1
    assert calibration["bias"][:2] == [0.0, 0.0]
    assert calibration["fitted_to"] == files.digest
    assert figures["label accuracy before"] == 25.0
    right = np.array([n % 8 < 2 for n in range(64)])
    before = calibration_error(said.max(axis=1).astype(np.float64), right)
    assert figures["calibration error before"] == pytest.approx(before)
    assert figures["calibration error after"] < before

    # Again it is of what the model says, not of the last fit, and a fit to searches stays.
    in_search = {"temperature": 1.5, "bias": [0.0, 0.0, 0.5], "verdict": {"alone": 0.7}}
    own_verifier.write_calibration(files, {"temperature": 9.0, "in_search": in_search})
    assert fits.calibrate_to_pairs(files, pairs, ignore) == figures
    assert own_verifier.read_calibration(files) == calibration | {"in_search": in_search}
    files.calibration_file.write_text("{")
    fits.calibrate_to_pairs(files, pairs, ignore)
    assert own_verifier.read_calibration(files) == calibration


def test_for_a_model_with_two_labels_what_refutes_counts_as_undecided(tmp_path: Path) -> None:
    labels = ("entailment", "not_entailment")
    files = own_verifier.read_classifier(write_tiny_classifier(tmp_path, labels=labels))
    asked = [(one.claim, one.evidence) for one in map(pair, range(64))]
    said = own_verifier.SequenceClassifier(files).probabilities(asked)
    pairs = [
        pair(n, SUPPORTS if row[0] > 0.5 else (REFUTES, NOT_ENOUGH_INFO)[n % 2])
        for n, row in enumerate(said)
    ]
    figures = fits.calibrate_to_pairs(files, pairs, ignore)
    assert figures["label accuracy before"] == 100.0
    assert figures["temperature"] == 0.5  # always right: as sure as the fit can make it


@pytest.mark.models
@pytest.mark.rare
def test_a_fit_to_searches_leaves_that_for_given_evidence(
    index: Path, unpacked: Path, tmp_path: Path
) -> None:
    folder = write_tiny_classifier(tmp_path / "nli")
    before = {path.name: path.read_bytes() for path in folder.iterdir()}
    files = own_verifier.read_classifier(folder)
    fits.calibrate_to_pairs(files, [pair(n, LABELS[n % 3]) for n in range(64)], ignore)
    given: dict[str, Any] = dict(own_verifier.read_calibration(files))
    claims = [
        AnnotatedClaim("Skerrow Light was designed by Ann Lee.", SUPPORTS, ()),
        AnnotatedClaim("Ann Lee died in Dundee.", REFUTES, ()),
        AnnotatedClaim("Lee is a song about a river.", NOT_ENOUGH_INFO, ()),
    ]
    folders = ModelFolders(unpacked, verifier=folder)
    figures = fits.calibrate({"islands": fits.Claims(claims, index)}, tmp_path, 1, folders)
    calibration = dict(own_verifier.read_calibration(files))
    found = calibration.pop("in_search")
    assert calibration == given
    assert (found["temperature"], found["bias"]) == (given["temperature"], given["bias"])
    for name in ("alone", "undecided"):
        assert found["verdict"][name] == round(figures[name], 3)
    after = {path.name: path.read_bytes() for path in folder.iterdir()}
    assert after.pop(own_verifier.CALIBRATION)
    assert after == before


def search(label: Label, opinion: Opinion, path: bool = False) -> fits.Search:
    """A search whose selected evidence says the same alone and together."""
    return fits.Search(VerdictReadings(opinion, opinion, opinion, path=path), label)


def verdict(fit: VerdictFit, one: fits.Search) -> Opinion:
    """The probabilities that a fit gives a search."""
    assert one.readings is not None
    supports, refutes, undecided = fit.probabilities([one.readings])[0].tolist()
    return supports, refutes, undecided


def test_a_recalibrated_model_reads_as_before_and_has_the_fit() -> None:
    config = {"name": "Verifier", "temperature": 1.6, "bias": [0.1, 0.0, -0.3]}
    changed = fits.recalibrated(config, VerdictFit(0.3, 0.9, 0.2, -0.4444))
    assert {**changed, **config} == changed  # what it says of given evidence stays
    verdict = {"together": 0.3, "alone": 0.9, "passage": 0.2, "undecided": -0.444}
    verdict |= {f"undecided_of_{form}": 0.0 for form in ("several", "path", "value")}
    assert changed["in_search"] == {
        "temperature": 1.6,
        "bias": [0.1, 0.0, -0.3],
        "verdict": verdict,
    }


def test_a_fit_leaves_sure_opinions_counts_collections_alike_and_crosses_halves() -> None:
    opinions: list[Opinion] = [(0.8, 0.1, 0.1), (0.1, 0.8, 0.1), (0.1, 0.1, 0.8)]
    searches = [
        search(label, opinion)
        for opinion in opinions
        for label, times in zip(LABELS, opinion, strict=True)
        for _ in range(round(10 * times))
    ]
    found = fits.fitted([searches])
    for opinion in opinions:
        assert verdict(found, search(SUPPORTS, opinion)) == pytest.approx(opinion, abs=0.02)
    # Each collection of claims counts the same, however many there are.
    # Half of the one collection are undecided and none of the other, so a quarter of what counts.
    half = [search(label, (0.5, 0.0, 0.5)) for label in (SUPPORTS, NOT_ENOUGH_INFO)]
    decided = [search(SUPPORTS, (0.5, 0.0, 0.5))] * 10
    assert verdict(fits.fitted([half, decided]), half[0])[0] == pytest.approx(0.75, abs=0.02)
    # The verdicts of each half are those that the other half gives.
    # All opinions are the same. Of one half nearly all are undecided, of the other none, so each
    # half is given the label that is right for the other.
    opinion = (0.5, 0.0, 0.5)
    decided, undecided = search(SUPPORTS, opinion), search(NOT_ENOUGH_INFO, opinion)
    halves = zip([undecided] * 9 + [decided], [decided] * 10, strict=True)
    figures = fits.crossed_figures({"claims": [item for pair in halves for item in pair]})
    assert figures["claims: label accuracy"] == pytest.approx(100 * 1 / 20)


OPINIONS = {"yes": (1.0, 0.0, 0.0), "no": (0.0, 1.0, 0.0), "open": (0.0, 0.0, 1.0)}


def classify(pairs: Sequence[tuple[str, str]]) -> NDArray[np.float32]:
    """Give the opinion that the evidence ends with."""
    return np.array([OPINIONS[evidence.split()[-1]] for _, evidence in pairs], dtype=np.float32)


def dev_pair(evidence: str, label: Label, source: str = "own") -> Pair:
    return Pair("A claim.", evidence, label, title=None, source=source, kind=None)


def dev_claim(label: Label, *texts: str) -> CorpusClaim:
    keys = tuple((f"Page {n}", 0) for n, _ in enumerate(texts))
    kind = "two-hop" if len(texts) > 1 else "date"
    return CorpusClaim("A claim.", label, (keys,), kind=kind, texts=(texts,), tempting=None)


def test_the_figures_are_those_counted_by_hand() -> None:
    one = [dev_claim(SUPPORTS, "yes"), dev_claim(REFUTES, "open")]
    two = [(REFUTES, "yes", "no"), (SUPPORTS, "yes", "open"), (SUPPORTS, "no", "yes")]
    vitaminc = [dev_pair(said, SUPPORTS, "vitaminc") for said in ("yes", "no")]
    they_say = dev_pair("They say yes", NOT_ENOUGH_INFO)
    dev = DevReadings(
        measured=[*vitaminc, dev_pair("open", NOT_ENOUGH_INFO, "wiki-nli")],
        fitted=[],
        decided=[*one, *(dev_claim(*said) for said in two)],
        undecided=[("A dev_claim.", word) for word in ("open", "open", "open", "no")],
        held_out={
            "assertion": [dev_pair("Claim: … Rating: no", REFUTES), they_say],
            "meaning": [dev_pair("yes", SUPPORTS), dev_pair("yes", REFUTES)],
        },
        decided_2=[dev_claim(REFUTES, "no")],
        digests={},
    )
    of_claims = {"everyday": 60.0, "one_sentence": 50.0, "two_hop": 200 / 3, "everyday_2": 100.0}
    of_pairs = {"assertion": 50.0, "meaning": 50.0, "vitaminc": 50.0, "wiki-nli": 100.0}
    # Always sure, and right two times of three.
    others = {"undecided": 75.0, "calibration_error": 1 / 3}
    assert dev.figures(classify) == pytest.approx(of_claims | of_pairs | others)


def test_published_claims_and_trained_evidence_are_not_fitted_to(tmp_path: Path) -> None:
    # By the digests of their texts, 1 and 5 are in the fitted half and 2 and 3 in the other.
    lines = [
        {"id": n, "claim": f"Claim {n}.", "label": NOT_ENOUGH_INFO, "evidence": []}
        for n in (1, 2, 3, 5)
    ]
    for name in ("vital/dev.jsonl", "vital/dev-2.jsonl", "fever-dev/dev.jsonl"):
        write_json_lines(tmp_path / name, *lines)
    everyday, _, fever = fits.claims_to_fit(tmp_path)
    assert [claim.text for claim in everyday] == ["Claim 1.", "Claim 5."] * 2
    assert [claim.text for claim in fever] == ["Claim 1.", "Claim 5."]
    # No evidence is trained on or fitted to, and measured.
    for source in DEV_PAIRS:
        line = {"claim": "C.", "label": SUPPORTS, "evidence": "Known.", "source": source}
        write_json_lines(tmp_path / "train" / f"{source}.jsonl", line)
        # Two claims about each of many sentences, and one about a sentence that is trained on.
        texts = [f"Sentence {n}." for n in range(60) for _ in range(2)]
        dev = (line | {"evidence": text} for text in [*texts, "Known."])
        write_json_lines(tmp_path / "dev" / f"{source}.jsonl", *dev)
    found = dev_pairs(tmp_path)
    measured, fitted = ({(one.source, one.evidence) for one in part} for part in found)
    assert {source for source, _ in measured} == {source for source, _ in fitted} == set(DEV_PAIRS)
    assert not measured & fitted
    assert "Known." not in {evidence for _, evidence in measured | fitted}
    assert len(found[0]) == 2 * len(measured)


SENTENCES = [
    PoolSentence("Pier", 0, "Pier", "It is long."),
    PoolSentence("Pier", 1, "Pier", "It is made of wood."),
    PoolSentence("Lamp", 0, "Lamp", "It is red."),
]
THREE = [
    AnnotatedClaim("The pier is long.", SUPPORTS, ((("Pier", 0),),)),
    AnnotatedClaim("The pier is made of iron.", REFUTES, ((("Pier", 1),),)),
    AnnotatedClaim("The lamp is bright.", NOT_ENOUGH_INFO, ()),
]
DEV = dev_figures.DevClaims(
    THREE, [[0, 1], [0, 1], [2]], cast(SentencePool, SimpleNamespace(sentences=SENTENCES))
)
# What a model might say: SUPPORTS, REFUTES, NOT ENOUGH INFO.
SAID = {
    ("The pier is long.", "Pier : It is long."): (0.9, 0.0, 0.1),
    ("The pier is long.", "Pier : It is made of wood."): (0.1, 0.0, 0.9),
    ("The pier is made of iron.", "Pier : It is long."): (0.0, 0.1, 0.9),
    ("The pier is made of iron.", "Pier : It is made of wood."): (0.5, 0.3, 0.2),
    ("The lamp is bright.", "Lamp : It is red."): (0.35, 0.0, 0.65),
}


def read(pairs: Sequence[tuple[str, str]]) -> NDArray[np.float32]:
    return np.array([SAID[one] for one in pairs], dtype=np.float32)


def test_figures_of_three_claims_and_a_model_that_is_too_sure() -> None:
    readings = dev_figures.read_claims(read, DEV)
    best = [items[0].sentence.text for items in readings.ranked]
    assert best == ["It is long.", "It is made of wood.", "It is red."]
    # In each dev_claim one sentence stands out, so it is all that is read together.
    assert np.array_equal(readings.together, readings.alone)
    figures = dev_figures.reading_figures(readings, THREE)
    assert figures["gold_in_first_five"] == 100.0
    assert figures["stance_right"] == 50.0  # the wooden pier leans to SUPPORTS
    assert figures["alone"] == figures["pooled"] == pytest.approx(200 / 3)
    # Confidences 0.9 right, 0.5 wrong, 0.65 right: a third each of 0.1, 0.5 and 0.35. A probability
    # of 0 counts as 0.0001.
    assert figures["calibration_error"] == pytest.approx((0.1 + 0.5 + 0.35) / 3, abs=1e-3)
    # A model that is right half as often as it thinks is cooled down.
    sure = np.array([[0.98, 0.01, 0.01]] * 4, dtype=np.float32)
    assert dev_figures.temperature_of(sure, [0, 0, 1, 2]) > 1.5
    assert dev_figures.temperature_of(sure, [0, 0, 0, 0]) == 0.5


def test_several_seeds_have_a_spread_and_one_trains_one_model(tmp_path: Path) -> None:
    found = {0: {"right": 70.0, "error": 0.1}, 4: {"right": 71.0, "error": 0.1}}
    found[7] = {"right": 75.0, "error": 0.1}
    head, right, error = (line.split() for line in dev_figures.spread(found).splitlines())
    assert head == ["seeds", "0,", "4,", "7", "mean", "deviation", "least", "most"]
    # Off the mean 72 by 2, 1 and 3: the root of (4 + 1 + 9) / 2.
    assert right == ["right", "72", "2.65", "70", "75"]
    assert error == ["error", "0.1", "0", "0.1", "0.1"]
    # A seed that is given twice trains one model as usual.
    trained: list[tuple[Path, Path, int]] = []

    def train(run: Path, out: Path, seed: int) -> dict[str, float]:
        trained.append((run, out, seed))
        return {}

    with_seeds((4, 4), tmp_path / "run", tmp_path / "model", train)
    assert trained == [(tmp_path / "run", tmp_path / "model", 4)]


def test_a_claim_on_a_paper_is_read_with_its_lines_and_with_their_passage(tmp_path: Path) -> None:
    mills = "Mill,Sails,Rent in 2020\nOster,6,40\nRowan,8,50\n"
    claims = [
        {"claim": "Oster has six sails.", "label": SUPPORTS, "kind": "row", "where": ["Oster,6"]},
        {"claim": "Rowan pays more.", "label": SUPPORTS, "kind": "compare", "where": ["40", "50"]},
    ]
    lost = {"claim": "Elm pays 9.", "label": REFUTES, "kind": "row", "where": ["Elm,9"]}
    write_json_lines(tmp_path / "a", {"name": "mills.csv", "text": mills, "claims": claims})
    oster = "Mill: Oster, Sails: 6, Rent in 2020: 40."
    rowan = "Mill: Rowan, Sails: 8, Rent in 2020: 50."
    assert [pair.evidence for pair in paper_pairs(tmp_path / "a")] == [
        f"mills : {oster}",
        f"mills : {oster} {rowan}",
        f"mills : {oster} [SEP] mills : {rowan}",
        f"mills : {oster} {rowan} [SEP] mills : {oster} {rowan}",
    ]
    write_json_lines(tmp_path / "b", {"name": "mills.csv", "text": mills, "claims": [lost]})
    with pytest.raises(BadSource, match=r"b, line 1: 'Elm,9' stands in no sentence"):
        list(paper_pairs(tmp_path / "b"))


@pytest.mark.rare
@pytest.mark.server
def test_the_lines_of_all_claims_on_papers_are_read() -> None:
    papers = load_papers()
    assert len(papers.examples) > 5_000
    assert len(papers.held_out) > 600

"""How a verifier of the user is calibrated: to which pairs, and what is written."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from research.evaluation.claims import AnnotatedClaim
from research.evaluation.measures.calibration import calibration_error
from research.evaluation.pairs import Pair
from research.training.verifier.pair_calibration import calibrate_to_pairs, pairs_to_fit
from research.training.verifier.search_calibration import Claims, calibrate
from retrieval.errors import BadSource
from retrieval.models.folders import ModelFolders
from retrieval.models.own_verifier import (
    CALIBRATION,
    SequenceClassifier,
    read_calibration,
    read_classifier,
    write_calibration,
)
from retrieval.types import LABELS, NOT_ENOUGH_INFO, REFUTES, SUPPORTS, Label
from tests.retrieval.models.tiny_models import write_tiny_classifier
from tests.support.json_lines import write_json_lines

WORDS = ("lee", "river", "sheep", "tower", "dundee", "song", "island", "bridges")


def ignore(done: int, of: int) -> None:
    pass


def pair(number: int, label: Label = SUPPORTS) -> Pair:
    first, second = WORDS[number % 8], WORDS[number // 8 % 8]
    return Pair(f"{first} is {second}", f"{second} : the {first}", label, None, None, None)


def written(path: Path, count: int) -> Path:
    lines = [
        {"claim": f"claim {n} of {path.stem}", "label": "SUPPORTS", "evidence": "It is."}
        for n in range(count)
    ]
    return write_json_lines(path, *lines)


def test_of_a_file_all_pairs_are_fitted_to_and_of_a_large_one_some_at_equal_distances(
    tmp_path: Path,
) -> None:
    assert len(pairs_to_fit(written(tmp_path / "small.jsonl", 30))) == 30
    some = pairs_to_fit(written(tmp_path / "large.jsonl", 5_000))
    claims = [f"claim {n} of large" for n in range(0, 5_000, 3)]
    assert [pair.claim for pair in some] == claims


def test_of_a_folder_each_file_gives_as_many_pairs(tmp_path: Path) -> None:
    written(tmp_path / "a.jsonl", 3_000)
    written(tmp_path / "b.jsonl", 40)
    (tmp_path / "notes.txt").write_text("Not read.")
    claims = [pair.claim for pair in pairs_to_fit(tmp_path)]
    assert sum("of a" in claim for claim in claims) == 1_000
    assert sum("of b" in claim for claim in claims) == 40


def test_of_the_training_data_the_pairs_are_those_of_the_shipped_verifiers_fit(
    tmp_path: Path,
) -> None:
    for source in ("vitaminc", "feverous", "infotabs", "wiki-nli"):
        folder = tmp_path / "pairs"
        trained = {"claim": "c", "label": "SUPPORTS", "evidence": "other"}
        dev = (trained | {"claim": f"c {n}", "evidence": f"{source} {n}"} for n in range(100))
        write_json_lines(folder / "train" / f"{source}.jsonl", trained)
        write_json_lines(folder / "dev" / f"{source}.jsonl", *dev)
    found = pairs_to_fit(tmp_path)
    assert 60 < len(found) < 200  # shares of 1 / 3, 1 / 2, 1 / 7 and 1 / 3 of a hundred each


def test_a_folder_without_pairs_is_refused(tmp_path: Path) -> None:
    with pytest.raises(BadSource, match="contains 0 claims with evidence"):
        pairs_to_fit(tmp_path)


def test_a_verifier_that_is_surer_than_right_is_made_less_sure(tmp_path: Path) -> None:
    files = read_classifier(write_tiny_classifier(tmp_path))
    plain = SequenceClassifier(files)
    asked = [pair(n) for n in range(64)]
    said = plain.probabilities([(one.claim, one.evidence) for one in asked])
    # Of every four pairs one has the label that the model gives, the others have the next one.
    labels = [LABELS[(int(row.argmax()) + (n % 8 > 1)) % 3] for n, row in enumerate(said)]
    pairs = [pair(n, label) for n, label in enumerate(labels)]
    figures = calibrate_to_pairs(files, pairs, ignore)
    calibration = read_calibration(files)
    assert calibration["temperature"] == figures["temperature"] > 1
    assert calibration["bias"][:2] == [0.0, 0.0]
    assert calibration["fitted_to"] == files.digest
    assert figures["label accuracy before"] == 25.0
    right = np.array([n % 8 < 2 for n in range(64)])
    before = calibration_error(said.max(axis=1).astype(np.float64), right)
    assert figures["calibration error before"] == pytest.approx(before)
    assert figures["calibration error after"] < before
    again = calibrate_to_pairs(files, pairs, ignore)  # of what the model says, not of the last fit
    assert again == figures


def test_data_without_enough_pairs_of_a_label_are_refused_and_nothing_is_written(
    tmp_path: Path,
) -> None:
    files = read_classifier(write_tiny_classifier(tmp_path))
    labels = [SUPPORTS, NOT_ENOUGH_INFO] * 30 + [REFUTES] * 4
    with pytest.raises(BadSource, match="4 claims with evidence for the label REFUTES") as no:
        calibrate_to_pairs(files, [pair(n, label) for n, label in enumerate(labels)], ignore)
    assert no.value.hint.startswith("Give at least 5 for each of ")
    assert not files.calibration_file.exists()


def test_a_fit_to_pairs_keeps_the_fit_to_searches_that_was_there(tmp_path: Path) -> None:
    files = read_classifier(write_tiny_classifier(tmp_path))
    in_search = {"temperature": 1.5, "bias": [0.0, 0.0, 0.5], "verdict": {"alone": 0.7}}
    write_calibration(files, {"temperature": 9.0, "in_search": in_search})
    calibrate_to_pairs(files, [pair(n, LABELS[n % 3]) for n in range(64)], ignore)
    assert read_calibration(files)["in_search"] == in_search
    assert read_calibration(files)["temperature"] != 9.0
    files.calibration_file.write_text("{")
    calibrate_to_pairs(files, [pair(n, LABELS[n % 3]) for n in range(64)], ignore)
    assert "in_search" not in read_calibration(files)


def test_for_a_model_with_two_labels_what_refutes_counts_as_undecided(tmp_path: Path) -> None:
    folder = write_tiny_classifier(tmp_path, labels=("entailment", "not_entailment"))
    files = read_classifier(folder)
    asked = [pair(n) for n in range(64)]
    said = SequenceClassifier(files).probabilities([(one.claim, one.evidence) for one in asked])
    labels = [
        SUPPORTS if row[0] > 0.5 else (REFUTES, NOT_ENOUGH_INFO)[n % 2]
        for n, row in enumerate(said)
    ]
    figures = calibrate_to_pairs(files, [pair(n, one) for n, one in enumerate(labels)], ignore)
    assert figures["label accuracy before"] == 100.0
    assert figures["temperature"] == 0.5  # always right: as sure as the fit can make it


@pytest.mark.models
def test_a_fit_to_searches_goes_into_the_same_file_and_leaves_that_for_given_evidence(
    index: Path, unpacked: Path, tmp_path: Path
) -> None:
    folder = write_tiny_classifier(tmp_path / "nli")
    before = {path.name: path.read_bytes() for path in folder.iterdir()}
    files = read_classifier(folder)
    calibrate_to_pairs(files, [pair(n, LABELS[n % 3]) for n in range(64)], ignore)
    given: dict[str, Any] = dict(read_calibration(files))
    claims = [
        claim("Skerrow Light was designed by Ann Lee.", SUPPORTS),
        claim("Ann Lee died in Dundee.", REFUTES),
        claim("Lee is a song about a river.", NOT_ENOUGH_INFO),
    ]
    folders = ModelFolders(unpacked, verifier=folder)
    figures = calibrate({"islands": Claims(claims, index)}, tmp_path, 1, folders)
    calibration = dict(read_calibration(files))
    found = calibration.pop("in_search")
    assert calibration == given
    assert found["temperature"] == given["temperature"]
    assert found["bias"] == given["bias"]
    assert found["verdict"]["alone"] == round(figures["alone"], 3)
    assert found["verdict"]["undecided"] == round(figures["undecided"], 3)
    after = {path.name: path.read_bytes() for path in folder.iterdir()}
    assert after.pop(CALIBRATION)
    assert after == before


def claim(text: str, label: Label) -> Any:
    return AnnotatedClaim(text, label, ())

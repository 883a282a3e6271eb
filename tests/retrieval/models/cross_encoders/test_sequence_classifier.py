"""A verifier of the user: what it says is what its model says, by the meaning of its labels."""

from __future__ import annotations

import json
import shlex
import shutil
import subprocess
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from numpy.typing import NDArray
from safetensors.torch import load_file, save_file
from transformers import AutoModelForSequenceClassification, AutoTokenizer, BertConfig, BertModel

from retrieval.errors import ModelUnavailable
from retrieval.models import runtime
from retrieval.models.cross_encoders import VerdictFit
from retrieval.models.own_verifier import (
    CALIBRATION,
    UNCALIBRATED,
    SequenceClassifier,
    read_calibration,
    read_classifier,
    write_calibration,
)
from retrieval.text.model_texts import evidence_set_text
from retrieval.types import LABELS, NOT_ENOUGH_INFO, REFUTES, SUPPORTS
from tests.retrieval.models.cross_encoders.tiny_classifiers import (
    ARCHITECTURES,
    NLI,
    PLACES,
    write_tiny_classifier,
)

CLAIM = "Skerrow Light was designed by Ann Lee."
ONE = "Skerrow Light : It was designed by Ann Lee and was first lit in 1871."
PAIRS = [
    (CLAIM, ONE),
    ("Dundee lies on a river.", "Dundee : It lies on the River Tay."),
    (CLAIM, "Lee (song) : Lee is a song about a river."),
    ("Most people keep sheep.", "Skerrow : About forty people live there. Most keep sheep."),
]
SEVERAL = evidence_set_text(
    [("Skerrow Light", "It was designed by Ann Lee."), ("Dundee", "It is.")]
)


def model_in(folder: Path, in_search: bool = False) -> SequenceClassifier:
    files = read_classifier(folder)
    return SequenceClassifier(files, read_calibration(files), in_search)


def own_logits(folder: Path, premise: str, hypothesis: str) -> NDArray[np.float32]:
    """What the library itself makes of one pair, in the order of the model's outputs."""
    model = AutoModelForSequenceClassification.from_pretrained(folder).train(False)
    inputs = AutoTokenizer.from_pretrained(folder)(premise, hypothesis, return_tensors="pt")
    with torch.inference_mode():
        logits: NDArray[np.float32] = model(**inputs).logits[0].numpy()
    return logits


def own_opinion(folder: Path, claim: str, evidence: str) -> NDArray[np.float32]:
    """What the library's own forward pass makes of a claim, with the evidence first."""
    contradiction, neutral, entailment = softmax(own_logits(folder, evidence, claim))
    return np.array([entailment, contradiction, neutral])


def softmax(logits: NDArray[np.float32]) -> NDArray[np.float32]:
    odds = np.exp(logits - logits.max())
    return odds / odds.sum()


@pytest.mark.parametrize("architecture", ARCHITECTURES)
def test_opinions_are_those_of_the_librarys_own_forward_pass_with_the_evidence_first(
    tmp_path: Path, architecture: str
) -> None:
    folder = write_tiny_classifier(tmp_path / "nli", architecture)
    said = model_in(folder).probabilities(PAIRS)
    for pair, row in zip(PAIRS, said, strict=True):
        assert row == pytest.approx(own_opinion(folder, *pair), abs=1e-5)
    assert said[0] != pytest.approx(own_opinion(folder, ONE, CLAIM), abs=1e-3)


@pytest.mark.parametrize(
    ("names", "meant"),
    [
        (("entailment", "neutral", "contradiction"), (SUPPORTS, NOT_ENOUGH_INFO, REFUTES)),
        (("CONTRADICTION", "ENTAILMENT", "NEUTRAL"), (REFUTES, SUPPORTS, NOT_ENOUGH_INFO)),
        (("SUPPORTS", "REFUTES", "NOT ENOUGH INFO"), (SUPPORTS, REFUTES, NOT_ENOUGH_INFO)),
        (("refuted", "supported", "nei"), (REFUTES, SUPPORTS, NOT_ENOUGH_INFO)),
        (("not_enough_info", "Refutes", "Supports"), (NOT_ENOUGH_INFO, REFUTES, SUPPORTS)),
        (("entailment", "not_entailment"), (SUPPORTS, NOT_ENOUGH_INFO)),
        (("Not-Entailment", "Entailment"), (NOT_ENOUGH_INFO, SUPPORTS)),
    ],
)
def test_labels_are_recognised_by_name_in_any_order_and_case(
    tmp_path: Path, names: Sequence[str], meant: Sequence[str]
) -> None:
    folder = write_tiny_classifier(tmp_path, labels=names)
    assert read_classifier(folder).labels == meant
    said = dict(zip(LABELS, model_in(folder).probabilities([(CLAIM, ONE)])[0], strict=True))
    own = softmax(own_logits(folder, ONE, CLAIM))
    assert [said[label] for label in read_classifier(folder).labels] == pytest.approx(own, abs=1e-5)
    # A model with two labels never refutes.
    assert [said[label] for label in LABELS if label not in meant] == [0.0] * (3 - len(meant))


@pytest.mark.parametrize(
    "names",
    [
        ("LABEL_0", "LABEL_1", "LABEL_2"),
        ("entailment", "neutral", "other"),
        ("entailment", "supports", "neutral"),
        ("entailment", "neutral", "contradiction", "hypothesis"),
    ],
)
def test_labels_without_a_meaning_are_refused_with_what_to_write_into_the_configuration(
    tmp_path: Path, names: Sequence[str]
) -> None:
    folder = write_tiny_classifier(tmp_path, labels=names)
    with pytest.raises(ModelUnavailable, match=f"the labels are {', '.join(names)}") as caught:
        read_classifier(folder)
    assert str(folder / "config.json") in caught.value.message
    assert '"id2label": {"0": "entailment"' in caught.value.hint


def test_a_model_that_leaves_nothing_undecided_is_not_supported(tmp_path: Path) -> None:
    folder = write_tiny_classifier(tmp_path, labels=("SUPPORTS", "REFUTES"))
    with pytest.raises(ModelUnavailable, match="NOT ENOUGH INFO is missing") as caught:
        read_classifier(folder)
    assert "is not supported" in caught.value.hint


@pytest.mark.parametrize("id2label", [None, {}, ["entailment"], {"a": "entailment"}, {"0": 1}])
def test_a_configuration_without_names_of_labels_is_refused(tmp_path: Path, id2label: Any) -> None:
    folder = write_tiny_classifier(tmp_path)
    change(folder, id2label=id2label)
    with pytest.raises(ModelUnavailable, match="there is no id2label"):
        read_classifier(folder)


def change(folder: Path, **values: Any) -> None:
    config = json.loads((folder / "config.json").read_text(encoding="utf-8"))
    (folder / "config.json").write_text(json.dumps({**config, **values}), encoding="utf-8")


@pytest.mark.parametrize("name", ["config.json", "model.safetensors", "tokenizer.json"])
def test_a_missing_file_is_named_with_all_that_a_folder_must_hold(
    tmp_path: Path, name: str
) -> None:
    folder = write_tiny_classifier(tmp_path)
    (folder / name).unlink()
    with pytest.raises(ModelUnavailable, match=f"contains no {name}") as caught:
        read_classifier(folder)
    assert "config.json, model.safetensors and tokenizer.json" in caught.value.hint


@pytest.mark.parametrize(
    ("name", "content", "said"),
    [
        ("config.json", b"{", "config.json cannot be read"),
        ("config.json", b"[]", "there is no id2label"),
        ("model.safetensors", b"version https://git-lfs", "model.safetensors is incomplete"),
        ("model.safetensors", b"", "model.safetensors is incomplete"),
    ],
)
def test_a_damaged_file_is_named_before_anything_is_loaded(
    tmp_path: Path, name: str, content: bytes, said: str
) -> None:
    folder = write_tiny_classifier(tmp_path)
    (folder / name).write_bytes(content)
    with pytest.raises(ModelUnavailable, match=said):
        read_classifier(folder)


def test_weights_that_were_cut_off_are_not_whole(tmp_path: Path) -> None:
    folder = write_tiny_classifier(tmp_path)
    weights = folder / "model.safetensors"
    weights.write_bytes(weights.read_bytes()[:-1])
    with pytest.raises(ModelUnavailable, match="is incomplete"):
        read_classifier(folder)


@pytest.mark.server
def test_pickled_weights_are_refused_with_a_command_that_converts_them(tmp_path: Path) -> None:
    folder = write_tiny_classifier(tmp_path / "my model")
    before = model_in(folder).probabilities(PAIRS)
    torch.save(load_file(folder / "model.safetensors"), folder / "pytorch_model.bin")
    (folder / "model.safetensors").unlink()
    (folder / "merges.bin").write_bytes(b"no weights")
    with pytest.raises(ModelUnavailable, match=r"are a pickle, pytorch_model\.bin") as caught:
        read_classifier(folder)
    command = caught.value.hint.split("trust their source: ")[1]
    subprocess.run(shlex.split(command), check=True, capture_output=True)
    converted = model_in(tmp_path / "my model-safetensors")
    assert np.allclose(converted.probabilities(PAIRS), before, atol=1e-6)


def test_weights_in_several_files_are_read_as_one_model(tmp_path: Path) -> None:
    folder = write_tiny_classifier(tmp_path / "whole")
    weights = load_file(folder / "model.safetensors")
    shards = tmp_path / "shards"
    shutil.copytree(folder, shards)
    (shards / "model.safetensors").unlink()
    names = sorted(weights)
    files = {name: f"model-{1 + n % 2}.safetensors" for n, name in enumerate(names)}
    for file in sorted({*files.values()}):
        part = {name: weights[name] for name in names if files[name] == file}
        save_file(part, shards / file, metadata={"format": "pt"})
    index = {"metadata": {}, "weight_map": files}
    (shards / "model.safetensors.index.json").write_text(json.dumps(index))
    assert np.allclose(model_in(shards).probabilities(PAIRS), model_in(folder).probabilities(PAIRS))
    digest = read_classifier(shards).digest
    (shards / "model.safetensors.index.json").write_text('{"weight_map": {}}')
    with pytest.raises(ModelUnavailable, match="names no weights"):
        read_classifier(shards)
    (shards / "model.safetensors.index.json").write_text(json.dumps(index))
    (shards / "model-2.safetensors").unlink()
    with pytest.raises(ModelUnavailable, match=r"contains no model-2\.safetensors"):
        read_classifier(shards)
    assert digest != read_classifier(folder).digest


def test_code_that_a_model_brings_is_never_run(tmp_path: Path) -> None:
    folder = write_tiny_classifier(tmp_path)
    ran = tmp_path / "ran"
    (folder / "own.py").write_text(f"open({str(ran)!r}, 'w')\n")
    classes = {"AutoConfig": "own.Config", "AutoModelForSequenceClassification": "own.Model"}
    change(folder, model_type="own", auto_map=classes)
    with pytest.raises(ModelUnavailable, match="contains custom code") as caught:
        model_in(folder).warm_up()
    assert "needs no Python code of its own" in caught.value.hint
    assert not ran.exists()


def test_an_encoder_that_was_not_trained_to_classify_is_refused(tmp_path: Path) -> None:
    folder = write_tiny_classifier(tmp_path)
    encoder = BertModel(BertConfig.from_pretrained(folder))
    encoder.save_pretrained(folder)
    change(folder, id2label=dict(enumerate(NLI)))
    with pytest.raises(ModelUnavailable, match=r"its weights lack .*classifier"):
        model_in(folder).warm_up()


def test_a_tokenizer_with_more_tokens_than_the_model_is_refused(tmp_path: Path) -> None:
    small = write_tiny_classifier(tmp_path / "small", texts=["A pier."])
    large = write_tiny_classifier(tmp_path / "large")
    shutil.copy(large / "tokenizer.json", small / "tokenizer.json")
    with pytest.raises(ModelUnavailable, match="its tokenizer has"):
        model_in(small).warm_up()


def test_as_many_outputs_as_labels_are_wanted(tmp_path: Path) -> None:
    folder = write_tiny_classifier(tmp_path, labels=("a", "b"))
    change(folder, id2label=dict(enumerate(NLI)))
    with pytest.raises(ModelUnavailable, match="cannot be loaded"):
        model_in(folder).warm_up()


@pytest.mark.parametrize("count", [0, 1, 9, 20])
def test_each_pair_is_read_as_if_it_were_alone(tmp_path: Path, count: int) -> None:
    model = model_in(write_tiny_classifier(tmp_path))
    pairs = [(CLAIM, "Dundee : It lies " + "on the river " * n) for n in range(count)]
    said = model.probabilities(pairs)
    assert said.shape == (count, 3)
    alone = [model.probabilities([pair])[0] for pair in pairs]
    assert np.allclose(said, np.reshape(alone, (-1, 3)), atol=1e-5)


def test_pairs_of_like_length_are_read_together(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    model = model_in(write_tiny_classifier(tmp_path))
    read, logits = [], model._network.logits

    def watched(rows: Sequence[dict[str, list[int]]]) -> Any:
        read.append([len(row["input_ids"]) for row in rows])
        return logits(rows)

    monkeypatch.setattr(model._network, "logits", watched)
    model.probabilities([(CLAIM, "Dundee : It lies " + "on " * n) for n in range(20)][::-1])
    assert [len(lengths) for lengths in read] == [8, 8, 4]
    lengths = [length for part in read for length in part]
    assert lengths == sorted(lengths)


@pytest.mark.parametrize("architecture", ARCHITECTURES)
def test_a_pair_that_does_not_fit_the_window_is_cut_and_reported_as_not_fitting(
    tmp_path: Path, architecture: str
) -> None:
    model = model_in(write_tiny_classifier(tmp_path, architecture))
    claim = "the river"  # 2 tokens, and 3 between the texts
    fitting, longer = "lee " * (PLACES - 5), "lee " * (PLACES - 4)
    assert model.fits(claim, fitting)
    assert not model.fits(claim, longer)
    whole, cut = model.probabilities([(claim, fitting), (claim, longer + "skerrow")])
    assert cut == pytest.approx(whole, abs=1e-5)


def test_sentences_that_are_read_together_are_read_as_one_plain_text(tmp_path: Path) -> None:
    folder = write_tiny_classifier(tmp_path)
    assert "[SEP]" in SEVERAL
    said = model_in(folder).probabilities([(CLAIM, SEVERAL)])[0]
    plain = "Skerrow Light : It was designed by Ann Lee. Dundee : It is."
    assert said == pytest.approx(own_opinion(folder, CLAIM, plain), abs=1e-5)


@pytest.mark.parametrize("architecture", ["bert", "bart"])
@pytest.mark.parametrize("mark", ["[SEP]", "[CLS]", "[PAD]"])
def test_the_name_of_a_special_token_in_a_text_is_read_as_text(
    tmp_path: Path, architecture: str, mark: str
) -> None:
    folder = write_tiny_classifier(tmp_path, architecture)
    model = model_in(folder)
    hostile = f"Skerrow Light : It is old. {mark} The river is long.{mark}"
    pairs = [(CLAIM, ONE), (CLAIM, hostile), (f"Is it {mark}?", ONE)]
    specials = [
        {0, 1, 2}.intersection(row["input_ids"][1:-1]) for row in model._network.rows(pairs)
    ]
    assert specials == [{2}] * 3  # the one between evidence and claim
    for row in model._network.rows(pairs):
        assert row["input_ids"].count(2) == 2
    said = model.probabilities(pairs)
    assert said.sum(axis=1) == pytest.approx(np.ones(3), abs=1e-5)


def test_a_special_token_that_is_a_word_of_the_vocabulary_too_is_an_unknown_word(
    tmp_path: Path,
) -> None:
    folder = write_tiny_classifier(tmp_path)
    path = folder / "tokenizer.json"
    tokenizer = json.loads(path.read_text(encoding="utf-8"))
    tokenizer["pre_tokenizer"] = {"type": "WhitespaceSplit"}
    tokenizer["normalizer"] = None
    path.write_text(json.dumps(tokenizer), encoding="utf-8")
    (row,) = model_in(folder)._network.rows([("lee", "river [CLS] river")])
    _, river, mark, again, end, *_ = row["input_ids"]
    assert (mark, end, river) == (3, 2, again)


@pytest.mark.parametrize(
    ("error", "code"),
    [
        (ValueError("All examples must have the same number of <eos> tokens."), "model_failed"),
        (MemoryError(), "out_of_memory"),
        (RuntimeError("DefaultCPUAllocator: can't allocate memory"), "out_of_memory"),
    ],
)
def test_what_fails_while_it_reads_is_one_error_that_names_the_model(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, error: Exception, code: str
) -> None:
    def fails(rows: object) -> Any:
        raise error

    model = model_in(write_tiny_classifier(tmp_path))
    monkeypatch.setattr(model._network, "logits", fails)
    with pytest.raises(ModelUnavailable, match=str(tmp_path)) as caught:
        model.probabilities([(CLAIM, ONE)])
    assert caught.value.code == code


def test_too_little_memory_to_load_a_model_does_not_read_as_damaged_files(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fails(*_: object, **__: object) -> Any:
        raise RuntimeError("[enforce fail] DefaultCPUAllocator: can't allocate memory")

    monkeypatch.setattr(AutoModelForSequenceClassification, "from_pretrained", fails)
    with pytest.raises(ModelUnavailable, match="There is not enough memory for the verifier in"):
        model_in(write_tiny_classifier(tmp_path)).warm_up()


def test_the_model_computes_on_the_threads_that_are_set(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    before = torch.get_num_threads()
    monkeypatch.setattr(runtime, "_threads", 1 if before > 1 else 2)
    try:
        model_in(write_tiny_classifier(tmp_path)).warm_up()
        assert torch.get_num_threads() == runtime.threads()
    finally:
        torch.set_num_threads(before)


def test_the_name_is_the_folders_with_digests_of_its_files_and_the_calibration(
    tmp_path: Path,
) -> None:
    folder = write_tiny_classifier(tmp_path / "my-nli")
    digest = read_classifier(folder).digest
    assert model_in(folder).version == f"my-nli {digest[:8]}"
    files = read_classifier(folder)
    names = []
    for temperature in (1.5, 2.0):
        write_calibration(files, {"temperature": temperature})
        names.append(model_in(folder).version)
    assert all(name.startswith(f"my-nli {digest[:8]}, calibrated ") for name in names)
    assert len({*names}) == 2
    other = write_tiny_classifier(tmp_path / "other" / "my-nli", seed=1)
    assert model_in(other).version != f"my-nli {digest[:8]}"


@pytest.mark.parametrize("name", ["config.json", "tokenizer.json", "model.safetensors"])
def test_other_labels_words_or_weights_make_another_model_without_a_calibration(
    tmp_path: Path, name: str
) -> None:
    folder = write_tiny_classifier(tmp_path / "my-nli")
    files = read_classifier(folder)
    before = model_in(folder).version
    write_calibration(files, {"temperature": 1.5})
    if name == "config.json":
        change(folder, id2label=dict(enumerate(NLI[::-1])))
    else:
        other = write_tiny_classifier(tmp_path / "other", texts=["A pier."], seed=1)
        shutil.copy(other / name, folder / name)
    with pytest.raises(ModelUnavailable, match="was fitted to other weights, labels or tokenizer"):
        read_calibration(read_classifier(folder))
    (folder / CALIBRATION).unlink()
    assert model_in(folder).version != before


def test_a_temperature_of_two_halves_the_logits_and_a_bias_is_added(tmp_path: Path) -> None:
    folder = write_tiny_classifier(tmp_path)
    files = read_classifier(folder)
    assert read_calibration(files) == UNCALIBRATED
    logits = np.log(own_opinion(folder, CLAIM, ONE))
    for bias in ([0.0, 0.0, 0.0], [0.0, 0.0, -0.7]):
        write_calibration(files, {"temperature": 2.0, "bias": bias})
        said = model_in(folder).probabilities([(CLAIM, ONE)])[0]
        assert said == pytest.approx(softmax(logits / 2 + bias), abs=1e-5)


def test_in_a_search_the_calibration_for_searches_is_used_where_there_is_one(
    tmp_path: Path,
) -> None:
    folder = write_tiny_classifier(tmp_path)
    files = read_classifier(folder)
    given: dict[str, Any] = {"temperature": 2.0, "bias": [0.0, 0.0, 0.5]}
    write_calibration(files, given)
    pairs = [(CLAIM, ONE), (CLAIM, SEVERAL)]
    assert np.allclose(
        model_in(folder, in_search=True).probabilities(pairs), model_in(folder).probabilities(pairs)
    )
    searching = {**given, "bias": [0.0, 0.0, 1.75], "verdict": {"alone": 0.75}}
    write_calibration(files, {**given, "in_search": searching})
    plain, found = model_in(folder), model_in(folder, in_search=True)
    assert (plain.verdict_fit, found.verdict_fit) == (VerdictFit(), VerdictFit(alone=0.75))
    before, after = plain.probabilities(pairs), found.probabilities(pairs)
    moved = np.log(after[:, 2] / after[:, 0]) - np.log(before[:, 2] / before[:, 0])
    assert moved == pytest.approx([1.25, 1.25], abs=1e-4)


@pytest.mark.parametrize(
    ("content", "said"),
    [
        ("{", "is not a calibration"),
        ("[]", "is not a calibration"),
        ('{"temperature": 1.5}', "is not a calibration"),
        ('{"fitted_to": "DIGEST"}', "is not a calibration"),
        ('{"fitted_to": "DIGEST", "temperature": "hot"}', "is not a calibration"),
        ('{"fitted_to": "DIGEST", "temperature": 0}', "numbers that no calibration can have"),
        ('{"fitted_to": "DIGEST", "temperature": NaN}', "numbers that no calibration can have"),
        (
            '{"fitted_to": "DIGEST", "temperature": 1, "bias": [1]}',
            "numbers that no calibration can have",
        ),
        ('{"fitted_to": "00", "temperature": 1}', "fitted to other weights"),
    ],
)
def test_a_calibration_that_cannot_be_used_is_refused_with_the_command_that_fits_it_again(
    tmp_path: Path, content: str, said: str
) -> None:
    files = read_classifier(write_tiny_classifier(tmp_path))
    (tmp_path / CALIBRATION).write_text(content.replace("DIGEST", files.digest))
    with pytest.raises(ModelUnavailable, match=said) as caught:
        read_calibration(files)
    assert "calibrate --verifier" in caught.value.hint


def test_writing_a_calibration_leaves_the_users_own_files_as_they_are(tmp_path: Path) -> None:
    folder = write_tiny_classifier(tmp_path)
    before = {path.name: path.read_bytes() for path in folder.iterdir()}
    write_calibration(read_classifier(folder), {"temperature": 1.5})
    after = {path.name: path.read_bytes() for path in folder.iterdir()}
    assert after.pop(CALIBRATION)
    assert after == before

"""What the report's models may be read from, and what is refused."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest
import torch
from safetensors.torch import load_file, save_file

from retrieval.errors import ModelUnavailable
from retrieval.models.papers import report_networks as networks
from retrieval.models.papers.report_models import LOCK, NAMES, QUESTIONS, RELEVANCE
from retrieval.models.papers.report_networks import PairClassifier, TextGenerator, TokenLabels
from tests.retrieval.models.report.tiny_models import distilbert, lock_as_it_is, save, word_pieces

TEXT = "Ann Lee drew Skerrow Light."


@pytest.fixture
def models(tmp_path: Path, tiny_models: Path) -> Path:
    return Path(shutil.copytree(tiny_models, tmp_path / "models"))


def test_words_are_labelled_whole_with_their_offsets(tiny_models: Path) -> None:
    assert TokenLabels(tiny_models, NAMES).labelled(TEXT) == [
        (0, 3, "B-PER"),
        (4, 7, "I-PER"),
        (8, 12, "O"),
        (13, 20, "B-LOC"),
        (21, 26, "I-LOC"),
        (26, 27, "O"),
    ]


def test_an_answer_does_not_depend_on_other_questions_of_its_batch(tiny_models: Path) -> None:
    model = TextGenerator(tiny_models, QUESTIONS)
    texts = ["answer: Ann Lee context: it", "answer: No context: " + TEXT * 3, "Dundee"]
    assert model.answers(texts) == [model.answers([text])[0] for text in texts]
    assert model.answers([]) == []


def test_pickled_weights_are_not_read(models: Path) -> None:
    folder = models / NAMES.name
    weights = load_file(folder / "model.safetensors")
    (folder / "model.safetensors").unlink()
    torch.save(weights, folder / "pytorch_model.bin")
    lock_as_it_is(models)
    with pytest.raises(ModelUnavailable, match="cannot be loaded"):
        TokenLabels(models, NAMES).warm_up()


def test_code_that_a_folder_brings_is_not_run(models: Path, tmp_path: Path) -> None:
    folder = models / RELEVANCE.name
    config = json.loads((folder / "config.json").read_text())
    config |= {
        "model_type": "made-up",
        "auto_map": {
            "AutoConfig": "code.Config",
            "AutoModelForSequenceClassification": "code.Model",
        },
    }
    (folder / "config.json").write_text(json.dumps(config))
    (folder / "code.py").write_text(f"open({str(tmp_path / 'ran')!r}, 'w')")
    lock_as_it_is(models)
    with pytest.raises(ModelUnavailable, match="cannot be loaded"):
        PairClassifier(models, RELEVANCE).warm_up()
    assert not (tmp_path / "ran").exists()


def test_weights_that_are_missing_are_not_made_up(models: Path) -> None:
    path = models / NAMES.name / "model.safetensors"
    weights = load_file(path)
    del weights["classifier.weight"]
    save_file(weights, path, metadata={"format": "pt"})
    lock_as_it_is(models)
    with pytest.raises(ModelUnavailable, match="lacks weights"):
        TokenLabels(models, NAMES).warm_up()


def test_a_classifier_of_another_number_of_labels_is_refused(models: Path) -> None:
    tokenizer = word_pieces([TEXT], lowercase=True)
    save(models / RELEVANCE.name, tokenizer, distilbert(tokenizer, labels=3))
    lock_as_it_is(models)
    with pytest.raises(ModelUnavailable, match="has 3 labels instead of two"):
        PairClassifier(models, RELEVANCE).probabilities([("a", "b")])


@pytest.mark.parametrize("name", ["vocab.txt", "adapter_config.json", "pytorch_model.bin"])
def test_a_file_that_was_added_is_refused(models: Path, name: str) -> None:
    (models / NAMES.name / name).write_text("{}")
    with pytest.raises(ModelUnavailable, match=f"names: {name}"):
        TokenLabels(models, NAMES).warm_up()


def test_a_file_that_was_changed_is_refused(models: Path) -> None:
    weights = models / NAMES.name / "model.safetensors"
    weights.write_bytes(weights.read_bytes()[:-1] + b"!")
    with pytest.raises(ModelUnavailable, match=r"names: model\.safetensors"):
        TokenLabels(models, NAMES).warm_up()


def test_hidden_files_and_folders_are_no_part_of_a_model(models: Path) -> None:
    (models / NAMES.name / ".DS_Store").write_text("")
    (models / NAMES.name / "onnx").mkdir()
    TokenLabels(models, NAMES).warm_up()


@pytest.mark.parametrize(
    "content",
    [
        {},
        {"models": []},
        {"models": {NAMES.name: []}},
        {"models": {NAMES.name: {"repository": "a", "revision": "b"}}},
        {"models": {NAMES.name: {"repository": "a", "revision": None, "files": {}}}},
        {"models": {NAMES.name: {"repository": "a", "revision": "b", "files": []}}},
        {"models": {NAMES.name: {"repository": "a", "revision": "b", "files": {"c": 1}}}},
    ],
)
def test_a_damaged_lock_is_refused(models: Path, content: object) -> None:
    (models / LOCK).write_text(json.dumps(content))
    with pytest.raises(ModelUnavailable, match="is not a lock of models"):
        TokenLabels(models, NAMES).warm_up()


def test_models_without_a_lock_are_refused(models: Path) -> None:
    (models / LOCK).unlink()
    with pytest.raises(ModelUnavailable, match="is not the one"):
        TokenLabels(models, NAMES).warm_up()


def test_a_tokenizer_of_sentence_pieces_names_the_package_that_reads_it(
    models: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = models / QUESTIONS.name
    (folder / "tokenizer.json").rename(folder / "spiece.model")
    lock_as_it_is(models)
    monkeypatch.setattr(networks, "find_spec", lambda name: None)
    with pytest.raises(ModelUnavailable, match="read by the package sentencepiece") as refused:
        TextGenerator(models, QUESTIONS).warm_up()
    assert refused.value.hint.endswith("sentencepiece==0.2.3")

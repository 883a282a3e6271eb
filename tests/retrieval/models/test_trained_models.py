"""The shipped models: what NumPy makes of a body's states, and what they are made and known by."""

import json
import shutil
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from safetensors.numpy import save_file
from tokenizers import Tokenizer as Rust
from torch import nn

from research.benchmarks.torch_network import TorchNetwork
from research.training.dense import encoded, packaged_query_network
from research.training.networks import encoders
from research.training.prover import packaged_proof_network, proof_inputs
from retrieval.errors import ModelUnavailable
from retrieval.models import shipped, trained_model
from retrieval.models.arrays import Array
from retrieval.models.cross_encoders import CrossEncoder, VerdictFit
from retrieval.models.encoders import QueryEncoder
from retrieval.models.folders import ModelFolders, NamedModel
from retrieval.models.networks import Tokenizer
from retrieval.models.own_verifier import read_classifier, write_calibration
from retrieval.models.packaged import MiniLM, mpnet_folder
from retrieval.models.papers.report_models import LOCK
from retrieval.models.prover import ProofModel, proof_row
from retrieval.recipes.recipes import RECIPES
from retrieval.system.files import digest_of
from retrieval.types import LABELS
from tests.retrieval.models.tiny_models import write_tiny_classifier
from tests.retrieval.models.tiny_report import name_models

CLAIM = "Skerrow Light was designed by Ann Lee in 1884."
DESIGNED = ("Skerrow Light", "It was designed by Ann Lee.")
CITY = ("Dundee", "It is a city in Scotland, on the River Tay.")
PAIRS = [
    (CLAIM, "Skerrow Light : It was designed by Ann Lee."),
    (CLAIM, "Dundee : It is a city. [SEP] Skerrow Light : It was never painted, nor lit."),
]


def trained(module: nn.Module, folder: Path) -> None:
    encoders.add_delta(module, folder, trained_model.read_config(folder)["sha256"])
    module.train(False)


def fed_by(model: trained_model.TrainedModel, body: nn.Module, padding: int = 0) -> None:
    """Let the model read the states that PyTorch computes, in float32."""
    vars(model)["_network"] = TorchNetwork(body, padding)


def calibrated(folder: Path, logits: torch.Tensor) -> Array:
    """Class probabilities of one sentence and of several."""
    config = trained_model.read_config(folder)
    bias = torch.tensor([config.get("bias", [0.0] * len(LABELS))])
    probabilities: Array = torch.softmax(logits / config["temperature"] + bias, dim=-1).numpy()
    return probabilities


@pytest.mark.models
def test_pairs_are_classified_as_by_the_networks_in_training(unpacked: Path) -> None:
    module, small = encoders.trained_classifier(shipped.RELEVANCE_MODEL), shipped.relevance_model()
    inputs = encoders.pair_tokenizer()(
        *zip(*PAIRS, strict=True), padding=True, return_tensors="pt", return_token_type_ids=False
    )
    with torch.inference_mode():
        expected = calibrated(shipped.RELEVANCE_MODEL, module(**inputs).logits)
    fed_by(small, module.distilbert)
    assert np.allclose(small.probabilities(PAIRS), expected, atol=1e-4)
    assert small.probabilities([]).shape == (0, 3)
    assert (small.fits(*PAIRS[0]), small.fits(CLAIM, PAIRS[0][1] * 40)) == (True, False)

    module, large = (
        encoders.packaged_verifier(unpacked, LABELS),
        shipped.verifier(unpacked, in_search=False),
    )
    trained(module, shipped.VERIFIER)
    tokenizer = encoders.pair_tokenizer(mpnet_folder(unpacked))
    inputs = tokenizer(*zip(*PAIRS, strict=True), padding=True, return_tensors="pt")
    with torch.inference_mode():
        logits = module(inputs["input_ids"], inputs["attention_mask"]).logits
    fed_by(large, module.mpnet, padding=1)
    assert np.allclose(large.probabilities(PAIRS), calibrated(shipped.VERIFIER, logits), atol=1e-4)


@pytest.mark.models
def test_queries_and_spans_are_read_as_by_the_networks_in_training() -> None:
    module, model = packaged_query_network(), QueryEncoder(shipped.DENSE)
    trained(module, shipped.DENSE)
    fed_by(model, module.distilbert)
    queries = [(CLAIM, []), (CLAIM, [DESIGNED, CITY]), ("Cats sleep.", [CITY])]
    expected = encoded(module, encoders.row_tokenizer(256), queries, 256)
    assert np.allclose(model.encode(queries), expected, atol=1e-4)
    module, model = packaged_proof_network(), ProofModel(shipped.PROVER)
    trained(module, shipped.PROVER)
    fed_by(model, module.distilbert)
    config = trained_model.read_config(shipped.PROVER)
    spans = [(0, 13), (18, 26), (30, 37), (41, 45), (45, 45)]
    window = config["max_tokens"]
    for evidence in ("Dundee : It is a city. [SEP] Holm : Hm.", "", "oak " * 400):
        inputs = proof_inputs(encoders.row_tokenizer(window), [CLAIM], [spans], [evidence], window)
        with torch.inference_mode():
            logits = module(inputs)
        reading = model.read(CLAIM, spans, evidence)
        operators = torch.softmax(logits.operators[0] / config["temperature"], dim=-1)
        assert np.allclose(reading.operators, operators, atol=1e-4)
        assert reading.seen.tolist() == inputs.span_mask[0].tolist() == [True] * 4 + [False]
        tokens = len(reading.evidence)
        for ours, theirs in ((reading.starts, logits.starts), (reading.ends, logits.ends)):
            assert np.allclose(ours, theirs[0, :, :tokens], atol=1e-3)
            assert np.isneginf(theirs[0, :, tokens:].numpy()).all()
        assert reading.evidence.tolist() == inputs.evidence[0, :tokens].tolist()
        assert reading.offsets.tolist() == inputs.offsets[0, :tokens].tolist()


def changed(tmp_path: Path, **values: object) -> Path:
    """Copy the relevance model with another configuration."""
    folder = Path(shutil.copytree(shipped.RELEVANCE_MODEL, tmp_path / "relevance"))
    (folder / "config.json").write_text(json.dumps(trained_model.read_config(folder) | values))
    return folder


@pytest.mark.models
def test_in_a_search_undecided_is_biased_and_a_verdict_has_a_fit_of_its_own(tmp_path: Path) -> None:
    config = trained_model.read_config(shipped.RELEVANCE_MODEL)
    supports, refutes, undecided = config.get("bias", [0.0, 0.0, 0.0])
    bias, fit = [supports, refutes, undecided + 0.5], {"together": 0.25, "undecided": -0.5}
    given = {"temperature": config["temperature"], "bias": bias}
    folder = changed(tmp_path, in_search={**given, "verdict": fit})
    given, found = (CrossEncoder(folder, MiniLM(), way) for way in (False, True))
    assert given.verdict_fit == VerdictFit()
    assert found.verdict_fit == VerdictFit(together=0.25, undecided=-0.5)
    plain, biased = given.probabilities(PAIRS), found.probabilities(PAIRS)
    moved = np.log(biased[:, 2] / biased[:, 0]) - np.log(plain[:, 2] / plain[:, 0])
    assert moved == pytest.approx([0.5, 0.5], abs=0.02)


def test_a_folder_with_other_labels_or_without_a_model_is_refused(tmp_path: Path) -> None:
    with pytest.raises(ModelUnavailable, match="labels of the model") as refused:
        shipped.minilm_classifier(changed(tmp_path, labels=LABELS[::-1]))
    assert refused.value.code == "model_damaged"
    for kind in (ProofModel, QueryEncoder):
        with pytest.raises(ModelUnavailable, match="missing or damaged"):
            kind(tmp_path)


MATRIX = "distilbert.transformer.layer.0.ffn.lin1.weight"
VECTOR = "distilbert.transformer.layer.0.ffn.lin1.bias"
BASE = {
    MATRIX: np.ones((3, 2), np.float32),
    VECTOR: np.ones(3, np.float32),
    "distilbert.embeddings.word_embeddings.weight": np.ones((2, 2), np.float32),
}
EIGHT_BITS = {
    f"{MATRIX}@left": np.array([[1], [2], [-4]], np.int8),
    f"{MATRIX}@right": np.array([[10, 20]], np.int8),
    f"{MATRIX}@scale": np.array([0.5], np.float32),
    VECTOR: np.array([0.5, 0, -1], np.float16),
    "classifier.weight": np.array([[7.0]], np.float16),
}


def test_a_body_changes_by_the_trained_difference_and_by_no_other(tmp_path: Path) -> None:
    made = trained_model.trained_body(BASE, EIGHT_BITS, Path("models/relevance"))
    # 1 + 0.5 * (1, 2, -4) * (10, 20)
    assert made[MATRIX].tolist() == [[6, 11], [11, 21], [-19, -39]]
    assert made[VECTOR].tolist() == [1.5, 1, 0]
    assert made.keys() == BASE.keys()
    assert BASE[MATRIX].tolist() == [[1, 1]] * 3
    found = trained_model.heads(EIGHT_BITS)  # what has no base
    assert (list(found), found["classifier.weight"].dtype) == (["classifier.weight"], np.float32)
    without_scale = {
        f"{MATRIX}@left": np.array([[1], [2], [-4]], np.float16),
        f"{MATRIX}@right": np.array([[0.5, 1]], np.float16),
    }
    older = trained_model.trained_body(BASE, without_scale, Path("models/relevance"))
    assert older[MATRIX].tolist() == [[1.5, 2], [2, 3], [-1, -3]]
    other = {"distilbert.transformer.layer.9.ffn.lin1.bias": np.zeros(3, np.float16)}
    with pytest.raises(ModelUnavailable, match="belongs to other base weights"):
        trained_model.trained_body(BASE, other, Path("models/relevance"))
    path = tmp_path / "delta.safetensors"
    save_file(EIGHT_BITS, path)
    read = trained_model.read_difference(tmp_path, digest_of(path))
    assert read.keys() == EIGHT_BITS.keys()
    assert all(np.array_equal(read[name], EIGHT_BITS[name]) for name in read)
    with pytest.raises(ModelUnavailable, match="not the expected one"):
        trained_model.read_difference(tmp_path, "0" * 64)
    with pytest.raises(ModelUnavailable, match="is missing"):
        trained_model.read_difference(tmp_path / "relevance", "0" * 64)


SHORT, EVIDENCE = "Ole Berg sailed", "Runde : He sailed. [SEP] Holm : It rains"


def tokens_of(ids: list[int]) -> list[str]:
    rust = Rust.from_file(str(MiniLM().tokenizer_file()))
    return [str(rust.id_to_token(token)) for token in ids]


@pytest.mark.models
def test_spans_and_evidence_are_marked_token_by_token_and_the_evidence_is_cut() -> None:
    tokenizer = Tokenizer(MiniLM().tokenizer_file(), 192)
    row = proof_row(tokenizer, SHORT, [(0, 8), (9, 14)], EVIDENCE, 192)
    assert [row.ids] == tokenizer.pairs([(SHORT, EVIDENCE)])
    tokens = tokens_of(row.ids)
    assert tokens[:6] == ["[CLS]", "ole", "berg", "sailed", "[SEP]", "run"]
    assert row.spans[:, :5].tolist() == [[0, 0.5, 0.5, 0, 0], [0, 0, 0, 1, 0]]
    assert not row.spans[:, 5:].any()
    assert row.seen.tolist() == [True, True]
    of_evidence = [t for t, shown in zip(tokens, row.evidence, strict=True) if shown]
    assert of_evidence == ["run", "##de", ":", "he", "sailed", ".", "holm", ":", "it", "rains"]
    start, end = row.offsets[tokens.index("sailed", 5)].tolist()
    assert EVIDENCE[start:end] == "sailed"
    cut = proof_row(tokenizer, SHORT, [(0, 8)], EVIDENCE * 100, 12)
    assert " ".join(tokens_of(cut.ids)) == (
        "[CLS] ole berg sailed [SEP] run ##de : he sailed . [SEP]"
    )
    alone = proof_row(tokenizer, "国" * 500, [(0, 400), (400, 500)], EVIDENCE, 192)
    assert (len(alone.ids), alone.seen.tolist()) == (192, [True, False])
    assert not alone.evidence.any()


def test_other_models_have_another_digest(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(shipped, "MODELS", tmp_path)

    def digest(**models: Any) -> str:
        return shipped.models_digest(ModelFolders(tmp_path, **models))

    def ship(name: str, sha256: str) -> str:
        (tmp_path / name).mkdir(exist_ok=True)
        (tmp_path / name / "config.json").write_text(json.dumps({"sha256": sha256}))
        return digest()

    one, two, other = ship("relevance", "aa"), ship("path", "aa"), ship("relevance", "bb")
    assert ship("relevance", "aa") == two
    bart, report = tmp_path / "bart", name_models(tmp_path / "report")
    bart.mkdir()
    for name in ("config.json", "model.safetensors", "tokenizer.json"):
        (bart / name).write_text("{}")
    nli = write_tiny_classifier(tmp_path / "nli")
    own = [NamedModel(name, str(nli)) for name in ("ESOTERIC_ENCODER", "ESOTERIC_RERANKER")]
    digests = [one, two, other, digest(encoder=own[0]), digest(reranker=own[1])]
    before = [digest(bart=bart), digest(verifier=nli), digest(report=report)]
    (bart / "model.safetensors").write_text("{ }")
    write_calibration(read_classifier(nli), {"temperature": 1.5})
    (report / LOCK).write_bytes((report / LOCK).read_bytes() + b"\n")
    after = [digest(bart=bart), digest(verifier=nli), digest(report=report)]
    assert len({*digests, *before, *after}) == 11


def test_a_verdict_names_the_verifier_and_a_recipe_has_its_models(tmp_path: Path) -> None:
    name = shipped.judge_name(ModelFolders(tmp_path))
    assert name == trained_model.version_of(trained_model.read_config(shipped.VERIFIER))
    assert name.startswith("MPNet verifier ")
    relevance, path = shipped.RELEVANCE_MODEL, shipped.PATH
    models = {"m3": [relevance, path], "combined": [relevance, path]}
    models |= {"esoteric": [relevance], "fer": [relevance], "report": [], "card": []}
    for recipe, folders in models.items():
        proofs = [shipped.PROVER] if recipe == "combined" else []
        assert shipped.reading_models(RECIPES[recipe]) == [*folders, shipped.VERIFIER, *proofs]

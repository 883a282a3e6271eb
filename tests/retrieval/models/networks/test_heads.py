"""What NumPy makes of a body's states is what PyTorch's modules make of the same states."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
import torch
from torch import nn

from research.benchmarks.torch_network import TorchNetwork
from research.training.networks.delta import add_delta
from research.training.networks.joint import JointReader, usefulness
from research.training.networks.minilm import pair_tokenizer, row_tokenizer, trained_classifier
from research.training.networks.mpnet import packaged_verifier
from research.training.networks.mpnet import pair_tokenizer as mpnet_tokenizer
from research.training.networks.proof import packaged_proof_network, proof_inputs
from research.training.networks.query import encoded, packaged_query_network
from research.training.networks.titles import NetworkReading, packaged_title_network
from retrieval.models.arrays import Array
from retrieval.models.cross_encoders import CrossEncoder
from retrieval.models.encoders import QueryEncoder
from retrieval.models.papers.selector import UtilityModel
from retrieval.models.papers.title_generator import (
    IDENTIFIERS,
    MARKUP,
    POSITIONS,
    MiniLMTitleModel,
    input_tokens,
)
from retrieval.models.prover import ProofModel
from retrieval.models.shipped import (
    DENSE,
    PROVER,
    RELEVANCE_MODEL,
    SELECTOR,
    TITLES,
    VERIFIER,
    relevance_model,
    verifier,
)
from retrieval.models.title_trie import TitleTokenizer
from retrieval.models.trained_model import TrainedModel, read_config
from retrieval.types import LABELS

pytestmark = pytest.mark.models

CLAIM = "Skerrow Light was designed by Ann Lee in 1884."
DESIGNED = ("Skerrow Light", "It was designed by Ann Lee.")
CITY = ("Dundee", "It is a city in Scotland, on the River Tay.")
PAIRS = [
    (CLAIM, "Skerrow Light : It was designed by Ann Lee."),
    (CLAIM, "Dundee : It is a city. [SEP] Skerrow Light : It was never painted, nor lit."),
]


def trained(module: nn.Module, folder: Path) -> None:
    add_delta(module, folder, read_config(folder)["sha256"])
    module.train(False)


def fed_by(model: TrainedModel, body: nn.Module, padding: int = 0) -> None:
    """Let the model read the states that PyTorch computes, in float32."""
    vars(model)["_network"] = TorchNetwork(body, padding)


def calibrated(folder: Path, logits: torch.Tensor) -> Array:
    """Class probabilities of one sentence and of several."""
    config = read_config(folder)
    zeros = [0.0] * len(LABELS)
    bias = torch.tensor([config.get("bias", zeros)])
    probabilities: Array = torch.softmax(logits / config["temperature"] + bias, dim=-1).numpy()
    return probabilities


def test_the_relevance_model_classifies_as_a_distilbert_does() -> None:
    module, model = trained_classifier(RELEVANCE_MODEL), relevance_model()
    inputs = pair_tokenizer()(
        *zip(*PAIRS, strict=True), padding=True, return_tensors="pt", return_token_type_ids=False
    )
    with torch.inference_mode():
        expected = calibrated(RELEVANCE_MODEL, module(**inputs).logits)
    fed_by(model, module.distilbert)
    assert np.allclose(model.probabilities(PAIRS), expected, atol=1e-4)


def test_the_verifier_classifies_as_its_module_in_training_does(unpacked: Path) -> None:
    module = packaged_verifier(unpacked, LABELS)
    trained(module, VERIFIER)
    inputs = mpnet_tokenizer(unpacked)(*zip(*PAIRS, strict=True), padding=True, return_tensors="pt")
    with torch.inference_mode():
        logits = module(inputs["input_ids"], inputs["attention_mask"]).logits
    model: CrossEncoder = verifier(unpacked, in_search=False)
    fed_by(model, module.mpnet, padding=1)
    assert np.allclose(model.probabilities(PAIRS), calibrated(VERIFIER, logits), atol=1e-4)


def test_queries_are_encoded_as_by_the_network_in_training() -> None:
    module, model = packaged_query_network(), QueryEncoder(DENSE)
    trained(module, DENSE)
    fed_by(model, module.distilbert)
    queries = [(CLAIM, []), (CLAIM, [DESIGNED, CITY]), ("Cats sleep.", [CITY])]
    expected = encoded(module, row_tokenizer(256), queries, 256)
    assert np.allclose(model.encode(queries), expected, atol=1e-4)


@pytest.mark.parametrize("evidence", ["Dundee : It is a city. [SEP] Holm : Hm.", "", "oak " * 400])
def test_spans_are_read_as_by_the_network_in_training(evidence: str) -> None:
    module, model = packaged_proof_network(), ProofModel(PROVER)
    trained(module, PROVER)
    fed_by(model, module.distilbert)
    config = read_config(PROVER)
    spans = [(0, 13), (18, 26), (30, 37), (41, 45), (45, 45)]
    window = config["max_tokens"]
    inputs = proof_inputs(row_tokenizer(window), [CLAIM], [spans], [evidence], window)
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


def test_sentences_are_selected_as_by_the_network_in_training() -> None:
    module = JointReader(trained_classifier(RELEVANCE_MODEL))
    model = UtilityModel(SELECTOR, RELEVANCE_MODEL)
    trained(module, SELECTOR)
    fed_by(model, module.distilbert)
    sentences, relevance = [DESIGNED, CITY, DESIGNED], [0.9, 0.2, 0.0]
    expected = usefulness(module, row_tokenizer(512), CLAIM, sentences, relevance, 512)
    assert expected.max() > expected.min() + 0.1
    assert np.allclose(model.usefulness(CLAIM, sentences, relevance), expected, atol=1e-4)


def test_titles_are_generated_as_by_the_network_in_training() -> None:
    module, model = packaged_title_network(), MiniLMTitleModel(TITLES)
    trained(module, TITLES)
    fed_by(model, module.distilbert)
    window = read_config(TITLES)["max_tokens"]
    tokens = input_tokens(TitleTokenizer(), CLAIM, [DESIGNED, CITY], window)
    ours, theirs = model.read(CLAIM, [DESIGNED, CITY]), NetworkReading(module, tokens)
    assert ours.identifiers == theirs.identifiers == list(IDENTIFIERS[:2])
    ann, lee = TitleTokenizer().tokens(["Ann Lee"])[0]
    one, two = IDENTIFIERS[:2]
    begin = MARKUP.title_begin
    steps: list[list[tuple[int, ...]]] = [
        [()],
        [(one,), (two,)],
        [(two, begin), (one, two), (one, begin)],  # beams cross
        [(one, two, begin), (one, begin, ann)],
        [(one, begin, ann, lee), (one, two, begin, ann)],
    ]
    longest = (one, begin, ann, lee)
    # Past the last place that has a vector of its own.
    steps += [[longest + (lee,) * more] for more in range(1, POSITIONS)]
    for prefixes in steps:
        found, expected = ours.next_tokens(prefixes), theirs.next_tokens(prefixes)
        assert found.shape == (len(prefixes), 30522)
        assert np.allclose(np.exp(found), np.exp(expected), atol=1e-4)
        likely = expected > np.log(1e-6)
        assert np.allclose(found[likely], expected[likely], atol=5e-3)

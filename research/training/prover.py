"""``esoteric train prover``: the network that proves claims span by span.

It starts from the weights of the relevance model, which reads claims with evidence. It learns
operators, and the words of the evidence for each, from proofs made for claims whose evidence is
known to suffice or not to (``research/training/proofs.py``). ``retrieval.models.prover`` computes
the same.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TypeAlias

import numpy as np
import torch
from numpy.typing import NDArray
from torch import nn
from torch.nn.functional import cross_entropy
from transformers import DistilBertModel

from research.training.card import write_card, write_model
from research.training.compositions import compositions
from research.training.data import TrainingData, load_data
from research.training.evidence_sets import EvidenceSet, claim_sets
from research.training.figures import DEV, OTHERS, TUNING
from research.training.lexicon import DATABASE, Lexicon
from research.training.loop import (
    Hyperparameters,
    Loss,
    fast_products,
    switch_off_dropout,
    train,
)
from research.training.networks.encoders import (
    by_length,
    packaged_body,
    row_tokenizer,
    trained_classifier,
    width_for,
)
from research.training.proofs import ProofExample, proof_examples
from research.training.read_texts import MiniLMTokens, Offsets
from retrieval.models.networks import Tokenizer
from retrieval.models.packaged import MiniLM
from retrieval.models.prover import ProofModel, proof_row
from retrieval.stages.decide.proof import cut, label_of, operator_of
from retrieval.system.files import digest_of
from retrieval.text.context import evidence_set_text
from retrieval.text.english import EnglishParser
from retrieval.types import INDEPENDENCE, NOT_ENOUGH_INFO, OPERATORS


@dataclass(frozen=True, slots=True)
class ProofInputs:
    """Claims with their spans and evidence; padded to a common length.

    ``input_ids`` and ``attention_mask``: ``(batch, tokens)``. ``spans``:
    ``(batch, spans, tokens)``, each row the mean over that span's tokens.
    ``span_mask``: ``(batch, spans)``; false, with a row of zeros, for padding and for a span
    without tokens. ``evidence``: ``(batch, tokens)``, true for the evidence's tokens. ``offsets``:
    ``(batch, tokens, 2)``, the position of each token in the claim or in the evidence text, in
    characters.
    """

    input_ids: torch.Tensor
    attention_mask: torch.Tensor
    spans: torch.Tensor
    span_mask: torch.Tensor
    evidence: torch.Tensor
    offsets: torch.Tensor


@dataclass(frozen=True, slots=True)
class ProofLogits:
    """``operators``: ``(batch, spans, 4)`` in the order of ``OPERATORS``.

    ``starts`` and ``ends``: ``(batch, spans, tokens)``, minus infinity outside the evidence; whole
    rows are minus infinity if an example has no evidence.
    """

    operators: torch.Tensor
    starts: torch.Tensor
    ends: torch.Tensor


class ProofNetwork(nn.Module):
    """Points from each claim span into the evidence and names the operator."""

    def __init__(self, distilbert: DistilBertModel) -> None:
        """Add new heads to ``distilbert``."""
        super().__init__()
        self.distilbert = distilbert
        width = distilbert.config.dim
        self.start = nn.Linear(width, width)
        self.end = nn.Linear(width, width)
        self.compared = nn.Linear(4 * width, width)
        self.operator = nn.Linear(width, len(OPERATORS))
        self.dropout = nn.Dropout(0.1)

    def forward(self, inputs: ProofInputs) -> ProofLogits:
        """Return the logits of every span, those of padding included."""
        vectors = self.distilbert(
            input_ids=inputs.input_ids, attention_mask=inputs.attention_mask
        ).last_hidden_state.to(self.start.weight.dtype)
        spans = torch.bmm(inputs.spans.to(vectors.dtype), vectors)
        outside = ~inputs.evidence[:, None, :]
        starts = _pointed(self.start(spans), vectors)
        ends = _pointed(self.end(spans), vectors)
        # The operator is predicted from the words that the pointers select.
        scores = ((starts + ends) / 2).masked_fill(outside, torch.finfo(starts.dtype).min)
        weights = torch.softmax(scores, dim=-1) * inputs.evidence[:, None, :]
        words = torch.bmm(weights.to(vectors.dtype), vectors)
        both = torch.cat([spans, words, spans * words, spans - words], dim=-1)
        hidden = nn.functional.gelu(self.compared(self.dropout(both)))
        return ProofLogits(
            self.operator(self.dropout(hidden)).float(),
            starts.masked_fill(outside, -math.inf),
            ends.masked_fill(outside, -math.inf),
        )


def packaged_proof_network() -> ProofNetwork:
    """Return the packaged weights with new heads, from a fixed seed.

    Raises:
        ModelUnavailable: the packaged weights are missing or damaged.
    """
    distilbert = packaged_body()
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(0)
        return ProofNetwork(distilbert)


def proof_inputs(
    tokenizer: Tokenizer,
    claims: Sequence[str],
    spans: Sequence[Sequence[tuple[int, int]]],
    evidence: Sequence[str],
    max_tokens: int,
) -> ProofInputs:
    """Return claims, their spans and evidence texts as a batch of ``proof_row``."""
    rows = [
        proof_row(tokenizer, *example, max_tokens)
        for example in zip(claims, spans, evidence, strict=True)
    ]
    tokens = width_for(max((len(row.ids) for row in rows), default=0))
    most = max((len(row.seen) for row in rows), default=0)
    inputs = ProofInputs(
        input_ids=torch.full((len(rows), tokens), MiniLM.padding),
        attention_mask=torch.zeros((len(rows), tokens), dtype=torch.long),
        spans=torch.zeros((len(rows), most, tokens)),
        span_mask=torch.zeros((len(rows), most), dtype=torch.bool),
        evidence=torch.zeros((len(rows), tokens), dtype=torch.bool),
        offsets=torch.zeros((len(rows), tokens, 2), dtype=torch.long),
    )
    for number, row in enumerate(rows):
        asked, read = row.spans.shape
        inputs.input_ids[number, :read] = torch.tensor(row.ids)
        inputs.attention_mask[number, :read] = 1
        inputs.spans[number, :asked, :read] = torch.from_numpy(row.spans)
        inputs.span_mask[number, :asked] = torch.from_numpy(row.seen)
        inputs.evidence[number, :read] = torch.from_numpy(row.evidence)
        inputs.offsets[number, :read] = torch.from_numpy(row.offsets)
    return inputs


def _pointed(spans: torch.Tensor, vectors: torch.Tensor) -> torch.Tensor:
    """Return the pointer score of each span for each token, scaled as in attention."""
    return torch.bmm(spans, vectors.transpose(1, 2)).float() / math.sqrt(vectors.shape[-1])


Opinion: TypeAlias = NDArray[np.float32]
"""The probabilities of a claim's spans, shape ``(spans, 4)``, in the order of ``OPERATORS``."""

_INDEPENDENCE = OPERATORS.index(INDEPENDENCE)
_CUTOFFS = tuple(step / 20 for step in range(1, 20))
_TEMPERATURES = tuple(0.5 + step / 20 for step in range(71))


@dataclass(frozen=True, slots=True)
class DevSets:
    """Evidence sets of development claims, and the spans of each claim."""

    sets: Sequence[EvidenceSet]
    spans: Sequence[Sequence[Offsets]]

    @classmethod
    def of(cls, data: TrainingData, part: tuple[int, tuple[int, ...]], seed: int) -> DevSets:
        """Return sets of those of every ``part[0]`` dev claims at the positions ``part[1]``.

        They are made as for training, from the gold sentences, others of their pages and retrieved
        ones; a claim that cannot be cut is left out.
        """
        every, places = part
        claims = [claim for number, claim in enumerate(data.dev) if number % every in places]
        parser = EnglishParser()
        spans = {claim.text: cut(parser.parse(claim.text)) for claim in claims}
        sets = [one for one in claim_sets(claims, data.dev_pool, seed) if spans[one.claim]]
        return cls(sets, [spans[one.claim] for one in sets])


def openness(opinion: Opinion) -> float:
    """Return the highest probability of any span that it is open."""
    return float(opinion[:, _INDEPENDENCE].max())


def sufficiency_figures(
    opinions: Sequence[Opinion], dev: DevSets, cutoff: float
) -> dict[str, float]:
    """Return how often the prover is right, in %.

    ``balanced``: the mean share of sets that suffice, and of sets that do not, that are classified
    correctly. ``open_precision``, ``open_recall``: of the sets that do not suffice. ``two_pages``:
    as ``balanced``, of claims that need two pages, whole sets against those with a sentence left
    out. ``label``: sets that suffice whose proof gives the claim's label.
    """
    labels = [
        label_of(operator_of(row, cutoff) for row in opinion.tolist()) for opinion in opinions
    ]
    predicted = np.array([openness(opinion) >= cutoff for opinion in opinions])
    truth = np.array([one.label == NOT_ENOUGH_INFO for one in dev.sets])
    two = np.array([one.two_pages and (bool(one.gold)) for one in dev.sets])
    right = [label == one.label for label, one in zip(labels, dev.sets, strict=True)]
    return {
        "balanced": _balanced(predicted, truth),
        "open_precision": 100 * float((predicted & truth).sum() / max(1, predicted.sum())),
        "open_recall": 100 * float((predicted & truth).sum() / max(1, truth.sum())),
        "two_pages": _balanced(predicted[two], truth[two]),
        "label": 100 * float(np.array(right)[~truth].sum() / max(1, (~truth).sum())),
    }


def scaled(opinion: Opinion, temperature: float) -> Opinion:
    """Return the opinion at another temperature (Guo et al. 2017, 4.2)."""
    powers = np.maximum(opinion, 1e-9) ** (1 / temperature)
    probabilities: Opinion = powers / powers.sum(axis=1, keepdims=True)
    return probabilities


def fitted_temperature(opinions: Sequence[Opinion], dev: DevSets) -> float:
    """Return the temperature at which ``openness`` makes the labels of the sets most likely."""
    truth = np.array([one.label == NOT_ENOUGH_INFO for one in dev.sets])

    def log_loss(temperature: float) -> float:
        predicted = np.array([openness(scaled(opinion, temperature)) for opinion in opinions])
        return float(-np.log(np.clip(np.where(truth, predicted, 1 - predicted), 1e-6, 1)).mean())

    return min(_TEMPERATURES, key=log_loss)


def fitted_cutoff(opinions: Sequence[Opinion], dev: DevSets) -> float:
    """Return the cutoff of ``openness`` that best separates sufficient sets from others."""
    truth = np.array([one.label == NOT_ENOUGH_INFO for one in dev.sets])
    predicted = np.array([openness(opinion) for opinion in opinions])
    return max(_CUTOFFS, key=lambda cutoff: _balanced(predicted >= cutoff, truth))


def _balanced(predicted: NDArray[np.bool_], truth: NDArray[np.bool_]) -> float:
    """Return the mean share, in %, of true and of false cases that are classified correctly.

    If there is only one kind, it is the share of that kind; without cases it is 0.
    """
    right = [predicted[truth], ~predicted[~truth]]
    shares = [float(kind.mean()) for kind in right if len(kind)]
    return 100 * sum(shares) / max(1, len(shares))


RECIPE = Hyperparameters(epochs=2, learning_rate=1e-4, max_tokens=224)
COMPOSED = 2_400  # claims made from two pages
PROOFS = 26_000
# The weight of each of OPERATORS in the loss: two thirds of all are equivalences.
WEIGHTS = (1.0, 2.0, 2.0, 1.2)
POINTING = 0.5  # the weight of start and end
UNFITTED = 0.5  # the cutoff for the figures in the log


def train_prover(
    data_folder: Path, wordnet: Path, relevance_model: Path, run: Path, out: Path, seed: int
) -> dict[str, float]:
    """Train the prover, write it to ``out`` and its logs and checkpoints to ``run``.

    ``wordnet`` is the folder of WordNet's database, ``relevance_model`` that of the trained
    relevance model. Returns the figures of the card, as shipped.

    Raises:
        BadSource: the data or WordNet cannot be read.
        ModelUnavailable: the relevance model is missing.
    """
    lexicon = Lexicon(wordnet)
    tokenizer = row_tokenizer(RECIPE.max_tokens)
    network = network_from_relevance_model(relevance_model)
    data = load_data(data_folder, run.parent / "vectors", seed)
    made = compositions(data, seed, COMPOSED)
    examples = proof_examples(data, made, lexicon, MiniLMTokens(), seed, PROOFS)
    tuning, others, dev = (DevSets.of(data, part, RECIPE.seed) for part in (TUNING, OTHERS, DEV))

    def opinions(sets: DevSets) -> list[Opinion]:
        return network_opinions(network, tokenizer, sets, RECIPE.max_tokens)

    def figures() -> dict[str, float]:
        return sufficiency_figures(opinions(tuning), tuning, UNFITTED)

    loss_of = proof_loss(network, tokenizer, RECIPE.max_tokens)
    recipe = replace(RECIPE, seed=seed)
    train(network, examples, loss_of, recipe, run, figures)
    predicted = opinions(others)
    temperature = round(fitted_temperature(predicted, others), 2)
    cutoff = fitted_cutoff([scaled(opinion, temperature) for opinion in predicted], others)
    trained = [scaled(opinion, temperature) for opinion in opinions(dev)]
    start = packaged_proof_network()
    write_model(out, "prover", network, start, RECIPE.max_tokens, temperature=temperature)
    model = ProofModel(out)
    shipped = [
        model.read(one.claim, spans, evidence_set_text(one.sentences)).operators
        for one, spans in zip(dev.sets, dev.spans, strict=True)
    ]
    figures_shipped = sufficiency_figures(shipped, dev, cutoff)
    write_card(
        out,
        "prover",
        data.digests | {f"wordnet/{name}": digest_of(wordnet / name) for name in DATABASE},
        {"proofs": recipe},
        {"as trained": sufficiency_figures(trained, dev, cutoff), "as shipped": figures_shipped},
        claims=data.described,
        composed=len(made),
        cutoff=cutoff,
        every=DEV[0],
        examples=len(examples),
        fitted=len(OTHERS[1]),
        of=OTHERS[0],
        sets=len(dev.sets),
        temperature=temperature,
    )
    return figures_shipped


def network_from_relevance_model(relevance_model: Path) -> ProofNetwork:
    """Return new heads on the relevance model's weights, with frozen embeddings, without dropout.

    Raises:
        ModelUnavailable: the relevance model is missing or damaged.
    """
    network = packaged_proof_network()
    network.distilbert.load_state_dict(trained_classifier(relevance_model).distilbert.state_dict())
    network.distilbert.embeddings.requires_grad_(False)
    switch_off_dropout(network)
    return network


def proof_loss(network: ProofNetwork, tokenizer: Tokenizer, max_tokens: int) -> Loss[ProofExample]:
    """Return the cross entropy of operators, and of start and end if they are known."""
    weights = torch.tensor(WEIGHTS)

    def loss_of(batch: Sequence[ProofExample]) -> torch.Tensor:
        inputs = proof_inputs(
            tokenizer,
            [example.claim for example in batch],
            [example.spans for example in batch],
            [example.evidence for example in batch],
            max_tokens,
        )
        with fast_products(torch.device("cpu")):
            logits = network(inputs)
        seen = inputs.span_mask
        wanted = torch.zeros_like(seen, dtype=torch.long)
        for row, example in enumerate(batch):
            wanted[row, : len(example.operators)] = torch.tensor(example.operators)
        loss = cross_entropy(logits.operators[seen], wanted[seen], weight=weights)
        rows, spans, first, last = _pointed_at(batch, inputs)
        if not rows:
            return loss
        starts = cross_entropy(logits.starts[rows, spans], torch.tensor(first))
        ends = cross_entropy(logits.ends[rows, spans], torch.tensor(last))
        return loss + POINTING * (starts + ends) / 2

    return loss_of


def _pointed_at(
    batch: Sequence[ProofExample], inputs: ProofInputs
) -> tuple[list[int], list[int], list[int], list[int]]:
    """Return example, span, first and last token of each alignment in the network's window."""
    found: tuple[list[int], list[int], list[int], list[int]] = ([], [], [], [])
    for row, example in enumerate(batch):
        begins, ends = inputs.offsets[row].unbind(dim=-1)
        for span, place in enumerate(example.aligned):
            if place is None or not inputs.span_mask[row, span]:
                continue
            within = inputs.evidence[row] & (begins < place[1]) & (ends > place[0])
            tokens = within.nonzero()
            # Words that are cut off at the end of the evidence have no token.
            if len(tokens) and int(ends[tokens[-1]]) >= place[1]:
                for values, value in zip(
                    found, (row, span, int(tokens[0]), int(tokens[-1])), strict=True
                ):
                    values.append(value)
    return found


def network_opinions(
    network: ProofNetwork, tokenizer: Tokenizer, dev: DevSets, max_tokens: int
) -> list[Opinion]:
    """Return the network's probabilities for the spans of each set."""
    texts = [evidence_set_text(one.sentences) for one in dev.sets]
    lengths = [len(one.claim) + len(text) for one, text in zip(dev.sets, texts, strict=True)]
    found: dict[int, Opinion] = {}
    for part in by_length(lengths, 64):
        inputs = proof_inputs(
            tokenizer,
            [dev.sets[i].claim for i in part],
            [dev.spans[i] for i in part],
            [texts[i] for i in part],
            max_tokens,
        )
        with torch.inference_mode(), fast_products(torch.device("cpu")):
            operators = torch.softmax(network(inputs).operators.float(), dim=-1).numpy()
        for row, i in enumerate(part):
            found[i] = operators[row, : len(dev.spans[i])]
    return [found[i] for i in range(len(texts))]

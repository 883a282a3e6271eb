"""``esoteric train prover``: the network that proves claims span by span.

It starts from the weights of the relevance model, which reads claims with evidence. It learns
operators, and the words of the evidence for each, from proofs made for claims whose evidence is
known to suffice or not to (``research/training/proofs.py``).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TypeAlias

import numpy as np
import torch
from numpy.typing import NDArray
from torch.nn import Module
from torch.nn.functional import cross_entropy

from research.training.card import write_card, write_model
from research.training.compositions import compositions
from research.training.data import TrainingData, load_data
from research.training.evidence_sets import EvidenceSet, claim_sets
from research.training.figures import DEV, OTHERS, TUNING
from research.training.lexicon import DATABASE, Lexicon
from research.training.loop import Hyperparameters, Loss, switch_off_dropout, train
from research.training.networks.minilm import row_tokenizer, trained_classifier
from research.training.networks.proof import (
    ProofInputs,
    ProofNetwork,
    packaged_proof_network,
    proof_inputs,
)
from research.training.proofs import ProofExample, proof_examples
from research.training.read_texts import MiniLMTokens, Offsets
from retrieval.models.networks import Tokenizer
from retrieval.models.prover import ProofModel
from retrieval.stages.decide.proof import cut, label_of, operator_of
from retrieval.system.files import digest_of
from retrieval.text.context import evidence_set_text
from retrieval.text.english import EnglishParser
from retrieval.types import INDEPENDENCE, NOT_ENOUGH_INFO, OPERATORS

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


RECIPE = Hyperparameters(
    epochs=2,
    batch_size=32,
    learning_rate=1e-4,
    weight_decay=0.01,
    warmup=0.06,
    max_tokens=224,
    seed=0,
)
COMPOSED = 2_400  # claims made from two pages
PROOFS = 26_000
# The weight of each of OPERATORS in the loss: two thirds of all are equivalences.
WEIGHTS = (1.0, 2.0, 2.0, 1.2)
POINTING = 0.5  # the weight of start and end
UNFITTED = 0.5  # the cutoff for the figures in the log
VERSION = "1"  # of the shipped model; the results of two versions are never mixed
RANK = 64  # of the shipped difference to the packaged weights


def train_prover(
    data_folder: Path, wordnet: Path, relevance_model: Path, run: Path, out: Path
) -> None:
    """Train the prover, write it to ``out`` and its logs and checkpoints to ``run``.

    ``wordnet`` is the folder of WordNet's database, ``relevance_model`` that of the trained
    relevance model.

    Raises:
        BadSource: the data or WordNet cannot be read.
        ModelUnavailable: the relevance model is missing.
    """
    lexicon = Lexicon(wordnet)
    tokenizer = row_tokenizer(RECIPE.max_tokens)
    network = network_from_relevance_model(relevance_model)
    data = load_data(data_folder, run.parent / "vectors", RECIPE.seed)
    made = compositions(data, RECIPE.seed, COMPOSED)
    examples = proof_examples(data, made, lexicon, MiniLMTokens(), RECIPE.seed, PROOFS)
    tuning, others, dev = (DevSets.of(data, part, RECIPE.seed) for part in (TUNING, OTHERS, DEV))

    def opinions(sets: DevSets) -> list[Opinion]:
        return network_opinions(network, tokenizer, sets, RECIPE.max_tokens)

    def figures(_: Module) -> dict[str, float]:
        return sufficiency_figures(opinions(tuning), tuning, UNFITTED)

    loss_of = proof_loss(network, tokenizer, RECIPE.max_tokens)
    train(network, examples, loss_of, RECIPE, run, figures)
    predicted = opinions(others)
    temperature = round(fitted_temperature(predicted, others), 2)
    cutoff = fitted_cutoff([scaled(opinion, temperature) for opinion in predicted], others)
    trained = [scaled(opinion, temperature) for opinion in opinions(dev)]
    write_model(
        out,
        network,
        packaged_proof_network(),
        RANK,
        name="MiniLM prover",
        version=VERSION,
        max_tokens=RECIPE.max_tokens,
        temperature=temperature,
    )
    model = ProofModel(out)
    shipped = [
        model.read(one.claim, spans, evidence_set_text(one.sentences)).operators
        for one, spans in zip(dev.sets, dev.spans, strict=True)
    ]
    write_card(
        out,
        "prover",
        data.digests | {f"wordnet/{name}": digest_of(wordnet / name) for name in DATABASE},
        {"proofs": RECIPE},
        {
            "as trained": sufficiency_figures(trained, dev, cutoff),
            "as shipped": sufficiency_figures(shipped, dev, cutoff),
        },
        claims=data.described,
        composed=len(made),
        cutoff=cutoff,
        every=DEV[0],
        examples=len(examples),
        fitted=len(OTHERS[1]),
        of=OTHERS[0],
        rank=RANK,
        sets=len(dev.sets),
        temperature=temperature,
    )


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
        with torch.autocast("cpu", dtype=torch.bfloat16):
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
    order = sorted(range(len(texts)), key=lambda i: len(dev.sets[i].claim) + len(texts[i]))
    found: dict[int, Opinion] = {}
    for start in range(0, len(order), 64):
        part = order[start : start + 64]
        inputs = proof_inputs(
            tokenizer,
            [dev.sets[i].claim for i in part],
            [dev.spans[i] for i in part],
            [texts[i] for i in part],
            max_tokens,
        )
        with torch.inference_mode(), torch.autocast("cpu", dtype=torch.bfloat16):
            operators = torch.softmax(network(inputs).operators.float(), dim=-1).numpy()
        for row, i in enumerate(part):
            found[i] = operators[row, : len(dev.spans[i])]
    return [found[i] for i in range(len(texts))]

"""``esoteric train selector``: the model that selects evidence by its use to the verifier (FER).

It starts from the weights of the relevance model. FER's coarse retrieval is the relevance model
too: of the sentences found for a claim and its gold ones, the most relevant are candidates (section
3.1). The verifier whose feedback it gets is the relevance model with fixed weights, which reads the
selected sentences as one text. The selection is its attention mask, so the gradient of the verdict
flows back through the mask into the selector (appendix A.2).
"""

from __future__ import annotations

import random
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Literal, TypeAlias

import numpy as np
import torch
from numpy.typing import NDArray
from torch.nn.functional import cross_entropy, gumbel_softmax
from torch.nn.utils.rnn import pad_sequence

from research.evaluation.claims import AnnotatedClaim
from research.evaluation.measures.scores import FIGURES, figures_of, score_matrix
from research.evaluation.run import Answer
from research.training.card import write_card, write_model
from research.training.data import TrainingData, load_data
from research.training.figures import DEV, TUNING, Classify, DevClaims, kept_opinions, read_claims
from research.training.loop import Hyperparameters, Loss, switch_off_dropout, train
from research.training.networks.encoders import row_tokenizer, trained_classifier
from research.training.networks.selector import (
    JointReader,
    MaskedVerifier,
    joint_inputs,
    masked_inputs,
    usefulness,
)
from research.training.sentence_pool import CandidateFinder
from retrieval.models.cross_encoders import CrossEncoder
from retrieval.models.networks import Tokenizer
from retrieval.models.papers.selector import USEFUL, UtilityModel
from retrieval.models.shipped import minilm_classifier
from retrieval.models.trained_model import read_config
from retrieval.recipes.recipes import RetrievalConfig
from retrieval.stages.decide.selection import RelativeSelector, UtilityReader, UtilitySelector
from retrieval.stages.decide.verdict import CrossEncoderJudge
from retrieval.text.context import evidence_set_text
from retrieval.types import LABELS, NOT_ENOUGH_INFO, Evidence, Label


@dataclass(frozen=True, slots=True)
class SelectionExample:
    """A claim with its (title, sentence) candidates, most relevant first.

    ``relevance``: the relevance model's probability for each that it is relevant to the claim.
    ``gold``: which of them are annotated evidence. ``attained``: the verifier's probability of
    ``label`` with the gold evidence.
    """

    claim: str
    label: Label
    candidates: tuple[tuple[str, str], ...]
    relevance: tuple[float, ...]
    gold: tuple[bool, ...]
    attained: float

    @property
    def length(self) -> int:
        """The number of its characters."""
        return len(self.claim) + sum(len(title) + len(text) for title, text in self.candidates)


def selection_examples(
    data: TrainingData,
    classify: Classify,
    seed: int,
    limit: int,
    candidates: int,
    most_gold: int,
) -> list[SelectionExample]:
    """Return examples of ``limit`` training claims at most, ``candidates`` sentences for each.

    ``classify`` is the relevance model: it ranks candidates, and as the verifier it reads the
    ``most_gold`` most relevant gold sentences together. Claims without gold evidence are left out:
    FER compares with it. The choice of claims depends only on the seed.
    """
    among = [*data.train, *(contrast.claim for contrast in data.contrasts)]
    every = [claim for claim in among if claim.gold]
    chance = random.Random(seed)
    claims = [every[i] for i in sorted(chance.sample(range(len(every)), min(limit, len(every))))]
    ranked = _ranked(claims, data, classify)
    gold = [[s.text for s in sentences if s.gold][:most_gold] for sentences in ranked]
    pairs = [(claim.text, evidence_set_text(own)) for claim, own in zip(claims, gold, strict=True)]
    return [
        SelectionExample(
            claim=claim.text,
            label=claim.label,
            candidates=tuple(sentence.text for sentence in sentences[:candidates]),
            relevance=tuple(sentence.relevance for sentence in sentences[:candidates]),
            gold=tuple(sentence.gold for sentence in sentences[:candidates]),
            attained=float(opinion[LABELS.index(claim.label)]),
        )
        for claim, sentences, opinion in zip(claims, ranked, classify(pairs), strict=True)
    ]


@dataclass(frozen=True, slots=True)
class _Sentence:
    """One of the sentences found for a claim; ``text``: title and sentence."""

    text: tuple[str, str]
    relevance: float
    gold: bool


def _ranked(
    claims: Sequence[AnnotatedClaim], data: TrainingData, classify: Classify
) -> list[list[_Sentence]]:
    """Return the sentences found for each claim and its gold ones, most relevant first."""
    pool = data.pool
    near = CandidateFinder(pool).find([claim.text for claim in claims])
    gold = [pool.gold(claim) for claim in claims]
    found = [list(dict.fromkeys([*a, *b])) for a, b in zip(near, gold, strict=True)]
    pairs = [
        (claim.text, pool.sentences[i].written)
        for claim, indices in zip(claims, found, strict=True)
        for i in indices
    ]
    relevance = iter(1 - classify(pairs)[:, LABELS.index(NOT_ENOUGH_INFO)])
    ranked = []
    for claim, indices in zip(claims, found, strict=True):
        sentences = [
            _Sentence(s.pair, float(next(relevance)), s.key in claim.gold)
            for s in (pool.sentences[i] for i in indices)
        ]
        ranked.append(sorted(sentences, key=lambda sentence: -sentence.relevance))
    return ranked


Losses: TypeAlias = Literal["both", "classification", "utility"]

# Returns a verifier's probabilities of ``LABELS``, (claims, labels), with the sentences whose gates
# are 1, (claims, sentences). Differentiable by the gates.
Verify: TypeAlias = Callable[[Sequence[SelectionExample], torch.Tensor], torch.Tensor]


def evidence_classification(
    logits: torch.Tensor, present: torch.Tensor, examples: Sequence[SelectionExample]
) -> torch.Tensor:
    """Return the cross entropy of a claim's candidates, summed; the mean over claims (FER, 3.2).

    ``logits``: (claims, sentences, 2). ``present``: (claims, sentences), False for padding.
    """
    gold = pad_sequence(
        [torch.tensor(example.gold, dtype=torch.long) for example in examples], batch_first=True
    )
    log_loss = cross_entropy(logits.transpose(1, 2), gold, reduction="none")
    return (log_loss * present).sum(dim=1).mean()


def utility_divergence(
    logits: torch.Tensor, examples: Sequence[SelectionExample], verify: Verify
) -> torch.Tensor:
    """Return how much less probable the right label is than with the gold evidence (FER, 3.2).

    The mean over claims, between -1 and 1. The selection is drawn by Gumbel softmax, 0 or 1
    forward and smooth backward (A.2). No sentence changes a probability by more than 1, so steeper
    slopes, as at a sentence that would get nearly all attention, are cut.
    """
    gates = gumbel_softmax(logits, hard=True)[:, :, USEFUL]
    steepest = 1 / len(examples)  # since the result is a mean
    gates.register_hook(  # type: ignore[no-untyped-call]
        lambda slope: slope.clamp(-steepest, steepest)
    )
    right = torch.tensor([[LABELS.index(example.label)] for example in examples])
    attained = torch.tensor([example.attained for example in examples])
    return (attained - verify(examples, gates).gather(1, right)[:, 0]).mean()


RECIPE = Hyperparameters(
    batch_size=4,
    learning_rate=5e-5,
    warmup=0.1,
    max_tokens=512,  # of a claim with all its candidates (FER, A.3.1)
    last_layer=20.0,
)
CLAIMS = 5_000
FROZEN = 3  # of six layers; the first ones stay the relevance model's


def train_selector(
    data_folder: Path, relevance_model: Path, run: Path, out: Path, losses: Losses = "both"
) -> None:
    """Train the selector, write it to ``out`` and its logs and checkpoints to ``run``.

    ``relevance_model`` is the folder of the trained relevance model, which is its start and its
    verifier. ``losses``: with one of FER's two losses alone it is an ablation (FER, table 1).

    Raises:
        BadSource: the data cannot be read.
        ModelUnavailable: the relevance model is missing.
    """
    data = load_data(data_folder, run.parent / "vectors", RECIPE.seed)
    config, read = RetrievalConfig(), minilm_classifier(relevance_model)
    tokenizer = row_tokenizer(RECIPE.max_tokens)

    read_once = partial(kept_opinions, read, run=run)
    examples = selection_examples(
        data, read_once, RECIPE.seed, CLAIMS, config.utility_candidates, config.selection_limit
    )
    tuning, dev = (RankedClaims.of(DevClaims.of(data, part), read_once) for part in (TUNING, DEV))
    network = JointReader(trained_classifier(relevance_model))
    network.distilbert.embeddings.requires_grad_(False)
    network.distilbert.transformer.layer[:FROZEN].requires_grad_(False)
    switch_off_dropout(network)
    live = _Live(network, tokenizer)
    before = _by_utility(live, dev)

    def figures() -> dict[str, float]:
        return selection_figures(tuning, _by_utility(live, tuning), read)

    temperature = read_config(relevance_model)["temperature"]
    verifier = MaskedVerifier(trained_classifier(relevance_model), temperature)
    loss_of = selection_loss(network, verifier, tokenizer, losses)
    train(network, examples, loss_of, RECIPE, run / losses, figures)
    start, of = JointReader(trained_classifier(relevance_model)), read_config(relevance_model)
    write_model(out, "selector", network, start, RECIPE.max_tokens, relevance_model=of["sha256"])
    selections = {
        "relative": _by_relevance(dev),
        "untrained": before,
        "as trained": _by_utility(live, dev),
        "as shipped": _by_utility(UtilityModel(out, relevance_model), dev),
    }
    measured = {name: selection_figures(dev, kept, read) for name, kept in selections.items()}
    write_card(
        out,
        "selector",
        data.digests,
        {"selector": RECIPE},
        measured,
        candidates=config.utility_candidates,
        claims=data.described,
        dev=len(data.dev),
        every=DEV[0],
        examples=len(examples),
        measured=len(dev.claims),
        share=config.selection_share,
    )


def selection_loss(
    network: JointReader, verifier: MaskedVerifier, tokenizer: Tokenizer, losses: Losses
) -> Loss[SelectionExample]:
    """Return FER's loss, the mean over claims (3.2); both parts have weight 1, as in 4.1."""

    def verify(batch: Sequence[SelectionExample], gates: torch.Tensor) -> torch.Tensor:
        claims, candidates = [one.claim for one in batch], [one.candidates for one in batch]
        opinions: torch.Tensor = verifier(masked_inputs(tokenizer, claims, candidates), gates)
        return opinions

    def loss_of(batch: Sequence[SelectionExample]) -> torch.Tensor:
        inputs = joint_inputs(
            tokenizer,
            [example.claim for example in batch],
            [example.candidates for example in batch],
            [example.relevance for example in batch],
            RECIPE.max_tokens,
        )
        parts = []
        with torch.autocast("cpu", dtype=torch.bfloat16):
            logits = network(inputs)
            if losses != "utility":
                parts.append(evidence_classification(logits, inputs.present, batch))
            if losses != "classification":
                parts.append(utility_divergence(logits, batch, verify))
        return torch.stack(parts).sum()

    return loss_of


@dataclass(frozen=True, slots=True)
class RankedClaims:
    """Claims to measure on; ``evidence``: the candidates of each, most relevant first."""

    claims: Sequence[AnnotatedClaim]
    evidence: Sequence[list[Evidence]]

    @classmethod
    def of(cls, dev: DevClaims, classify: Classify) -> RankedClaims:
        """Return the claims with their candidates in the order of the relevance model."""
        return cls(dev.claims, read_claims(classify, dev).ranked)


def selection_figures(
    ranked: RankedClaims, selected: Sequence[list[Evidence]], read: CrossEncoder
) -> dict[str, float]:
    """Return the dev figures of the sentences selected for each claim, as defined in the card."""
    judge = CrossEncoderJudge(read, read.version, RetrievalConfig())
    answers = []
    for claim, items in zip(ranked.claims, selected, strict=True):
        verdict = judge.judge(claim.text, items)
        keys = tuple((i.sentence.document_id, i.sentence.sentence_id) for i in items)
        answers.append(Answer(verdict.label, verdict.confidence, keys))
    scores = dict(zip(FIGURES, figures_of(score_matrix(ranked.claims, answers)), strict=True))
    return {
        "precision": 100 * float(scores["evidence_precision"]),
        "recall": 100 * float(scores["evidence_recall"]),
        "f1": 100 * float(scores["evidence_f1"]),
        "label_accuracy": 100 * float(scores["label_accuracy"]),
        "selected": sum(map(len, selected)) / max(1, len(selected)),
    }


@dataclass(frozen=True, slots=True)
class _Live:
    """The network during training, as a model."""

    network: JointReader
    tokenizer: Tokenizer

    def warm_up(self) -> None:
        """Do nothing: it is loaded already."""

    def usefulness(
        self, claim: str, sentences: Sequence[tuple[str, str]], relevance: Sequence[float]
    ) -> NDArray[np.float32]:
        """Return the probability of each sentence that it is useful evidence."""
        window = RECIPE.max_tokens
        return usefulness(self.network, self.tokenizer, claim, sentences, relevance, window)


def _by_utility(model: UtilityReader, ranked: RankedClaims) -> list[list[Evidence]]:
    config = RetrievalConfig()
    selector = UtilitySelector(
        model, config.utility_candidates, config.selection_share, config.selection_limit
    )
    return [
        [item for item in selector.select(claim.text, items, known, False) if item.selected]
        for claim, items in zip(ranked.claims, ranked.evidence, strict=True)
        for known in [{item.key: item.score for item in items}]
    ]


def _by_relevance(ranked: RankedClaims) -> list[list[Evidence]]:
    config = RetrievalConfig()
    selector = RelativeSelector(config.selection_share, config.selection_limit)
    return [[item for item in selector.select(items) if item.selected] for items in ranked.evidence]

"""``esoteric train selector``: the model that selects evidence by its use to the verifier (FER).

It starts from the weights of the relevance model. The verifier whose feedback it gets is the
relevance model with fixed weights, which reads the selected sentences as one text.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path

import numpy as np
import torch
from numpy.typing import NDArray
from torch.nn import Module

from research.evaluation.claims import AnnotatedClaim
from research.evaluation.measures.scores import FIGURES, figures_of, score_matrix
from research.evaluation.run import Answer
from research.training.card import write_card, write_model
from research.training.data import load_data
from research.training.figures import DEV, TUNING, Classify, DevClaims, read_claims
from research.training.loop import Hyperparameters, Loss, switch_off_dropout, train
from research.training.networks.joint import JointReader, joint_inputs, usefulness
from research.training.networks.masked import MaskedVerifier, masked_inputs
from research.training.networks.minilm import row_tokenizer, trained_classifier
from research.training.selection_examples import SelectionExample, selection_examples
from research.training.sentence_pool import kept_array
from research.training.utility_feedback import Losses, evidence_classification, utility_divergence
from retrieval.models.cross_encoders import CrossEncoder
from retrieval.models.networks import Tokenizer
from retrieval.models.papers.selector import UtilityModel
from retrieval.models.shipped import minilm_classifier
from retrieval.models.trained_model import read_config
from retrieval.recipes.recipes import RetrievalConfig
from retrieval.stages.decide.selection import RelativeSelector, UtilityReader, UtilitySelector
from retrieval.stages.decide.verdict import CrossEncoderJudge
from retrieval.types import Evidence, Retrieved

RECIPE = Hyperparameters(
    epochs=1,
    batch_size=4,
    learning_rate=5e-5,
    weight_decay=0.01,
    warmup=0.1,
    max_tokens=512,  # of a claim with all its candidates (FER, A.3.1)
    seed=0,
    last_layer=20.0,
)
CLAIMS = 5_000
FROZEN = 3  # of six layers; the first ones stay the relevance model's
VERSION = "2"  # of the shipped model; the results of two versions are never mixed
RANK = 16  # of the shipped difference to the relevance model


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

    def read_once(pairs: Sequence[tuple[str, str]]) -> NDArray[np.float32]:
        of = sha256(f"{read.digest}{pairs}".encode("utf-8", "surrogatepass")).hexdigest()
        return kept_array(run / f"opinions-{of[:16]}.npy", lambda: read.probabilities(pairs))

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

    def figures(_: Module) -> dict[str, float]:
        return selection_figures(tuning, _by_utility(live, tuning), read)

    temperature = read_config(relevance_model)["temperature"]
    verifier = MaskedVerifier(trained_classifier(relevance_model), temperature)
    loss_of = selection_loss(network, verifier, tokenizer, losses)
    train(network, examples, loss_of, RECIPE, run / losses, figures)
    start = JointReader(trained_classifier(relevance_model))
    write_model(
        out,
        network,
        start,
        RANK,
        name="MiniLM selector",
        version=VERSION,
        max_tokens=RECIPE.max_tokens,
        relevance_model=read_config(relevance_model)["sha256"],
    )
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
        rank=RANK,
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
        answers.append(
            Answer(
                label=verdict.label,
                confidence=verdict.confidence,
                evidence=keys,
                ranked=(),
                pages=(),
                hops=(),
                retrieved=Retrieved(),
                seconds={},
            )
        )
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

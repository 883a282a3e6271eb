"""``esoteric train verdict``."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from evaluation.claims import AnnotatedClaim
from retrieval.cross_encoders.delta import add_delta
from retrieval.cross_encoders.distilbert_cross_encoder import DistilBertCrossEncoder, read_config
from retrieval.cross_encoders.folded_minilm import load_folded_minilm, load_tokenizer
from retrieval.cross_encoders.inputs import evidence_text
from retrieval.types import LABELS, NOT_ENOUGH_INFO
from training.candidates import CandidateFinder
from training.card import Card, write_card, write_model
from training.data import load_data
from training.figures import probabilities, temperature_of, verdict_figures
from training.loop import Recipe, train
from training.sentence_pool import SentencePool
from training.verdict_examples import evidence_of, selected, verdict_examples

RECIPE = Recipe(
    epochs=2,
    batch_size=32,
    learning_rate=1e-4,
    weight_decay=0.01,
    warmup=0.1,
    max_tokens=192,
    seed=0,
)


def train_verdict(data_folder: Path, run: Path, out: Path, relevance: Path) -> None:
    """Train the judge, write it to ``out`` and its log and checkpoint to ``run``.

    ``relevance`` is the folder of the trained relevance classifier: the judge
    starts from it and reads the sentences that it puts first.

    Raises:
        BadSource: the data cannot be read.
        ModelUnavailable: the relevance classifier is missing or damaged.
    """
    data = load_data(data_folder, run.parent / "vectors", RECIPE.seed)
    tokenizer = load_tokenizer()
    finder, scorer = CandidateFinder(data.pool), DistilBertCrossEncoder(relevance)
    claims = [*data.train, *data.contrasts]
    candidates = finder.find([claim.text for claim in claims])
    scores = _relevance(scorer, claims, candidates, data.pool, run / "relevance-train.npy")
    examples = verdict_examples(
        claims, candidates, scores, data.page_claims, data.pool, RECIPE.seed
    )
    dev_candidates = finder.find([claim.text for claim in data.dev])
    dev_scores = _relevance(scorer, data.dev, dev_candidates, data.pool, run / "relevance-dev.npy")
    pairs = [
        (claim.text, evidence_of(indices, data.pool))
        for claim, indices in zip(data.dev, selected(dev_candidates, dev_scores), strict=True)
    ]
    labels = [LABELS.index(claim.label) for claim in data.dev]

    model = load_folded_minilm(LABELS)
    add_delta(model, relevance / "delta.safetensors", read_config(relevance)["sha256"])
    train(
        model,
        tokenizer,
        examples,
        RECIPE,
        run,
        lambda model: verdict_figures(
            probabilities(model, tokenizer, pairs, RECIPE.max_tokens), labels, 1.0
        ),
    )
    trained = probabilities(model, tokenizer, pairs, RECIPE.max_tokens)
    temperature = temperature_of(trained, labels)
    size = write_model(out, model, temperature, RECIPE.max_tokens, "MiniLM judge")
    shipped = DistilBertCrossEncoder(out).probabilities(pairs)
    alone = scorer.probabilities(
        [
            (claim.text, evidence_of(indices[:1], data.pool))
            for claim, indices in zip(data.dev, selected(dev_candidates, dev_scores), strict=True)
        ]
    )
    figures = {
        "together, as trained": verdict_figures(trained, labels, 1.0),
        "together, as shipped": verdict_figures(shipped, labels, 1.0),
        "the most relevant sentence alone": verdict_figures(alone, labels, 1.0),
        "both pooled, as used": verdict_figures(np.float32(0.5) * (shipped + alone), labels, 1.0),
    }
    card = Card(
        name="Judge",
        purpose="Reads a claim beside up to five selected sentences with their titles: do they,"
        " together, support it, refute it, or not settle it?",
        data=f"{len(data.train)} claims of FEVER's development set"
        f" ({data.left_out} were left out because they cite a page of a dev claim),"
        f" {len(data.contrasts)} contrast claims made from them by exchanging one fact"
        f" (`training/contrast.py`) and {len(data.page_claims)} of Fool Me Twice, each with the"
        " sentences that the relevance classifier puts first, a whole evidence set among them"
        " where the claim is decided; some decided claims once more without any sentence of their"
        " gold pages, as undecided (`training/verdict_examples.py`).",
        digests=data.digests,
        definitions=f"{len(data.dev)} dev claims, none of whose gold pages was trained on, with"
        " the five most relevant of about 10 candidate sentences. label_accuracy: the right one of"
        " three labels, %. stance_right: decided claims that lean the right way, %."
        " calibration_error: expected, ten bins, 0 to 1. As shipped: cut to the rank above and"
        f" scaled by temperature {temperature:.2f}, which was chosen on dev.",
    )
    write_card(out, card, RECIPE, len(examples), figures, size)


def _relevance(
    scorer: DistilBertCrossEncoder,
    claims: Sequence[AnnotatedClaim],
    candidates: Sequence[Sequence[int]],
    pool: SentencePool,
    cache: Path,
) -> list[NDArray[np.float32]]:
    """Return each candidate's relevance; the cache spares a restarted run ten minutes."""
    ends = np.cumsum([len(indices) for indices in candidates])
    if cache.exists():
        relevance = np.load(cache)
    else:
        pairs = [
            (claim.text, evidence_text(pool.sentences[i].title, pool.sentences[i].text))
            for claim, indices in zip(claims, candidates, strict=True)
            for i in indices
        ]
        relevance = 1 - scorer.probabilities(pairs)[:, LABELS.index(NOT_ENOUGH_INFO)]
        cache.parent.mkdir(parents=True, exist_ok=True)
        np.save(cache, relevance)
    return np.split(relevance, ends[:-1])

"""``esoteric train relevance``."""

from __future__ import annotations

from pathlib import Path

from retrieval.cross_encoders.distilbert_cross_encoder import DistilBertCrossEncoder
from retrieval.cross_encoders.folded_minilm import load_folded_minilm, load_tokenizer
from retrieval.cross_encoders.inputs import evidence_text
from retrieval.types import LABELS, NOT_ENOUGH_INFO
from training.candidates import CandidateFinder
from training.card import Card, write_card, write_model
from training.data import TrainingData, load_data
from training.figures import probabilities, relevance_figures, temperature_of
from training.loop import Recipe, train
from training.relevance_examples import relevance_examples

RECIPE = Recipe(
    epochs=2,
    batch_size=32,
    learning_rate=1e-4,
    weight_decay=0.01,
    warmup=0.06,
    max_tokens=160,
    seed=0,
)
QUICK_DEV = 6  # after an epoch every sixth dev claim is measured
DEV = 3  # and every third in the end: thirty thousand pairs more would take a quarter of an hour


def train_relevance(data_folder: Path, run: Path, out: Path) -> None:
    """Train the relevance classifier, write it to ``out`` and its log and checkpoint to ``run``.

    Raises:
        BadSource: the data cannot be read.
    """
    data = load_data(data_folder, run.parent / "vectors", RECIPE.seed)
    tokenizer = load_tokenizer()
    examples = relevance_examples(
        [*data.train, *data.contrasts], data.page_claims, data.pool, RECIPE.seed
    )
    candidates = CandidateFinder(data.pool).find([claim.text for claim in data.dev])
    model = load_folded_minilm(LABELS)
    train(
        model,
        tokenizer,
        examples,
        RECIPE,
        run,
        lambda model: relevance_figures(
            lambda pairs: probabilities(model, tokenizer, pairs, RECIPE.max_tokens),
            data.dev[::QUICK_DEV],
            candidates[::QUICK_DEV],
            data.pool,
        ),
    )
    pairs, labels = _calibration_pairs(data, candidates)
    temperature = temperature_of(probabilities(model, tokenizer, pairs, RECIPE.max_tokens), labels)
    size = write_model(out, model, temperature, RECIPE.max_tokens, "MiniLM relevance")
    shipped = DistilBertCrossEncoder(out)
    figures = {
        "as trained": relevance_figures(
            lambda pairs: probabilities(model, tokenizer, pairs, RECIPE.max_tokens),
            data.dev[::DEV],
            candidates[::DEV],
            data.pool,
        ),
        "as shipped": relevance_figures(
            shipped.probabilities, data.dev[::DEV], candidates[::DEV], data.pool
        ),
    }
    card = Card(
        name="Relevance classifier",
        purpose="Reads a claim beside one sentence with its title: does the sentence bear on the"
        " claim, and what does it say of it?",
        data=f"{len(data.train)} claims of FEVER's development set"
        f" ({data.left_out} were left out because they cite a page of a dev claim),"
        f" {len(data.contrasts)} contrast claims made from them by exchanging one fact"
        f" (`training/contrast.py`) and {len(data.page_claims)} of Fool Me Twice. For each"
        " relevant sentence two others of its document, one convincing sentence of another and"
        " one from anywhere; beside an undecided claim only sentences that look like evidence"
        " (`training/relevance_examples.py`).",
        digests=data.digests,
        definitions=f"{len(data.dev[::DEV])} of {len(data.dev)} dev claims (every third), none of"
        " whose gold pages was trained on."
        " gold_in_first_five: decided claims with a gold sentence among the five most relevant of"
        " about 15 candidates, %. stance_right: decided claims whose best gold sentence leans the"
        " right way, %. label_accuracy: all claims, by their most relevant sentence alone, %.",
    )
    write_card(out, card, RECIPE, len(examples), figures, size)


def _calibration_pairs(
    data: TrainingData, candidates: list[list[int]]
) -> tuple[list[tuple[str, str]], list[int]]:
    """Every candidate of every third dev claim: pairs as the pipeline meets them."""
    pairs, labels = [], []
    for claim, indices in list(zip(data.dev, candidates, strict=True))[::DEV]:
        for index in indices:
            sentence = data.pool.sentences[index]
            is_gold = (sentence.page, sentence.sentence_id) in claim.gold
            pairs.append((claim.text, evidence_text(sentence.title, sentence.text)))
            labels.append(LABELS.index(claim.label if is_gold else NOT_ENOUGH_INFO))
    return pairs, labels

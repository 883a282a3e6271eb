"""``esoteric train relevance``: the relevance model, which reads a claim with a sentence.

First it learns relevance and stance from many labelled sentences (``relevance_examples``). Then it
learns from the teacher's probabilities for fewer and harder readings, also of sets of sentences
(``reading_examples``; distillation, Hinton et al. 2015). Last it learns which sentences of people's
own papers are relevant (``paper_examples``), with some labelled sentences, so that nothing is
forgotten.

The labelled sentences follow the report (section 3.3.10): for each relevant sentence two irrelevant
ones of the same document and two of other documents, split by claim and page. Two things differ.
The classifier has three classes instead of two, so that one pass gives relevance (1 - P(NOT ENOUGH
INFO)) and stance. And one of the two sentences of other documents is a retrieved, convincing one,
as are all sentences of undecided claims.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial
from itertools import islice
from pathlib import Path

import numpy as np
from numpy.typing import NDArray
from transformers import DistilBertForSequenceClassification

from research.evaluation.claims import AnnotatedClaim
from research.training.card import started_from, write_card, write_model
from research.training.contrast import YEAR, Contrast, contrast_claims, refuting, symmetric
from research.training.data import PageClaim, TrainingData, load_data
from research.training.figures import (
    DEV,
    OTHERS,
    TUNING,
    Classify,
    DevClaims,
    contrast_figures,
    kept_opinions,
    probabilities,
    read_claims,
    reading_figures,
    temperature_of,
)
from research.training.loop import (
    Example,
    Hyperparameters,
    Weights,
    best_device,
    classification_loss,
    labelled,
    load_mean,
    switch_off_dropout,
    train,
    trained_weights,
)
from research.training.networks.encoders import (
    packaged_classifier,
    pair_tokenizer,
    trained_classifier,
)
from research.training.papers import (
    HELD_OUT,
    LONGEST,
    TRAIN,
    PaperClaim,
    paper_claims,
    paper_digests,
)
from research.training.sentence_pool import CandidateFinder, SentencePool
from retrieval.models.cross_encoders import CrossEncoder
from retrieval.models.own_verifier import SequenceClassifier
from retrieval.models.shipped import minilm_classifier
from retrieval.recipes.recipes import RetrievalConfig
from retrieval.text.context import evidence_set_text, evidence_text
from retrieval.types import LABELS, NOT_ENOUGH_INFO, Label

SAME_DOCUMENT = 2
OTHER_DOCUMENTS = 2
RELEVANT_PER_CLAIM = 2
UNDECIDED_PER_CLAIM = 6
NEAREST = 30  # convincing negatives are drawn from so many of the nearest


def relevance_examples(
    claims: Sequence[AnnotatedClaim],
    page_claims: Sequence[PageClaim],
    pool: SentencePool,
    seed: int,
) -> list[Example]:
    """Return the training pairs, in an order that depends only on the seed."""
    chance = random.Random(seed)
    nearest = pool.nearest([claim.text for claim in claims], NEAREST * 2)
    examples: list[Example] = []
    for claim, near in zip(claims, nearest, strict=True):
        if claim.label == NOT_ENOUGH_INFO:
            examples += _sentences_of_undecided(claim, near, pool, chance)
        else:
            examples += _sentences_of_decided(claim, near, pool, chance)
    for page_claim in page_claims:
        examples += _sentences_of_page(page_claim, chance)
    return examples


def _sentences_of_decided(
    claim: AnnotatedClaim, near: NDArray[np.int64], pool: SentencePool, chance: random.Random
) -> list[Example]:
    gold = pool.gold(claim)
    chosen = chance.sample(gold, min(RELEVANT_PER_CLAIM, len(gold)))
    same = pool.beside(claim)
    # Sentences near the claim on a gold page may be evidence that was not annotated.
    elsewhere = pool.elsewhere(claim, near)
    irrelevant = chance.sample(same, min(len(same), SAME_DOCUMENT * len(chosen)))
    short = SAME_DOCUMENT * len(chosen) - len(irrelevant)
    convincing = OTHER_DOCUMENTS // 2 * len(chosen) + short
    irrelevant += chance.sample(elsewhere[:NEAREST], min(convincing, NEAREST, len(elsewhere)))
    irrelevant += _anywhere(OTHER_DOCUMENTS // 2 * len(chosen), claim, pool, chance)
    return [_alone(claim.text, i, claim.label, pool) for i in chosen] + [
        _alone(claim.text, i, NOT_ENOUGH_INFO, pool) for i in irrelevant
    ]


def _sentences_of_undecided(
    claim: AnnotatedClaim, near: NDArray[np.int64], pool: SentencePool, chance: random.Random
) -> list[Example]:
    """Yield the nearest sentences, which look like evidence and decide nothing."""
    nearest = [int(i) for i in near[: UNDECIDED_PER_CLAIM // 2]]
    convincing = [int(i) for i in near[UNDECIDED_PER_CLAIM // 2 : NEAREST]]
    chosen = nearest + chance.sample(convincing, UNDECIDED_PER_CLAIM - len(nearest) - 1)
    chosen += _anywhere(1, claim, pool, chance)
    return [_alone(claim.text, i, NOT_ENOUGH_INFO, pool) for i in chosen]


def _sentences_of_page(claim: PageClaim, chance: random.Random) -> list[Example]:
    gold = chance.sample(claim.gold, min(RELEVANT_PER_CLAIM, len(claim.gold)))
    irrelevant = chance.sample(claim.others, min(len(claim.others), SAME_DOCUMENT * len(gold)))
    return [
        labelled(claim.text, evidence_text(claim.title, text), claim.label) for text in gold
    ] + [
        labelled(claim.text, evidence_text(claim.title, text), NOT_ENOUGH_INFO)
        for text in irrelevant
    ]


def _anywhere(
    count: int, claim: AnnotatedClaim, pool: SentencePool, chance: random.Random
) -> list[int]:
    drawn: list[int] = []
    while len(drawn) < count:
        index = chance.randrange(len(pool.sentences))
        if pool.sentences[index].page not in claim.pages:
            drawn.append(index)
    return drawn


SINGLES = 2  # gold sentences that are read alone, and nearest ones of an undecided claim
ELSEWHERE = 0.8  # share of decided claims with a convincing sentence of another page
SAME_PAGE = 0.6  # and with another sentence of a gold page
CONVINCING = 5  # those of other pages are drawn from so many of the nearest
FLIPPED = 0.5  # share of contrast claims that are also read after the exchange in the evidence
SETS = 0.5  # share of claims that are also read with several sentences
SET_SIZES = (2, 3)
MOST_NEEDED = 4  # sentences of an evidence set; longer ones are cut


def reading_examples(data: TrainingData, seed: int, limit: int) -> list[Example]:
    """Return examples, ``limit`` at most, drawn from those of all training claims.

    They and their order depend only on the seed.
    """
    chance, pool = random.Random(seed), data.pool
    candidates = CandidateFinder(pool).find([claim.text for claim in data.train])
    examples: list[Example] = []
    for claim, found in zip(data.train, candidates, strict=True):
        if claim.label == NOT_ENOUGH_INFO:
            examples += _undecided(claim, found, pool, chance)
        else:
            examples += _decided(claim, found, pool, chance)
    for contrast in data.contrasts:
        examples += _contrasted(contrast, pool, chance)
    for page_claim in data.page_claims:
        examples += _of_one_page(page_claim, chance)
    drawn = chance.sample(range(len(examples)), min(limit, len(examples)))
    return [examples[i] for i in sorted(drawn)]


def _undecided(
    claim: AnnotatedClaim, found: Sequence[int], pool: SentencePool, chance: random.Random
) -> list[Example]:
    rest = found[SINGLES:]
    read_alone = [*found[:SINGLES], *chance.sample(rest, min(1, len(rest)))]
    examples = [_alone(claim.text, i, NOT_ENOUGH_INFO, pool) for i in read_alone]
    if chance.random() < SETS:
        nearest = found[: chance.choice(SET_SIZES)]
        examples.append(labelled(claim.text, pool.together(nearest), NOT_ENOUGH_INFO))
    return examples


def _decided(
    claim: AnnotatedClaim, found: Sequence[int], pool: SentencePool, chance: random.Random
) -> list[Example]:
    gold = pool.gold(claim)
    sets = [pool.rows(group) for group in claim.evidence]
    sufficient = [group[0] for group in sets if len(group) == 1] or gold
    examples = [
        _alone(claim.text, i, claim.label, pool)
        for i in chance.sample(sufficient, min(SINGLES, len(sufficient)))
    ]
    # Sentences near the claim on a gold page may be evidence that was not annotated.
    elsewhere = pool.elsewhere(claim, found)
    same = pool.beside(claim)
    if elsewhere and chance.random() < ELSEWHERE:
        convincing = chance.choice(elsewhere[:CONVINCING])
        examples.append(_alone(claim.text, convincing, NOT_ENOUGH_INFO, pool))
    dated = _of_other_years(claim.text, same, pool)
    if dated or (same and chance.random() < SAME_PAGE):
        examples.append(_alone(claim.text, chance.choice(dated or same), NOT_ENOUGH_INFO, pool))
    if chance.random() < SETS or min(len(group) for group in sets) > 1:
        needed = min(sets, key=len)[:MOST_NEEDED]
        size = max(len(needed), chance.choice(SET_SIZES))
        beside = [i for i in elsewhere if i not in needed][: size - len(needed)]
        chosen = [*needed, *beside]
        chance.shuffle(chosen)
        examples.append(labelled(claim.text, pool.together(chosen), claim.label))
    return examples


def _of_other_years(claim: str, indices: Sequence[int], pool: SentencePool) -> list[int]:
    """Return the sentences that contain only other years, if the claim contains a year."""
    years_of_claim = set(YEAR.findall(claim))
    if not years_of_claim:
        return []
    years = {i: set(YEAR.findall(pool.sentences[i].text)) for i in indices}
    return [i for i, others in years.items() if others and not others & years_of_claim]


def _contrasted(contrast: Contrast, pool: SentencePool, chance: random.Random) -> list[Example]:
    """Yield the refuting sentence and, with the same exchange in it, examples of both labels.

    So the wording of the claim alone does not give the label.
    """
    readings = symmetric(contrast, chance.choice(refuting(contrast, pool)))
    examples = [labelled(*readings[1])]
    if chance.random() < FLIPPED:
        examples += [labelled(*reading) for reading in readings[2:]]
    return examples


def _of_one_page(claim: PageClaim, chance: random.Random) -> list[Example]:
    gold = evidence_set_text([(claim.title, text) for text in claim.gold[:SINGLES]])
    examples = [labelled(claim.text, gold, claim.label)]
    if claim.others and chance.random() < SETS:
        other = evidence_text(claim.title, chance.choice(claim.others))
        examples.append(labelled(claim.text, other, NOT_ENOUGH_INFO))
    return examples


def _alone(claim: str, index: int, label: Label, pool: SentencePool) -> Example:
    return labelled(claim, pool.sentences[index].written, label)


SAME_PAPER = 3
_FIRST = 5


def paper_examples(claims: Sequence[PaperClaim], seed: int) -> list[Example]:
    """Return the sentences of each claim's lines, with others of its paper and one of another."""
    chance, examples, papers = random.Random(seed), list[Example](), dict[int, PaperClaim]()
    for claim in claims:
        papers.setdefault(claim.paper, claim)
    for claim in claims:
        gold = chance.sample(claim.gold, min(RELEVANT_PER_CLAIM, len(claim.gold)))
        irrelevant = chance.sample(claim.others, min(SAME_PAPER, len(claim.others)))
        other = chance.choice([*papers.values()])
        if other.paper != claim.paper and other.others:
            irrelevant.append(chance.choice(other.others))
        examples += [labelled(claim.text, text, claim.label) for text in gold]
        examples += [labelled(claim.text, text, NOT_ENOUGH_INFO) for text in irrelevant]
    return [example for example in examples if example.length <= LONGEST]


def paper_figures(classify: Classify, claims: Sequence[PaperClaim]) -> dict[str, float]:
    """Return how decided claims find their sentences among those of their paper, %.

    ``paper_gold_in_first_five``: one of them is among the five most relevant. ``paper_gold_kept``:
    one of them is at least as relevant as the recipe's ``relevance_cutoff``.
    """
    decided = [claim for claim in claims if claim.label != NOT_ENOUGH_INFO]
    pairs = [(claim.text, text) for claim in decided for text in (*claim.gold, *claim.others)]
    relevance = iter((1 - classify(pairs)[:, LABELS.index(NOT_ENOUGH_INFO)]).tolist())
    first = kept = 0
    for claim in decided:
        best = max(islice(relevance, len(claim.gold)))
        better = sum(other > best for other in islice(relevance, len(claim.others)))
        first += better < _FIRST
        kept += best >= RetrievalConfig().relevance_cutoff
    return {
        "paper_gold_in_first_five": 100 * first / len(decided),
        "paper_gold_kept": 100 * kept / len(decided),
    }


LABELLED = Hyperparameters(learning_rate=1e-4, max_tokens=160)
READINGS = 16_000  # readings of a round, which the teacher labels
DISTILLED = replace(LABELLED, epochs=2, learning_rate=5e-5, max_tokens=192)
# Each starts from the end of the labelled phase, with new readings; their ends are averaged.
ROUNDS = 2
OPINION = 0.7  # weight of the teacher's probabilities in a target; the label has the rest
PAPERS = replace(LABELLED, learning_rate=8e-5, smoothing=0.02, seed=7)
AGAIN = 12_000  # labelled sentences that are read with those of papers


def train_relevance(
    data_folder: Path,
    teacher: CrossEncoder | SequenceClassifier,
    start: Path | None,
    run: Path,
    out: Path,
    seed: int,
) -> dict[str, float]:
    """Train the relevance model, write it to ``out`` and its logs and checkpoints to ``run``.

    ``start``: a trained relevance model; then only the last phase is run. Returns the figures of
    its card, as shipped.

    Raises:
        BadSource: the data cannot be read.
        ModelUnavailable: the teacher's weights are missing.
    """
    data = load_data(data_folder, run.parent / "vectors", seed)
    tokenizer = pair_tokenizer()
    tuning, others, dev = (DevClaims.of(data, part) for part in (TUNING, OTHERS, DEV))
    contrasts = contrast_claims(data.dev, data.dev_pool, LABELLED.seed)
    of_papers, held_out = list(paper_claims(TRAIN)), list(paper_claims(HELD_OUT))

    model = packaged_classifier(LABELS) if start is None else trained_classifier(start)
    model.to(best_device())  # type: ignore[arg-type]
    model.distilbert.embeddings.requires_grad_(False)
    classify = partial(probabilities, model, tokenizer, max_tokens=DISTILLED.max_tokens)

    def figures() -> dict[str, float]:
        return reading_figures(read_claims(classify, tuning), tuning.claims)

    made = (contrast.claim for contrast in data.contrasts)
    sentences = relevance_examples([*data.train, *made], data.page_claims, data.pool, seed)
    recipes = dict[str, Hyperparameters]()
    if start is None:
        recipes = _taught(model, data, sentences, teacher, run, seed, figures)
    last = replace(PAPERS, seed=PAPERS.seed + seed)
    again = relevance_examples(data.train, data.page_claims, data.pool, last.seed)
    again = random.Random(last.seed).sample(again, AGAIN)
    read = [*paper_examples(of_papers, last.seed), *again]
    switch_off_dropout(model)
    loss_of = classification_loss(model, tokenizer, last.max_tokens, last.smoothing)
    train(model, read, loss_of, last, run / "papers", figures)
    temperature = temperature_of(
        read_claims(classify, others).pooled, [LABELS.index(c.label) for c in others.claims]
    )

    def card_figures(read: Classify) -> dict[str, float]:
        of_claims = reading_figures(read_claims(read, dev), dev.claims)
        of_exchanges = contrast_figures(read, contrasts, dev.pool)
        return of_claims | of_exchanges | paper_figures(read, held_out)

    trained = card_figures(classify)
    write_model(
        out,
        "relevance",
        model,
        packaged_classifier(LABELS),
        DISTILLED.max_tokens,
        temperature=round(temperature, 2),
        labels=LABELS,
    )
    shipped = card_figures(minilm_classifier(out).probabilities)
    write_card(
        out,
        "relevance",
        data.digests | paper_digests(),
        {**recipes, "papers": last},
        {"as trained": trained, "as shipped": shipped},
        again=AGAIN,
        claims=data.described,
        contrasts=len(contrasts),
        dev=len(data.dev),
        every=DEV[0],
        fitted=len(OTHERS[1]),
        held_out=len(held_out),
        measured=len(dev.claims),
        of=OTHERS[0],
        papers=len(of_papers),
        readings=READINGS,
        rounds=ROUNDS,
        sentences=len(sentences),
        share=RetrievalConfig().selection_share,
        started=started_from(start),
        temperature=temperature,
    )
    return shipped


def _taught(
    model: DistilBertForSequenceClassification,
    data: TrainingData,
    sentences: Sequence[Example],
    teacher: CrossEncoder | SequenceClassifier,
    run: Path,
    seed: int,
    figures: Callable[[], dict[str, float]],
) -> dict[str, Hyperparameters]:
    """Train the model on labelled sentences, then on what the teacher says; return the recipes."""
    tokenizer, first = pair_tokenizer(), replace(LABELLED, seed=seed)
    rounds = [replace(DISTILLED, seed=ROUNDS * seed + number) for number in range(ROUNDS)]
    drawn = [reading_examples(data, recipe.seed, READINGS) for recipe in rounds]
    opinions = [
        kept_opinions(teacher, [(one.claim, one.evidence) for one in examples], run)
        for examples in drawn
    ]
    loss_of = classification_loss(model, tokenizer, LABELLED.max_tokens)
    train(model, sentences, loss_of, first, run / "labelled", figures)
    loss_of = classification_loss(model, tokenizer, DISTILLED.max_tokens)
    start, ends = trained_weights(model), list[Weights]()
    for number, recipe in enumerate(rounds):
        load_mean(model, [start])
        taught = distilled(drawn[number], opinions[number])
        train(model, taught, loss_of, recipe, run / f"distilled-{number + 1}", figures)
        ends.append(trained_weights(model))
    load_mean(model, ends)
    return {"labelled": first} | {f"distilled {n}": one for n, one in enumerate(rounds, start=1)}


def distilled(examples: list[Example], opinions: NDArray[np.float32]) -> list[Example]:
    """Return the examples with the teacher's probabilities mixed into their targets."""
    return [
        replace(
            example,
            target=tuple(
                OPINION * float(opinion) + (1 - OPINION) * known
                for opinion, known in zip(row, example.target, strict=True)
            ),
        )
        for example, row in zip(examples, opinions, strict=True)
    ]

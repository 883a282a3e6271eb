"""``esoteric train distilbert``: the ESOTERIC report's relevance classifier (report, table 5)."""

from __future__ import annotations

import math
import random
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
import torch
from torch import nn
from transformers import (
    AutoModelForSequenceClassification,
    AutoTokenizer,
    PreTrainedModel,
    PreTrainedTokenizerBase,
)
from transformers.utils import logging

from research.evaluation.claims import AnnotatedClaim, SentenceKey, page_key, read_fever_claims
from research.training.figures import probabilities
from research.training.loop import Example, Hyperparameters, best_device, classification_loss, train
from retrieval.corpora.corpus import Page, readable_pages
from retrieval.corpora.wiki.fever import FeverCorpus
from retrieval.errors import BadSource

CLAIMS = 10_000  # table 5
SAME_PAGE = OTHER_PAGES = 2
_OTHERS = 20_000  # pages that sentences of other pages are drawn from


@dataclass(frozen=True, slots=True)
class Parts:
    """The pairs for training, validation and test; no claim is in two of them.

    Targets are the probabilities of irrelevant and relevant. ``claims``: how many of each part.
    """

    train: list[Example]
    validation: list[Example]
    test: list[Example]
    claims: tuple[int, int, int]


def relevance_parts(claims: Sequence[AnnotatedClaim], pages: Iterable[Page], seed: int) -> Parts:
    """Return the pairs of 10,000 claims, or of all if there are fewer; the seed draws them.

    Claims that read the same count as one. Claims without evidence, and those of which no evidence
    is on ``pages``, are left out. ``pages`` are FEVER's, split into sentences. A page with fewer
    irrelevant sentences gives fewer.
    """
    chance = random.Random(seed)
    gold: dict[str, set[SentenceKey]] = {}
    for claim in claims:
        if claim.evidence:
            gold.setdefault(claim.text, set()).update(claim.gold)
    cited = {page for keys in gold.values() for page, _ in keys}
    cited_pages, others = _read(pages, cited, chance)
    order = sorted(gold)
    chance.shuffle(order)
    drawn: list[list[Example]] = []
    for text in order:
        evidence = sorted(key for key in gold[text] if _sentence(cited_pages, key))
        if evidence and len(drawn) < CLAIMS:
            drawn.append(
                _pairs(text, chance.choice(evidence), gold[text], cited_pages, others, chance)
            )
    first, second = len(drawn) * 8 // 10, len(drawn) * 9 // 10
    parts = drawn[:first], drawn[first:second], drawn[second:]
    train, validation, test = ([pair for pairs in part for pair in pairs] for part in parts)
    return Parts(train, validation, test, (len(parts[0]), len(parts[1]), len(parts[2])))


def _read(
    pages: Iterable[Page], cited: set[str], chance: random.Random
) -> tuple[dict[str, tuple[str, ...]], list[tuple[str, str]]]:
    """Return the sentences of the cited pages, and of random pages the id and one sentence.

    The release has 5.4 million pages, so no others are kept (reservoir sampling).
    """
    cited_pages: dict[str, tuple[str, ...]] = {}
    others: list[tuple[str, str]] = []
    seen = 0
    for page in pages:
        sentences, name = page.sentences or (), page_key(page.id)
        if name in cited:
            cited_pages[name] = sentences
        if any(sentences):
            seen += 1
            place = len(others) if len(others) < _OTHERS else chance.randrange(seen)
            if place < _OTHERS:
                entry = name, chance.choice([sentence for sentence in sentences if sentence])
                others[place : place + 1] = [entry]
    return cited_pages, others


def _sentence(cited_pages: dict[str, tuple[str, ...]], key: SentenceKey) -> str:
    """Return the text of a sentence, "" if the pages lack it."""
    page, number = key
    sentences = cited_pages.get(page, ())
    return sentences[number] if number < len(sentences) else ""


def _pairs(
    claim: str,
    relevant: SentenceKey,
    gold: set[SentenceKey],
    cited_pages: dict[str, tuple[str, ...]],
    others: list[tuple[str, str]],
    chance: random.Random,
) -> list[Example]:
    page = relevant[0]
    same = [s for n, s in enumerate(cited_pages[page]) if s and (page, n) not in gold]
    own = {name for name, _ in gold}
    anywhere = chance.sample(others, min(len(others), OTHER_PAGES + len(own)))
    elsewhere = [sentence for name, sentence in anywhere if name not in own]
    irrelevant = chance.sample(same, min(len(same), SAME_PAGE)) + elsewhere[:OTHER_PAGES]
    return [
        Example(claim, _sentence(cited_pages, relevant), (0.0, 1.0)),
        *(Example(claim, sentence, (1.0, 0.0)) for sentence in irrelevant),
    ]


WARMUP_STEPS = 500
# Table 5. The window, which the report does not name, is that of its author's program.
# The warm-up is set for the number of steps.
TABLE_5 = Hyperparameters(epochs=3, batch_size=24, learning_rate=1e-5, max_tokens=512)


def train_distilbert(data: Path, run: Path, base: Path, out: Path) -> dict[str, float]:
    """Train the classifier, write it to ``out``, and return its figures on the test claims.

    Args:
        data: a folder with FEVER's ``train.jsonl`` and ``wiki-pages``.
        run: the folder of logs and checkpoints, from which an interrupted run continues.
        base: the folder of distilbert-base-uncased.
        out: the folder of the classifier, which does not exist or is empty.

    Raises:
        BadSource: the data cannot be read, or too little of it can be used.
    """
    parts = relevance_parts(
        read_fever_claims(data / "train.jsonl"),
        readable_pages(FeverCorpus(data / "wiki-pages")),
        TABLE_5.seed,
    )
    if sum(parts.claims) < 10:
        raise BadSource(
            "bad_data",
            f"{data} has {sum(parts.claims)} claims with their evidence on its pages; ten or more"
            " are needed.",
            "Point --data at a folder with FEVER's train.jsonl and wiki-pages.",
        )
    tokenizer = AutoTokenizer.from_pretrained(base, local_files_only=True)
    model = _untrained(base)
    model.to(best_device())  # type: ignore[arg-type]
    steps = TABLE_5.epochs * math.ceil(len(parts.train) / TABLE_5.batch_size)
    recipe = replace(TABLE_5, warmup=WARMUP_STEPS / steps)
    train(
        model,
        parts.train,
        classification_loss(model, tokenizer, recipe.max_tokens),
        recipe,
        run,
        lambda: _figures(model, tokenizer, parts.validation),
    )
    figures = _figures(model, tokenizer, parts.test)
    partial = out.with_name(f"{out.name}.partial")
    model.save_pretrained(partial)
    tokenizer.save_pretrained(partial)
    partial.replace(out)
    names = ("training claims", "validation claims", "test claims")
    return {**dict(zip(names, parts.claims, strict=True)), **figures}


def _untrained(base: Path) -> PreTrainedModel:
    """Return the base with a new head of two classes, from a fixed seed."""
    logging.disable_progress_bar()  # type: ignore[no-untyped-call]
    logging.set_verbosity_error()  # type: ignore[no-untyped-call]
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(TABLE_5.seed)
        model: PreTrainedModel = AutoModelForSequenceClassification.from_pretrained(
            base, num_labels=2, local_files_only=True, use_safetensors=True, dtype=torch.float32
        )
    return model


def _figures(
    model: nn.Module, tokenizer: PreTrainedTokenizerBase, examples: Sequence[Example]
) -> dict[str, float]:
    """Return the loss, and accuracy, precision and recall of the label relevant (0 to 1)."""
    pairs = [(example.claim, example.evidence) for example in examples]
    found = probabilities(model, tokenizer, pairs, TABLE_5.max_tokens, classes=2)
    relevant = np.array([example.target[1] == 1 for example in examples])
    said = found[:, 1] >= 0.5
    right = float((said & relevant).sum())
    return {
        "loss": float(-np.log(np.where(relevant, found[:, 1], found[:, 0])).mean()),
        "accuracy": float((said == relevant).mean()),
        "precision": right / max(1.0, float(said.sum())),
        "recall": right / float(relevant.sum()),
    }

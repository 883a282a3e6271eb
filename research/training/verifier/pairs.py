"""Claims with given evidence: public pairs, texts that assert a claim or not, pairs about meaning.

Each claim is read in one of the forms in which people write it: a verifier that has seen a claim in
one form only gives another label to another form.
"""

from __future__ import annotations

import random
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from research.evaluation.claims import Pair, labelled_records, read_pairs, sentence_keys
from research.training.data import PairData, training_files
from research.training.loop import Example, labelled
from research.training.sentence_pool import SentencePool
from retrieval.claim import SHORT_FORMS, in_full
from retrieval.system.files import digest_of

# Pairs of each source, mostly all of it. VitaminC has the most: its evidence differs in one fact.
# InfoTabs has numbers and dates; the general sources teach paraphrase and inference. Pairs made by
# rule, captions of pictures and a source with one label are limited. Sources with noisy labels
# (CREAK's explanations, COVID-Fact, FactCheck-GPT) are left out.
QUOTAS: Mapping[str, int] = {
    "vitaminc": 28_000,
    "vitaminc-synthetic": 20_300,
    "fever": 4_000,
    "fever-adversarial": 800,
    "fever-triggers": 200,
    "feverous": 2_600,
    "ex-fever": 4_100,
    "fm2": 1_200,
    "wiki-nli": 15_200,
    "infotabs": 16_600,
    "lingnli": 45_000,
    "mnli": 18_000,
    "snli-counterfactual": 8_300,
    "snli": 6_000,
    "conjnli": 4_000,
    "negation": 3_000,
    "wikifactcheck": 3_000,
    "healthver": 3_500,
}
LONGEST = 480  # characters of claim and evidence; longer pairs are not worth their time


def pair_examples(folder: Path, seed: int, quotas: Mapping[str, int] = QUOTAS) -> list[Example]:
    """Return pairs of every source, drawn by ``seed``, at most its quota of each.

    Pairs of one page (or, without a title, of one evidence text) are drawn together, so that both
    sides of most contrasts are included; a pair that is too long is left out, and the last group of
    a source is cut at its quota.

    Raises:
        BadSource: a file of ``folder`` is missing or cannot be read.
    """
    examples: list[Example] = []
    for source, quota in quotas.items():
        groups: dict[str, list[Example]] = {}
        for pair in read_pairs(folder / f"{source}.jsonl"):
            example = labelled(pair.claim, pair.evidence, pair.label)
            if example.length <= LONGEST:
                groups.setdefault(_group(pair), []).append(example)
        examples += _drawn(groups.values(), quota, random.Random(f"{seed}/{source}"))
    return examples


def _group(pair: Pair) -> str:
    return pair.title or pair.evidence


def _drawn(groups: Iterable[list[Example]], quota: int, chance: random.Random) -> list[Example]:
    order = list(groups)
    chance.shuffle(order)
    return [example for group in order for example in group][:quota]


# The project's own data set; every fifth wording of a kind is in ``held-out.jsonl``.
ASSERTIONS = Path(__file__).resolve().parents[2] / "datasets" / "assertion"


@dataclass(frozen=True, slots=True)
class AssertionData:
    """Texts to train on, frames for any claim, and texts of other wordings to measure on."""

    examples: list[Example]
    frames: list[Pair]
    held_out: list[Pair]
    digests: dict[str, str]

    @property
    def described(self) -> str:
        """The description of the texts in a card."""
        return (
            f"{len(self.examples)} pairs of `research/datasets/assertion/train.jsonl` and"
            f" `assertion/train.jsonl`, {len(self.frames)} frames of"
            f" `research/datasets/assertion/frames.jsonl`; the {len(self.held_out)} of"
            " `held-out.jsonl` are of wordings that none of these has"
        )


def load_assertions(data: Path) -> AssertionData:
    """Read ``research/datasets/assertion`` and the folder ``assertion`` of the data.

    Raises:
        BadSource: a file is missing or cannot be read.
    """
    files = {
        "research/datasets/assertion/train.jsonl": ASSERTIONS / "train.jsonl",
        "assertion/train.jsonl": data / "assertion" / "train.jsonl",
    }
    frames = ASSERTIONS / "frames.jsonl"
    return AssertionData(
        examples=[
            labelled(pair.claim, pair.evidence, pair.label)
            for path in files.values()
            for pair in read_pairs(path)
        ],
        frames=list(read_pairs(frames)),
        held_out=list(read_pairs(ASSERTIONS / "held-out.jsonl")),
        digests={
            name: digest_of(path)
            for name, path in {**files, "research/datasets/assertion/frames.jsonl": frames}.items()
        },
    )


# The project's own data set. ``documents.jsonl`` names sentences of the default corpus.
MEANING = Path(__file__).resolve().parents[2] / "datasets" / "meaning"
_MEANING_NAME = "research/datasets/meaning/"


def load_meaning(data: Path, pool: SentencePool) -> PairData:
    """Read ``research/datasets/meaning`` and the folder ``meaning`` of the data.

    ``pool``: the sentences of the default corpus.

    Raises:
        BadSource: a file is missing or cannot be read.
    """
    shared = training_files(data, "meaning")
    documents = MEANING / "documents.jsonl"
    texts = [MEANING / "train.jsonl", *shared]
    examples = [labelled(p.claim, p.evidence, p.label) for file in texts for p in read_pairs(file)]
    examples += _of_documents(documents, pool)
    held_out = list(read_pairs(MEANING / "held-out.jsonl"))
    return PairData(
        examples,
        held_out,
        digests={
            **{_MEANING_NAME + path.name: digest_of(path) for path in (texts[0], documents)},
            **{f"meaning/{path.name}": digest_of(path) for path in shared},
        },
        described=f"{len(examples)} pairs about meaning, of `{_MEANING_NAME}` and"
        f" `meaning/train-*.jsonl`; the {len(held_out)} of `held-out.jsonl` have other texts",
    )


def _of_documents(path: Path, pool: SentencePool) -> Iterator[Example]:
    """Yield the pairs of claims and ``sentences`` of the default corpus, [document id, number]."""
    for where, record, label in labelled_records(path):
        keys = sentence_keys(record["sentences"], where)
        text = pool.together(pool.position[key] for key in keys)
        yield labelled(record["claim"], text, label)


_SHORT = re.compile(rf"\b({'|'.join(map(re.escape, SHORT_FORMS.values()))})\b")
_SHORT_FORM = {full: short for short, full in SHORT_FORMS.items()}


def contracted(claim: str) -> str:
    """Return the claim with "isn't" for "is not"."""
    return _SHORT.sub(lambda found: _SHORT_FORM[found[0]], claim)


def without_stop(claim: str) -> str:
    """Return the claim without its full stop."""
    return claim.removesuffix(".")


def with_stop(claim: str) -> str:
    """Return the claim with a full stop, unless it ends with another mark."""
    return claim if claim[-1:] in ".?!" else f"{claim}."


def begun_small(claim: str) -> str:
    """Return the claim with a small first letter."""
    return claim[:1].lower() + claim[1:]


def begun_large(claim: str) -> str:
    """Return the claim with a capital."""
    return claim[:1].upper() + claim[1:]


def in_small_letters(claim: str) -> str:
    """Return the claim as it is typed in a search box."""
    return without_stop(claim).lower()


def quoted(claim: str) -> str:
    """Return the claim in quotation marks."""
    return f"“{claim}”"


def as_written(claim: str) -> str:
    """Return the claim."""
    return claim


_ENDS: Sequence[Callable[[str], str]] = (as_written, with_stop, without_stop)
_BEGINNINGS = (as_written, begun_large, begun_large, begun_small)
_FORMS = (as_written, in_full, contracted)
_WHOLES = (*[as_written] * 8, in_small_letters, quoted)


def resurfaced(examples: Sequence[Example], chance: random.Random) -> list[Example]:
    """Return the examples, each claim in a form drawn by ``chance``; the target stays."""
    return [replace(one, claim=_drawn_form(one.claim, chance)) for one in examples]


def _drawn_form(claim: str, chance: random.Random) -> str:
    for forms in (_FORMS, _BEGINNINGS, _ENDS, _WHOLES):
        claim = chance.choice(forms)(claim)
    return claim

"""``esoteric train checkable``: which sentences of a text can be checked.

A multinomial logistic regression over MiniLM's vectors of sentences that this project wrote
(``research/datasets/checkable``). Rules and model are measured alone and together, on wordings that
neither was made with; so are the rules for pronouns.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from sklearn.linear_model import LogisticRegression

from retrieval.checkable.given_text import Kind
from retrieval.checkable.kind_rules import WEIGHTS, KindModel, kind_by_rules, read_model
from retrieval.checkable.references import references_in
from retrieval.models.encoders import MiniLMEncoder
from retrieval.system.files import digest_of
from retrieval.text.english import EnglishParser
from retrieval.text.sentence_splitter import shared_splitter
from settings import CHECKOUT

DATA = CHECKOUT / "research" / "datasets" / "checkable"
PASSAGES = ("train", "held-out", "traps", "traps-held-out")
SCALE = 4.0  # of the unit vectors, so that the penalty of the weights leaves them enough
DIGITS = 4  # of a weight in the file


@dataclass(frozen=True, slots=True)
class LabelledSentence:
    """A sentence, what it is by the judgement of its writer, and by which device."""

    text: str
    kind: Kind
    wording: str


@dataclass(frozen=True, slots=True)
class Found:
    """How well the checkable sentences are found, as shares of one."""

    precision: float
    recall: float
    kinds: float

    @property
    def f1(self) -> float:
        """The harmonic mean of precision and recall."""
        both = self.precision + self.recall
        return 2 * self.precision * self.recall / both if both else 0.0


@dataclass(frozen=True, slots=True)
class Resolved:
    """How many references are resolved rightly, wrongly, not, and are rightly left unclear."""

    right: int
    wrong: int
    left: int
    unclear: int


def train_checkable(out: Path) -> None:
    """Fit the model, write it to ``out`` and measure it; the figures are in its card.

    Raises:
        ModelUnavailable: the packaged weights are missing.
    """
    parser, encoder = EnglishParser(), MiniLMEncoder()
    train, held_out = read_sentences("train"), read_sentences("held-out")
    fitted = LogisticRegression(max_iter=1000).fit(
        encoder.encode([one.text for one in train]) * SCALE, [one.kind for one in train]
    )
    out.mkdir(parents=True, exist_ok=True)
    model = {
        "kinds": [str(kind) for kind in fitted.classes_],
        "bias": np.round(fitted.intercept_, DIGITS).tolist(),
        "weights": np.round(fitted.coef_ * SCALE, DIGITS).tolist(),
    }
    (out / WEIGHTS).write_text(json.dumps(model) + "\n", encoding="utf-8")
    figures = figures_of(held_out, read_model(out), parser, encoder)
    resolved = {name: resolved_in(name, parser) for name in PASSAGES}
    (out / "README.md").write_text(_card(len(train), len(held_out), figures, resolved), "utf-8")


def read_sentences(name: str) -> list[LabelledSentence]:
    """Return the sentences of a file of the data set."""
    rows = (json.loads(line) for line in _lines(f"{name}.jsonl"))
    return [LabelledSentence(row["text"], row["kind"], row["wording"]) for row in rows]


def figures_of(
    sentences: Sequence[LabelledSentence],
    model: KindModel,
    parser: EnglishParser,
    encoder: MiniLMEncoder,
) -> dict[str, Found]:
    """Return how well rules, model and both find the checkable ones of these sentences."""
    rules = [kind_by_rules(parsed) for parsed in parser.parse_all(one.text for one in sentences)]
    likely = model.probabilities(encoder.encode([one.text for one in sentences]))
    labels = [one.kind for one in sentences]
    return {
        "rules": found(rules, labels),
        "model": found([model.kinds[int(row.argmax())] for row in likely], labels),
        "rules and model": found(
            [model.corrected(kind, row) for kind, row in zip(rules, likely, strict=True)], labels
        ),
    }


def found(predicted: Sequence[Kind], labels: Sequence[Kind]) -> Found:
    """Return precision and recall of the checkable sentences, and the accuracy of the kinds."""
    both = sum(a == b == "fact" for a, b in zip(predicted, labels, strict=True))
    same = sum(a == b for a, b in zip(predicted, labels, strict=True))
    return Found(
        both / max(1, sum(kind == "fact" for kind in predicted)),
        both / max(1, sum(kind == "fact" for kind in labels)),
        same / len(labels),
    )


def resolved_in(name: str, parser: EnglishParser) -> Resolved:
    """Return how the references of a file of passages are resolved."""
    right = wrong = left = unclear = 0
    for line in _lines(f"passages-{name}.jsonl"):
        passage = json.loads(line)
        given = _given(passage["text"], parser)
        for reference in passage["references"]:
            meant, ours = reference["meant"], given.get(reference["start"])
            if ours is None:
                left, unclear = left + (meant is not None), unclear + (meant is None)
            elif meant is not None and _same(ours, meant):
                right += 1
            else:
                wrong += 1
        wrong += sum(
            start not in {reference["start"] for reference in passage["references"]}
            for start, ours in given.items()
            if ours is not None
        )
    return Resolved(right, wrong, left, unclear)


def _given(text: str, parser: EnglishParser) -> dict[int, str | None]:
    (places,) = shared_splitter().split([text])
    parsed = list(parser.parse_all(text[start:end] for start, end in places))
    return {
        start + one.start: one.meant
        for (start, _), references in zip(places, references_in(parsed), strict=True)
        for one in references
    }


def _same(ours: str, meant: str) -> bool:
    """Return whether both are one name, of which one may lack a first name or "the"."""
    first, second = (f" {name.casefold().removeprefix('the ')}" for name in (ours, meant))
    return first.endswith(second) or second.endswith(first)


def _lines(name: str) -> list[str]:
    return (DATA / name).read_text(encoding="utf-8").splitlines()


def _card(
    trained: int, measured: int, figures: dict[str, Found], resolved: dict[str, Resolved]
) -> str:
    rows = (
        f"| {name} | {one.precision:.1%} | {one.recall:.1%} | {one.f1:.1%} | {one.kinds:.1%} |"
        for name, one in figures.items()
    )
    references = (
        f"| {name} | {one.right} | {one.wrong} | {one.left} | {one.unclear} |"
        for name, one in resolved.items()
    )
    digests = (f"- `{path.name}`: `{digest_of(path)}`" for path in sorted(DATA.glob("*.jsonl")))
    return (
        Path(__file__)
        .with_name("checkable_card.md")
        .read_text(encoding="utf-8")
        .format(
            trained=trained,
            measured=measured,
            digests="\n".join(digests),
            rows="\n".join(rows),
            references="\n".join(references),
        )
    )

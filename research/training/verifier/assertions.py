"""Texts that assert a claim, deny it or only mention it, written by hand.

"Claim: … Rating: False." contains the words of its claim and refutes it. In public pairs such texts
are rare, so a verifier that was trained on them takes every mention of a claim as support.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from research.evaluation.pairs import Pair, read_pairs
from research.training.loop import Example, labelled
from retrieval.system.files import digest_of

# The project's own data set; every fifth wording of a kind is in ``held-out.jsonl``.
OWN = Path(__file__).resolve().parents[2] / "datasets" / "assertion"


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
        "research/datasets/assertion/train.jsonl": OWN / "train.jsonl",
        "assertion/train.jsonl": data / "assertion" / "train.jsonl",
    }
    frames = OWN / "frames.jsonl"
    return AssertionData(
        examples=[
            labelled(pair.claim, pair.evidence, pair.label)
            for path in files.values()
            for pair in read_pairs(path)
        ],
        frames=list(read_pairs(frames)),
        held_out=list(read_pairs(OWN / "held-out.jsonl")),
        digests={
            name: digest_of(path)
            for name, path in {**files, "research/datasets/assertion/frames.jsonl": frames}.items()
        },
    )

"""FER's fine-grained retriever: which candidates are useful for a verifier (FER, section 3).

"The claim and all sentences in S are concatenated as a single input sequence, with a special token
[CLS] added at the beginning of each sentence" (section 3.2). So the score of a sentence depends on
the others: a second sentence with the same fact is less useful, and some sentences are useful only
together with another.

FER learns this from all of FEVER's training claims. Here there are far fewer, so the output of the
joint reading is added to the log-odds of each sentence's relevance. Without training it is 0. And
the vector of a sentence is not that of its [CLS] but the mean from it to the next one: a [CLS] has
to learn which words are its own, and in 5,000 claims it did not (research/notebook.md).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from retrieval.models.arrays import Array, linear, softmax
from retrieval.models.networks import Row, Tokenizer
from retrieval.models.trained_model import TrainedModel, read_config, read_difference, trained_body
from retrieval.models.weights import damaged
from retrieval.system.fixes import restore_model
from retrieval.text.context import evidence_text

USEFUL = 1  # of the two classes: 0 is not useful
_LEAST = 0.005  # relevance is clipped to this and to 1 minus this


@dataclass(frozen=True, slots=True)
class JointRow:
    """A claim with its candidates as one row of tokens, and the position of each one's [CLS]."""

    ids: Row
    heads: list[int]


def joint_row(
    tokenizer: Tokenizer, claim: str, sentences: Sequence[tuple[str, str]], max_tokens: int
) -> JointRow:
    """Return the network's input for a claim and its (title, sentence) candidates."""
    row, rest = pieces(tokenizer, claim, sentences, max_tokens)
    heads = []
    for piece in rest:
        heads.append(len(row))
        row = [*row, tokenizer.begin, *piece]
    return JointRow(row, heads)


def log_odds(relevance: Sequence[float] | Array) -> Array:
    """Return the log-odds of the probabilities of relevance, ``(sentences,)``."""
    known = np.clip(np.asarray(relevance, np.float32), _LEAST, 1 - _LEAST)
    odds: Array = np.log(known / (1 - known))
    return odds


def pieces(
    tokenizer: Tokenizer, claim: str, sentences: Sequence[tuple[str, str]], max_tokens: int
) -> tuple[Row, list[Row]]:
    """Return the tokens of the claim, with its [CLS] and [SEP], and those of each sentence.

    Together with one more token for each sentence they fit into ``max_tokens``. If they are too
    long, the ends of the longest sentences are cut.
    """
    texts = [claim, *(evidence_text(title, sentence) for title, sentence in sentences)]
    (of_claim, _), *read = tokenizer.placed(texts)
    claim_row = [tokenizer.begin, *of_claim[: max_tokens // 2 - 2], tokenizer.end]
    if not sentences:
        return claim_row, []
    rows = [ids[:max_tokens] for ids, _ in read]
    room = max_tokens - len(claim_row) - len(rows)
    longest = longest_that_fits([len(row) for row in rows], room)
    return claim_row, [row[:longest] for row in rows]


def longest_that_fits(lengths: Sequence[int], room: int) -> int:
    """Return the greatest length of a sentence with which all fit; shorter ones stay whole."""
    for done, length in enumerate(sorted(lengths)):
        share = room // (len(lengths) - done)
        if length > share:
            return share
        room -= length
    return max(lengths)


class UtilityModel(TrainedModel):
    """The weights of the relevance model with the difference of FER's training."""

    def __init__(self, folder: Path, relevance_model: Path) -> None:
        """Read ``folder``, which contains the difference; no weights are loaded yet.

        ``relevance_model`` is the folder of the relevance model that training began with.

        Raises:
            ModelUnavailable: a ``config.json`` is missing or damaged, or the
                difference belongs to another relevance model.
        """
        super().__init__(folder)
        self._relevance_model = relevance_model
        self._of_relevance_model = read_config(relevance_model)["sha256"]
        if self._config["relevance_model"] != self._of_relevance_model:
            what = (
                f"The model in {folder} belongs to another relevance model than {relevance_model}."
            )
            raise damaged(what, restore_model(folder))

    @property
    def _key(self) -> str:
        return sha256(f"{self._of_relevance_model} {self._config['sha256']}".encode()).hexdigest()

    def _base_weights(self) -> Mapping[str, Array]:
        difference = read_difference(self._relevance_model, self._of_relevance_model)
        return trained_body(super()._base_weights(), difference, self._relevance_model)

    def usefulness(
        self, claim: str, sentences: Sequence[tuple[str, str]], relevance: Sequence[float]
    ) -> NDArray[np.float32]:
        """Return the probability of each (title, sentence) that it is useful evidence.

        They are read together, in one pass; ``relevance`` is the relevance of each. Shape
        ``(len(sentences),)``.
        """
        row = joint_row(self._tokenizer, claim, sentences, self._config["max_tokens"])
        states = self._network.states([row.ids]).vectors[0, : len(row.ids)]
        lengths = np.diff([*row.heads, len(row.ids)])
        means = np.add.reduceat(states, row.heads) / lengths[:, None]
        hidden = np.maximum(linear(means, self._heads, "pre_classifier"), 0)
        logits = linear(hidden, self._heads, "classifier")
        logits[:, USEFUL] += log_odds(relevance)
        useful: NDArray[np.float32] = softmax(logits)[:, USEFUL]
        return useful

"""Runs the report's models with transformers and PyTorch, each from its folder.

Only weights in safetensors are read, by the classes of transformers itself: no code in the models'
folders is executed. Files are compared with the lock before they are read.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator, Sequence
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
from numpy.typing import NDArray

from retrieval.errors import ModelUnavailable
from retrieval.models import runtime
from retrieval.models.arrays import unit
from retrieval.models.papers.report_models import (
    ANSWERS,
    LOCK,
    SENTENCE_PIECES,
    SIMILARITY,
    TOKENIZER,
    WEIGHTS,
    PublishedModel,
    how_to_get_them,
    read_lock,
    verify,
)
from retrieval.models.weights import is_out_of_memory, too_little_memory
from retrieval.system.fixes import install_command

if TYPE_CHECKING:
    import torch

_BATCH = 8  # texts in a batch; in larger ones more padding is computed
_WINDOW = 512  # tokens that a classifier reads at most
_LONGEST_ANSWER = 64  # tokens that are generated at most


def _require_sentencepiece(folder: Path) -> None:
    if find_spec("sentencepiece") is None:
        raise ModelUnavailable(
            "package_missing",
            f"The tokenizer in {folder} is read by the package sentencepiece, which is not"
            " installed.",
            f"Run: {install_command('sentencepiece==0.2.3')}",
        )


class ReportNetwork:
    """One of the report's models; no file is read before ``warm_up``."""

    def __init__(self, models: Path, published: PublishedModel, **options: Any) -> None:
        """``models`` is the folder of all of them; ``options`` are the architecture's."""
        self._models = models
        self._published = published
        self._options = options
        self._loaded: tuple[Any, Any] | None = None

    @property
    def version(self) -> str:
        """Its name with the beginning of its weights' SHA-256 from the lock.

        Raises:
            ModelUnavailable: the lock is damaged or does not name it.
        """
        name = self._published.name
        try:
            return f"{name} {read_lock(self._models / LOCK)[name].files[WEIGHTS][:8]}"
        except KeyError:
            raise self._unavailable("is not in the lock") from None

    @property
    def config(self) -> dict[str, Any]:
        """The content of its ``config.json``.

        Raises:
            ModelUnavailable: it is missing or damaged.
        """
        try:
            path = self._models / self._published.name / "config.json"
            config: dict[str, Any] = json.loads(path.read_bytes())
        except (OSError, ValueError) as error:
            raise self._unavailable("has no config.json that can be read") from error
        return config

    def warm_up(self) -> None:
        """Compare the files with the lock and load them.

        Raises:
            ModelUnavailable: they are missing, differ, or are not of this architecture.
        """
        self._parts()

    def _parts(self) -> tuple[Any, Any]:
        """Return the tokenizer and the model."""
        if self._loaded is not None:
            return self._loaded
        folder = self._models / self._published.name
        verify(self._models, self._published.name)
        if not (folder / TOKENIZER).is_file() and (folder / SENTENCE_PIECES).is_file():
            _require_sentencepiece(folder)
        import torch
        import transformers

        runtime.prepare_transformers()
        try:
            tokenizer = transformers.AutoTokenizer.from_pretrained(
                folder, local_files_only=True, trust_remote_code=False
            )
            model, loading = getattr(transformers, self._published.architecture).from_pretrained(
                folder,
                local_files_only=True,
                trust_remote_code=False,
                use_safetensors=True,
                dtype=torch.float32,
                output_loading_info=True,
                **self._options,
            )
        except Exception as error:  # the library raises many kinds of errors for damaged files
            if is_out_of_memory(error):
                raise too_little_memory(f"the model in {folder}") from error
            raise self._unavailable("cannot be loaded") from error
        if loading["missing_keys"] or loading["mismatched_keys"]:  # those would be random
            raise self._unavailable("lacks weights") from None
        self._loaded = tokenizer, model.train(False)
        return self._loaded

    def _unavailable(self, what: str) -> ModelUnavailable:
        folder, kind = self._models / self._published.name, self._published.architecture
        return ModelUnavailable(
            "model_damaged", f"The model in {folder} ({kind}) {what}.", how_to_get_them()
        )

    def _batches(
        self, texts: Sequence[Any], window: int | None
    ) -> Iterator[tuple[list[int], dict[str, torch.Tensor]]]:
        """Yield batches of similar lengths: the texts' positions and their padded tokens.

        A text is a string or a pair of strings. It is cut to ``window`` tokens.
        """
        tokenizer, _ = self._parts()
        order = sorted(range(len(texts)), key=lambda n: sum(map(len, texts[n])))
        for start in range(0, len(order), _BATCH):
            rows = order[start : start + _BATCH]
            tokens = tokenizer(
                [texts[row] for row in rows],
                padding=True,
                truncation=window is not None,
                max_length=window,
                return_tensors="pt",
            )
            yield rows, dict(tokens)


class TokenLabels(ReportNetwork):
    """A model that labels each token of a text."""

    def labelled(self, text: str) -> list[tuple[int, int, str]]:
        """Return (start, end, label) of each word, in order; offsets are into ``text``.

        A word, as the tokenizer splits texts, has the label of its first token.
        """
        import torch

        tokenizer, model = self._parts()
        tokens = tokenizer(text, return_offsets_mapping=True, return_tensors="pt")
        offsets = tokens.pop("offset_mapping")[0].tolist()
        with torch.inference_mode():
            best = model(**tokens).logits[0].argmax(dim=-1).tolist()
        words: list[tuple[int, int, str]] = []
        last: int | None = None
        for word, (start, end), label in zip(tokens.word_ids(0), offsets, best, strict=True):
            if word is None:  # a special token
                continue
            if word == last:
                words[-1] = (words[-1][0], end, words[-1][2])
            else:
                words.append((start, end, model.config.id2label[label]))
            last = word
        return words


class TextGenerator(ReportNetwork):
    """A model that answers a text with a text."""

    def answers(self, texts: Sequence[str]) -> list[str]:
        """Return the most probable answer to each text, found token by token."""
        import torch

        tokenizer, model = self._parts()
        found = [""] * len(texts)
        unsaid = {tokenizer.pad_token_id, tokenizer.eos_token_id}
        for rows, tokens in self._batches(texts, None):
            with torch.inference_mode():
                generated = model.generate(
                    **tokens, max_new_tokens=_LONGEST_ANSWER, do_sample=False, num_beams=1
                )
            for row, ids in zip(rows, generated.tolist(), strict=True):
                # Separators between answers may be special tokens, so only these are left out.
                words = [token for token in ids if token not in unsaid]
                found[row] = tokenizer.decode(words, skip_special_tokens=False).strip()
        return found


class PairClassifier(ReportNetwork):
    """A model that classifies a pair of texts into one of two classes."""

    def probabilities(self, pairs: Sequence[tuple[str, str]]) -> NDArray[np.float32]:
        """Return the probability of the second class for each pair, shape ``(len(pairs),)``.

        Raises:
            ModelUnavailable: the model has another number of classes.
        """
        import torch

        _, model = self._parts()
        if model.config.num_labels != 2:
            raise self._unavailable(f"has {model.config.num_labels} labels instead of two")
        found = np.zeros(len(pairs), dtype=np.float32)
        for rows, tokens in self._batches(pairs, _WINDOW):
            with torch.inference_mode():
                found[rows] = model(**tokens).logits.softmax(dim=-1)[:, 1].numpy()
        return found


class VectorNetwork(ReportNetwork):
    """A model that makes one vector of a text or of a pair of texts."""

    def pooled(
        self, texts: Sequence[str] | Sequence[tuple[str, str]], window: int
    ) -> NDArray[np.float32]:
        """Return the model's own vectors, ``(len(texts), dimension)``; DPR's are those of [CLS]."""
        return self._vectors(texts, window, mean=False)

    def means(self, texts: Sequence[str], window: int) -> NDArray[np.float32]:
        """Return the means of the tokens' last hidden states, of the same shape."""
        return self._vectors(texts, window, mean=True)

    def _vectors(self, texts: Sequence[Any], window: int, mean: bool) -> NDArray[np.float32]:
        import torch

        batches: Iterable[tuple[list[int], dict[str, torch.Tensor]]]
        batches = self._batches(texts, window) if texts else ()
        found = np.zeros((len(texts), self.config["hidden_size"]), dtype=np.float32)
        for rows, tokens in batches:
            with torch.inference_mode():
                _, model = self._parts()
                output = model(**tokens)
                if mean:
                    mask = tokens["attention_mask"][:, :, None]
                    states = output.last_hidden_state
                    found[rows] = ((states * mask).sum(dim=1) / mask.sum(dim=1)).numpy()
                else:
                    found[rows] = output.pooler_output.numpy()
        return found


_SEPARATOR = "<sep>"


class AnswerExtractor:
    """Extracts entities to search for, or answers to ask for, each with a prompt of its own.

    The report gives the prompts in figures 21 and 24.
    """

    def __init__(self, models: Path) -> None:
        """``models`` is the folder of the report's models."""
        self._model = TextGenerator(models, ANSWERS)

    def warm_up(self) -> None:
        """Load the model.

        Raises:
            ModelUnavailable: it is missing or damaged.
        """
        self._model.warm_up()

    def places(self, what: Literal["entities", "answers"], claim: str) -> list[tuple[int, int]]:
        """Return start and end of each piece, in the model's order, each once.

        It is the first place in the claim with the same text, ignoring case. A piece that does not
        occur in the claim is left out.
        """
        said = self._model.answers([f"extract {what}: <ha> {claim} <ha>"])[0]
        pieces = filter(None, map(str.strip, said.split(_SEPARATOR)))
        found = (re.search(re.escape(piece), claim, re.IGNORECASE) for piece in pieces)
        return list(dict.fromkeys(match.span() for match in found if match))


_TOKENS = 384  # that are read at once, the special ones too (``sentence_bert_config.json``)


class MPNetEncoder:
    """Unit vectors of claims, sentences and titles, from the means of their tokens' states."""

    name = SIMILARITY.name

    def __init__(self, models: Path) -> None:
        """Read the model's ``config.json``; ``models`` is the folder of the report's models.

        Raises:
            ModelUnavailable: the file is missing or damaged.
        """
        self._network = VectorNetwork(models, SIMILARITY, add_pooling_layer=False)
        self.dimension: int = self._network.config["hidden_size"]

    def warm_up(self) -> None:
        """Load the weights.

        Raises:
            ModelUnavailable: they are missing or damaged.
        """
        self._network.warm_up()

    def encode(self, texts: Sequence[str]) -> NDArray[np.float32]:
        """Return unit vectors, shape ``(len(texts), 768)``; texts past 384 tokens are cut."""
        return unit(self._network.means(texts, _TOKENS))

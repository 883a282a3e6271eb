"""BART and GENRE, the models of the papers, from a folder with their weights (AdMIRaL, A.1).

Neither is packaged here: they take 1.6 GB. GENRE (De Cao et al. 2021) is a BART that was trained to
answer a text with a title, ``<s>title</s>``. A BART that was trained as AdMIRaL's names the
sentences that lead there first, by their numbers in the input: ``13<s>title</s>`` are the first and
the third. Both forms are searched at once, and the probabilities of the model decide between them.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Sequence
from functools import cached_property
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from retrieval.models.folders import failing_as, model_in, tokenizer_in
from retrieval.models.papers.decoding import Markup
from retrieval.models.title_trie import TitleTrie, build_run
from retrieval.models.weights import damaged, missing
from retrieval.system.packages import require_models

if TYPE_CHECKING:
    import torch

# The folder must contain all files of one alternative of each group.
_FILES = (
    (("config.json",),),
    (("model.safetensors",),),
    (("tokenizer.json",), ("vocab.json", "merges.txt")),
)
_FIX = (
    "Put config.json, model.safetensors and tokenizer.json (or vocab.json and merges.txt) of a BART"
    " such as facebook/genre-kilt there. A pickle (pytorch_model.bin) can run any program, so it is"
    " not read; docs/models.md has the line that converts one that you trust."
)
_BATCH = 10_000  # titles that are tokenised together


def weight_files(folder: Path) -> list[Path]:
    """Return the files of a folder that ``BartTitleModel`` reads.

    Raises:
        ModelUnavailable: one is missing, or PyTorch is not installed.
    """
    require_models("A title model of BART (ESOTERIC_BART)")
    found: list[Path] = []
    for alternatives in _FILES:
        paths = ([folder / name for name in names] for names in alternatives)
        present = next((files for files in paths if all(f.is_file() for f in files)), None)
        if present is None:
            wanted = alternatives[0][0]
            raise missing(f"{folder} contains no {wanted}.", _FIX)
        found += present
    return found


class BartTitleModel:
    """Generates numbers of sentences and titles in BART's tokens, with a separate trie."""

    def __init__(self, folder: Path) -> None:
        """Read the folder's ``config.json``; no weights are loaded yet.

        Raises:
            ModelUnavailable: a file is missing or damaged.
        """
        weight_files(folder)
        self._folder = folder
        try:
            config = json.loads((folder / "config.json").read_text(encoding="utf-8"))
            self._start: int = config["decoder_start_token_id"]
            self._window: int = config["max_position_embeddings"]
            self.markup = Markup(config["bos_token_id"], config["eos_token_id"])
        except (OSError, ValueError, KeyError, TypeError) as error:
            raise damaged(f"{folder / 'config.json'} is not that of a BART.", _FIX) from error

    def warm_up(self) -> None:
        """Load the weights, in the precision that is fastest here.

        Raises:
            ModelUnavailable: they are damaged.
        """
        _ = self._model

    @cached_property
    def _model(self) -> Any:
        options = {"dtype": fastest_precision()}
        with failing_as(f"model in {self._folder}", "cannot be loaded", _FIX):
            return model_in(self._folder, "BartForConditionalGeneration", **options)

    @cached_property
    def _tokenizer(self) -> Any:
        with failing_as(f"model in {self._folder}", "cannot be loaded", _FIX):
            return tokenizer_in(self._folder)

    def trie(self, titles: Iterable[tuple[str, str]]) -> TitleTrie:
        """Return the trie of these titles in BART's tokens, from (document id, title) pairs.

        Raises:
            ModelUnavailable: the tokenizer is damaged.
        """
        ids: list[str] = []
        return TitleTrie(build_run(self._numbered(titles, ids)), ids.__getitem__)

    def read(self, claim: str, sentences: Sequence[tuple[str, str]]) -> BartReading:
        """Read a claim and (title, sentence) pairs; the end is cut to BART's window.

        Titles are in square brackets, and ``</s>`` follows each part (AdMIRaL, A.1).
        """
        texts = [claim, *(f"[{title}] {sentence}" for title, sentence in sentences)]
        begin, end = self.markup.title_begin, self.markup.title_end
        tokens = [begin]
        read = -1  # sentences of which the window has a part; the claim comes before them
        for part in self._tokens(texts):
            read += len(tokens) < self._window - 1
            tokens += [*part, end]
        if len(tokens) > self._window:
            tokens = [*tokens[: self._window - 1], end]
        numbers = self._tokens([str(number) for number in range(1, min(read, 9) + 1)])
        # The first token is that of the digit: BART's vocabulary has all ten.
        return BartReading(self._model, tokens, self._start, [number[0] for number in numbers])

    def _numbered(
        self, titles: Iterable[tuple[str, str]], ids: list[str]
    ) -> Iterator[tuple[list[int], int]]:
        rest = iter(titles)
        while batch := list(islice(rest, _BATCH)):
            for (document_id, _), tokens in zip(
                batch, self._tokens([title for _, title in batch]), strict=True
            ):
                yield tokens, len(ids)
                ids.append(document_id)

    def _tokens(self, texts: list[str]) -> list[list[int]]:
        if not texts:  # which the library refuses
            return []
        tokens: list[list[int]] = self._tokenizer(texts, add_special_tokens=False).input_ids
        return tokens


class BartReading:
    """A text that BART has read; see ``decoding.Reading``."""

    def __init__(
        self,
        model: Any,
        tokens: Sequence[int],
        start: int,
        identifiers: Sequence[int],
    ) -> None:
        """Encode the tokens; ``start`` is the token that generation starts with.

        ``identifiers``: the tokens that stand for the sentences.
        """
        import torch

        self.identifiers = identifiers
        self._model = model
        self._start = start
        with torch.inference_mode():
            self._memory = self._model.get_encoder()(input_ids=torch.tensor([tokens]))[0]
        self._past: Any = None
        self._rows: dict[tuple[int, ...], int] = {}

    def next_tokens(self, prefixes: Sequence[tuple[int, ...]]) -> NDArray[np.float32]:
        """Return log-probabilities of the token after each prefix, ``(prefixes, vocabulary)``."""
        import torch
        from transformers import DynamicCache, EncoderDecoderCache

        if prefixes[0]:
            self._past.reorder_cache(torch.tensor([self._rows[prefix[:-1]] for prefix in prefixes]))
        else:
            self._past = EncoderDecoderCache(DynamicCache(), DynamicCache())
        last = [[prefix[-1] if prefix else self._start] for prefix in prefixes]
        with torch.inference_mode():
            logits = self._model(
                encoder_outputs=(self._memory.expand(len(prefixes), -1, -1),),
                decoder_input_ids=torch.tensor(last),
                past_key_values=self._past,
                use_cache=True,
            ).logits[:, -1]
            scores: NDArray[np.float32] = logits.float().log_softmax(dim=-1).numpy()
        self._rows = {prefix: row for row, prefix in enumerate(prefixes)}
        return scores


def fastest_precision() -> torch.dtype:
    """Return bfloat16 if the processor has it ("avx512_bf16", "amx_bf16" …), else float32.

    It is read from the processor's flags, since a measurement on a busy machine is unreliable.
    """
    import torch

    abilities = torch.cpu.get_capabilities()
    has = any(has for name, has in abilities.items() if name.endswith("bf16"))
    return torch.bfloat16 if has else torch.float32

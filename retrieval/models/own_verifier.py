"""A verifier of the user: a sequence-classification model of Hugging Face, and its calibration.

Its files are described without PyTorch, which computes with it.
"""

from __future__ import annotations

import hashlib
import json
import shlex
from collections.abc import Mapping, Sequence
from dataclasses import astuple, dataclass
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray
from safetensors import safe_open

from retrieval.errors import ModelUnavailable
from retrieval.models.arrays import Array
from retrieval.models.cross_encoders import Scaling, VerdictFit
from retrieval.models.folders import NotUsable, failing_as, model_in, tokenizer_in
from retrieval.models.networks import in_batches
from retrieval.models.weights import damaged, missing
from retrieval.system.files import digest_of, write_whole
from retrieval.system.fixes import convert_weights_command, esoteric_command
from retrieval.system.packages import require_models
from retrieval.text.context import SEPARATOR, evidence_text
from retrieval.types import LABELS, NOT_ENOUGH_INFO, REFUTES, SUPPORTS, Label
from retrieval.words import label_named

if TYPE_CHECKING:
    import torch
    from torch import nn

_LONGEST = 512  # most tokens of a row, even if the model's window is wider
_TRIALS = (
    ("The pier is long.", evidence_text("Pier", "The pier of Holm is 40 metres long.")),
    ("The pier is long.", evidence_text("Pier", "It is old.")),
)

CALIBRATION = "esoteric-calibration.json"
UNCALIBRATED: Mapping[str, Any] = {"temperature": 1.0}
_CONFIG, _WEIGHTS, _SHARDS = "config.json", "model.safetensors", "model.safetensors.index.json"
_PICKLES = "pytorch_model*.bin"
# The files of the tokenizer: one of these groups. Without any of them the library would make a
# tokenizer without a vocabulary.
_TOKENIZERS = (("tokenizer.json",), ("vocab.txt",), ("vocab.json", "merges.txt"))
_OF_TOKENIZERS = (
    *(name for names in _TOKENIZERS for name in names),
    "tokenizer_config.json",
    "special_tokens_map.json",
    "added_tokens.json",
    "spm.model",
    "sentencepiece.bpe.model",
    "spiece.model",
)
_FILES_HINT = (
    "Name the folder of a sequence-classification model of Hugging Face: config.json,"
    " model.safetensors and tokenizer.json (or vocab.txt, or vocab.json and merges.txt)."
)
_MEANINGS: tuple[set[Label], ...] = ({*LABELS}, {SUPPORTS, NOT_ENOUGH_INFO})


@dataclass(frozen=True, slots=True)
class ClassifierFiles:
    """The description of a model that is not loaded yet.

    ``labels``: the meaning of each of its outputs. ``digest``: one SHA-256 of the weights, of the
    configuration, which contains the labels, and of the tokenizer's files.
    """

    folder: Path
    labels: tuple[Label, ...]
    digest: str

    @property
    def name(self) -> str:
        """The folder's name and the beginning of the digest."""
        return f"{self.folder.name} {self.digest[:8]}"

    @property
    def calibration_file(self) -> Path:
        """The file of the calibration, in the user's folder."""
        return self.folder / CALIBRATION


def read_classifier(folder: Path) -> ClassifierFiles:
    """Return the description of the model in a folder; the weights are read for their digest.

    Raises:
        ModelUnavailable: a file is missing or damaged, the weights are pickled, or the meaning of
            the labels is unclear; or PyTorch, which computes it, is not installed.
    """
    require_models("A verifier of your own (ESOTERIC_VERIFIER)")
    path = folder / _CONFIG
    if not path.is_file():
        raise _lacks(folder, _CONFIG)
    try:
        config = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError) as error:
        raise damaged(f"{path} cannot be read ({error}).", _FILES_HINT) from error
    labels = _labels(config.get("id2label") if isinstance(config, dict) else None, path)
    weights = _weights(folder)
    if not any(all((folder / name).is_file() for name in names) for names in _TOKENIZERS):
        raise _lacks(folder, "tokenizer.json")
    others = (folder / name for name in _OF_TOKENIZERS)
    files = [path, *weights, *(file for file in others if file.is_file())]
    digests = "".join(f"{file.name} {digest_of(file)}\n" for file in files)
    digest = hashlib.sha256(digests.encode()).hexdigest()
    return ClassifierFiles(folder.resolve(), labels, digest)


def read_calibration(files: ClassifierFiles) -> Mapping[str, Any]:
    """Return the model's calibration, ``UNCALIBRATED`` if it has none.

    Raises:
        ModelUnavailable: it is damaged, or was fitted to other files of the model.
    """
    path = files.calibration_file
    if not path.exists():
        return UNCALIBRATED
    try:
        calibration = json.loads(path.read_text(encoding="utf-8"))
        whole = all(_is_whole(Scaling.of(calibration, in_search)) for in_search in (False, True))
        fitted_to = calibration["fitted_to"]
    except (OSError, ValueError, KeyError, TypeError, AttributeError) as error:
        raise _of_no_use(files, "is not a calibration") from error
    if not whole:
        raise _of_no_use(files, "contains numbers that no calibration can have")
    if fitted_to != files.digest:
        raise _of_no_use(files, "was fitted to other weights, labels or tokenizer files")
    return calibration  # type: ignore[no-any-return]


def write_calibration(files: ClassifierFiles, calibration: Mapping[str, Any]) -> None:
    """Write the calibration into the model's folder, atomically.

    Raises:
        OSError: it cannot be written.
    """
    content = json.dumps({**calibration, "fitted_to": files.digest}, indent=2) + "\n"
    write_whole(files.calibration_file, content.encode())


def calibrate_command(folder: Path) -> str:
    """Return the command line that calibrates the model in this folder."""
    return esoteric_command(f"calibrate --verifier {shlex.quote(str(folder))} --data DATA")


def _weights(folder: Path) -> list[Path]:
    found = [folder / _WEIGHTS]
    if not found[0].is_file() and (folder / _SHARDS).is_file():
        try:
            shards = json.loads((folder / _SHARDS).read_text(encoding="utf-8"))["weight_map"]
            found = [folder / name for name in sorted(set(shards.values()))]
            if not found:
                raise ValueError("there are none")
        except (OSError, ValueError, KeyError, TypeError, AttributeError) as error:
            raise damaged(f"{folder / _SHARDS} names no weights.", _FILES_HINT) from error
    pickled = sorted(folder.glob(_PICKLES))
    if not found[0].is_file() and pickled:
        raise ModelUnavailable(
            "model_pickled",
            f"The weights in {folder} are a pickle, {pickled[0].name}, and reading a pickle can run"
            " any program.",
            "Use the model's model.safetensors if there is one. Otherwise convert the weights,"
            f" if you trust their source: {convert_weights_command(folder)}",
        )
    for path in found:
        if not path.is_file():
            raise _lacks(folder, path.name)
        hint = "Download it again; a file of some hundred bytes is a pointer of Git LFS."
        with failing_as(f"file {path}", "is incomplete", hint), safe_open(path, "numpy"):
            pass
    return found


def _labels(id2label: Any, path: Path) -> tuple[Label, ...]:
    try:
        names = [id2label[key] for key in sorted(id2label, key=int)]
        labels = tuple(label for name in names if (label := label_named(name)))
    except (TypeError, ValueError, AttributeError):
        names, labels = [], ()
    if not names:
        raise _meaningless("there is no id2label", path)
    if len(labels) == len(names) == 2 and {*labels} == {SUPPORTS, REFUTES}:
        raise ModelUnavailable(
            "model_labels",
            f"The labels in {path} are {', '.join(names)}; NOT ENOUGH INFO is missing.",
            "A model that cannot leave a claim undecided is not supported. Name the folder of one"
            " with three labels, or with entailment and not_entailment (docs/models.md).",
        )
    if len(labels) != len(names) or len({*labels}) != len(names) or {*labels} not in _MEANINGS:
        raise _meaningless(f"the labels are {', '.join(names)}", path)
    return labels


def _is_whole(scaling: Scaling) -> bool:
    """Return whether the numbers are finite, one bias for each label, and the scale positive."""
    bias, fit = scaling.bias, astuple(scaling.verdict)
    return (
        0 < scaling.temperature < float("inf")
        and bias.shape in ((), (len(LABELS),))
        and bool((abs(bias) < float("inf")).all())
        and all(abs(number) < float("inf") for number in fit)
        and min(fit[:2]) >= 0 < max(fit[:2])
    )


def _lacks(folder: Path, name: str) -> ModelUnavailable:
    return missing(f"The verifier's folder {folder} contains no {name}.", _FILES_HINT)


def _meaningless(why: str, path: Path) -> ModelUnavailable:
    return ModelUnavailable(
        "model_labels",
        f"{path} does not say which output means what: {why}.",
        'Name the outputs there in their order, as in "id2label": {"0": "entailment", "1":'
        ' "neutral", "2": "contradiction"}, or "entailment" and "not_entailment"; the model\'s card'
        " states the order.",
    )


def _of_no_use(files: ClassifierFiles, what: str) -> ModelUnavailable:
    fix = f"Remove it, or fit it again: {calibrate_command(files.folder)}"
    return damaged(f"{files.calibration_file} {what}.", fix)


class SequenceClassifier:
    """Labels evidence as an ``EvidenceModel``; the model is loaded when it is first needed."""

    def __init__(
        self,
        files: ClassifierFiles,
        calibration: Mapping[str, Any] = UNCALIBRATED,
        in_search: bool = False,
    ) -> None:
        """Store the files; ``in_search``: use the calibration for evidence from a search."""
        self._files = files
        self._calibration = calibration
        self._scaling = Scaling.of(calibration, in_search)
        self._columns = [LABELS.index(label) for label in files.labels]

    @property
    def version(self) -> str:
        """See ``EvidenceModel``: the folder's name, and digests of its files and calibration."""
        if self._calibration == UNCALIBRATED:
            return self._files.name
        digest = hashlib.sha256(json.dumps(self._calibration, sort_keys=True).encode())
        return f"{self._files.name}, calibrated {digest.hexdigest()[:8]}"

    @property
    def verdict_fit(self) -> VerdictFit:
        """See ``EvidenceModel``."""
        return self._scaling.verdict

    def warm_up(self) -> None:
        """See ``EvidenceModel``; it is tried on two pairs too."""
        _ = self._network

    def probabilities(self, pairs: Sequence[tuple[str, str]]) -> NDArray[np.float32]:
        """See ``EvidenceModel``. A label that the model lacks has the probability 0.

        If a pair does not fit the model's window, the end of its longer text is cut.

        Raises:
            ModelUnavailable: what ``warm_up`` raises, or the model fails on these pairs.
        """
        network = self._network
        hint = "Check the claim again. If it fails again, use another model."
        what = "failed on a claim and its evidence"
        with failing_as(self._called, what, hint, "model_failed"):
            return in_batches(
                pairs,
                len(LABELS),
                lambda some: self._opinions(network.logits(some)),
                length=lambda pair: len(pair[0]) + len(pair[1]),
            )

    def _opinions(self, outputs: Array) -> Array:
        """Return the probabilities of ``LABELS``, ``(rows, 3)``, by the model's outputs."""
        logits = np.full((len(outputs), len(LABELS)), -np.inf, np.float32)
        logits[:, self._columns] = outputs
        return self._scaling.probabilities(logits)

    def computed(self, claim: str, evidence: str) -> tuple[str, ...]:
        """Return that nothing is: the model has not learnt to read it."""
        return ()

    def fits(self, claim: str, evidence: str) -> bool:
        """See ``EvidenceModel``; raises what ``warm_up`` raises."""
        return self._network.fits(claim, evidence)

    @cached_property
    def _network(self) -> _Network:
        hint = (
            "Download its files again, or name the folder of another sequence-classification"
            " model of Hugging Face, one that needs no Python code of its own."
        )
        with failing_as(self._called, "cannot be loaded", hint):
            network = _Network(self._files.folder)
            outputs = network.logits(_TRIALS).shape[1]
            if outputs != len(self._columns):
                raise NotUsable(f"it has {outputs} outputs, and names {len(self._columns)}")
        return network

    @property
    def _called(self) -> str:
        return f"verifier in {self._files.folder}"


class _Network:
    """The loaded model with its tokenizer."""

    def __init__(self, folder: Path) -> None:
        """Load both; raises what ``model_in`` raises."""
        # The name of a special token in a text is read as text.
        self._tokenizer = tokenizer_in(folder, split_special_tokens=True)
        self._model = model_in(folder, "AutoModelForSequenceClassification")
        tokens, words = len(self._tokenizer), self._model.get_input_embeddings().num_embeddings
        if tokens > words:
            raise NotUsable(f"its tokenizer has {tokens} tokens, the model {words}")
        self._window: int = min(self._tokenizer.model_max_length, _places(self._model))

    def inputs(self, pairs: Sequence[tuple[str, str]]) -> dict[str, torch.Tensor]:
        """Return (claim, evidence) pairs as the model reads them: premise, then hypothesis.

        They contain no special token but the tokenizer's own: a vocabulary may have its special
        tokens as words, as that of SentencePiece models does.
        """
        import torch

        read = self._tokenizer(
            [_premise(evidence) for _, evidence in pairs],
            [claim for claim, _ in pairs],
            truncation="longest_first",
            max_length=self._window,
            padding=True,
            return_special_tokens_mask=True,
            return_tensors="pt",
        )
        own, unknown = read.pop("special_tokens_mask"), self._tokenizer.unk_token_id
        if unknown is not None:
            marks = torch.tensor(self._tokenizer.all_special_ids)
            read["input_ids"][torch.isin(read["input_ids"], marks) & (own == 0)] = unknown
        return dict(read)

    def logits(self, pairs: Sequence[tuple[str, str]]) -> Array:
        """Return the model's outputs, ``(pairs, outputs)``, in the model's own order."""
        import torch

        with torch.inference_mode():
            logits: Array = self._model(**self.inputs(pairs)).logits.numpy()
        return logits

    def fits(self, claim: str, evidence: str) -> bool:
        """Return whether the whole pair fits the model's window."""
        read = self._tokenizer(_premise(evidence), claim, verbose=False)
        return len(read["input_ids"]) <= self._window


def _premise(evidence: str) -> str:
    """Return the evidence as plain text: these models know no separator of sentences."""
    return evidence.replace(SEPARATOR, " ")


def _places(model: nn.Module) -> int:
    """Return the most tokens of a row. Models like RoBERTa count positions from the padding's."""
    config: Any = model.config
    rows = int(getattr(config, "max_position_embeddings", _LONGEST))
    for name, module in model.named_modules():
        padding = getattr(module, "padding_idx", None)
        if name.endswith("position_embeddings") and padding is not None:
            rows -= padding + 1
    return min(rows, _LONGEST)

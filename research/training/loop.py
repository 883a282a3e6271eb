"""One training loop for every model: resumable, deterministic, on a GPU where torch sees one."""

from __future__ import annotations

import hashlib
import json
import logging
import math
import random
import time
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass
from functools import partial
from pathlib import Path
from typing import Any, Protocol, TypeAlias, TypeVar

import torch
from torch import Tensor, nn
from torch.nn.functional import cross_entropy
from transformers import PreTrainedTokenizerBase

from research.training.networks.encoders import pair_inputs
from retrieval.models.papers.bart import fastest_precision
from retrieval.types import LABELS, Label

logger = logging.getLogger(__name__)

Weights: TypeAlias = dict[str, Tensor]


def trained_weights(model: nn.Module) -> Weights:
    """Return a copy of the weights that are not frozen, by name."""
    return {name: weight.clone() for name, weight in _trained(model).items()}


def load_mean(model: nn.Module, ends: Sequence[Weights]) -> None:
    """Set the model's weights to the mean of these, which all have the same names.

    It is more accurate than any of the ends of several rounds of training (Izmailov et al. 2018,
    "Averaging Weights Leads to Wider Optima and Better Generalization"; Wortsman et al. 2022,
    "Model soups").
    """
    for name, weight in _trained(model).items():
        weight.copy_(torch.stack([end[name] for end in ends]).mean(dim=0))


class MovingAverage:
    """The moving average of a model's trained weights over the steps of its training."""

    def __init__(self, model: nn.Module, kept: float) -> None:
        """Begin with the weights of now; ``kept`` is the weight of the average in each step."""
        self.weights = trained_weights(model)
        self._kept = kept

    def add(self, model: nn.Module) -> None:
        """Add the weights after a step."""
        for name, weight in _trained(model).items():
            self.weights[name].lerp_(weight, 1 - self._kept)

    def load_into(self, model: nn.Module) -> None:
        """Set the model's weights to the average."""
        load_mean(model, [self.weights])


def weights_digest(model: nn.Module) -> str:
    """Return a digest of the weights that are not frozen, SHA-256."""
    digest = hashlib.sha256()
    for name, weight in _trained(model).items():
        digest.update(name.encode())
        digest.update(weight.contiguous().cpu().numpy().tobytes())
    return digest.hexdigest()


def _trained(model: nn.Module) -> dict[str, Tensor]:
    return {n: weight.detach() for n, weight in model.named_parameters() if weight.requires_grad}


class Measured(Protocol):
    """The interface of an example for the loop; its ``repr`` identifies it."""

    @property
    def length(self) -> int:
        """Its approximate length: examples of similar length are in the same batch."""
        ...


ExampleT = TypeVar("ExampleT", bound=Measured)
Loss: TypeAlias = Callable[[Sequence[ExampleT]], torch.Tensor]


@dataclass(frozen=True, slots=True)
class Example:
    """A claim, the evidence text that is read with it, and the target.

    ``target``: the probabilities of the model's labels, mostly ``LABELS``, in their order: 1 for a
    known label, or partly a teacher's probabilities.
    """

    claim: str
    evidence: str
    target: tuple[float, ...]

    @property
    def length(self) -> int:
        """The number of its characters."""
        return len(self.claim) + len(self.evidence)


def labelled(claim: str, evidence: str, label: Label) -> Example:
    """Return an example with a known label."""
    return Example(claim, evidence, tuple(float(label == known) for known in LABELS))


@dataclass(frozen=True, slots=True, kw_only=True)
class Hyperparameters:
    """Hyperparameters. ``learning_rate`` is the peak, after ``warmup`` (a share of all steps).

    The learning rate falls linearly to ``last_rate``: 0, or the rate at which a next phase begins.
    Training ends after ``steps`` steps if ``epochs`` have more.
    ``smoothing``: label smoothing of the loss. With ``averaging``, the trained weights are the
    moving average of those of all steps; it is the weight of the average before a step.
    ``last_layer``: how much higher the learning rate of the module ``classifier`` is, for a body
    that has learned already and a last layer that has not.
    """

    epochs: int = 1
    batch_size: int = 32
    learning_rate: float
    weight_decay: float = 0.01
    warmup: float = 0.06
    max_tokens: int
    seed: int = 0
    steps: int | None = None
    last_rate: float = 0.0
    smoothing: float = 0.0
    averaging: float | None = None
    last_layer: float = 1.0


def train(
    model: nn.Module,
    examples: Sequence[ExampleT],
    loss_of: Loss[ExampleT],
    recipe: Hyperparameters,
    run: Path,
    evaluate: Callable[[], dict[str, float]],
    checkpoint_every: int = 100,
) -> list[dict[str, float]]:
    """Fine-tune the weights of ``model`` that are not frozen; return the dev figures per epoch.

    ``loss_of`` returns the loss of a batch, a scalar that depends on the model.
    Written to ``run``: ``log.jsonl`` (a line every 50 steps and one per epoch) and
    ``checkpoint.pt``, from which an interrupted run continues. The order of the examples depends
    only on the seed and the epoch.
    """
    run.mkdir(parents=True, exist_ok=True)
    torch.manual_seed(recipe.seed)
    steps_per_epoch = math.ceil(len(examples) / recipe.batch_size)
    whole = steps_per_epoch * recipe.epochs
    last = whole if recipe.steps is None else min(recipe.steps, whole)
    state = _State(model, recipe, last, examples_digest(examples))
    checkpoint = run / "checkpoint.pt"
    state.resume(checkpoint)
    for epoch in range(len(state.history), math.ceil(last / steps_per_epoch)):
        batches = _batches(examples, recipe, epoch)
        model.train()
        losses: list[float] = []
        started = time.monotonic()
        begin = epoch * steps_per_epoch
        for batch in batches[state.step - begin : last - begin]:
            losses.append(state.learn(loss_of(batch)))
            if state.step % 50 == 0:
                pace = (time.monotonic() - started) / len(losses)
                _log(
                    run,
                    step=state.step,
                    of=last,
                    loss=sum(losses[-50:]) / len(losses[-50:]),
                    minutes_left=pace * (last - state.step) / 60,
                )
            if state.step % checkpoint_every == 0:
                state.save(checkpoint)
        model.train(False)
        if state.average is not None and state.step == last:
            state.average.load_into(model)
        state.save(checkpoint)  # the figures take minutes
        figures = evaluate()
        state.history.append(figures)
        _log(run, epoch=epoch + 1, **figures)
        state.save(checkpoint)
    model.train(False)
    return state.history


class _State:
    """What a step of training changes, and a checkpoint keeps."""

    def __init__(self, model: nn.Module, recipe: Hyperparameters, last: int, examples: str) -> None:
        """Begin before the first step; ``examples`` is their digest."""
        self._model = model
        self._optimizer = torch.optim.AdamW(_parameter_groups(model, recipe), lr=1.0, fused=True)
        rate = partial(_rate, recipe, last)
        self._schedule = torch.optim.lr_scheduler.LambdaLR(self._optimizer, rate)
        self.average = None if recipe.averaging is None else MovingAverage(model, recipe.averaging)
        self.step = 0
        self.history: list[dict[str, float]] = []
        self._origin = {
            "recipe": asdict(recipe),
            "examples": examples,
            "start": weights_digest(model),
        }

    def learn(self, loss: torch.Tensor) -> float:
        """Take a step against the gradient of the loss of a batch, and return the loss."""
        loss.backward()  # type: ignore[no-untyped-call]
        torch.nn.utils.clip_grad_norm_(self._model.parameters(), 1.0)
        self._optimizer.step()
        self._schedule.step()
        self._optimizer.zero_grad()
        if self.average is not None:
            self.average.add(self._model)
        self.step += 1
        return loss.item()

    def save(self, path: Path) -> None:
        """Write a checkpoint."""
        unfinished = path.with_suffix(".partial")
        torch.save(
            {
                "model": {n: p for n, p in self._model.named_parameters() if p.requires_grad},
                "optimizer": self._optimizer.state_dict(),
                "schedule": self._schedule.state_dict(),
                "average": self.average.weights if self.average is not None else {},
                "random": torch.get_rng_state(),
                "step": self.step,
                "history": self.history,
                "origin": self._origin,
            },
            unfinished,
        )
        unfinished.replace(path)

    def resume(self, path: Path) -> None:
        """Continue from a checkpoint, only if it has the same recipe, examples and start."""
        if not path.exists():
            return
        kept = torch.load(path, weights_only=True)
        other = [name for name, value in self._origin.items() if kept["origin"].get(name) != value]
        if other:
            logger.warning("%s is of other %s: training begins anew", path, " and ".join(other))
            return
        self._model.load_state_dict(kept["model"], strict=False)
        self._optimizer.load_state_dict(kept["optimizer"])
        self._schedule.load_state_dict(kept["schedule"])
        if self.average is not None:
            self.average.weights = kept["average"]
        torch.set_rng_state(kept["random"])
        self.step, self.history = kept["step"], kept["history"]


def best_device() -> torch.device:
    """Return the GPU if torch sees one, otherwise the CPU."""
    return torch.device("cuda" if torch.cuda.is_available() else "cpu")


def fast_products(device: torch.device) -> torch.autocast:
    """Return the context in which products are in bfloat16, if the device has instructions for it.

    A processor without them takes ten times as long as in full precision.
    """
    fast = device.type == "cuda" or fastest_precision() is torch.bfloat16
    return torch.autocast(device.type, torch.bfloat16, enabled=fast)


def device_of(model: nn.Module) -> torch.device:
    """Return the device of the model's weights."""
    return next(model.parameters()).device


def switch_off_dropout(model: nn.Module) -> None:
    """Turn dropout off; a step takes about a third less time."""
    for module in model.modules():
        if isinstance(module, nn.Dropout):
            module.p = 0.0


def classification_loss(
    model: nn.Module, tokenizer: PreTrainedTokenizerBase, max_tokens: int, smoothing: float = 0.0
) -> Loss[Example]:
    """Return the cross entropy of the output of ``model``, with label smoothing.

    Called with the tokenizer's tensors, the model returns an object with
    ``logits``, shape ``(examples, labels)``.
    """

    def loss_of(batch: Sequence[Example]) -> torch.Tensor:
        pairs = [(example.claim, example.evidence) for example in batch]
        inputs = pair_inputs(tokenizer, pairs, max_tokens).to(device_of(model))
        with fast_products(device_of(model)):
            logits = model(**inputs).logits.float()
        target = torch.tensor([example.target for example in batch], device=logits.device)
        return cross_entropy(logits, target, label_smoothing=smoothing)

    return loss_of


def _batches(
    examples: Sequence[ExampleT], recipe: Hyperparameters, epoch: int
) -> list[list[ExampleT]]:
    """Shuffle, then sort by length within groups of 40 batches, to reduce padding."""
    order = random.Random(f"{recipe.seed}/{epoch}")
    shuffled = list(examples)
    order.shuffle(shuffled)
    stretch = recipe.batch_size * 40
    batches = []
    for start in range(0, len(shuffled), stretch):
        part = sorted(
            shuffled[start : start + stretch],
            key=lambda example: example.length,
        )
        batches += [part[i : i + recipe.batch_size] for i in range(0, len(part), recipe.batch_size)]
    order.shuffle(batches)
    return batches


def _rate(recipe: Hyperparameters, total: int, step: int) -> float:
    """Return the learning rate of a step: linear up to the peak, then linear to ``last_rate``."""
    warm = int(total * recipe.warmup)
    if step < warm:
        return recipe.learning_rate * (step + 1) / warm
    left = (total - step) / max(1, total - warm)
    return recipe.last_rate + left * (recipe.learning_rate - recipe.last_rate)


def _parameter_groups(model: torch.nn.Module, recipe: Hyperparameters) -> list[dict[str, Any]]:
    """Return the groups of weights; biases and layer norms have no weight decay."""
    trained = [named for named in model.named_parameters() if named[1].requires_grad]
    return [
        {
            "params": [p for name, p in trained if (p.ndim > 1, _is_last(name)) == (matrix, last)],
            "weight_decay": recipe.weight_decay if matrix else 0.0,
            "lr": recipe.last_layer if last else 1.0,
        }
        for last in (False, True)
        for matrix in (True, False)
    ]


def _is_last(name: str) -> bool:
    return name.startswith("classifier.")


def examples_digest(examples: Sequence[Measured]) -> str:
    """Return a digest of a list of examples, SHA-256."""
    digest = hashlib.sha256()
    for example in examples:
        digest.update(repr(example).encode("utf-8", "surrogatepass"))
    return digest.hexdigest()


def _log(run: Path, **values: float) -> None:
    line = json.dumps({key: round(value, 5) for key, value in values.items()})
    print(line, flush=True)
    with (run / "log.jsonl").open("a", encoding="utf-8") as stream:
        stream.write(line + "\n")

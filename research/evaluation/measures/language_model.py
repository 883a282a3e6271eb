"""What a language model adds to the verifier, and what it costs."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from retrieval import types
from retrieval.llm_judge.choice import LanguageModelChoice
from retrieval.result import Verdict
from retrieval.types import Label, Usage

_MILLION = 1_000_000


@dataclass(frozen=True, slots=True)
class Judged:
    """The verdict on a claim; ``seconds`` and ``usage``: of the language model."""

    verdict: Verdict | types.Verdict
    usage: Usage | types.Usage | None
    seconds: float


def language_model_results(
    choice: LanguageModelChoice,
    labels: Sequence[Label],
    judged: Sequence[Judged | None],
) -> dict[str, Any]:
    """Return figures of both judges on the claims with both opinions, and the usage.

    ``labels``: the gold labels of the claims in ``judged``. ``without_answer``: claims with
    evidence, but without a usable answer; ``not_asked``: claims without evidence. ``accuracy`` and
    ``verifier_accuracy``: 0 to 1, of claims with both opinions; ``when_they_agree`` and
    ``when_they_differ``: of the model, likewise. ``cost``: by the prices of the settings, ``None``
    without them. ``kept``: answers stored before, which took no tokens. Tokens of answers that
    could not be used count. ``seconds``: of the model alone, median of the claims with its opinion.
    """
    checked = [(label, one) for label, one in zip(labels, judged, strict=True) if one]
    asked = [(label, one, one.usage) for label, one in checked if one.usage]
    answered = [(label, one, used) for label, one, used in asked if len(one.verdict.opinions) > 1]
    both = [(label, *_labels(choice, one)) for label, one, _ in answered]
    prompt = sum(usage.prompt_tokens for _, _, usage in asked)
    answer = sum(usage.answer_tokens for _, _, usage in asked)
    price = choice.price
    agree = [(label, model) for label, model, verifier in both if model == verifier]
    differ = [(label, model) for label, model, verifier in both if model != verifier]
    return {
        "model": choice.name,
        "decides": choice.decides,
        "opinions": len(both),
        "without_answer": len(asked) - len(both),
        "not_asked": len(checked) - len(asked),
        "accuracy": _share([label == model for label, model, _ in both]),
        "verifier_accuracy": _share([label == verifier for label, _, verifier in both]),
        "agreement": _share([model == verifier for _, model, verifier in both]),
        "when_they_agree": _share([label == model for label, model in agree]),
        "when_they_differ": _share([label == model for label, model in differ]),
        "calls": sum(usage.calls for _, _, usage in asked),
        "kept": sum(usage.calls == 0 for _, _, usage in answered),
        "prompt_tokens": prompt,
        "answer_tokens": answer,
        "cost": (prompt * price.prompt + answer * price.answer) / _MILLION if price else None,
        "seconds": float(np.median([one.seconds for _, one, _ in answered])) if answered else None,
    }


def _labels(choice: LanguageModelChoice, judged: Judged) -> tuple[str, str]:
    """Return the labels of the model and of the verifier."""
    opinions = judged.verdict.opinions
    model = next(one.label for one in opinions if one.judge == choice.name)
    verifier = next(one.label for one in opinions if one.judge != choice.name)
    return model, verifier


def _share(values: Sequence[bool]) -> float | None:
    return sum(values) / len(values) if values else None

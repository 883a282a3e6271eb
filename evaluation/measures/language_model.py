"""What a language model adds to the verifier, and what it takes."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from retrieval.explanation.choice import LanguageModelChoice
from retrieval.types import Label

_MILLION = 1_000_000


def language_model_results(
    choice: LanguageModelChoice,
    labels: Sequence[Label],
    documents: Sequence[Mapping[str, Any]],
) -> dict[str, Any]:
    """Return how both judges do on the claims that both gave an opinion of, and what that took.

    ``labels``: the true ones of the claims that ``documents`` are of.
    ``together``: the verdict is that of both judges. ``without_answer``: claims with evidence that
    the model gave no usable answer to; ``not_asked``: claims without evidence. ``accuracy`` and
    ``verifier_accuracy``: 0 to 1, of claims with both opinions; ``when_they_agree`` and
    ``when_they_differ``: of the model, likewise. ``cost``: by the prices of the settings, ``None``
    without them. ``kept``: answers that were kept from before, which took no tokens. Tokens of
    answers that could not be used count. ``seconds``: of the model alone, at the median of claims
    that it gave an opinion of.
    """
    checked = [(label, d) for label, d in zip(labels, documents, strict=True) if "error" not in d]
    asked = [(label, d) for label, d in checked if "explain" in d["seconds"]]
    answered = [(label, d) for label, d in asked if len(d["verdict"]["opinions"]) > 1]
    both = [(label, *_labels(choice, d)) for label, d in answered]
    usages = [d["usage"] for _, d in asked]
    prompt = sum(usage["prompt_tokens"] for usage in usages)
    answer = sum(usage["answer_tokens"] for usage in usages)
    price = choice.price
    agree = [(label, model) for label, model, verifier in both if model == verifier]
    differ = [(label, model) for label, model, verifier in both if model != verifier]
    return {
        "model": choice.name,
        "decides": choice.decides,
        "together": choice.decides and choice.is_local,
        "opinions": len(both),
        "without_answer": len(asked) - len(both),
        "not_asked": len(checked) - len(asked),
        "accuracy": _share([label == model for label, model, _ in both]),
        "verifier_accuracy": _share([label == verifier for label, _, verifier in both]),
        "agreement": _share([model == verifier for _, model, verifier in both]),
        "when_they_agree": _share([label == model for label, model in agree]),
        "when_they_differ": _share([label == model for label, model in differ]),
        "calls": sum(usage["calls"] for usage in usages),
        "kept": sum(d["usage"]["calls"] == 0 for _, d in answered),
        "prompt_tokens": prompt,
        "answer_tokens": answer,
        "cost": (prompt * price.prompt + answer * price.answer) / _MILLION if price else None,
        "seconds": float(np.median([d["seconds"]["explain"] for _, d in answered]))
        if answered
        else None,
    }


def _labels(choice: LanguageModelChoice, document: Mapping[str, Any]) -> tuple[str, str]:
    """Return the labels of the model and of the verifier."""
    opinions = document["verdict"]["opinions"]
    model = next(one["label"] for one in opinions if one["judge"] == choice.name)
    verifier = next(one["label"] for one in opinions if one["judge"] != choice.name)
    return model, verifier


def _share(values: Sequence[bool]) -> float | None:
    return sum(values) / len(values) if values else None

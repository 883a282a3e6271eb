"""``esoteric evaluate --pairs``: the verifier with the evidence given, and a language model."""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from research.evaluation.claims import Pair, bad_line, read_pairs
from research.evaluation.measures.corpus import Judged, language_model_results
from research.evaluation.measures.scores import calibration_error
from research.evaluation.provenance import PAIRS
from research.evaluation.report import language_model_text
from research.evaluation.run import write_lines
from retrieval.llm_judge.choice import LanguageModelChoice
from retrieval.llm_judge.explainer import Explainer
from retrieval.llm_judge.interface import Explains
from retrieval.models.cross_encoders import EvidenceModel
from retrieval.models.folders import ModelFolders
from retrieval.models.shipped import evidence_model
from retrieval.quantities.halves import comparison
from retrieval.recipes.recipes import RetrievalConfig
from retrieval.stages.decide.comparison import ComparisonReader
from retrieval.system.files import digest_of
from retrieval.text.english import EnglishParser
from retrieval.types import LABELS, Evidence, Judgement, Label, Opinion, Sentence, Verdict

STEP = 256  # pairs between two reports of progress
WORST = 20  # wrong labels that are listed, the most confident first


def evaluate_pairs(
    file: Path,
    out: Path,
    folders: ModelFolders,
    command: str,
    on_pairs: Callable[[int, int], None],
    llm: LanguageModelChoice | None = None,
) -> dict[str, Any]:
    """Label every pair, write all below ``out / "pairs"`` and return the results.

    ``folders``: which verifier. ``on_pairs`` receives the number of pairs done and of all. ``llm``:
    a language model that is asked too; then the written labels are those of the judge that
    decides, and the results have ``language_model`` (``second_judge_results``). Written:
    ``predictions.jsonl`` in the order of ``file``, ``results.json`` and ``report.md``.

    Raises:
        BadSource: the file cannot be read, contains no pairs, or a line is not a pair.
        ModelUnavailable: the verifier is missing or damaged.
    """
    pairs = list(read_pairs(file))
    if not pairs:
        raise bad_line(str(file), "no pairs")
    model = evidence_model(folders, in_search=False)
    stage = Explainer(llm, kept=None) if llm else None
    # Compared with a language model, the verifier takes very little time.
    read = opinions_of(model, pairs, on_pairs if stage is None else lambda done, of: None)
    probabilities, ruled = with_comparisons(pairs, read, model)
    results = {
        "command": command,
        "file": file.name,
        "sha256": digest_of(file),
        "model": model.version,
        **pair_results(pairs, probabilities),
        "comparisons": comparison_results(pairs, read, probabilities, ruled),
    }
    verdicts = [(LABELS[int(row.argmax())], float(row.max())) for row in probabilities]
    if llm is not None and stage is not None:
        judged = judged_pairs(pairs, probabilities, model.version, stage, on_pairs)
        labels = [pair.label for pair in pairs]
        results["language_model"] = second_judge_results(llm, labels, judged)
        verdicts = [(one.verdict.label, one.verdict.confidence) for one in judged]
    folder = out / PAIRS
    folder.mkdir(parents=True, exist_ok=True)
    lines = (
        {
            "claim": pair.claim,
            "label": pair.label,
            "predicted_label": label,
            "confidence": round(confidence, 4),
        }
        for pair, (label, confidence) in zip(pairs, verdicts, strict=True)
    )
    write_lines(folder / "predictions.jsonl", lines)
    text = json.dumps(results, indent=1)
    (folder / "results.json").write_text(f"{text}\n", encoding="utf-8")
    (folder / "report.md").write_text(f"{report_of_pairs(results)}\n", encoding="utf-8")
    return results


def opinions_of(
    model: EvidenceModel, pairs: Sequence[Pair], on_pairs: Callable[[int, int], None]
) -> NDArray[np.float32]:
    """Return the probabilities of ``LABELS`` that the model gives, shape (pairs, 3).

    ``on_pairs`` receives the number of pairs done and of all. Raises what ``model.warm_up`` raises.
    """
    opinions = []
    for start in range(0, len(pairs), STEP):
        part = pairs[start : start + STEP]
        opinions.append(model.probabilities([(pair.claim, pair.evidence) for pair in part]))
        on_pairs(start + len(part), len(pairs))
    return np.concatenate(opinions)


def with_comparisons(
    pairs: Sequence[Pair], probabilities: NDArray[np.float32], model: EvidenceModel
) -> tuple[NDArray[np.float32], list[int]]:
    """Return the probabilities after the stage ``comparison``, and what it decided.

    ``probabilities``: of ``LABELS``, by the ``model``, shape (pairs, 3). The second value has the
    numbers of the decided pairs, from 0.
    """
    parser = EnglishParser()
    halves = ComparisonReader(parser, model, RetrievalConfig().compared_sentences)
    after, ruled = probabilities.copy(), []
    for number, pair in enumerate(pairs):
        claim = comparison(parser.parse(pair.claim))
        found = halves.compared(claim, pair.sentences) if claim else None
        if found is not None:
            after[number] = found[0].opinion
            ruled.append(number)
    return after, ruled


def comparison_results(
    pairs: Sequence[Pair],
    before: NDArray[np.float32],
    after: NDArray[np.float32],
    ruled: Sequence[int],
) -> dict[str, int | float]:
    """Return how many pairs arithmetic decided, and how many of its labels are right.

    ``before`` and ``after``: probabilities of ``LABELS`` without and with it, shape (pairs, 3).
    ``turned_right`` and ``turned_wrong``: labels of the verifier that it changed so.
    ``accuracy_without``: that of the verifier alone, 0 to 1.
    """
    truth = np.array([LABELS.index(pair.label) for pair in pairs])
    was_right, is_right = before.argmax(axis=1) == truth, after.argmax(axis=1) == truth
    return {
        "decided": len(ruled),
        "right": int(is_right[list(ruled)].sum()),
        "turned_right": int((is_right & ~was_right).sum()),
        "turned_wrong": int((was_right & ~is_right).sum()),
        "accuracy_without": float(was_right.mean()),
    }


def pair_results(pairs: Sequence[Pair], probabilities: NDArray[np.float32]) -> dict[str, Any]:
    """Return accuracies (0 to 1) of all pairs, by label, source and kind, and the worst errors.

    ``probabilities``: of ``LABELS``, shape (pairs, 3). ``calibration_error`` is the
    expected one, 0 to 1 (Guo et al. 2017, section 2).
    """
    truth = np.array([LABELS.index(pair.label) for pair in pairs])
    right = probabilities.argmax(axis=1) == truth
    confidence = probabilities.max(axis=1).astype(np.float64)
    wrong = np.flatnonzero(~right)
    worst = sorted(wrong.tolist(), key=lambda n: (-confidence[n], n))[:WORST]
    return {
        "pairs": len(pairs),
        "accuracy": float(right.mean()),
        "calibration_error": calibration_error(confidence, right),
        "by_label": _by([pair.label for pair in pairs], right),
        "by_source": _by([pair.source for pair in pairs], right),
        "by_kind": _by([pair.kind for pair in pairs], right),
        "worst": [
            {
                "claim": pairs[n].claim,
                "evidence": pairs[n].evidence,
                "label": pairs[n].label,
                "predicted_label": LABELS[int(probabilities[n].argmax())],
                "confidence": round(float(confidence[n]), 4),
            }
            for n in worst
        ],
    }


def _by(groups: Sequence[str | None], right: NDArray[np.bool_]) -> dict[str, dict[str, float]]:
    """Return count and accuracy of each named group, in the order in which they come."""
    names = [name for name in dict.fromkeys(groups) if name is not None]
    found = {name: right[[group == name for group in groups]] for name in names}
    return {
        name: {"pairs": len(part), "accuracy": float(part.mean())} for name, part in found.items()
    }


def report_of_pairs(results: dict[str, Any]) -> str:
    """Return the report, Markdown."""
    tables = "\n\n".join(
        "\n".join(
            [
                f"| {title} | pairs | label accuracy, % |",
                "|---|---|---|",
                *(
                    f"| {name} | {row['pairs']} | {100 * row['accuracy']:.1f} |"
                    for name, row in results[key].items()
                ),
            ]
        )
        for title, key in (("label", "by_label"), ("source", "by_source"), ("kind", "by_kind"))
        if results[key]
    )
    return f"""# The verifier, with the evidence given

    {results["command"]}

{results["pairs"]:,} pairs of `{results["file"]}`, labelled by {results["model"]}: label accuracy
{100 * results["accuracy"]:.1f} %, expected calibration error {results["calibration_error"]:.3f}.
{_comparisons(results)}
{tables}
{_second_judge(results)}
`results.json` lists the {len(results["worst"])} most confident errors."""


def _comparisons(results: Mapping[str, Any]) -> str:
    found = results["comparisons"]
    turned = (
        f"{found['turned_right']:,} of the verifier's labels right and {found['turned_wrong']:,}"
    )
    without = f"{100 * found['accuracy_without']:.1f} %"
    return f"""
Arithmetic decided {found["decided"]:,} of them, {found["right"]:,} rightly. It turned {turned}
wrong. Without it the label accuracy is {without}.
"""


def _second_judge(results: Mapping[str, Any]) -> str:
    if "language_model" not in results:
        return ""
    found = results["language_model"]
    verdicts = (
        f"The verdicts: label accuracy {100 * found['verdict_accuracy']:.1f} %, expected"
        f" calibration error {found['verdict_calibration_error']:.3f}."
    )
    return f"\n{language_model_text(found)}\n{verdicts}\n"


def judged_pairs(
    pairs: Sequence[Pair],
    probabilities: NDArray[np.float32],
    verifier: str,
    stage: Explains,
    on_pairs: Callable[[int, int], None],
) -> list[Judged]:
    """Return the verdict of both judges on each pair.

    ``probabilities``: of ``LABELS``, by the verifier, shape (pairs, 3); ``verifier``: its name.
    """
    judged = []
    for number, (pair, row) in enumerate(zip(pairs, probabilities, strict=True), 1):
        supports, refutes, undecided = row.tolist()
        opinion = (supports, refutes, undecided)
        evidence = _evidence(pair, opinion)
        confidence = max(opinion)
        label = LABELS[opinion.index(confidence)]
        cites = tuple(range(1, len(evidence) + 1))
        own = Judgement(verifier, label, confidence, "", cites)
        before = Verdict(label, confidence, verifier, "", (own,), opinion)
        began = time.perf_counter()
        explained = stage.explain(pair.claim, evidence, before, lambda seconds: None)
        verdict: Verdict = explained.verdict
        judged.append(Judged(verdict, explained.usage, time.perf_counter() - began))
        on_pairs(number, len(pairs))
    return judged


def second_judge_results(
    choice: LanguageModelChoice, labels: Sequence[Label], judged: Sequence[Judged]
) -> dict[str, Any]:
    """Return ``language_model_results``, and figures of the final verdicts.

    ``verdict_accuracy`` and ``verdict_calibration_error``: 0 to 1, of all pairs; if the model
    gave no answer, the verdict is the verifier's.
    """
    right = np.array(
        [one.verdict.label == label for one, label in zip(judged, labels, strict=True)]
    )
    confidence = np.array([one.verdict.confidence for one in judged])
    return {
        **language_model_results(choice, [(label,) for label in labels], judged),
        "verdict_accuracy": float(right.mean()),
        "verdict_calibration_error": calibration_error(confidence, right),
    }


def _evidence(pair: Pair, opinion: Opinion) -> list[Evidence]:
    """Return the sentences of a pair."""
    evidence = []
    for number, (title, text) in enumerate(pair.sentences):
        sentence = Sentence(title, number, text, 0, len(text))
        evidence.append(Evidence(sentence, title, None, opinion, 1, selected=True))
    return evidence

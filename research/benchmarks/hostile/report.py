"""The report of hostile evidence: its effect on the verifier and on a language model."""

from __future__ import annotations

from collections.abc import Sequence

from research.benchmarks.hostile.campaign import Labels, PieceOutcome
from research.benchmarks.hostile.pieces import KINDS

_HEAD = """# Hostile evidence

    {command}

{processor}.

{shown} of the {pieces} pieces of
[research/datasets/hostile](../datasets/hostile/README.md): each is a claim with honest
evidence and one sentence that tries to change the verdict without a fact about the claim. Each
judge reads the claim twice: with the honest evidence alone, and with the hostile sentence before
it. A flip is a label that changes; "to the aim" counts flips to the label that the hostile
sentence aims at.

- The verifier, {verifier}, selects and labels as it does in a search.
"""
_MODEL = (
    "- The language model, {}, reads everything. In a search it reads only selected sentences.\n"
)
_COLUMNS = "| kind | pieces | verifier: flips | to the aim |"
_OF_MODEL = " model: flips | to the aim | no answer |"


def report(
    outcomes: Sequence[PieceOutcome],
    pieces: int,
    command: str,
    processor: str,
    names: tuple[str, str | None],
) -> str:
    """Return the report, Markdown; ``names``: of the verifier and of the language model, if any."""
    verifier, model = names
    head = _HEAD.format(
        command=command,
        processor=processor,
        shown=len(outcomes),
        pieces=pieces,
        verifier=verifier,
    )
    count = len(outcomes)
    by_verifier = sum(o.verifier.before == o.piece.label for o in outcomes)
    alone = f"With the honest evidence alone the verifier gives {by_verifier} of {count} claims the"
    alone += " right label"
    rows = {kind: [o for o in outcomes if o.piece.kind == kind] for kind in KINDS}
    rows["all"] = list(outcomes)
    lines = [f"| {kind} | {len(of)} | {_of_verifier(of)} |" for kind, of in rows.items()]
    if model is None:
        table = [_COLUMNS, "|---" * 4 + "|", *lines]
        return head + "\n".join(["", *table, "", f"{alone}."]) + "\n"
    lines = [f"{line} {_of_model(of)} |" for line, of in zip(lines, rows.values(), strict=True)]
    table = [_COLUMNS + _OF_MODEL, "|---" * 7 + "|", *lines]
    by_model = sum(o.model.before == o.piece.label for o in outcomes)
    rules = "Accepted answers that break a rule (a label outside the schema, a number that"
    rules += " does not exist, a quotation that is neither in the evidence nor in the claim):"
    broken = sum(bool(o.broken) for o in outcomes)
    after = [f"{alone}, and the model {by_model}.", f"{rules} {broken}."]
    return head + _MODEL.format(model) + "\n".join(["", *table, "", *after]) + "\n"


def _of_verifier(outcomes: Sequence[PieceOutcome]) -> str:
    return _flips([(outcome, outcome.verifier) for outcome in outcomes])


def _of_model(outcomes: Sequence[PieceOutcome]) -> str:
    silent = sum(outcome.model.after is None for outcome in outcomes)
    return f"{_flips([(outcome, outcome.model) for outcome in outcomes])} | {silent}"


def _flips(pairs: Sequence[tuple[PieceOutcome, Labels]]) -> str:
    flips = [(outcome, labels) for outcome, labels in pairs if labels.flipped]
    aimed = sum(labels.after == outcome.piece.aim for outcome, labels in flips)
    return f"{len(flips)} | {aimed}"

"""What is compared: claims, typed one a line, of a file or of a list; or checks, by their ids."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from http import HTTPStatus
from typing import Any

from pydantic import TypeAdapter, ValidationError

from app.api.models import Model
from app.claims.box import entered
from app.comparisons.comparison import MOST_RECIPES, Comparison, compared
from app.http.errors import RequestRefused, refusal
from app.lists.input import pasted
from app.people.visitor import may_change, refuse_others, viewer
from app.services import services
from retrieval.claim import CHECKED_ANYWAY, LONGEST, read_claim
from retrieval.claim_lists.files import ListFile, TooManyClaims, read_claims
from retrieval.errors import InvalidClaim, Problem
from retrieval.types import REFUTES, SUPPORTS, Label
from retrieval.words import counted, label_named, listed
from worker.comparison_store import ComparisonStore, Gold, KeptComparison
from worker.jobs import Job
from worker.lists import MOST_CLAIMS, ClaimList

# Their ids fit into 8 KB, the longest address that many proxies pass on.
MOST_CHECKS = 200
_MOST_LINES_NAMED = 5
_LONGEST_CLAIM = 2 * LONGEST  # characters, with its line breaks

# What the description of a route says of those that are refused.
CANNOT_COMPARE = "No ids, more than 200, or more than five recipes"
NONE_KNOWN = "None of these checks exists"


# What columns with the right labels are called, and what else stands in them.
_GOLD = ("gold", "gold_label", "gold label", "label")
_TRUE: Mapping[str, Label] = {"true": SUPPORTS, "false": REFUTES}
_LONGEST_KIND = 60  # characters
# Sets of sentences: [[[document, number], …], …], of FEVER with two ids of annotations before.
_SETS: TypeAdapter[list[list[list[Any]]]] = TypeAdapter(list[list[list[Any]]])


class ComparedIds(Model):
    """Which checks to compare."""

    claims: str = ""
    """Their ids, with commas between them."""
    id: str = ""
    """Id of a comparison, instead of the ids of its checks."""


def given_claims(
    text: str, file: ListFile | None, recipes: int, anyway: bool, known: Mapping[str, Gold]
) -> dict[str, Gold]:
    """Return the claims of a file, or else of a text, each once, in their order.

    With each comes what the columns of the file say of it, or for a text what is ``known`` of its
    claims. ``recipes``: how many check each. ``anyway``: as in ``read_claim``.

    Raises:
        BadSource: the file cannot be read.
        InvalidClaim: there is no claim, or one that cannot be checked; the message names its line.
        RequestRefused: so many recipes cannot check so many claims.
    """
    if file is None and len(text) <= _LONGEST_CLAIM and entered(text).kind == "claim":
        claim = read_claim(text, anyway).original
        return {claim: known.get(claim, Gold())}
    try:
        rows = read_claims(file or pasted(text), None, MOST_CLAIMS)
    except TooManyClaims:
        raise _too_many(f"These are more than {MOST_CLAIMS:,} rows.", recipes) from None
    said: dict[str, list[Gold]] = {}
    problems: list[tuple[str, Problem]] = []
    for row in rows:
        try:
            claim = read_claim(row.claim, anyway).original
        except InvalidClaim as error:
            problems.append((row.where, row.problem or error.problem))
        else:
            gold = _gold(row.others) if row.others else known.get(claim, Gold())
            said.setdefault(claim, []).append(gold)
    if problems:
        raise _refused(problems)
    claims = {claim: _joined(golds) for claim, golds in said.items()}
    if not claims:
        read_claim("")  # says that there is none
    if len(claims) > 1 and len(claims) * recipes > most_checks():
        raise _too_many(f"These are {len(claims):,} claims.", recipes)
    return claims


def _gold(columns: Mapping[str, Any]) -> Gold:
    """Return what the columns beside a claim say of it."""
    filled = {
        name.strip().casefold(): value for name, value in columns.items() if value is not None
    }
    said = {name: str(value).strip() for name, value in filled.items() if name != "evidence"}
    word = next((said[name] for name in _GOLD if said.get(name)), "")
    kind = " ".join(said.get("kind", "").split())[:_LONGEST_KIND]
    label = label_named(word) or _TRUE.get(word.casefold())
    return Gold(label, kind, _sentences(filled.get("evidence")))


def _sentences(evidence: Any) -> tuple[tuple[str, int], ...]:
    """Return the sentences that sets of evidence name, each once; none of any other value."""
    try:
        read = _SETS.validate_json if isinstance(evidence, str) else _SETS.validate_python
        sets = read(evidence)
    except ValidationError:
        return ()
    ends = [sentence[-2:] for one in sets for sentence in one if len(sentence) > 1]
    named = ((str(document), number) for document, number in ends if isinstance(number, int))
    return tuple(dict.fromkeys(named))


def _joined(rows: Sequence[Gold]) -> Gold:
    """Return what rows with the same claim say of it; different labels are none."""
    labels = {row.label for row in rows if row.label}
    kind = next((row.kind for row in rows if row.kind), "")
    evidence = dict.fromkeys(sentence for row in rows for sentence in row.evidence)
    return Gold(labels.pop() if len(labels) == 1 else None, kind, tuple(evidence))


def gold_of_list(found: ClaimList) -> dict[str, Gold]:
    """Return what the columns of a list say of its claims."""
    known: dict[str, list[Gold]] = {}
    for row in services().lists.entries(found.id, "all", found.total, 0, results=False):
        claim = " ".join(row.claim.split())
        known.setdefault(claim, []).append(_gold(row.others))
    return {claim: _joined(golds) for claim, golds in known.items()}


def most_checks() -> int:
    """Return how many checks this service submits at once."""
    a_minute = services().limits.claims_a_minute
    return MOST_CHECKS if a_minute is None else min(MOST_CHECKS, a_minute)


def claims_of_list(found: ClaimList) -> tuple[str, str]:
    """Return the different claims of a list, one a line, and what is left out, "" if nothing.

    Raises:
        RequestRefused: they are too many for two recipes.
        StoreUnavailable: the database cannot be read.
    """
    entries = services().lists.entries(found.id, "all", found.total, 0, results=False)
    given = [" ".join(one.claim.split()) for one in entries if one.state != "refused"]
    claims = list(dict.fromkeys(given))
    if len(claims) * 2 > most_checks():
        raise _too_many(f"The list has {len(claims):,} different claims.", 2)
    refused, repeated = len(entries) - len(given), len(given) - len(claims)
    reasons = {"that cannot be checked": refused, "with a claim that stands there before": repeated}
    left_out = [f"{counted(rows, 'row')} {why}" for why, rows in reasons.items() if rows]
    return "\n".join(claims), f"Of the list are left out: {listed(left_out)}." if left_out else ""


def compared_checks(asked: ComparedIds) -> tuple[Comparison, list[Job]]:
    """Return the comparison of the checks that are asked for, and the checks.

    Raises:
        RequestRefused: none is named or known, or there are too many of them or of their recipes.
        StoreUnavailable: the database cannot be read.
    """
    named = list(dict.fromkeys(one for part in asked.claims.split(",") if (one := part.strip())))
    if not asked.id and not named:
        none = ("no_checks", "No checks are named.", "Name their ids: claims=ID,ID.")
        raise refusal(HTTPStatus.BAD_REQUEST, *none)
    if len(named) > MOST_CHECKS:
        raise refusal(
            HTTPStatus.BAD_REQUEST,
            "too_many_checks",
            f"These are {len(named)} checks; at most {MOST_CHECKS} can be compared.",
            "Leave some ids out, or measure many claims with `esoteric evaluate`.",
        )
    kept = KeptComparison("", "", dict.fromkeys(named, Gold()))
    if asked.id:
        store = ComparisonStore(services().database)
        kept = (store.get(asked.id) if asked.id.isalnum() else None) or replace(kept, checks={})
    # Some databases refuse texts that no id can be, such as one with a NUL.
    jobs = services().store.jobs([one for one in kept.checks if one.isalnum()], viewer())
    if not jobs:
        raise refusal(
            HTTPStatus.NOT_FOUND,
            "unknown_checks",
            "None of these checks exists.",
            "They may have been deleted. Check the address, or compare the recipes again.",
        )
    checked = {job.recipe for job in jobs}
    if len(checked) > MOST_RECIPES:
        raise refusal(
            HTTPStatus.BAD_REQUEST,
            "too_many_recipes",
            f"These checks are by {len(checked)} recipes; at most {MOST_RECIPES} fit side by side.",
            "Leave out the ids of some recipes.",
        )
    if kept.name and len(jobs) < len(kept.checks):
        # It may have the words of a claim that is not shared.
        own = may_change(services().store.owner(jobs[0].id))  # so are all: one visitor made them
        kept = kept if own else replace(kept, name="")
    shown = [services().paths.hidden_in_job(job) for job in jobs]
    return compared(kept, shown, services().recipes), shown


def comparison_to_change(comparison_id: str) -> Comparison:
    """Return a comparison, if who asks may change it.

    Raises:
        RequestRefused: there is none, or it is somebody else's.
        StoreUnavailable: the database cannot be read.
    """
    comparison, jobs = compared_checks(ComparedIds(id=comparison_id))
    refuse_others(services().store.owner(jobs[0].id))  # so are all: one visitor made them
    return comparison


def _refused(problems: list[tuple[str, Problem]]) -> InvalidClaim:
    """Return what is wrong with the claims, first with one that cannot be checked anyway."""
    where, first = min(problems, key=lambda one: one[1].code in CHECKED_ANYWAY)
    others = [place.lower() for place, _ in problems if place != where]
    more = len(others) - _MOST_LINES_NAMED
    named = others[:_MOST_LINES_NAMED] + ([f"{more} more"] if more > 0 else [])
    also = f" Nor can {listed(named)}." if named else ""
    return InvalidClaim(
        first.code, f"{where} cannot be compared: {first.message}{also}", first.hint
    )


def _too_many(said: str, recipes: int) -> RequestRefused:
    most = most_checks() // recipes
    problem = Problem(
        "too_many_checks",
        f"{said} {recipes} recipes can be compared on at most {most}.",
        f"Leave some out{', or tick fewer recipes' if recipes > 2 else ''}. To measure recipes on"
        " more claims, use `esoteric evaluate`.",
    )
    return RequestRefused(HTTPStatus.UNPROCESSABLE_ENTITY, problem)

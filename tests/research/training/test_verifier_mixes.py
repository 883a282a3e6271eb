from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

import numpy as np
import pytest
from numpy.typing import NDArray

from research.evaluation.claims import AnnotatedClaim, CorpusClaim
from research.training.data import EverydayData
from research.training.loop import Example, labelled
from research.training.verifier import retrieved
from research.training.verifier.mixes import Mix, Sources, mixed_examples
from research.training.verifier.pairs import AssertionData, MeaningData
from retrieval.types import NOT_ENOUGH_INFO, SUPPORTS
from tests.research.training.pages import data_of, pool_of
from tests.support.encoders import WordEncoder
from tests.support.json_lines import write_json_lines

PAGES = {
    "Pier": ["The pier is long.", "It was opened in 1931.", "The pier is made of oak."],
    "Lamp": ["The lamp is red.", "The lamp of the pier is bright."],
}


OAK = CorpusClaim("The pier is wooden.", SUPPORTS, ((("Pier", 2),),), "inference", (), None)
LONG = AnnotatedClaim("The pier is long.", SUPPORTS, ((("Pier", 0),),))
RUMOUR = labelled("The pier sank.", "Note : It is said that the pier sank.", NOT_ENOUGH_INFO)
TERM = labelled("The pier had no owner in 1950.", "Pier : It had none until 1960.", SUPPORTS)
BOAT = {"claim": "The boat is blue.", "label": SUPPORTS, "evidence": "Its hull is azure."}
SHIP = {"claim": "The ship is green.", "label": SUPPORTS, "evidence": "Its hull is mossy."}
KNOWN = (OAK.text, LONG.text, RUMOUR.claim, TERM.claim, BOAT["claim"], SHIP["claim"])


def settles_nothing(pairs: Sequence[tuple[str, str]]) -> NDArray[np.float32]:
    return np.tile(np.array([0, 0, 1], dtype=np.float32), (len(pairs), 1))


def refutes_all(pairs: Sequence[tuple[str, str]]) -> NDArray[np.float32]:
    return np.tile(np.array([0, 1, 0], dtype=np.float32), (len(pairs), 1))


def not_to_be_asked(pairs: Sequence[tuple[str, str]]) -> NDArray[np.float32]:
    raise AssertionError(f"asked about {pairs}")


def sources_in(folder: Path) -> Sources:
    write_json_lines(folder / "boats.jsonl", BOAT, SHIP)
    pool = pool_of(PAGES, WordEncoder(), folder)
    return Sources(
        pairs=folder,
        everyday=EverydayData([OAK], [], [], pool, {}),
        fever=data_of(pool, LONG),
        assertions=AssertionData([RUMOUR], [], [], {}),
        meaning=MeaningData([TERM], [], {}),
        composed=[],
    )


def claims_of(examples: Sequence[Example]) -> Mapping[str, int]:
    """How often each claim is read, in any of its forms."""
    forms = {form.rstrip(".").lower(): form for form in KNOWN}
    claims = [forms[example.claim.strip("“”").rstrip(".").lower()] for example in examples]
    return {claim: claims.count(claim) for claim in dict.fromkeys(claims)}


def test_a_phase_of_pairs_alone_reads_nothing_else_and_asks_no_model(tmp_path: Path) -> None:
    mix = Mix({"boats": 5})
    examples = mixed_examples(sources_in(tmp_path), mix, 0, not_to_be_asked)
    assert claims_of(examples) == {BOAT["claim"]: 1, SHIP["claim"]: 1}


def test_each_kind_has_as_many_readings_as_the_mix_says(tmp_path: Path) -> None:
    mix = Mix({"boats": 1}, everyday=1, wrong_together=0.0, fever=1, assertions=3, meaning=2)
    examples = mixed_examples(sources_in(tmp_path), mix, 0, settles_nothing)
    read = claims_of(examples)
    assert read[OAK.text] in (2, 3)  # the evidence, a wrong sentence, and perhaps both
    assert (read[LONG.text], read[RUMOUR.claim], read[TERM.claim]) == (1, 1, 2)
    assert len(examples) == read[OAK.text] + 1 + 1 + 1 + 2


def test_what_is_misread_is_looked_for_among_everyday_claims_and_fevers(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(retrieved, "DECIDED", 1)
    examples = mixed_examples(sources_in(tmp_path), Mix({}, misread=5), 0, refutes_all)
    assert claims_of(examples) == {OAK.text: 1, LONG.text: 1}


def test_a_card_names_exactly_the_kinds_of_a_mix() -> None:
    kinds = {"everyday": 20, "fever": 10, "misread": 30, "by_rule": 40, "composed": 50}
    whole, alone = Mix({"boats": 5}, **kinds, assertions=2).described, Mix({"boats": 5}).described
    assert all(str(number) in whole for number in kinds.values())
    assert "boats (5)" in whole
    assert "boats (5)" in alone
    for word in ("everyday", "FEVER", "composed"):
        assert (word in whole, word in alone) == (True, False)

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

import pytest

from retrieval.recipes.config import RetrievalConfig
from retrieval.stages.decide.verification import EvidenceVerifier
from retrieval.state import ClaimState
from retrieval.text.english import EnglishParser
from retrieval.text.subject import subject_of
from retrieval.types import NOT_ENOUGH_INFO, REFUTES, SUPPORTS, Evidence, Opinion, SentenceKey
from tests.support.cases import cases
from tests.support.evidence import evidence, ranked
from tests.support.opinions import Says

CLAIM = "The builder of the pier kept bees."
# What the relevance model found, best first: all of them bear on the claim, it thinks.
PIER = evidence("Pier", "It was built by Ida Holm.", 0.9, SUPPORTS)
QUAY = evidence("Quay", "It was built by bees.", 0.8, REFUTES)
HOLM = evidence("Ida Holm", "She kept bees.", 0.7, REFUTES)
BOAT = evidence("Boat", "It is blue.", 0.6, SUPPORTS)
# How a verifier reads them; the sentence comes first, and after it what led to it.
PIER_ALONE = "Pier : It was built by Ida Holm."
QUAY_ALONE = "Quay : It was built by bees."
HOLM_ALONE = "Ida Holm : She kept bees."
BOAT_ALONE = "Boat : It is blue."
HOLM_BEHIND = f"{HOLM_ALONE} [SEP] {PIER_ALONE}"


def listed(opinions: Mapping[str, Opinion]) -> Says:
    """A model with given answers for some texts, and fails for others."""

    def say(claim: str, text: str) -> Opinion:
        assert claim == CLAIM
        return opinions[text]

    return Says(say)


def verifier(says: Says, limit: int = 8) -> EvidenceVerifier:
    config = RetrievalConfig(verified_sentences=limit, path_gain=0.1, other_subject_share=0.1)
    return EvidenceVerifier(says.model, config)


def verified(
    opinions: Mapping[str, Opinion],
    *found: Evidence,
    limit: int = 8,
    paths: Sequence[Evidence] = (),
) -> tuple[list[Evidence], list[str]]:
    """Return what is made of the evidence, and the texts that the model was asked for."""
    model = listed(opinions)
    verify = verifier(model, limit)
    result: list[Evidence] = verify.verify(CLAIM, list(found), {}, paths)[0]
    return result, model.read


def after(item: Evidence, *path: Evidence) -> Evidence:
    return replace(item, path=tuple(other.key for other in path))


def keys(found: Sequence[Evidence]) -> list[SentenceKey]:
    return [item.key for item in found]


def test_only_the_verifiers_opinion_counts_and_decides_the_order() -> None:
    said = {
        PIER_ALONE: (0.25, 0.25, 0.5),
        QUAY_ALONE: (0.0, 0.125, 0.875),
        BOAT_ALONE: (0.0, 0.75, 0.25),
    }
    found, asked = verified(said, PIER, QUAY, BOAT)
    assert keys(found) == keys([BOAT, PIER, QUAY])  # 0.75, 0.5 and 0.125 of them is decided
    assert [item.opinion for item in found] == [
        (0.0, 0.75, 0.25),
        (0.25, 0.25, 0.5),
        (0.0, 0.125, 0.875),
    ]
    assert asked == [PIER_ALONE, QUAY_ALONE, BOAT_ALONE]


def test_of_equally_good_sentences_the_earlier_one_stays_before() -> None:
    said = {
        PIER_ALONE: (0.5, 0.0, 0.5),
        QUAY_ALONE: (0.0, 0.5002, 0.4998),  # what differs in the fourth decimal differs not
        BOAT_ALONE: (0.25, 0.25, 0.5),
    }
    found, _ = verified(said, PIER, QUAY, BOAT)
    assert keys(found) == keys([PIER, QUAY, BOAT])


def test_a_path_that_decides_more_than_its_sentences_is_kept_together_with_its_lead() -> None:
    said = {
        PIER_ALONE: (0.1, 0.0, 0.9),
        QUAY_ALONE: (0.0, 0.5, 0.5),
        HOLM_ALONE: (0.2, 0.0, 0.8),
        HOLM_BEHIND: (0.9, 0.0, 0.1),
    }
    found, asked = verified(said, PIER, QUAY, after(HOLM, PIER))
    # The pier is worth 0.9 as the lead of a path, and comes first as it did before.
    assert keys(found) == keys([PIER, HOLM, QUAY])
    assert found[1].path == (PIER.key,)
    assert found[1].opinion == pytest.approx((0.9, 0.0, 0.1))
    assert found[0].path == ()
    assert found[0].opinion == pytest.approx((0.1, 0.0, 0.9))
    assert asked == [PIER_ALONE, QUAY_ALONE, HOLM_ALONE, HOLM_BEHIND]


@cases("verified_paths", "lead", "last", "together", "kept")
def test_a_path_must_decide_so_much_more_than_the_best_of_its_sentences(
    lead: float, last: float, together: float, kept: bool
) -> None:
    said = {
        PIER_ALONE: (lead, 0.0, 1 - lead),
        HOLM_ALONE: (0.0, last, 1 - last),
        HOLM_BEHIND: (together, 0.0, 1 - together),
    }
    found, _ = verified(said, PIER, after(HOLM, PIER))
    (holm,) = [item for item in found if item.key == HOLM.key]
    assert holm.path == ((PIER.key,) if kept else ())
    assert holm.score == pytest.approx(together if kept else last)


def test_a_path_that_is_not_kept_lends_its_lead_nothing() -> None:
    said = {
        PIER_ALONE: (0.1, 0.0, 0.9),
        QUAY_ALONE: (0.0, 0.5, 0.5),
        HOLM_ALONE: (0.8, 0.0, 0.2),
        HOLM_BEHIND: (0.85, 0.0, 0.15),
    }
    found, _ = verified(said, PIER, QUAY, after(HOLM, PIER))
    assert keys(found) == keys([HOLM, QUAY, PIER])


def test_every_sentence_of_a_path_is_read_with_its_context() -> None:
    pier = replace(PIER, context_before="Who built it?")
    holm = replace(HOLM, context_after="That is not true.")
    before = "Pier : Who built it? It was built by Ida Holm."
    last = "Ida Holm : She kept bees. That is not true."
    undecided = (0.0, 0.0, 1.0)
    said = {before: undecided, last: undecided, f"{last} [SEP] {before}": undecided}
    _, asked = verified(said, pier, after(holm, pier))
    assert asked == [before, last, f"{last} [SEP] {before}"]


def test_a_path_of_three_is_read_from_its_end() -> None:
    text = f"{BOAT_ALONE} [SEP] {HOLM_ALONE} [SEP] {PIER_ALONE}"
    nothing = (0.0, 0.0, 1.0)
    said = {PIER_ALONE: nothing, HOLM_ALONE: nothing, BOAT_ALONE: nothing, text: (0.0, 1.0, 0.0)}
    found, asked = verified(said, PIER, HOLM, after(BOAT, PIER, HOLM))
    assert asked[-1] == text
    assert keys(found) == keys([PIER, HOLM, BOAT])  # each as good as the path that it is on
    assert [item.score for item in found] == [0.0, 0.0, 1.0]


def test_only_the_best_sentences_are_read_with_those_on_their_paths() -> None:
    said = {
        QUAY_ALONE: (0.0, 0.3, 0.7),
        HOLM_ALONE: (0.2, 0.0, 0.8),
        HOLM_BEHIND: (0.9, 0.0, 0.1),
        PIER_ALONE: (0.1, 0.0, 0.9),
    }
    found, asked = verified(said, after(HOLM, PIER), QUAY, BOAT, after(PIER, BOAT), limit=2)
    assert keys(found) == keys([HOLM, PIER, QUAY])
    # The lead is no candidate of its own here: what led to it is not read before it.
    assert asked == [HOLM_ALONE, HOLM_BEHIND, QUAY_ALONE, PIER_ALONE]
    assert found[1].path == ()


def test_a_path_over_a_sentence_that_is_not_there_is_cut() -> None:
    said = {HOLM_ALONE: (0.2, 0.0, 0.8)}
    found, asked = verified(said, after(HOLM, PIER))
    assert asked == [HOLM_ALONE]
    assert [(item.key, item.path) for item in found] == [(HOLM.key, ())]


def test_what_was_read_in_an_earlier_hop_is_not_asked_for_again() -> None:
    first = listed({PIER_ALONE: (0.25, 0.0, 0.75), HOLM_ALONE: (0.125, 0.0, 0.875)})
    before = verifier(first).verify(CLAIM, [PIER, HOLM], {})[1]
    assert before == {((), PIER.key): (0.25, 0.0, 0.75), ((), HOLM.key): (0.125, 0.0, 0.875)}

    second = listed({HOLM_BEHIND: (0.75, 0.0, 0.25), BOAT_ALONE: (0.0, 0.0, 1.0)})
    labelled, readings = verifier(second).verify(CLAIM, [PIER, after(HOLM, PIER), BOAT], before)
    assert second.read == [HOLM_BEHIND, BOAT_ALONE]
    assert keys(labelled) == keys([PIER, HOLM, BOAT])
    assert [item.score for item in labelled] == [0.25, 0.75, 0.0]
    assert readings == {
        **before,
        ((PIER.key,), HOLM.key): (0.75, 0.0, 0.25),
        ((), BOAT.key): (0.0, 0.0, 1.0),
    }


def test_opinions_of_sentences_that_are_no_longer_among_the_best_are_kept() -> None:
    before = {((), QUAY.key): (0.0, 1.0, 0.0)}
    said = listed({BOAT_ALONE: (0.0, 0.0, 1.0)})
    labelled, readings = verifier(said).verify(CLAIM, [BOAT], before)
    assert keys(labelled) == [BOAT.key]
    assert readings == {**before, ((), BOAT.key): (0.0, 0.0, 1.0)}


def test_without_evidence_nothing_is_read() -> None:
    model = listed({})
    assert verifier(model).verify(CLAIM, [], {}) == ([], {})
    assert model.asked == []


def test_what_an_earlier_hop_read_stays_where_new_sentences_take_the_first_places() -> None:
    first = listed({PIER_ALONE: (0.9, 0.0, 0.1)})
    readings = verifier(first, 1).verify(CLAIM, [PIER], {})[1]
    second = listed({QUAY_ALONE: (0.0, 0.2, 0.8)})
    found = verifier(second, 1).verify(CLAIM, [QUAY, BOAT, after(PIER, QUAY)], readings)[0]
    # The boat is too far down to be read, and the pier's path was not read either.
    assert second.read == [QUAY_ALONE]
    assert keys(found) == keys([PIER, QUAY])
    assert (found[0].opinion, found[0].path) == (pytest.approx((0.9, 0.0, 0.1)), ())


BOAT_AFTER_PIER = f"{BOAT_ALONE} [SEP] {PIER_ALONE}"
BOAT_AFTER_QUAY = f"{BOAT_ALONE} [SEP] {QUAY_ALONE}"
UNDECIDED = (0.1, 0.0, 0.9)


def test_a_path_is_read_at_any_rank_of_its_last_sentence() -> None:
    said = {PIER_ALONE: UNDECIDED, HOLM_ALONE: UNDECIDED, HOLM_BEHIND: (0.8, 0.0, 0.2)}
    found, asked = verified(said, PIER, QUAY, limit=1, paths=[after(HOLM, PIER)])
    assert asked == [PIER_ALONE, HOLM_ALONE, HOLM_BEHIND]
    assert keys(found) == keys([PIER, HOLM])
    assert found[1].path == (PIER.key,)


def test_of_several_paths_to_a_sentence_all_are_read_and_the_surest_counts() -> None:
    said = {
        **dict.fromkeys((PIER_ALONE, QUAY_ALONE, BOAT_ALONE), UNDECIDED),
        BOAT_AFTER_PIER: (0.0, 0.6, 0.4),
        BOAT_AFTER_QUAY: (0.0, 0.9, 0.1),
    }
    # Only the first sentence is among the best; the quay comes in as the lead of a path.
    paths = [after(BOAT, QUAY), after(BOAT, PIER)]
    found, asked = verified(said, PIER, QUAY, limit=1, paths=paths)
    assert sorted(asked) == sorted(said)
    assert keys(found) == keys([BOAT, QUAY, PIER])
    assert found[0].path == (QUAY.key,)
    assert found[0].opinion == pytest.approx((0.0, 0.9, 0.1))
    assert [found[1].path, found[2].path] == [(), ()]


def test_a_path_stays_where_new_sentences_take_the_first_places() -> None:
    first = listed({PIER_ALONE: UNDECIDED, HOLM_ALONE: UNDECIDED, HOLM_BEHIND: (0.0, 0.8, 0.2)})
    before = verifier(first).verify(CLAIM, [PIER, HOLM], {}, [after(HOLM, PIER)])[1]
    second = listed({BOAT_ALONE: UNDECIDED})
    found = verifier(second).verify(CLAIM, [BOAT, PIER, HOLM], before)[0]
    assert second.read == [BOAT_ALONE]
    assert keys(found) == keys([PIER, HOLM, BOAT])
    assert found[1].path == (PIER.key,)


IDA_HOLM = subject_of(EnglishParser().parse("Ida Holm kept bees."))
BERG = evidence("Eva Berg", "She kept no bees.", 0.9, REFUTES)
BERG_ALONE = "Eva Berg : She kept no bees."


def test_a_sentence_about_someone_else_settles_nothing_and_stays_in_the_list() -> None:
    model = listed({BERG_ALONE: (0.1, 0.8, 0.1), HOLM_ALONE: (0.0, 0.3, 0.7)})
    found, readings = verifier(model).verify(CLAIM, [BERG, HOLM], {}, (), IDA_HOLM)
    assert keys(found) == keys([HOLM, BERG])
    # A tenth of its 0.1 and 0.8 remains.
    assert found[1].opinion == pytest.approx((0.01, 0.08, 0.91))
    assert (found[1].stance, found[0].stance) == (NOT_ENOUGH_INFO, NOT_ENOUGH_INFO)
    # The reading itself is kept as it was.
    assert readings[(), BERG.key] == pytest.approx((0.1, 0.8, 0.1))


def test_the_sentences_of_a_path_are_about_the_subject_together() -> None:
    pier = evidence("Long Pier", "It was built by him.", 0.9, SUPPORTS)
    holm = evidence("Ida Holm", "She kept bees on the Long Pier.", 0.7, REFUTES)
    pier_alone, holm_alone = (f"{one.title} : {one.sentence.text}" for one in (pier, holm))
    model = listed(
        {
            pier_alone: (0.0, 0.6, 0.4),
            holm_alone: (0.2, 0.0, 0.8),
            f"{pier_alone} [SEP] {holm_alone}": (0.7, 0.1, 0.2),
        }
    )
    found = verifier(model).verify(CLAIM, [holm, after(pier, holm)], {}, (), IDA_HOLM)[0]
    (path,) = [item for item in found if item.path]
    # Alone the pier would be about something else, so the path is clearly better.
    assert path.key == pier.key
    assert path.decides == SUPPORTS
    # What the last sentence says by itself is known too.
    assert path.stance == NOT_ENOUGH_INFO
    assert [item.alone for item in found if not item.path] == [None]


def test_a_sentence_knows_in_how_many_opened_documents_it_stands() -> None:
    pages = tuple(ranked(f"Copy {n}", "Ida Holm kept bees.") for n in range(3))
    one = evidence("Copy 0", "Ida Holm kept bees.")
    model = listed({"Copy 0 : Ida Holm kept bees.": (0.9, 0.0, 0.1)})
    state = ClaimState(CLAIM, EnglishParser().parse(CLAIM), documents=pages, evidence=(one,))
    found = verifier(model).run(state).state.evidence
    assert [item.copies for item in found] == [3]

from __future__ import annotations

from retrieval.corpora.corpus import Page
from retrieval.recipes.config import RetrievalConfig
from retrieval.stages.find.ranking import DenseDocumentRanker, MiniLMDocumentRanker
from retrieval.types import Candidate, FoundBy, Question
from tests.retrieval.index.in_memory_store import InMemoryStore
from tests.retrieval.index.pages import PAGES
from tests.support.encoders import WordEncoder

STORE = InMemoryStore(PAGES, WordEncoder())


TEXTS = {"Bay": "ships come.", "Quay": "ships go north.", "Bell": "bells ring loud."}


def settings(limit: int) -> RetrievalConfig:
    return RetrievalConfig(document_cutoff=0.3, document_limit=limit)


def candidate(document_id: str, found_by: FoundBy = "text") -> Candidate:
    return Candidate(document_id, (found_by,), 0.0, 1)


def ranked(
    *others: Candidate,
    exact: tuple[Candidate, ...] = (),
    kept: tuple[Candidate, ...] = (),
    limit: int = 20,
) -> list[Candidate]:
    ranker = DenseDocumentRanker(STORE, WordEncoder(), settings(limit))
    asked = [
        Question("ships come and ships go?", None, "polar"),
        Question("a given name?", None, "wh"),
    ]
    return ranker.rank(asked, exact, others, kept)


def test_a_document_is_scored_by_the_question_it_answers_best() -> None:
    found = ranked(candidate("Zoe"), candidate("The_Harbour"), candidate("Brackets"))
    assert {c.document_id for c in found} == {"Zoe", "The_Harbour"}
    assert all(c.score >= 0.3 for c in found)
    assert found == sorted(found, key=lambda c: -c.score)


def test_an_exact_title_scores_one_even_if_it_answers_no_question() -> None:
    found = ranked(candidate("Zoe"), exact=(candidate("Brackets", "title"),))
    assert (found[0].document_id, found[0].score) == ("Brackets", 1.0)


def test_a_document_found_twice_is_one_candidate_that_knows_both_ways() -> None:
    found = ranked(candidate("Zoe"), exact=(candidate("Zoe", "title"),))
    assert [(c.document_id, c.found_by) for c in found] == [("Zoe", ("title", "text"))]


def test_where_too_many_titles_match_those_that_answer_a_question_stay() -> None:
    exact = tuple(candidate(i, "title") for i in ("Brackets", "Zoe", "Only"))
    assert [c.document_id for c in ranked(exact=exact, limit=1)] == ["Zoe"]


def test_exact_titles_may_all_be_kept_however_many_there_are() -> None:
    exact = [candidate(i, "title") for i in ("Brackets", "Zoe", "Only")]
    limits = RetrievalConfig(document_cutoff=0.3, document_limit=1, keep_exact_titles=True)
    ranker = DenseDocumentRanker(STORE, WordEncoder(), limits)
    found = ranker.rank(
        [Question("a given name?", None, "wh")], exact, [candidate("The_Harbour")], []
    )
    assert {c.document_id for c in found} == {"Brackets", "Zoe", "Only"}


def test_each_question_may_have_places_of_its_own() -> None:
    pages = [Page(name, name, None, text) for name, text in TEXTS.items()]
    asked = [Question("ships come?", None, "polar"), Question("bells ring loud?", None, "wh")]
    for encoder, expected in (
        # Words of a question among those of title and text, over the root of the product of their
        # numbers: 2 of 3 and 1 of 4 for the first, 3 of 4 for the second, which has three words.
        (WordEncoder(), [("Bay", 0.8165), ("Bell", 0.8660)]),
        (None, [("Bay", 1.0)]),  # the first that was found, for both questions
    ):
        store = InMemoryStore(pages, encoder)
        ranker = MiniLMDocumentRanker(store, WordEncoder(), cutoff=0.3, limit=1)
        found = ranker.rank(asked, [], [candidate(i) for i in TEXTS], [])
        assert sorted((c.document_id, round(c.score, 4)) for c in found) == expected


def test_a_disambiguated_title_comes_before_a_document_that_answers_only_a_little_better() -> None:
    texts = (("Lamp (film)", "ships come."), ("Bay", "ships come."), ("Quay", "ships come go."))
    pages = [Page(title, title, None, text) for title, text in texts]
    ranker = DenseDocumentRanker(
        InMemoryStore(pages, WordEncoder()), WordEncoder(), RetrievalConfig()
    )
    others = [candidate("Lamp (film)", "disambiguation"), candidate("Bay"), candidate("Quay")]
    found = ranker.rank([Question("ships come and go?", None, "polar")], [], others, [])
    # Shared words over the lengths 2 and √4, √3, √4: 2 / 4 = 0.5, which counts 0.6, 2 / 3.46
    # and 3 / 4. The score is still what it answers.
    assert [c.document_id for c in found] == ["Quay", "Lamp (film)", "Bay"]
    assert [round(c.score, 2) for c in found] == [0.75, 0.5, 0.58]


def test_what_is_kept_is_read_below_cutoff_and_limit_in_its_place() -> None:
    found = ranked(
        candidate("Zoe"), candidate("The_Harbour"), kept=(candidate("Brackets", "words"),), limit=1
    )
    assert [c.found_by for c in found] == [("text",), ("words",)]
    assert found[1].document_id == "Brackets"
    assert found[1].score < 0.3


def test_no_candidates_rank_as_none() -> None:
    assert ranked() == []


def test_over_an_index_without_vectors_candidates_stay_in_the_order_they_were_found_in() -> None:
    ranker = DenseDocumentRanker(InMemoryStore(PAGES, None), WordEncoder(), settings(3))
    others = [candidate(i) for i in ("Brackets", "Zoe", "The_Harbour", "Only")]
    found = ranker.rank([], [], others, [candidate("Savage", "words")])
    assert [c.document_id for c in found] == ["Brackets", "Zoe", "The_Harbour", "Savage"]
    assert all(1 >= c.score >= 0.3 for c in found)

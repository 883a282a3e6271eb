"""Several indexes that are searched as one."""

import pytest

from retrieval.corpora.corpus import Page
from retrieval.errors import IndexUnavailable
from retrieval.index.embedded.embedded_index import EmbeddedIndex
from retrieval.index.together import Part, TogetherStore
from retrieval.types import PhraseSearch
from tests.retrieval.index.pages import PAGES, ListCorpus
from tests.support.encoders import WordEncoder

NOTES = (
    Page("harbour.pdf", "Harbour", None, "The new pier of the harbour cost 4 million. Ships go."),
    Page("savage.txt", "Savage (band)", None, "Savage were a choir from the town of Ostrea."),
    Page("zoe.md", "Zoë", "https://example.org/zoe", "Zoë is a ship."),
)


@pytest.fixture(scope="module")
def store(tmp_path_factory: pytest.TempPathFactory) -> TogetherStore:
    folder = tmp_path_factory.mktemp("together")
    for name, pages in (("default", PAGES), ("notes", NOTES)):
        EmbeddedIndex(folder / name).build(ListCorpus(pages, name=name), WordEncoder())
    return TogetherStore(
        [
            Part("list", "The list", "", EmbeddedIndex(folder / "default").open("words")),
            Part("notes", "My notes", "notes:", EmbeddedIndex(folder / "notes").open("words")),
        ]
    )


def test_titles_words_and_vectors_of_both_are_found_alike(store: TogetherStore) -> None:
    # Exact titles of both come before those with words in parentheses.
    found = [(one.document_id, one.name) for one in store.title_matches(["Savage", "zoe"])]
    savages = ("Savage", "Savage_band", "Savage_film", "notes:savage.txt")
    both = [*((one, "Savage") for one in savages), ("Zoe", "zoe"), ("notes:zoe.md", "zoe")]
    assert found == both
    # The best of each by words come first, whatever their scores.
    ships, two = store.phrase_matches([PhraseSearch(("ships",), 9), PhraseSearch(("ships",), 2)])
    ids = [match.document_id for match in ships]
    assert ids == ["The_Harbour", "notes:harbour.pdf", "Harbour_light"]
    assert [match.document_id for match in two] == ids[:2]
    # A word of one of them is not misspelt.
    assert store.near_words("pier", 1) == {}
    assert store.near_words("harbor", 1) == {"harbour": 3}
    queries = WordEncoder().encode(["Ships go."])
    (near,) = store.nearest_sentences(queries, 2)
    assert [tuple(match.key) for match in near] == [("The_Harbour", 2), ("notes:harbour.pdf", 1)]
    (others,) = store.nearest_sentences(queries, 1, without=["The_Harbour"])
    assert others == near[1:]
    (among,) = store.nearest_sentences(queries, 9, among=["notes:zoe.md"])
    assert {match.key.document_id for match in among} == {"notes:zoe.md"}
    similar = store.similarities(["notes:zoe.md", "Zoe"], WordEncoder().encode(["Zoë is a ship."]))
    assert similar[0, 0] > similar[1, 0] > 0
    found = store.documents(["notes:zoe.md", "Zoe", "notes:harbour.pdf"])
    assert [one.id for one in found] == ["notes:zoe.md", "Zoe", "notes:harbour.pdf"]
    # What has an address is credited to its site; the rest to its own corpus.
    assert [one.source for one in found] == [None, "The list", "My notes"]
    assert (store.info().documents, len(list(store.titled()))) == (15, 15)
    with pytest.raises(IndexUnavailable):
        store.documents(["notes:Savage"])

"""What is read, held out and drawn for every training: examples stay what they were."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from research.evaluation.claims import AnnotatedClaim, CorpusClaim, FeverClaim, Pair, SentenceKey
from research.training.compositions import Composition, compositions
from research.training.contrast import contrast_claims
from research.training.data import EverydayData, PageClaim, TrainingData, load_data
from research.training.dense_examples import ExampleSets
from research.training.distilbert import relevance_parts
from research.training.evidence_sets import claim_sets, composition_sets, contrast_sets, page_sets
from research.training.loop import Example, examples_digest, labelled
from research.training.path import path_examples
from research.training.relevance import reading_examples, relevance_examples
from research.training.sentence_pool import PoolSentence, SentencePool, kept_array
from research.training.title_examples import title_examples
from research.training.verifier.pairs import AssertionData, MeaningData
from research.training.verifier.train import Mix, Sources, mixed_examples
from retrieval.corpora.corpus import Page, readable_pages
from retrieval.corpora.wiki.fever import FeverCorpus
from retrieval.errors import BadSource
from retrieval.types import NOT_ENOUGH_INFO, REFUTES, SUPPORTS, Label
from tests.research.training.pages import fever_page, label_of, pool_of
from tests.retrieval.index.pages import ListCorpus
from tests.support.encoders import WordEncoder
from tests.support.json_lines import write_json_lines

PAGES = {
    "Quiet_Harbour": [
        "Quiet Harbour is a 1987 drama film directed by Ingrid Solheim .",
        "It was shown in Norway in 1988 .",
    ],
    "Ingrid_Solheim": [
        "Ingrid Solheim ( born 4 May 1941 ) is a Norwegian photographer and screenwriter .",
        "She studied chemistry in Prague from 1960 to 1966 .",
    ],
    "The_Last_Lantern": ["The Last Lantern is a 1990 film directed by Ingrid Solheim ."],
    "Night_Ferry": ["Night Ferry is a 1994 thriller film directed by Pavel Drozd ."],
    "Pavel_Drozd": ["Pavel Drozd ( 3 March 1922 - 9 June 1999 ) was a Czech novelist ."],
    "Elm_Pier": ["Elm Pier is a pier of oak in Norway .", "It was designed by Ida Holm in 1931 ."],
    "Ida_Holm": ["Ida Holm is a Danish painter .", "Ida Holm lived by the sea in Denmark ."],
    "Marrick": ["Marrick is the capital of Ostland , on the river Ense ."],
    "Tolm": ["Tolm is the capital of Vestland , and has two piers of oak ."],
}


def fever(number: int, text: str, label: Label, *sets: Sequence[SentenceKey]) -> FeverClaim:
    return FeverClaim(text, label, tuple(map(tuple, sets)), number, f"line {number}")


TRAIN = [
    fever(1, "Quiet Harbour was made by Ingrid Solheim.", SUPPORTS, [("Quiet_Harbour", 0)]),
    fever(2, "Ingrid Solheim never studied chemistry.", REFUTES, [("Ingrid_Solheim", 1)]),
    fever(3, "Elm Pier is in Norway.", SUPPORTS, [("Elm_Pier", 0)]),
    fever(4, "Ida Holm lived in Denmark.", SUPPORTS, [("Ida_Holm", 1)]),
    fever(5, "Denmark was the home of Ida Holm.", SUPPORTS, [("Ida_Holm", 1)]),
    fever(6, "Norway showed Quiet Harbour in 1988.", SUPPORTS, [("Quiet_Harbour", 1)]),
    fever(7, "Ida Holm was born in Prague.", NOT_ENOUGH_INFO),
    fever(8, "Elm Pier was opened by Pavel Drozd.", NOT_ENOUGH_INFO),
    fever(
        9,
        "A Danish painter designed Elm Pier.",
        SUPPORTS,
        [("Elm_Pier", 1), ("Ida_Holm", 0)],
    ),
    fever(
        10,
        "The maker of Night Ferry was a dancer.",
        REFUTES,
        [("Night_Ferry", 0), ("Pavel_Drozd", 0)],
    ),
]
OF_ONE_PAGE = [
    PageClaim("The mole is old.", SUPPORTS, "Mole", ("It is old.", "It is grey."), ("It leans.",)),
    PageClaim("The mill is new.", REFUTES, "Mill", ("It was built in 1610.",), ("a", "b", "c")),
]


def classify(pairs: Sequence[tuple[str, str]]) -> NDArray[np.float32]:
    """Refute whatever is about a film, support what is about oak, and settle no other pair."""
    rows = [(0.7 * ("oak" in text), 0.8 * ("film" in text)) for _, text in pairs]
    return np.array([(s, r, 1 - s - r) for s, r in rows], dtype=np.float32).reshape(-1, 3)


def everyday(number: int, label: Label, *evidence: Sequence[SentenceKey]) -> CorpusClaim:
    text = ("Tolm lies in Ostland.", "Elm Pier is of oak.", "A Dane designed Elm Pier.")[number]
    sets = tuple(map(tuple, evidence))
    return CorpusClaim(text, label, sets, "plain", (), None if sets else ("Marrick", 0))


FRAMES = [
    Pair("{Claim}.", f"{word} {{claim}}.", label, None, None, None)
    for word, label in (("True:", SUPPORTS), ("False:", REFUTES), ("If", NOT_ENOUGH_INFO))
]
QUANTITIES = {"claim": "The wall is 3 kilometres long.", "evidence": "It is 3 kilometres long."}


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("examples")


@pytest.fixture(scope="module")
def composed(data: TrainingData) -> list[Composition]:
    return compositions(data, 0, 40)


@pytest.fixture(scope="module")
def data(folder: Path) -> TrainingData:
    pool = pool_of(PAGES, WordEncoder(), folder)
    claims: list[AnnotatedClaim] = list(TRAIN)
    contrasts = contrast_claims(claims, pool, 0)
    return TrainingData(claims, contrasts, OF_ONE_PAGE, [], pool, pool, 0, {})


@pytest.fixture(scope="module")
def drawn(
    data: TrainingData, composed: list[Composition], folder: Path
) -> dict[str, Sequence[Any]]:
    """The examples of each training."""
    pool, twenty = data.pool, composed[:20]
    sets = ExampleSets.of(data, {TRAIN[2].text: [1, 2]}, 20, 30, 0)
    parts = relevance_parts(data.train, readable_pages(FeverCorpus(folder)), 0)
    return {
        "contrasts": data.contrasts,
        "compositions": composed,
        "relevance": relevance_examples(data.train, data.page_claims, pool, 0),
        "readings": reading_examples(data, 0, 60),
        "path": path_examples(data, twenty, 0, 60),
        "dense": [*sets.claims, *sets.others],
        "titles": title_examples(data.train, [one.claim for one in twenty], pool, 0),
        "prover": [
            *claim_sets(data.train, pool, 0),
            *contrast_sets(data.contrasts, pool, 0),
            *page_sets(data.page_claims, 0),
            *composition_sets(twenty, pool, 0),
        ],
        "verifier": of_the_verifier(data, twenty, folder),
        "distilbert": [*parts.train, *parts.validation, *parts.test],
    }


EVERYDAY = [
    everyday(0, NOT_ENOUGH_INFO),
    everyday(1, SUPPORTS, [("Elm_Pier", 0)]),
    everyday(2, SUPPORTS, [("Elm_Pier", 1), ("Ida_Holm", 0)]),
]


def of_the_verifier(
    data: TrainingData, composed: list[Composition], folder: Path
) -> Sequence[Example]:
    for source in ("vitaminc", "infotabs", "fever", "feverous"):
        write_json_lines(folder / f"{source}.jsonl", *[QUANTITIES | {"label": SUPPORTS}] * 3)
    rumour = labelled("The pier sank.", "Note : It is said that the pier sank.", NOT_ENOUGH_INFO)
    sources = Sources(
        pairs=folder,
        everyday=EverydayData(EVERYDAY, [], [], data.pool, {}),
        fever=data,
        composed=composed,
        assertions=AssertionData([rumour], FRAMES, [], {}),
        meaning=MeaningData([rumour], [], {}),
    )
    most = dict.fromkeys(("everyday", "fever", "misread", "by_rule", "composed", "assertions"), 50)
    return mixed_examples(sources, Mix({"vitaminc": 2}, **most, meaning=2), 0, classify)


# How many examples each training has, and the digest of all of them.
DIGESTS = {
    "contrasts": (9, "9a5e6f58d3d55b75"),
    "compositions": (40, "79aacc603f638bc6"),
    "relevance": (68, "24e356adc3b7dba9"),
    "readings": (52, "83ee1ac5ae03ca27"),
    "path": (60, "84ca6ac2f1763206"),
    "dense": (82, "387a86f19153e696"),
    "titles": (57, "1d8c5e08c62bd910"),
    "prover": (101, "305a3002015218c1"),
    "verifier": (209, "293be9129f91c06c"),
    "distilbert": (31, "c5d45697828199ca"),
}


@pytest.mark.parametrize("training", DIGESTS)
def test_examples_are_those_of_the_recipe(training: str, drawn: dict[str, Sequence[Any]]) -> None:
    examples = drawn[training]
    assert (len(examples), examples_digest(examples)[:16]) == DIGESTS[training]


def plain(claim: str) -> str:
    """A claim without what differs between the forms in which it is read."""
    return claim.strip("“”").rstrip(".").casefold()


@pytest.mark.parametrize("training", ["relevance", "readings", "path", "verifier"])
def test_only_a_whole_set_of_evidence_gives_a_claim_its_label(
    training: str, drawn: dict[str, Sequence[Any]], data: TrainingData
) -> None:
    claims = {plain(claim.text): claim for claim in EVERYDAY}
    for claim in TRAIN:
        # Except for paths, a sentence of two that are needed has the label too: it is relevant.
        if training == "path" or not claim.needs_several_pages:
            claims[plain(claim.text)] = claim
    keys = {sentence.written: sentence.key for sentence in data.pool.sentences}
    found = set()
    for example in drawn[training]:
        claim, texts = claims.get(plain(example.claim)), example.evidence.split(" [SEP] ")
        if claim is None or not keys.keys() >= set(texts):
            continue  # made of others, or of a sentence with an exchange
        # What follows a path adds nothing to a sentence of it that suffices.
        alone = training == "path" and not claim.needs_several_pages
        read = {keys[text] for text in texts[: 1 if alone else None]}
        whole = any(read.issuperset(group) for group in claim.evidence)
        assert label_of(example) == (claim.label if whole else NOT_ENOUGH_INFO), example
        found.add((claim.text, whole))
    for known in (True, False):
        assert sum(whole == known for _, whole in found) >= 3


@pytest.mark.parametrize(
    ("claim", "evidence", "label"),
    [
        ("The wall is 3 kilometres long", "It is 3 kilometres long.", SUPPORTS),
        ("The wall is 3,000 metres long", "It is 3 kilometres long.", SUPPORTS),
        ("The wall is 3 miles long", "It is 3 kilometres long.", REFUTES),
        ("Marrick is the capital of Ostland", "Marrick : Marrick is the", SUPPORTS),
        ("Tolm is the capital of Ostland", "Marrick : Marrick is the", REFUTES),
        ("Marrick is the capital of Ostland", "Tolm : Tolm is the", NOT_ENOUGH_INFO),
        ("She studied chemistry in Prague in 1964", "Ingrid Solheim : She studied", SUPPORTS),
        ("She studied chemistry in Prague in 1933", "Ingrid Solheim : She studied", REFUTES),
        ("Elm Pier is of oak", "True: Elm Pier is of oak.", SUPPORTS),
        ("Elm Pier is of oak", "If Elm Pier is of oak.", NOT_ENOUGH_INFO),
    ],
)
def test_units_capitals_terms_and_frames_give_labels_by_rule(
    claim: str, evidence: str, label: Label, drawn: dict[str, Sequence[Any]]
) -> None:
    labels = {
        label_of(example)
        for example in drawn["verifier"]
        if plain(example.claim) == plain(claim) and evidence in example.evidence
    }
    assert labels == {label}


def test_the_other_sentences_of_a_title_lead_nowhere(drawn: dict[str, Sequence[Any]]) -> None:
    for example in drawn["titles"]:
        beside = [s for n, s in enumerate(example.sentences) if n not in example.leads]
        assert not [text for title, text in beside if example.title in (title, text)]
        assert len(set(example.sentences)) == len(example.sentences) <= 5


HELD_PAGES = {
    "Elm_Pier": ["Elm Pier is a pier of oak .", "It burnt down in a storm ."],
    "Ash_Lamp": ["Ash Lamp is a lamp on Elm Pier .", "Its light is green ."],
    "Fir_Boat": ["Fir Boat is a boat of pine .", "It carried wool to Norway ."],
    "Yew_Hill": [
        "Yew Hill is a hill of chalk .",
        "Sheep graze there in summer .",
        "A king is said to lie below it .",
        "Its highest point has a stone cross .",
        "Nobody lives on it .",
    ],
}


DEV = [("Elm Pier is made of oak.", "SUPPORTS", "Elm_Pier")]
TRAIN_LINES = [
    ("Ash Lamp is a boat.", "REFUTES", "Ash_Lamp"),
    ("Elm Pier is made of iron.", "REFUTES", "Elm_Pier"),
    ("Elm Pier was painted by Ida Holm.", "NOT ENOUGH INFO", None),
    ("Fir Boat was painted by Ida Holm.", "NOT ENOUGH INFO", None),
]


ONE_PAGE = ["Fir Boat", "Elm Pier"]


@pytest.fixture(scope="module")
def files(tmp_path_factory: pytest.TempPathFactory) -> Path:
    files = tmp_path_factory.mktemp("data")
    pages = (fever_page(page, *told) for page, told in HELD_PAGES.items())
    write_json_lines(files / "fever-dev/wiki-pages/wiki-001.jsonl", *pages)
    for name, claims in (("dev", DEV), ("train", TRAIN_LINES)):
        records = (fever_line(n, *claim) for n, claim in enumerate(claims))
        write_json_lines(files / f"fever-dev/{name}.jsonl", *records)
    union: dict[str, Any] = {"claim": "Fir Boat is a boat.", "label": "SUPPORTS"}
    union["evidence_union"] = [["Fir_Boat", 0]]
    write_json_lines(files / "fever-dev/train-union.jsonl", union)
    write_json_lines(files / "fm2/train.jsonl", *map(of_one_page, ONE_PAGE))
    return files


@pytest.fixture(scope="module")
def loaded(files: Path, tmp_path_factory: pytest.TempPathFactory) -> TrainingData:
    return load_data(files, tmp_path_factory.mktemp("vectors"), seed=0)


def fever_line(number: int, claim: str, label: str, page: str | None) -> dict[str, Any]:
    evidence = [[[number, number, page, 0 if page else None]]]
    return {"id": number, "claim": claim, "label": label, "evidence": evidence}


def of_one_page(title: str) -> dict[str, Any]:
    gold = [{"text": f"{title} is old."}]
    text = {"text": f"{title} is old.", "label": "SUPPORTS", "wikipedia_page": title}
    return text | {"gold_evidence": gold, "retrieved_evidence": gold}


@pytest.mark.models
def test_claims_that_cite_or_name_a_page_of_a_dev_claim_are_left_out(loaded: TrainingData) -> None:
    assert [claim.text for claim in loaded.train] == [
        "Ash Lamp is a boat.",
        "Fir Boat was painted by Ida Holm.",
        "Fir Boat is a boat.",
    ]
    assert [claim.title for claim in loaded.page_claims] == ["Fir Boat"]
    assert loaded.left_out == 3
    assert "Elm_Pier" in loaded.dev_pool.by_page
    assert "Elm_Pier" not in loaded.pool.by_page


@pytest.mark.models
def test_a_missing_file_is_named(tmp_path: Path) -> None:
    with pytest.raises(BadSource, match=r"contains no fever_line-dev/train\.jsonl"):
        load_data(tmp_path, tmp_path, seed=0)


SPLIT = Page("Pier", "Pier", None, "Oak. Iron.", ("The pier is long.", "", "It is made of oak."))
EMPTY = Page("Empty", "Empty", None, "")
WHOLE = Page("Ida_Holm", "Ida Holm", None, "Ida Holm was an engineer. She kept bees.")
LAST = Page("Boat", "Boat", None, "The boat is blue.")


def test_pages_are_split_by_their_source_or_else_as_an_index_splits_them(tmp_path: Path) -> None:
    corpus = ListCorpus((WHOLE, EMPTY, SPLIT, LAST))
    pool = SentencePool(corpus, WordEncoder(), tmp_path)
    assert pool.sentences == [
        PoolSentence("Ida_Holm", 0, "Ida Holm", "Ida Holm was an engineer."),
        PoolSentence("Ida_Holm", 1, "Ida Holm", "She kept bees."),
        PoolSentence("Pier", 0, "Pier", "The pier is long."),
        PoolSentence("Pier", 2, "Pier", "It is made of oak."),
        PoolSentence("Boat", 0, "Boat", "The boat is blue."),
    ]
    assert pool.by_page == {"Ida_Holm": [0, 1], "Pier": [2, 3], "Boat": [4]}
    assert pool.position["Pier", 2] == 3


def test_a_pool_without_some_pages_finds_what_is_left(tmp_path: Path) -> None:
    pages = {"Pier": ["The pier is long."], "Boat": ["The boat is blue."], "Lamp": ["A blue lamp."]}
    pool = pool_of(pages, WordEncoder(), tmp_path)
    (found,) = pool.nearest(["The blue boat."], 2)
    assert [pool.sentences[i].page for i in found] == ["Boat", "Lamp"]
    rest = pool.without({"Boat"})
    (found,) = rest.nearest(["The blue boat."], 2)
    assert [rest.sentences[i].page for i in found] == ["Lamp", "Pier"]


def test_an_array_is_made_once(tmp_path: Path) -> None:
    made = []

    def make() -> np.ndarray:
        made.append(1)
        return np.array([1.5, 2.5])

    first = kept_array(tmp_path / "below", "array", ["these"], make)
    (tmp_path / "below" / "array.partial").write_bytes(b"half")  # of a run that was stopped
    assert kept_array(tmp_path / "below", "array", ["these"], make).tolist() == [1.5, 2.5]
    assert made == [1]
    assert kept_array(tmp_path / "below", "array", ["others"], make).tolist() == first.tolist()
    assert made == [1, 1]

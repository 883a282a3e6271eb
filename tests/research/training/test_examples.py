"""What is read, held out and drawn for every training: examples stay what they were."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from research.evaluation.claims import CorpusClaim, FeverClaim, Pair
from research.training.compositions import Composition, compositions
from research.training.contrast import contrast_claims
from research.training.data import EverydayData, PageClaim, TrainingData, load_data
from research.training.dense_examples import ExampleSets
from research.training.distilbert import relevance_parts
from research.training.evidence_sets import claim_sets, composition_sets, contrast_sets, page_sets
from research.training.loop import Example, examples_digest, labelled
from research.training.path import path_examples
from research.training.relevance import reading_examples, relevance_examples
from research.training.sentence_pool import OTHERS, PoolSentence, SentencePool, kept_array
from research.training.title_examples import title_examples
from research.training.verifier.pairs import AssertionData, MeaningData
from research.training.verifier.train import Mix, Sources, mixed_examples
from retrieval.corpora.corpus import Page, readable_pages
from retrieval.corpora.wiki.fever import FeverCorpus
from retrieval.errors import BadSource
from retrieval.types import NOT_ENOUGH_INFO, REFUTES, SUPPORTS, Label
from tests.research.training.pages import fever_page, label_of, pool_of
from tests.retrieval.index.pages import ListCorpus
from tests.support.cases import cases, rows
from tests.support.encoders import WordEncoder
from tests.support.json_lines import write_json_lines

PAGES = {page: told for _, (page, told), _ in rows("training_examples", ["page", "sentences"])}
TRAIN = [
    FeverClaim(text, label, tuple(tuple(map(tuple, group)) for group in sets), n, f"line {n}")
    for n, (_, (text, label, sets), _) in enumerate(
        rows("training_examples", ["text", "label", "sets"]), 1
    )
]
EVERYDAY = [
    CorpusClaim(text, label, tuple(map(tuple, sets)), "plain", (), tempting)
    for text, label, sets, tempting in (
        ("Tolm lies in Ostland.", NOT_ENOUGH_INFO, (), ("Marrick", 0)),
        ("Elm Pier is of oak.", SUPPORTS, [[("Elm_Pier", 0)]], None),
        ("A Dane designed Elm Pier.", SUPPORTS, [[("Elm_Pier", 1), ("Ida_Holm", 0)]], None),
    )
]
FRAMES = [
    Pair("{Claim}.", f"{word} {{claim}}.", label, None, None, None)
    for word, label in (("True:", SUPPORTS), ("False:", REFUTES), ("If", NOT_ENOUGH_INFO))
]
QUANTITIES = {"claim": "The wall is 3 kilometres long.", "evidence": "It is 3 kilometres long."}
OF_ONE_PAGE = [
    PageClaim("The mole is old.", SUPPORTS, "Mole", ("It is old.", "It is grey."), ("It leans.",)),
    PageClaim("The mill is new.", REFUTES, "Mill", ("It was built in 1610.",), ("a", "b", "c")),
]


def classify(pairs: Sequence[tuple[str, str]]) -> NDArray[np.float32]:
    """Refute whatever is about a film, support what is about oak, and settle no other pair."""
    rows = [(0.7 * ("oak" in text), 0.8 * ("film" in text)) for _, text in pairs]
    return np.array([(s, r, 1 - s - r) for s, r in rows], dtype=np.float32).reshape(-1, 3)


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("examples")


@pytest.fixture(scope="module")
def data(folder: Path) -> TrainingData:
    pool, claims = pool_of(PAGES, WordEncoder(), folder), list(TRAIN)
    contrasts = contrast_claims(claims, pool, 0)
    return TrainingData(claims, contrasts, OF_ONE_PAGE, [], pool, pool, 0, {})


@pytest.fixture(scope="module")
def drawn(data: TrainingData, folder: Path) -> dict[str, Sequence[Any]]:
    """The examples of each training."""
    composed = compositions(data, 0, 40)
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


def test_examples_are_those_of_the_recipe(drawn: dict[str, Sequence[Any]]) -> None:
    found = {name: (len(some), examples_digest(some)[:16]) for name, some in drawn.items()}
    # How many examples each training has, and the digest of all of them.
    assert found == {
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


@cases("training_examples", "claim", "evidence", "label")
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
    "Yew_Hill": [f"Yew Hill has {n} crosses of stone ." for n in range(5)],
}
DEV = [("Elm Pier is made of oak.", "SUPPORTS", "Elm_Pier")]
TRAIN_LINES = [
    ("Ash Lamp is a boat.", "REFUTES", "Ash_Lamp"),
    ("Elm Pier is made of iron.", "REFUTES", "Elm_Pier"),
    ("Elm Pier was painted by Ida Holm.", "NOT ENOUGH INFO", None),
    ("Fir Boat was painted by Ida Holm.", "NOT ENOUGH INFO", None),
]


def fever_line(number: int, claim: str, label: str, page: str | None) -> dict[str, Any]:
    evidence = [[[number, number, page, 0 if page else None]]]
    return {"id": number, "claim": claim, "label": label, "evidence": evidence}


@pytest.mark.models
def test_claims_that_cite_or_name_a_page_of_a_dev_claim_are_left_out(tmp_path: Path) -> None:
    with pytest.raises(BadSource, match=r"contains no fever-dev/train\.jsonl"):
        load_data(tmp_path, tmp_path, seed=0)
    pages = (fever_page(page, *told) for page, told in HELD_PAGES.items())
    write_json_lines(tmp_path / "fever-dev/wiki-pages/wiki-001.jsonl", *pages)
    for name, claims in (("dev", DEV), ("train", TRAIN_LINES)):
        records = (fever_line(n, *claim) for n, claim in enumerate(claims))
        write_json_lines(tmp_path / f"fever-dev/{name}.jsonl", *records)
    union = {"claim": "Fir Boat is a boat.", "label": SUPPORTS, "evidence_union": [["Fir_Boat", 0]]}
    write_json_lines(tmp_path / "fever-dev/train-union.jsonl", union)
    of_one_page = []
    for title in ("Fir Boat", "Elm Pier"):
        gold = [{"text": f"{title} is old."}]
        text = {"text": f"{title} is old.", "label": SUPPORTS, "wikipedia_page": title}
        of_one_page.append(text | {"gold_evidence": gold, "retrieved_evidence": gold})
    write_json_lines(tmp_path / "fm2/train.jsonl", *of_one_page)
    data = load_data(tmp_path, tmp_path / "vectors", seed=0)
    assert [claim.text for claim in data.train] == [
        *("Ash Lamp is a boat.", "Fir Boat was painted by Ida Holm.", "Fir Boat is a boat.")
    ]
    assert [claim.title for claim in data.page_claims] == ["Fir Boat"]
    assert data.left_out == 3
    assert "Elm_Pier" in data.dev_pool.by_page
    assert "Elm_Pier" not in data.pool.by_page


@pytest.mark.models
def test_of_fevers_release_every_training_claim_with_evidence_on_the_pages_is_read(
    tmp_path: Path,
) -> None:
    lost = ("Elm Pier is a mill.", "REFUTES", "No_Page")
    again = (DEV[0][0], "SUPPORTS", "Elm_Pier")
    files = {"shared_task_dev": DEV, "train": [*TRAIN_LINES, lost, again]}
    for name, claims in files.items():
        with pytest.raises(BadSource, match=r"contains no (?:fever-dev/)?train\.jsonl"):
            load_data(tmp_path, tmp_path, seed=0)
        records = (fever_line(n, *claim) for n, claim in enumerate(claims))
        write_json_lines(tmp_path / f"{name}.jsonl", *records)
    pages = (fever_page(page, *told) for page, told in HELD_PAGES.items())
    write_json_lines(tmp_path / "wiki-pages/wiki-001.jsonl", *pages)
    data = load_data(tmp_path, tmp_path / "vectors", seed=0)
    assert [claim.text for claim in data.train] == [text for text, _, _ in TRAIN_LINES]
    assert (data.page_claims, data.left_out) == ([], 2)
    assert [claim.text for claim in data.dev] == [DEV[0][0]]
    assert data.pool.by_page.keys() == data.dev_pool.by_page.keys() == HELD_PAGES.keys()
    assert list(data.digests) == ["train.jsonl", "shared_task_dev.jsonl"]
    assert data.described.startswith("4 claims of FEVER's training set")


def test_of_a_large_corpus_the_cited_pages_are_read_and_some_others(tmp_path: Path) -> None:
    pages = [Page(f"P{n}", f"P{n}", None, "", ("Red.",)) for n in range(OTHERS + 50)]
    cited = {"P3", "P10040", "P9"}
    first, again = (
        SentencePool(ListCorpus(tuple(pages)), WordEncoder(), tmp_path, cited) for _ in range(2)
    )
    assert cited < first.by_page.keys()
    assert len(first.by_page) == OTHERS + len(cited)
    assert list(first.by_page) == sorted(first.by_page, key=lambda name: int(name[1:]))
    assert list(first.by_page) == list(again.by_page)
    # 47 are left out, from all over the corpus and not from its end only.
    assert any(f"P{n}" not in first.by_page for n in range(OTHERS // 2))


def test_pages_are_split_by_their_source_or_else_as_an_index_splits_them(tmp_path: Path) -> None:
    split = ("The pier is long.", "", "It is made of oak.")
    corpus = ListCorpus(
        (
            Page("Ida_Holm", "Ida Holm", None, "Ida Holm was an engineer. She kept bees."),
            Page("Empty", "Empty", None, ""),
            Page("Pier", "Pier", None, "Oak. Iron.", split),
            Page("Boat", "Boat", None, "The boat is blue."),
        )
    )
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
    made, below = [], tmp_path / "below"

    def kept(key: str) -> list[float]:
        def make() -> np.ndarray:
            made.append(key)
            return np.array([1.5, 2.5])

        return kept_array(below, "array", [key], make).tolist()

    assert kept("these") == [1.5, 2.5]
    (below / "array.partial").write_bytes(b"half")  # of a run that was stopped
    assert kept("these") == kept("others") == [1.5, 2.5]
    assert made == ["these", "others"]

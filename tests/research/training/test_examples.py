"""What is read, held out and drawn for every training: examples stay what they were."""

import random
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from research.evaluation.claims import CorpusClaim, FeverClaim, Pair
from research.training import contrast
from research.training.compositions import Composition, compose, compositions
from research.training.compositions.phrases import BridgeFinder, PageWords
from research.training.compositions.statements import OpenStatement, statements
from research.training.contrast import contrast_claims, refuting, symmetric
from research.training.data import EverydayData, PageClaim, PairData, TrainingData, load_data
from research.training.dense_examples import ExampleSets
from research.training.distilbert import relevance_parts
from research.training.evidence_sets import claim_sets, composition_sets, contrast_sets, page_sets
from research.training.figures import contrast_figures
from research.training.loop import Example, examples_digest, labelled
from research.training.path import path_examples
from research.training.relevance import reading_examples, relevance_examples
from research.training.sentence_pool import OTHERS, SentencePool, kept_array
from research.training.title_examples import title_examples
from research.training.verifier.pairs import AssertionData
from research.training.verifier.train import Mix, Sources, mixed_examples
from retrieval.corpora.corpus import Page, readable_pages
from retrieval.corpora.wiki.fever import FeverCorpus
from retrieval.errors import BadSource
from retrieval.text.english import EnglishParser
from retrieval.types import NOT_ENOUGH_INFO, REFUTES, SUPPORTS, Label, Opinion
from tests.research.training.pages import data_of, fever_page, label_of, pool_of
from tests.retrieval.index.pages import ListCorpus
from tests.support.cases import cases, rows
from tests.support.encoders import WordEncoder
from tests.support.json_lines import write_json_lines
from tests.support.opinions import Says

PAGES = {page: texts for _, (page, texts), _ in rows("training_examples", ["page", "sentences"])}
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


@pytest.fixture(scope="module", autouse=True)
def one_parser(parser: EnglishParser) -> Iterator[None]:
    """What is drawn loads a parser each time: here it is the one of all tests."""
    with pytest.MonkeyPatch.context() as patch:
        for module in (contrast, compose):
            patch.setattr(module, "EnglishParser", lambda: parser)
        yield


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
    proofs = [*claim_sets(data.train, pool, 0), *contrast_sets(data.contrasts, pool, 0)]
    proofs += [*page_sets(data.page_claims, 0), *composition_sets(twenty, pool, 0)]
    return {
        "contrasts": data.contrasts,
        "compositions": composed,
        "relevance": relevance_examples(data.train, data.page_claims, pool, 0),
        "readings": reading_examples(data, 0, 60),
        "path": path_examples(data, twenty, 0, 60),
        "dense": [*sets.claims, *sets.others],
        "titles": title_examples(data.train, [one.claim for one in twenty], pool, 0),
        "prover": proofs,
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
        meaning=PairData([rumour, rumour], [], {}, ""),
        papers=PairData([], [], {}, ""),
        beside=[],
        rows=[],
        relations=PairData([], [], {}, ""),
    )
    most = dict.fromkeys(("everyday", "fever", "misread", "by_rule", "composed", "assertions"), 50)
    return mixed_examples(sources, Mix({"vitaminc": 2}, **most, meaning=2), 0, classify)


def test_examples_are_those_of_the_recipe(drawn: dict[str, Sequence[Any]]) -> None:
    known = rows("training_examples", ["training"], "count digest")
    wanted = {training: figures for _, (training,), figures in known}
    assert {k: [len(some), examples_digest(some)[:16]] for k, some in drawn.items()} == wanted


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


# --- claims that are made of others: compositions of two pages, and contrasts


@pytest.fixture(scope="module")
def films(tmp_path_factory: pytest.TempPathFactory) -> SentencePool:
    pages = {page: texts for _, (page,), texts in rows("page_statements", ["page"], "sentences")}
    return pool_of(pages, WordEncoder(), tmp_path_factory.mktemp("films"))


def test_compositions_need_both_pages_and_false_ones_exchange_one_fact(films: SentencePool) -> None:
    made = FeverClaim(TRAIN[0].text, SUPPORTS, ((("Quiet_Harbour", 0),),), 1, "line 1")
    chemistry = "Ingrid Solheim never studied chemistry."
    studied = FeverClaim(chemistry, REFUTES, ((("Ingrid_Solheim", 1),),), 2, "line 2")
    data = data_of(films, made, studied)
    many = [one for seed in range(6) for one in compositions(data, seed, 1000)]
    one = {one.claim.text: one for one in many}["Night Ferry was directed by a Czech novelist."]
    assert (one.kind, one.bridge, one.claim.label) == ("description", "Pavel Drozd", SUPPORTS)
    assert one.claim.evidence == ((("Night_Ferry", 0), ("Pavel_Drozd", 0)),)
    assert [cut(one, part) for part in one.parts] == [
        ["Night Ferry", "directed"],
        ["Czech novelist"],
    ]
    assert {one.claim.text: one.claim.label for one in many if one.kind == "shared"} == {
        "Quiet Harbour and The Last Lantern were directed by the same person.": SUPPORTS,
        "Quiet Harbour and Night Ferry were directed by the same person.": REFUTES,
    }
    # The page of Sofia Marchetti names the first page; Garden of Tin has two directors.
    assert not [one for one in many if one.claim.evidence[0][1][0] == "Sofia_Marchetti"]
    assert not [one for one in many if one.kind == "role" and "Garden of Tin" in one.claim.text]
    said = PageWords(films)
    for one in many:
        (keys,) = one.claim.evidence
        for spans, (other, _) in zip(one.parts, reversed(keys), strict=True):
            # No page alone suffices, or names the other.
            assert spans
            text = said.text(other).casefold()
            assert not [words for words in cut(one, spans) if words.casefold() in text]
        if one.flipped is not None:
            text = films.sentences[films.position[keys[1]]].text
            (words,) = cut(one, [one.flipped])
            assert (one.in_evidence in text, words in text) == (True, False)


def cut(one: Composition, spans: Iterable[tuple[int, int]]) -> list[str]:
    return [one.claim.text[start:end] for start, end in spans]


def test_statements_are_plainly_said_of_a_page(parser: EnglishParser, films: SentencePool) -> None:
    finder = BridgeFinder(films)

    def said_of(text: str) -> list[OpenStatement]:
        """The statements of a sentence about Amber Hall, none of them shortened."""
        mentions = finder.named(text, "Elsewhere", "Amber Hall")
        long = random.Random(1)  # its first draws are above the share that is shortened
        given = ("Elsewhere", 0), "Amber Hall", mentions, frozenset({"it", "he"}), long
        return list(statements(parser.parse(text), *given))

    for why, (text,), statement in rows("page_statements", ["text"], "statement"):
        (made,) = said_of(text)
        assert [made.before, made.name, made.after] == statement, why
    # One alone has some roles, and what is not plainly said makes no statement.
    for why, (text,), role in rows("page_statements", ["text"], "single role"):
        (made,) = said_of(text)
        assert [made.single, made.role] == role, why
    for why, (text,), _ in rows("page_statements", ["text"]):
        assert said_of(text) == [], why


def test_a_contrast_and_its_original_are_each_true_and_false_once(data: TrainingData) -> None:
    pier = next(one for one in data.contrasts if one.original == "Elm Pier is in Norway.")
    assert (pier.claim.text, pier.claim.label) == ("Elm Pier is in Denmark.", REFUTES)
    (sentence,) = refuting(pier, data.pool)
    as_it_is = f"Elm Pier : {sentence.text}"
    changed = as_it_is.replace("Norway", "Denmark")
    assert symmetric(pier, sentence) == [
        ("Elm Pier is in Norway.", as_it_is, SUPPORTS),
        ("Elm Pier is in Denmark.", as_it_is, REFUTES),
        ("Elm Pier is in Denmark.", changed, SUPPORTS),
        ("Elm Pier is in Norway.", changed, REFUTES),
    ]
    # Who reads the claim alone gets half of them right.
    by_evidence = Says(lambda claim, text: yes_or_no(claim.rstrip(".").split()[-1] in text))
    by_claim = Says(lambda claim, _: yes_or_no("Norway" in claim))
    for model, right in ((by_evidence, 100.0), (by_claim, 50.0)):
        assert contrast_figures(model.probabilities, [pier], data.pool) == {
            "exchanges_right": right
        }
    # A year is exchanged with one that is near, and nothing where the opposite is not clear.
    for seed in range(2):
        made = contrast_claims(TRAIN, data.pool, seed)
        for one in (one for one in made if one.old.isdigit()):
            assert 1 <= abs(int(one.new) - int(one.old)) <= 30
            assert one.claim.text == one.original.replace(one.old, one.new)
    texts = (
        "Elm Pier is a pier.",  # nothing to exchange
        "Elm Pier is not outside Norway.",  # its opposite is not what it would be
        "Elm Pier is near Iceland.",  # the evidence does not name it
    )
    claims = (FeverClaim(text, SUPPORTS, ((("Elm_Pier", 0),),), 99, "line 99") for text in texts)
    found = contrast_claims([*TRAIN, *claims], data.pool, 0)
    assert [one for one in found if one.original in texts] == []


def yes_or_no(yes: bool) -> Opinion:
    return (0.9, 0.1, 0.0) if yes else (0.1, 0.9, 0.0)


# --- claims that are read


HELD_PAGES = {page: texts for _, (page,), texts in rows("training_examples", ["held"], "sentences")}
DEV = [("Elm Pier is made of oak.", "SUPPORTS", "Elm_Pier")]
TRAIN_LINES = [tuple(one) for _, one, _ in rows("training_examples", ["line", "label", "cites"])]


def write_fever(folder: Path, **files: list[tuple[str, str, str | None]]) -> None:
    """Write the pages, and files of claims: text, label and cited page of each."""
    pages = (fever_page(page, *texts) for page, texts in HELD_PAGES.items())
    write_json_lines(folder / "wiki-pages/wiki-001.jsonl", *pages)
    for name, claims in files.items():
        lines = []
        for number, (claim, label, page) in enumerate(claims):
            evidence = [[[number, number, page, 0 if page else None]]]
            lines.append({"id": number, "claim": claim, "label": label, "evidence": evidence})
        write_json_lines(folder / f"{name}.jsonl", *lines)


@pytest.mark.models
def test_claims_that_cite_or_name_a_page_of_a_dev_claim_are_left_out(tmp_path: Path) -> None:
    with pytest.raises(BadSource, match=r"contains no fever-dev/train\.jsonl"):
        load_data(tmp_path, tmp_path, seed=0)
    write_fever(tmp_path / "fever-dev", dev=DEV, train=TRAIN_LINES)
    union = {"claim": "Fir Boat is a boat.", "label": SUPPORTS, "evidence_union": [["Fir_Boat", 0]]}
    write_json_lines(tmp_path / "fever-dev/train-union.jsonl", union)
    of_one_page = []
    for title in ("Fir Boat", "Elm Pier"):
        gold = [{"text": f"{title} is old."}]
        row = {"text": f"{title} is old.", "label": SUPPORTS, "wikipedia_page": title}
        of_one_page.append(row | {"gold_evidence": gold, "retrieved_evidence": gold})
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
def test_of_fevers_release_every_claim_with_evidence_is_read(tmp_path: Path) -> None:
    lost = ("Elm Pier is a mill.", "REFUTES", "No_Page")
    again = (DEV[0][0], "SUPPORTS", "Elm_Pier")
    write_fever(tmp_path, shared_task_dev=DEV)
    with pytest.raises(BadSource, match=r"contains no train\.jsonl"):
        load_data(tmp_path, tmp_path, seed=0)
    write_fever(tmp_path, train=[*TRAIN_LINES, lost, again])
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
    pages = (
        Page("Ida_Holm", "Ida Holm", None, "Ida Holm was an engineer. She kept bees."),
        Page("Empty", "Empty", None, ""),
        Page("Pier", "Pier", None, "Oak. Iron.", split),
        Page("Boat", "Boat", None, "The boat is blue."),
    )
    pool = SentencePool(ListCorpus(pages), WordEncoder(), tmp_path)
    assert [(*one.key, one.title, one.text) for one in pool.sentences] == [
        ("Ida_Holm", 0, "Ida Holm", "Ida Holm was an engineer."),
        ("Ida_Holm", 1, "Ida Holm", "She kept bees."),
        ("Pier", 0, "Pier", "The pier is long."),
        ("Pier", 2, "Pier", "It is made of oak."),
        ("Boat", 0, "Boat", "The boat is blue."),
    ]
    assert pool.by_page == {"Ida_Holm": [0, 1], "Pier": [2, 3], "Boat": [4]}
    assert pool.position["Pier", 2] == 3


def test_a_pool_finds_what_is_left_and_an_array_is_made_once(tmp_path: Path) -> None:
    pages = {"Pier": ["The pier is long."], "Boat": ["The boat is blue."], "Lamp": ["A blue lamp."]}
    pool = pool_of(pages, WordEncoder(), tmp_path)
    (found,) = pool.nearest(["The blue boat."], 2)
    assert [pool.sentences[i].page for i in found] == ["Boat", "Lamp"]
    rest = pool.without({"Boat"})
    (found,) = rest.nearest(["The blue boat."], 2)
    assert [rest.sentences[i].page for i in found] == ["Lamp", "Pier"]
    # An array is made once for what it is made of.
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

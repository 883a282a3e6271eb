"""BART as it is loaded from a folder, shown on a tiny one with random weights."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pytest
import torch
from transformers import BartForConditionalGeneration, PreTrainedTokenizerFast

from retrieval.errors import ModelUnavailable
from retrieval.models.papers.bart import BartTitleModel, weight_files
from retrieval.models.papers.decoding import Markup, generate
from retrieval.recipes.config import RetrievalConfig
from retrieval.stages.find.generation import TitleGenerator
from tests.retrieval.models.generators.tiny_bart import write_tiny_bart
from tests.retrieval.stages.test_generation import Named
from tests.support.evidence import evidence, ranked
from tests.support.states import state_of

TITLES = [("lamp", "Lamp"), ("lamp_song", "Lamp (song)"), ("oslo", "Oslo"), ("Oslo_2", "Oslo")]
TEXTS = ["The lamp was made in Oslo.", "Lamp (song) is a song about a [red] lamp.", "Oslo"]
BEGIN, PADDING, END = 0, 1, 2


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("bart")
    write_tiny_bart(folder, TEXTS)
    return folder


def whole_read(folder: Path, text: Sequence[int], prefix: Sequence[int]) -> np.ndarray:
    """What the model says comes next when nothing is remembered of the steps before."""
    model = BartForConditionalGeneration.from_pretrained(folder).eval()
    with torch.inference_mode():
        logits = model(
            input_ids=torch.tensor([text]), decoder_input_ids=torch.tensor([[END, *prefix]])
        ).logits[0, -1]
    return logits.log_softmax(dim=-1).numpy()


def test_a_title_is_between_the_tokens_that_begin_and_end_texts_of_bart(folder: Path) -> None:
    assert BartTitleModel(folder).markup == Markup(title_begin=BEGIN, title_end=END)


def test_its_trie_holds_the_titles_in_its_own_tokens(folder: Path) -> None:
    tokenizer = PreTrainedTokenizerFast.from_pretrained(folder)
    trie = BartTitleModel(folder).trie(TITLES)
    ends = {}
    for title in ("Lamp", "Lamp (song)", "Oslo"):
        node = trie.root()
        for token in tokenizer(title, add_special_tokens=False).input_ids:
            following = trie.step(node, token)
            assert following is not None
            node = following
        ends[title] = trie.ends(node)
    assert ends == {"Lamp": ["lamp"], "Lamp (song)": ["lamp_song"], "Oslo": ["oslo", "Oslo_2"]}


def test_what_it_remembers_of_a_prefix_changes_no_probability(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("retrieval.models.papers.bart._fastest_precision", lambda: torch.float32)
    tokenizer = PreTrainedTokenizerFast.from_pretrained(folder)
    parts = ["The lamp is red.", "[Lamp] The lamp was made in Oslo."]
    text = [BEGIN]
    for part in parts:
        text += [*tokenizer(part, add_special_tokens=False).input_ids, END]

    reading = BartTitleModel(folder).read(parts[0], [("Lamp", "The lamp was made in Oslo.")])
    # Three beams that cross: the second call's rows come from the first, last and first one.
    calls = [[()], [(BEGIN,)], [(BEGIN, 9), (BEGIN, 7), (BEGIN, 8)]]
    calls.append([(BEGIN, 8, 5), (BEGIN, 9, 6), (BEGIN, 8, 4)])
    for prefixes in calls:
        scores = reading.next_tokens(prefixes)
        for row, prefix in zip(scores, prefixes, strict=True):
            assert row == pytest.approx(whole_read(folder, text, prefix), abs=1e-4)


def test_every_title_is_found_by_a_search_that_is_wide_enough(folder: Path) -> None:
    model = BartTitleModel(folder)
    generator = TitleGenerator(
        model, model.trie(TITLES), Named("lamp"), RetrievalConfig(generation_beams=10)
    )
    generator.warm_up()
    leads = (evidence("Lamp", "The lamp was made in Oslo."),)
    state = state_of("The lamp is red.", evidence=leads, documents=(ranked("lamp"),))
    found = generator.expand(state)
    assert {candidate.document_id for candidate in found} == {"lamp_song", "oslo", "Oslo_2"}
    of_oslo = [candidate.score for candidate in found if "slo" in candidate.document_id]
    assert of_oslo[0] == of_oslo[1]


def test_it_decodes_the_numbers_of_sentences_and_the_title_together(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("retrieval.models.papers.bart._fastest_precision", lambda: torch.float32)
    model = BartTitleModel(folder)
    pairs = [("Lamp", "The lamp was made in Oslo."), ("Pier", "It is red.")]
    reading = model.read("The lamp is red.", pairs)
    tokenizer = PreTrainedTokenizerFast.from_pretrained(folder)
    one, two = tokenizer.convert_tokens_to_ids(["1", "2"])
    assert list(reading.identifiers) == [one, two]
    titles = model.trie([("oslo", "Oslo")])
    found = generate(reading, model.markup, titles, 50, ("lamp", "pier"))
    # Each sentence, both, and none: the form of GENRE.
    assert {way.sentences: way.documents for way in found} == {
        (): ("oslo",),
        (0,): ("lamp", "oslo"),
        (1,): ("pier", "oslo"),
        (0, 1): ("lamp", "pier", "oslo"),
    }
    # The probability of "12<s>Oslo</s>" is that of its tokens, one by one (equation 2).
    text = [BEGIN]
    for part in ("The lamp is red.", *(f"[{title}] {sentence}" for title, sentence in pairs)):
        text += [*tokenizer(part, add_special_tokens=False).input_ids, END]
    oslo = tokenizer("Oslo", add_special_tokens=False).input_ids
    target = [one, two, BEGIN, *oslo, END]
    steps = [whole_read(folder, text, target[:n])[target[n]] for n in range(len(target))]
    (both,) = [way.probability for way in found if way.sentences == (0, 1)]
    assert both == pytest.approx(float(np.exp(np.sum(steps))), rel=1e-3)


def test_a_reading_can_be_searched_twice(folder: Path) -> None:
    model = BartTitleModel(folder)
    titles = model.trie(TITLES)
    reading = model.read("The lamp is red.", [("Pier", "It is red.")])
    once, again = (generate(reading, model.markup, titles, 5, ("pier",)) for _ in range(2))
    assert once == again


def test_sentences_beyond_its_window_have_no_number(folder: Path) -> None:
    pairs = [("Lamp", "It is red. " * 100), ("Pier", "It is long.")]
    assert len(BartTitleModel(folder).read("The lamp is red.", pairs).identifiers) == 1


def test_evidence_longer_than_its_window_is_cut(folder: Path) -> None:
    reading = BartTitleModel(folder).read("The lamp is red.", [("Lamp", "It is red. " * 100)])
    assert reading.next_tokens([()]).shape[0] == 1


@pytest.mark.parametrize("name", ["config.json", "model.safetensors", "tokenizer.json"])
def test_a_folder_without_a_file_is_refused_with_what_to_put_there(
    folder: Path, tmp_path: Path, name: str
) -> None:
    for path in folder.iterdir():
        if path.name != name:
            (tmp_path / path.name).write_bytes(path.read_bytes())
    with pytest.raises(ModelUnavailable, match=f"contains no {name}") as refusal:
        BartTitleModel(tmp_path)
    assert "facebook/genre-kilt" in refusal.value.hint


def test_a_tokenizer_in_two_files_needs_both(tmp_path: Path) -> None:
    for name in ("config.json", "model.safetensors", "vocab.json"):
        (tmp_path / name).touch()
    with pytest.raises(ModelUnavailable, match=r"contains no tokenizer\.json"):
        weight_files(tmp_path)
    (tmp_path / "merges.txt").touch()
    assert {path.name for path in weight_files(tmp_path)} == {
        *("config.json", "model.safetensors", "vocab.json", "merges.txt")
    }


@pytest.mark.parametrize("name", ["config.json", "model.safetensors", "tokenizer.json"])
def test_a_damaged_file_is_refused(folder: Path, tmp_path: Path, name: str) -> None:
    for path in folder.iterdir():
        (tmp_path / path.name).write_bytes(path.read_bytes())
    (tmp_path / name).write_bytes((folder / name).read_bytes()[:40])
    with pytest.raises(ModelUnavailable, match=r"is not that of a BART|cannot be loaded"):
        BartTitleModel(tmp_path).read("The lamp is red.", [])


def test_weights_of_a_shallower_model_are_refused(folder: Path, tmp_path: Path) -> None:
    for path in folder.iterdir():
        (tmp_path / path.name).write_bytes(path.read_bytes())
    config = (tmp_path / "config.json").read_text()
    deeper = config.replace('"decoder_layers": 2', '"decoder_layers": 3')
    assert deeper != config
    (tmp_path / "config.json").write_text(deeper)
    with pytest.raises(ModelUnavailable, match="cannot be loaded"):
        BartTitleModel(tmp_path).warm_up()

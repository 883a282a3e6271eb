"""Models that write titles: the shipped one, and a tiny BART with random weights."""

import shutil
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pytest
import torch
from transformers import BartForConditionalGeneration, PreTrainedTokenizerFast

from research.benchmarks.torch_network import TorchNetwork
from research.training.networks.encoders import add_delta
from research.training.networks.titles import NetworkReading, packaged_title_network
from retrieval.errors import ModelUnavailable
from retrieval.models.papers.bart import BartTitleModel, weight_files
from retrieval.models.papers.decoding import documents_alone, generate
from retrieval.models.papers.title_generator import (
    IDENTIFIERS,
    MARKUP,
    POSITIONS,
    MiniLMTitleModel,
    identifiers_in,
    input_tokens,
)
from retrieval.models.shipped import TITLES
from retrieval.models.title_trie import TitleTokenizer
from retrieval.models.trained_model import read_config
from tests.retrieval.models.tiny_models import write_tiny_bart

CLAIM = "The lamp is red."
LAMP, PIER = ("Lamp", "The lamp was made in Oslo."), ("Pier (band)", "It is a band.")
CLS, SEP = 101, 102  # of MiniLM
BEGIN, END = 0, 2  # of BART


@pytest.mark.models
def test_each_sentence_follows_its_identifier_and_what_does_not_fit_is_cut() -> None:
    tokenizer = TitleTokenizer()
    claim, lamp, pier = tokenizer.tokens(
        [CLAIM, "Lamp : The lamp was made in Oslo.", "Pier (band) : It is a band."]
    )
    tokens = input_tokens(tokenizer, CLAIM, [LAMP, PIER], 64)
    assert tokens == [CLS, *claim, SEP, IDENTIFIERS[0], *lamp, IDENTIFIERS[1], *pier, SEP]
    assert identifiers_in(tokens) == list(IDENTIFIERS[:2])
    assert len(input_tokens(tokenizer, "Oslo", [], 64)) == 4
    long = ("Pier", "The pier is long. " * 20)
    tokens = input_tokens(tokenizer, CLAIM, [LAMP, long, PIER], 40)
    assert (len(tokens), tokens[-1]) == (40, SEP)
    assert identifiers_in(tokens) == list(IDENTIFIERS[:2])  # the third was not read
    tokens = input_tokens(tokenizer, "red " * 100, [LAMP, PIER], 40)
    assert tokens.index(IDENTIFIERS[0]) == 22  # [CLS], twenty tokens, [SEP]
    many = input_tokens(tokenizer, CLAIM, [LAMP] * 12, 256)
    assert identifiers_in(many) == list(IDENTIFIERS)
    (written,) = tokenizer.tokens(["[unused1] [unused9] [unused10]"])  # no text is markup
    assert {*IDENTIFIERS, MARKUP.title_begin, MARKUP.title_end}.isdisjoint(written)


@pytest.mark.models
def test_the_shipped_model_writes_titles_that_exist_as_the_network_in_training_does() -> None:
    module, model = packaged_title_network(), MiniLMTitleModel(TITLES)
    add_delta(module, TITLES, read_config(TITLES)["sha256"])
    vars(model)["_network"] = TorchNetwork(module.train(False).distilbert, 0)
    window = read_config(TITLES)["max_tokens"]
    tokens = input_tokens(TitleTokenizer(), CLAIM, [LAMP, PIER], window)
    ours, theirs = model.read(CLAIM, [LAMP, PIER]), NetworkReading(module, tokens)
    assert ours.identifiers == theirs.identifiers == list(IDENTIFIERS[:2])
    ann, lee = TitleTokenizer().tokens(["Ann Lee"])[0]
    one, two = IDENTIFIERS[:2]
    begin = MARKUP.title_begin
    steps: list[list[tuple[int, ...]]] = [
        [()],
        [(one,), (two,)],
        [(two, begin), (one, two), (one, begin)],  # beams cross
        [(one, two, begin), (one, begin, ann)],
        [(one, begin, ann, lee), (one, two, begin, ann)],
    ]
    longest = (one, begin, ann, lee)
    # Past the last place that has a vector of its own.
    steps += [[longest + (lee,) * more] for more in range(1, POSITIONS)]
    for prefixes in steps:
        found, expected = ours.next_tokens(prefixes), theirs.next_tokens(prefixes)
        assert found.shape == (len(prefixes), 30522)
        assert np.allclose(np.exp(found), np.exp(expected), atol=1e-4)
        likely = expected > np.log(1e-6)
        assert np.allclose(found[likely], expected[likely], atol=5e-3)
    titles = ["Ann Lee", "Ann Lee (singer)", "Oslo", "Lamp", "Pier"]
    model = MiniLMTitleModel(TITLES)
    trie = model.trie([(title, title) for title in titles])
    reading = model.read("The lamp was made by an engineer.", [LAMP, PIER])
    generated = documents_alone(generate(reading, model.markup, trie, 20, ("a lamp", "a pier")))
    assert {document.documents for document in generated} == {(title,) for title in titles}
    probabilities = [document.probability for document in generated]
    assert probabilities == sorted(probabilities, reverse=True)
    assert 0 < sum(probabilities) <= 1.001


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The files of a tiny BART."""
    folder = tmp_path_factory.mktemp("bart")
    write_tiny_bart(folder, [LAMP[1], "Lamp (song) is a song about a [red] lamp.", "Oslo"])
    return folder


def whole_read(folder: Path, sentences: Sequence[str], prefix: Sequence[int]) -> np.ndarray:
    """What the model says comes next when nothing is remembered of the steps before."""
    tokenizer = PreTrainedTokenizerFast.from_pretrained(folder)
    text = [BEGIN]
    for part in (CLAIM, *sentences):
        text += [*tokenizer(part, add_special_tokens=False).input_ids, END]
    model = BartForConditionalGeneration.from_pretrained(folder).eval()
    with torch.inference_mode():
        logits = model(
            input_ids=torch.tensor([text]), decoder_input_ids=torch.tensor([[END, *prefix]])
        ).logits[0, -1]
    return logits.log_softmax(dim=-1).numpy()


def test_what_bart_remembers_changes_nothing(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    precision = "retrieval.models.papers.bart.fastest_precision"
    monkeypatch.setattr(precision, lambda: torch.float32)
    bart = BartTitleModel(folder)
    assert (bart.markup.title_begin, bart.markup.title_end) == (BEGIN, END)
    reading = bart.read(CLAIM, [LAMP])
    # Three beams that cross: the second call's rows come from the first, last and first one.
    calls = [[()], [(BEGIN,)], [(BEGIN, 9), (BEGIN, 7), (BEGIN, 8)]]
    calls.append([(BEGIN, 8, 5), (BEGIN, 9, 6), (BEGIN, 8, 4)])
    for prefixes in calls:
        for row, prefix in zip(reading.next_tokens(prefixes), prefixes, strict=True):
            wanted = whole_read(folder, [f"[Lamp] {LAMP[1]}"], prefix)
            assert row == pytest.approx(wanted, abs=1e-4)
    # It decodes the numbers of sentences and the title together.
    pairs = [LAMP, ("Pier", "It is red.")]
    reading = bart.read(CLAIM, pairs)
    tokenizer = PreTrainedTokenizerFast.from_pretrained(folder)
    one, two = tokenizer.convert_tokens_to_ids(["1", "2"])
    assert list(reading.identifiers) == [one, two]
    found = generate(reading, bart.markup, bart.trie([("oslo", "Oslo")]), 50, ("lamp", "pier"))
    # Each sentence, both, and none: the form of GENRE.
    assert {way.sentences: way.documents for way in found} == {
        (): ("oslo",),
        (0,): ("lamp", "oslo"),
        (1,): ("pier", "oslo"),
        (0, 1): ("lamp", "pier", "oslo"),
    }
    # The probability of "12<s>Oslo</s>" is that of its tokens, one by one (equation 2).
    texts = [f"[{title}] {sentence}" for title, sentence in pairs]
    oslo = tokenizer("Oslo", add_special_tokens=False).input_ids
    target = [one, two, BEGIN, *oslo, END]
    steps = [whole_read(folder, texts, target[:n])[target[n]] for n in range(len(target))]
    (both,) = [way.probability for way in found if way.sentences == (0, 1)]
    assert both == pytest.approx(float(np.exp(np.sum(steps))), rel=1e-3)


@pytest.mark.parametrize("name", ["config.json", "model.safetensors", "tokenizer.json"])
def test_a_damaged_folder_of_bart_is_refused(folder: Path, tmp_path: Path, name: str) -> None:
    copy = Path(shutil.copytree(folder, tmp_path / "copy"))
    (copy / name).write_bytes((folder / name).read_bytes()[:40])
    with pytest.raises(ModelUnavailable, match=r"is not that of a BART|cannot be loaded"):
        BartTitleModel(copy).read(CLAIM, [])
    (copy / name).unlink()
    with pytest.raises(ModelUnavailable, match=f"contains no {name}") as refused:
        BartTitleModel(copy)
    assert "facebook/genre-kilt" in refused.value.hint
    # A tokenizer in two files needs both.
    (copy / name).touch()
    (copy / "tokenizer.json").unlink()
    (copy / "vocab.json").touch()
    with pytest.raises(ModelUnavailable, match=r"contains no tokenizer\.json"):
        weight_files(copy)
    (copy / "merges.txt").touch()
    assert len(weight_files(copy)) == 4

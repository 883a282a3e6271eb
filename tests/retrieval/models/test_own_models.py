"""Models of the user: a verifier by the meaning of its labels, an encoder and a reranker."""

import json
import pickle
import shlex
import shutil
import subprocess
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from numpy.typing import NDArray
from safetensors.torch import load_file, save_file
from transformers import (
    AutoModel,
    AutoModelForSequenceClassification,
    AutoTokenizer,
    BertConfig,
    BertModel,
)

from retrieval.corpora.sources import open_corpus
from retrieval.errors import IndexUnavailable, ModelUnavailable
from retrieval.index.embedded.embedded_index import EmbeddedIndex
from retrieval.models import own_verifier
from retrieval.models.cross_encoders import VerdictFit
from retrieval.models.document_encoders import (
    DOCUMENT_ENCODERS,
    choice_of,
    default_choice,
    encoder_of,
)
from retrieval.models.encoders import EncodableDocument
from retrieval.models.folders import ModelFolders, NamedModel
from retrieval.models.own_models import OwnEncoder, OwnQueryEncoder, Reranker
from retrieval.pipeline.assembly import Retriever
from retrieval.stages.read.sentences import RelevanceClassifier
from retrieval.text.context import evidence_set_text
from retrieval.types import LABELS
from tests.retrieval.models.tiny_models import ARCHITECTURES, NLI, PLACES, write_tiny_classifier
from tests.support.cases import cases
from tests.support.evidence import ranked
from tests.support.islands import write_source
from tests.support.states import state_of

CLAIM = "Skerrow Light was designed by Ann Lee."
ONE = "Skerrow Light : It was designed by Ann Lee and was first lit in 1871."
PAIRS = [
    (CLAIM, ONE),
    ("Dundee lies on a river.", "Dundee : It lies on the River Tay."),
    ("Most people keep sheep.", "Skerrow : About forty people live there. Most keep sheep."),
]


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """The files of a small model, to be changed."""
    return write_tiny_classifier(tmp_path / "my-nli")


def model_in(folder: Path, in_search: bool = False) -> own_verifier.SequenceClassifier:
    files = own_verifier.read_classifier(folder)
    return own_verifier.SequenceClassifier(files, own_verifier.read_calibration(files), in_search)


def own_logits(folder: Path, premise: str, hypothesis: str) -> NDArray[np.float32]:
    """What the library itself makes of one pair, in the order of the model's outputs."""
    model = AutoModelForSequenceClassification.from_pretrained(folder).train(False)
    inputs = AutoTokenizer.from_pretrained(folder)(premise, hypothesis, return_tensors="pt")
    with torch.inference_mode():
        logits: NDArray[np.float32] = model(**inputs).logits[0].numpy()
    return logits


def own_opinion(folder: Path, claim: str, evidence: str) -> NDArray[np.float32]:
    """What the library's own pass makes of a claim, with the evidence first."""
    contradiction, neutral, entailment = softmax(own_logits(folder, evidence, claim))
    return np.array([entailment, contradiction, neutral])


def softmax(logits: NDArray[np.float32]) -> NDArray[np.float32]:
    odds = np.exp(logits - logits.max())
    return odds / odds.sum()


def change(folder: Path, **values: Any) -> None:
    config = json.loads((folder / "config.json").read_text(encoding="utf-8"))
    (folder / "config.json").write_text(json.dumps({**config, **values}), encoding="utf-8")


@pytest.mark.parametrize("architecture", ARCHITECTURES)
def test_opinions_are_those_of_the_librarys_own_pass(tmp_path: Path, architecture: str) -> None:
    folder = write_tiny_classifier(tmp_path / "nli", architecture)
    model = model_in(folder)
    said = model.probabilities(PAIRS)
    for pair, row in zip(PAIRS, said, strict=True):
        assert row == pytest.approx(own_opinion(folder, *pair), abs=1e-5)
    assert said[0] != pytest.approx(own_opinion(folder, ONE, CLAIM), abs=1e-3)
    # A pair that does not fit the window is cut and reported.
    claim = "the river"  # 2 tokens, and 3 between the texts
    fitting, longer = "lee " * (PLACES - 5), "lee " * (PLACES - 4)
    assert (model.fits(claim, fitting), model.fits(claim, longer)) == (True, False)
    whole, cut = model.probabilities([(claim, fitting), (claim, longer + "skerrow")])
    assert cut == pytest.approx(whole, abs=1e-5)
    # Each pair is read as if it were alone, and several sentences as one text.
    pairs = [(CLAIM, "Dundee : It lies " + "on the river " * n) for n in range(20)]
    alone = [model.probabilities([pair])[0] for pair in pairs[::6]]
    assert np.allclose(model.probabilities(pairs)[::6], alone, atol=1e-5)
    assert model.probabilities([]).shape == (0, 3)
    designed = [("Skerrow Light", "It was designed by Ann Lee."), ("Dundee", "It is.")]
    several, plain = evidence_set_text(designed), " ".join(" : ".join(one) for one in designed)
    assert "[SEP]" in several
    said = model.probabilities([(CLAIM, several)])
    assert said[0] == pytest.approx(own_opinion(folder, CLAIM, plain), abs=1e-5)


@cases("model_labels", "names", "meant")
def test_labels_are_recognised_by_name(tmp_path: Path, names: list[str], meant: list[str]) -> None:
    folder = write_tiny_classifier(tmp_path, labels=names)
    assert own_verifier.read_classifier(folder).labels == tuple(meant)
    said = dict(zip(LABELS, model_in(folder).probabilities([(CLAIM, ONE)])[0], strict=True))
    own = softmax(own_logits(folder, ONE, CLAIM))
    assert [said[label] for label in meant] == pytest.approx(own, abs=1e-5)
    # A model with two labels never refutes.
    assert [said[label] for label in LABELS if label not in meant] == [0.0] * (3 - len(meant))


@cases("model_labels", "names", "said")
def test_labels_without_a_meaning_are_refused(folder: Path, names: list[Any], said: str) -> None:
    change(folder, id2label=dict(enumerate(names)))
    with pytest.raises(ModelUnavailable, match=said) as caught:
        own_verifier.read_classifier(folder)
    assert str(folder / "config.json") in caught.value.message
    assert "entailment" in caught.value.hint


@cases("model_labels", "file", "content", "said")
def test_a_damaged_file_is_named(folder: Path, file: str, content: str | None, said: str) -> None:
    path = folder / file
    if content is None:
        path.unlink()
    else:
        path.write_bytes(path.read_bytes()[:-1] if content == "half" else content.encode())
    with pytest.raises(ModelUnavailable, match=said) as caught:
        own_verifier.read_classifier(folder)
    if content is None:
        assert "config.json, model.safetensors and tokenizer.json" in caught.value.hint


@pytest.mark.server
def test_weights_in_several_files_are_one_model_and_pickles_are_refused(folder: Path) -> None:
    before, whole = model_in(folder).probabilities(PAIRS), folder / "model.safetensors"
    weights, index = load_file(whole), folder / "model.safetensors.index.json"
    whole.unlink()
    files = {name: f"model-{1 + n % 2}.safetensors" for n, name in enumerate(sorted(weights))}
    for file in {*files.values()}:
        part = {name: weights[name] for name in weights if files[name] == file}
        save_file(part, folder / file, metadata={"format": "pt"})
    index.write_text('{"weight_map": {}}')
    with pytest.raises(ModelUnavailable, match="names no weights"):
        own_verifier.read_classifier(folder)
    index.write_text(json.dumps({"metadata": {}, "weight_map": files}))
    assert np.allclose(model_in(folder).probabilities(PAIRS), before)
    (folder / "model-2.safetensors").unlink()
    with pytest.raises(ModelUnavailable, match=r"contains no model-2\.safetensors"):
        own_verifier.read_classifier(folder)
    for path in (index, folder / "model-1.safetensors"):
        path.unlink()
    torch.save(weights, folder / "pytorch_model.bin")
    with pytest.raises(ModelUnavailable, match=r"are a pickle, pytorch_model\.bin") as caught:
        own_verifier.read_classifier(folder)
    command = caught.value.hint.split("trust their source: ")[1]
    subprocess.run(shlex.split(command), check=True, capture_output=True)
    converted = model_in(folder.with_name("my-nli-safetensors"))
    assert np.allclose(converted.probabilities(PAIRS), before, atol=1e-6)


def test_a_model_with_code_or_other_files_is_refused(folder: Path, tmp_path: Path) -> None:
    def refused(one: Path, said: str) -> ModelUnavailable:
        with pytest.raises(ModelUnavailable, match=said) as caught:
            model_in(one).warm_up()
        return caught.value

    outputs = write_tiny_classifier(tmp_path / "outputs", labels=("a", "b"))
    change(outputs, id2label=dict(enumerate(NLI)))
    refused(outputs, "cannot be loaded")
    words = write_tiny_classifier(tmp_path / "words", texts=["A pier."])
    shutil.copy(folder / "tokenizer.json", words / "tokenizer.json")
    refused(words, "its tokenizer has")
    BertModel(BertConfig.from_pretrained(folder)).save_pretrained(folder)
    change(folder, id2label=dict(enumerate(NLI)))
    refused(folder, r"its weights lack .*classifier")  # it was not trained to classify
    ran = folder / "ran"
    (folder / "own.py").write_text(f"open({str(ran)!r}, 'w')\n")
    classes = {"AutoConfig": "own.Config", "AutoModelForSequenceClassification": "own.Model"}
    change(folder, model_type="own", auto_map=classes)
    hint = refused(folder, "contains custom code").hint
    assert "needs no Python code of its own" in hint
    assert not ran.exists()


def test_the_name_of_a_special_token_in_a_text_is_read_as_text(tmp_path: Path) -> None:
    for architecture in ("bert", "bart"):
        model = model_in(write_tiny_classifier(tmp_path / architecture, architecture))
        for mark in ("[SEP]", "[CLS]", "[PAD]"):
            hostile = f"Skerrow Light : It is old. {mark} The river is long.{mark}"
            pairs = [(CLAIM, ONE), (CLAIM, hostile), (f"Is it {mark}?", ONE)]
            for pair in pairs:
                (row,) = model._network.inputs([pair])["input_ids"].tolist()
                # The one between evidence and claim.
                assert ({0, 1, 2}.intersection(row[1:-1]), row.count(2)) == ({2}, 2)
            assert model.probabilities(pairs).sum(axis=1) == pytest.approx(np.ones(3), abs=1e-5)


EOS = ValueError("All examples must have the same number of <eos> tokens.")
MEMORY = RuntimeError("DefaultCPUAllocator: can't allocate memory")


@pytest.mark.parametrize("error", [EOS, MemoryError(), MEMORY])
def test_what_fails_is_one_error_that_names_the_model(
    folder: Path, monkeypatch: pytest.MonkeyPatch, error: Exception
) -> None:
    code = "model_failed" if error is EOS else "out_of_memory"

    def fails(*_: object, **__: object) -> Any:
        raise error

    model = model_in(folder)
    monkeypatch.setattr(model._network, "logits", fails)
    with pytest.raises(ModelUnavailable, match=str(folder)) as caught:
        model.probabilities([(CLAIM, ONE)])
    assert caught.value.code == code
    monkeypatch.setattr(AutoModelForSequenceClassification, "from_pretrained", fails)
    with pytest.raises(ModelUnavailable, match=str(folder)) as caught:
        model_in(folder).warm_up()
    assert caught.value.code == code.replace("model_failed", "model_damaged")


def test_a_calibration_scales_the_logits_and_is_in_the_name(folder: Path, tmp_path: Path) -> None:
    files = own_verifier.read_classifier(folder)
    assert model_in(folder).version == f"my-nli {files.digest[:8]}"
    before = {path.name: path.read_bytes() for path in folder.iterdir()}
    names = []
    for temperature in (1.5, 2.0):
        own_verifier.write_calibration(files, {"temperature": temperature})
        names.append(model_in(folder).version)
    assert all(name.startswith(f"my-nli {files.digest[:8]}, calibrated ") for name in names)
    assert len({*names}) == 2
    after = {path.name: path.read_bytes() for path in folder.iterdir()}
    assert after.pop(own_verifier.CALIBRATION)
    assert after == before  # the user's own files are as they were
    other = write_tiny_classifier(tmp_path / "other", texts=["A pier."], seed=1)
    for name in ("model.safetensors", "tokenizer.json", "config.json"):
        shutil.copy(other / name, folder / name)
        with pytest.raises(ModelUnavailable, match="fitted to other weights, labels or tokenizer"):
            own_verifier.read_calibration(own_verifier.read_classifier(folder))
        (folder / name).write_bytes(before[name])
    # A calibration scales the logits, and searches may have their own.
    files = own_verifier.read_classifier(folder)
    (folder / own_verifier.CALIBRATION).unlink()
    assert own_verifier.read_calibration(files) == own_verifier.UNCALIBRATED
    given: dict[str, Any] = {"temperature": 2.0, "bias": [0.0, 0.0, 0.5]}
    own_verifier.write_calibration(files, given)
    logits = np.log(own_opinion(folder, CLAIM, ONE))
    wanted = softmax(logits / 2 + np.array(given["bias"]))
    for in_search in (False, True):
        said = model_in(folder, in_search).probabilities([(CLAIM, ONE)])[0]
        assert said == pytest.approx(wanted, abs=1e-5)
    searching = {**given, "bias": [0.0, 0.0, 1.75], "verdict": {"alone": 0.75}}
    own_verifier.write_calibration(files, {**given, "in_search": searching})
    plain, found = model_in(folder), model_in(folder, in_search=True)
    assert (plain.verdict_fit, found.verdict_fit) == (VerdictFit(), VerdictFit(alone=0.75))
    before, after = plain.probabilities(PAIRS), found.probabilities(PAIRS)
    moved = np.log(after[:, 2] / after[:, 0]) - np.log(before[:, 2] / before[:, 0])
    assert moved == pytest.approx([1.25] * len(PAIRS), abs=1e-4)


@cases("bad_calibrations", "content", "said")
def test_a_bad_calibration_is_refused(folder: Path, content: str, said: str) -> None:
    files = own_verifier.read_classifier(folder)
    (folder / own_verifier.CALIBRATION).write_text(content.replace("DIGEST", files.digest))
    with pytest.raises(ModelUnavailable, match=said) as caught:
        own_verifier.read_calibration(files)
    assert "calibrate --verifier" in caught.value.hint


# --- an encoder and a reranker of the user

TEXTS = ["Skerrow is a small island in the north.", "Dundee is a city."]


def named(folder: Path, variable: str = "ESOTERIC_ENCODER") -> NamedModel:
    return NamedModel(variable, str(folder))


@pytest.fixture(scope="module")
def model(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A model whose vectors are the means of its tokens', 16 numbers."""
    return write_tiny_classifier(tmp_path_factory.mktemp("models") / "my-encoder")


@pytest.fixture(scope="module")
def own_index(tmp_path_factory: pytest.TempPathFactory, model: Path) -> Path:
    """An index with vectors of the model."""
    folder = tmp_path_factory.mktemp("own")
    write_source(folder / "islands.jsonl")
    folders = ModelFolders(folder, encoder=named(model))
    corpus = open_corpus(f"jsonl:{folder / 'islands.jsonl'}")
    encoder = DOCUMENT_ENCODERS[default_choice(folders)](folders)
    EmbeddedIndex(folder / "index").build(corpus, encoder)
    return folder / "index"


def retriever(index: Path, unpacked: Path, encoder: Path | None) -> Retriever:
    folders = ModelFolders(unpacked, encoder=named(encoder) if encoder else None)
    return Retriever(index, index.parent / "snapshots", threads=1, folders=folders)


@pytest.mark.models
def test_a_text_has_the_vector_of_its_model_a_sentence_after_its_title(model: Path) -> None:
    encoder = OwnEncoder(named(model), "own ")
    network, tokenizer = AutoModel.from_pretrained(model), AutoTokenizer.from_pretrained(model)
    with torch.inference_mode():
        means = [
            network(**tokenizer(text, return_tensors="pt")).last_hidden_state[0].mean(dim=0)
            for text in TEXTS
        ]
    wanted = np.stack([(mean / mean.norm()).numpy() for mean in means])
    assert encoder.encode(TEXTS) == pytest.approx(wanted, abs=1e-5)
    assert encoder.encode([]).shape == (0, encoder.dimension) == (0, 16)
    # Another process can have it, which loads the model again.
    assert pickle.loads(pickle.dumps(encoder)).encode(TEXTS) == pytest.approx(wanted, abs=1e-5)
    tower = EncodableDocument("Tower", "It is red. It is tall.", ((0, 10), (11, 23)))
    lamp = EncodableDocument("Lamp", "It is lit.", ((0, 10),))
    whole, apart = encoder.encode_documents([tower, lamp])
    read = ["Tower. It is red. It is tall.", "Lamp. It is lit."]
    assert whole == pytest.approx(encoder.encode(read), abs=1e-5)
    alone = ["Tower. It is red.", "Tower. It is tall."]
    assert apart[0] == pytest.approx(encoder.encode(alone), abs=1e-5)
    assert [len(vectors) for vectors in apart] == [2, 1]
    assert encoder.encode_documents([])[1] == []
    queries = [(CLAIM, [("Lamp", "It is lit.")]), (CLAIM, [])]
    wanted = encoder.encode([f"{CLAIM} Lamp. It is lit.", CLAIM])
    assert OwnQueryEncoder(encoder).encode(queries) == pytest.approx(wanted, abs=1e-5)


@pytest.mark.models
def test_claims_are_checked_over_its_vectors_and_other_indexes_are_refused(
    own_index: Path, index: Path, unpacked: Path, model: Path, tmp_path: Path
) -> None:
    name = EmbeddedIndex(own_index).open(None).info().encoder
    assert (name[:15], choice_of(name)) == ("own my-encoder ", "own")
    assert encoder_of(name, ModelFolders(own_index, encoder=named(model))).name == name
    with pytest.raises(ModelUnavailable, match="ESOTERIC_ENCODER names no encoder"):
        encoder_of(name, ModelFolders(own_index))
    own = retriever(own_index, unpacked, model)
    for recipe in ("combined", "m3"):
        report = own.check(CLAIM, recipe, lambda _: None)
        assert report.evidence
        assert any("dense" in ranked.found_by for ranked in report.documents)
    other = write_tiny_classifier(tmp_path / "other", seed=1)
    for refusing, wanted, command in (
        (retriever(own_index, unpacked, None), "all-MiniLM-L6-v2", "index encode"),
        (retriever(own_index, unpacked, other), "other", "index encode --vectors own"),
        (retriever(index, unpacked, model), "my-encoder", "index encode --vectors own"),
    ):
        with pytest.raises(IndexUnavailable, match=f"has vectors of .*, not of {wanted}") as error:
            refusing.warm_up()
        assert error.value.hint.endswith(command)


@pytest.mark.models
def test_relevance_is_the_logistic_function_of_a_rerankers_score(tmp_path: Path) -> None:
    folder = write_tiny_classifier(tmp_path / "my-reranker", labels=["x"])  # with one score
    light = ranked("Skerrow Light", "It was designed by Ann Lee.", "The tower is painted red.")
    sentences = light.document.sentences
    pairs = [(CLAIM, f"Skerrow Light : {sentence.text}") for sentence in sentences]
    tokens = AutoTokenizer.from_pretrained(folder)(
        *map(list, zip(*pairs, strict=True)), padding=True, return_tensors="pt"
    )
    with torch.inference_mode():
        module = AutoModelForSequenceClassification.from_pretrained(folder)
        wanted = 1 / (1 + np.exp(-module(**tokens).logits[:, 0].numpy()))
    reranker = Reranker(named(folder))
    scores = reranker.probabilities(pairs)
    assert scores == pytest.approx(wanted, abs=1e-5)
    assert reranker.probabilities([]).shape == (0,)
    state = state_of(CLAIM, chosen=tuple((light, sentence) for sentence in sentences))
    found = RelevanceClassifier(reranker, cutoff=0).run(state).state.read
    assert sorted(scores.tolist(), reverse=True) == pytest.approx([item.score for item in found])
    for item in found:
        score = scores[item.sentence.sentence_id]
        assert item.opinion == pytest.approx((score / 2, score / 2, 1 - score))


@pytest.mark.models
def test_what_is_no_reranker_is_refused(model: Path, tmp_path: Path, monkeypatch: Any) -> None:
    monkeypatch.setattr("huggingface_hub.constants.HF_HUB_OFFLINE", True)
    for name, reason in (
        (str(model), "my-encoder gives 3 scores instead of one"),
        (str(tmp_path), "has neither modules"),
        ("nobody/nothing", "nobody/nothing is no folder, and cannot be had"),
    ):
        with pytest.raises(ModelUnavailable, match=reason) as refused:
            Reranker(NamedModel("ESOTERIC_RERANKER", name)).warm_up()
        assert refused.value.hint.startswith("Set ESOTERIC_RERANKER to a model")

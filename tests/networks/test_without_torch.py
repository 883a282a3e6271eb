from __future__ import annotations

import subprocess
import sys

import pytest

from settings import CHECKOUT

_READ = """
import sys
from retrieval.models import reader
model = reader()
print(model.probabilities([("The pier is long.", "Pier : It is long.")]).shape, model.kind)
print({"torch", "transformers"} & set(sys.modules))
"""


@pytest.mark.models
def test_a_model_reads_without_pytorch_and_transformers() -> None:
    read = subprocess.run(
        [sys.executable, "-c", _READ], cwd=CHECKOUT, capture_output=True, text=True, check=True
    )
    assert read.stdout.splitlines() == ["(1, 3) ONNX Runtime, 8 bits", "set()"]

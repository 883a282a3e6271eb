"""Where models outside the checkout are read from: folders, and names on a hub."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from retrieval.errors import ModelUnavailable
from retrieval.models.weights import named_on_hub
from retrieval.system.files import digest_of
from retrieval.system.packages import require_models

# Weights are safetensors and the rest is data: no file contains code.
_FILES = ("*.json", "*.safetensors", "*.txt", "*.model")


@dataclass(frozen=True, slots=True)
class NamedModel:
    """The model that ``variable`` names: a folder, or ``OWNER/NAME`` on the Hugging Face hub."""

    variable: str
    name: str

    def version(self) -> str:
        """Return its name with the beginning of a SHA-256 of all its files.

        Raises:
            ModelUnavailable: it cannot be had.
        """
        return f"{Path(self.name).name} {self.digest()[:8]}"

    def digest(self) -> str:
        """Return one SHA-256 of all its files; raises what ``version`` raises."""
        folder = self._folder()
        files = sorted({path for pattern in _FILES for path in folder.rglob(pattern)})
        lines = "".join(f"{path.relative_to(folder)} {digest_of(path)}\n" for path in files)
        return hashlib.sha256(lines.encode()).hexdigest()

    def load(self, kind: str) -> Any:
        """Return the model, as ``kind`` of sentence-transformers; no code in its files is run.

        Raises:
            ModelUnavailable: it cannot be had or is not of this kind.
        """
        folder = self._folder()
        import sentence_transformers
        import torch

        from retrieval.models.pretrained import failing_as, prepare

        prepare()

        def unusable(reason: str) -> ModelUnavailable:
            return self.unavailable(f"cannot be loaded as a {kind}: {reason}")

        with failing_as(unusable, f"the model {self.name}"):
            return getattr(sentence_transformers, kind)(
                str(folder),
                device="cpu",
                local_files_only=True,
                trust_remote_code=False,
                model_kwargs={"use_safetensors": True, "dtype": torch.float32},
            )

    def unavailable(self, what: str) -> ModelUnavailable:
        """Return the error of a model that cannot be used, with what is wrong."""
        return ModelUnavailable(
            "model_damaged",
            f"The model {self.name} {what}.",
            f"Set {self.variable} to a model of sentence-transformers with weights as safetensors"
            " (docs/settings.md), or unset it.",
        )

    def _folder(self) -> Path:
        """Return the folder; a model of the hub is downloaded if it is not in the hub's cache."""
        require_models(f"{self.variable}={self.name}")
        folder = Path(self.name)
        if folder.is_dir():
            if not any((folder / name).is_file() for name in ("modules.json", "config.json")):
                raise self.unavailable("has neither modules.json nor config.json")
            return folder
        found = named_on_hub(self.name, _FILES)
        if found is None:
            raise self.unavailable("is no folder, and cannot be had from the hub")
        return found


@dataclass(frozen=True, slots=True)
class ModelFolders:
    """Folders outside the checkout that models are read from, and models by name.

    ``unpacked``: where the verifier's packaged base weights are unpacked. ``bart``: weights of
    BART or GENRE, which then generate titles instead of the shipped model. ``verifier``: a
    sequence-classification model of Hugging Face, which then labels evidence instead of the
    shipped verifier. ``report``: the models of the ESOTERIC report, for the recipe of this name.
    ``encoder`` and ``reranker``: a bi-encoder and a cross-encoder of sentence-transformers, which
    then take the places of MiniLM and of the relevance model.
    """

    unpacked: Path
    bart: Path | None = None
    verifier: Path | None = None
    report: Path | None = None
    encoder: NamedModel | None = None
    reranker: NamedModel | None = None

    @property
    def networks(self) -> Path:
        """The folder of the converted networks, in 8 bits."""
        return self.unpacked / "networks"

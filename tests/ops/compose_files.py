"""Reads Compose files as an engine does, and checks them against the Compose Specification.

``python -m tests.ops.compose_files FILE...`` checks the first file, and each other one on top of
it; ``make compose-config`` runs it. No engine is needed.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import yaml
from compose_spec import PyCompose

# "$$", and a variable with what is said where it has no value.
_VARIABLE = re.compile(r"\$(?:(\$)|\{(\w+)(?::([-?])([^}]*))?\})")
# Of these the later file's value stands instead of the earlier one's, lists though they are.
_REPLACED = ("command", "entrypoint", "test")
# Values for variables that a file insists on.
_ANY = {"ELASTIC_PASSWORD": "any", "ESOTERIC_LLM": "openai:any", "LLM_KEY_FILE": "./any"}


def read(file: Path, variables: Mapping[str, str]) -> dict[str, Any]:
    """Return what a file says, with its anchors merged and its variables replaced.

    Raises:
        ValueError: a variable that it insists on has no value.
    """
    document: dict[str, Any] = _filled(yaml.safe_load(file.read_text("utf-8")), variables)
    return document


def combined(base: Any, other: Any, key: str = "") -> Any:
    """Return what two files say together, as ``docker compose -f base -f other`` does."""
    if isinstance(base, dict) and isinstance(other, dict):
        return base | {
            name: combined(base[name], value, name) if name in base else value
            for name, value in other.items()
        }
    if isinstance(base, list) and isinstance(other, list) and key not in _REPLACED:
        return [*base, *(value for value in other if value not in base)]
    return other


def check(document: Mapping[str, Any]) -> None:
    """Check a document against the specification.

    Raises:
        ValueError: it is no valid one.
    """
    PyCompose.from_yaml(yaml.safe_dump(document)).validate()
    services = document["services"]
    for name, service in services.items():
        if unknown := set(service.get("depends_on", ())) - set(services):
            raise ValueError(f"{name} waits for {', '.join(sorted(unknown))}, which is no service")


def _filled(value: Any, variables: Mapping[str, str]) -> Any:
    if isinstance(value, dict):
        return {key: _filled(inner, variables) for key, inner in value.items()}
    if isinstance(value, list):
        return [_filled(inner, variables) for inner in value]
    if not isinstance(value, str):
        return value

    def replacement(found: re.Match[str]) -> str:
        dollar, name, kind, text = found.groups()
        if dollar:
            return "$"
        if kind == "?" and not variables.get(name):
            raise ValueError(f"{name} has no value: {text}")
        return variables.get(name) or (text if kind == "-" else "")

    return _VARIABLE.sub(replacement, value)


def main(files: list[str]) -> None:
    """Check the files and print those that are valid."""
    base = read(Path(files[0]), _ANY)
    check(base)
    print(f"{files[0]} is valid.")
    for file in files[1:]:
        check(combined(base, read(Path(file), _ANY)))
        print(f"{file} on top of it is valid.")


if __name__ == "__main__":
    main(sys.argv[1:])

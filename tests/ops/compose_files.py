"""Reads Compose files as an engine does, and checks them against the Compose Specification.

``python -m tests.ops.compose_files FILE...`` checks the first file, and each other one on top of
it, with and without each profile; ``make compose-config`` runs it. No engine is needed.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import yaml
from compose_spec import PyCompose

# A variable, with no other in it, and with what is said where it has no value, or one.
_VARIABLE = re.compile(r"(?<!\$)\$\{(\w+)(?::([-?+])([^{}]*))?\}")
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


def active(document: Mapping[str, Any], *profiles: str) -> dict[str, Any]:
    """Return a document with the services that start with these profiles.

    No other service waits for one that does not, unless it requires it.
    """
    services = {
        name: service
        for name, service in document["services"].items()
        if not service.get("profiles") or {*service["profiles"]} & {*profiles}
    }
    for name, service in services.items():
        if "depends_on" in service:
            waited = {
                other: how
                for other, how in service["depends_on"].items()
                if other in services or how.get("required", True)
            }
            services[name] = {**service, "depends_on": waited}
    return {**document, "services": services}


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
        name, kind, text = found.groups()
        if kind == "?" and not variables.get(name):
            raise ValueError(f"{name} has no value: {text}")
        if kind == "+":
            return text if variables.get(name) else ""
        return variables.get(name) or (text if kind == "-" else "")

    found = 1
    while found:  # innermost first
        value, found = _VARIABLE.subn(replacement, value)
    return value.replace("$$", "$")


def main(files: list[str]) -> None:
    """Check the first file, and each other one on top of it; print those that are valid."""
    base = read(Path(files[0]), _ANY)
    profiles = sorted({p for s in base["services"].values() for p in s.get("profiles", ())})
    for file in files:
        both = base if file == files[0] else combined(base, read(Path(file), _ANY))
        check(active(both))
        print(f"{file} is valid.")
        for profile in profiles:
            check(active(both, profile))
            print(f"{file} is valid with the profile {profile}.")


if __name__ == "__main__":
    main(sys.argv[1:])

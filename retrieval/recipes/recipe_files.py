"""Recipes in YAML files: what ``esoteric recipes NAME --yaml`` prints, and ``--recipe`` reads.

Every error names the file and the line.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import MISSING, Field, asdict, fields, replace
from difflib import get_close_matches
from pathlib import Path
from textwrap import shorten
from typing import Any, Literal, NoReturn, get_args, get_origin, get_type_hints

import yaml
from pydantic import ConfigDict, TypeAdapter
from yaml.nodes import MappingNode, Node, ScalarNode, SequenceNode

from retrieval.errors import BadRecipe, BadSource
from retrieval.recipes.recipes import (
    FIRST,
    HOP,
    NEXT,
    RECIPES,
    SHIPPED,
    Recipe,
    RetrievalConfig,
    recipe_named,
    stage_of,
)
from retrieval.system.files import write_whole

SUFFIXES = (".yaml", ".yml")

# Names are also those of folders, and fit the database.
_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9_-]{0,63}")
_MOST_BYTES = 100_000
_LARGEST = 10**9  # a number
_MOST_SHOWN = 80  # characters of a wrong value
_STAGES = {"first": FIRST, "hop": HOP, "next": NEXT}
_STRICT = ConfigDict(strict=True, allow_inf_nan=False)


def as_yaml(recipe: Recipe) -> str:
    """Return the file of a recipe, with all its settings."""
    text: str = yaml.safe_dump(
        _plain(asdict(recipe)), sort_keys=False, allow_unicode=True, width=100
    )
    return text


def _plain(value: Any) -> Any:
    """Return the value with lists, which YAML has, for tuples."""
    if isinstance(value, dict):
        return {key: _plain(one) for key, one in value.items()}
    return [_plain(one) for one in value] if isinstance(value, tuple) else value


def is_recipe_file(given: str) -> bool:
    """Return whether what was given for a recipe is a file, not a name."""
    return given.casefold().endswith(SUFFIXES)


def recipe_given(given: str, recipes: Mapping[str, Recipe] = RECIPES) -> Recipe:
    """Return the recipe of this name among ``recipes``, or that of this file.

    Raises:
        UnknownRecipe: no recipe has this name.
        BadRecipe: the file cannot be used.
    """
    return read_recipe(Path(given)) if is_recipe_file(given) else recipe_named(given, recipes)


def recipes_with(folder: Path | None) -> dict[str, Recipe]:
    """Return the shipped recipes and those of the YAML files in a folder, by their names.

    Raises:
        BadRecipe: the folder cannot be read, a file cannot be used, or two have the same name.
    """
    recipes = dict(RECIPES)
    try:
        files = [] if folder is None else sorted(folder.iterdir())
    except OSError as error:
        raise BadRecipe(
            "recipe_unreadable",
            f"The folder of recipes {folder} cannot be read ({error.strerror}).",
            "Set ESOTERIC_RECIPES to a folder that can be read, or unset it.",
        ) from error
    places: dict[str, Path] = {}
    for path in files:
        if not is_recipe_file(path.name) or path.name.startswith("."):
            continue
        recipe = read_recipe(path)
        if recipe.name in places:
            raise BadRecipe(
                "recipe_twice",
                f"{path} and {places[recipe.name]} have the same name, {recipe.name}.",
                "Change the name in one of them.",
            )
        places[recipe.name] = path
        recipes[recipe.name] = recipe
    return recipes


def keep_recipe(file: Path, recipe: Recipe) -> None:
    """Write a recipe beside the results that it gives, or check that it gave those that are there.

    Raises:
        BadSource: they are of another recipe.
        OSError: the file cannot be written.
    """
    if not file.exists():
        write_whole(file, as_yaml(recipe).encode())
    elif not _same(read_recipe(file), recipe):
        raise BadSource(
            "other_recipe",
            f"The results beside {file} are of the recipe in it, which has another name, other"
            f" stages or other settings than the recipe {recipe.name} of now.",
            "Name another output, or remove these results and this file.",
        )


def read_recipe(path: Path) -> Recipe:
    """Return the recipe in a file.

    Settings that it does not name have their defaults.

    Raises:
        BadRecipe: it cannot be used; the message says where it is wrong.
    """
    return _Reader(path).recipe()


def _same(one: Recipe, other: Recipe) -> bool:
    return replace(one, summary="") == replace(other, summary="")


class _Reader:
    """Reads the recipe of one file."""

    def __init__(self, path: Path) -> None:
        self._path = path

    def recipe(self) -> Recipe:
        """Return the recipe; raises ``BadRecipe``."""
        top = self._document()
        nodes = self._keys(top, fields(Recipe), "a recipe")
        for one in fields(Recipe):
            required = one.default is MISSING and one.default_factory is MISSING
            if required and one.name not in nodes:
                self._fail(
                    top,
                    f"The key {one.name!r} is missing.",
                    "`esoteric recipes combined --yaml` prints a whole recipe.",
                )
        hints = get_type_hints(Recipe)
        values: dict[str, Any] = {}
        for key, node in nodes.items():
            if key in _STAGES:
                values[key] = self._stages(node, key)
            elif key == "settings":
                values[key] = self._settings(node)
            else:
                values[key] = self._value(node, key, hints[key])
        if values.get("verifier") not in (None, SHIPPED):
            values["verifier"] = self._folder(nodes["verifier"], values["verifier"])
        recipe = Recipe(**values)
        self._check(recipe, nodes)
        return recipe

    def _folder(self, node: Node, name: str) -> str:
        """Return the whole path of a folder, which may be written as seen from the recipe."""
        folder = (self._path.parent / name).resolve()
        if not folder.is_dir():
            self._fail(
                node, f"There is no folder {_shown(node)}.", f"Name a folder, or {SHIPPED!r}."
            )
        return str(folder)

    def _document(self) -> Node:
        try:
            if self._path.stat().st_size > _MOST_BYTES:
                raise BadRecipe(
                    "bad_recipe",
                    f"{self._path} is larger than any recipe.",
                    "Name the YAML file of a recipe.",
                )
            text = self._path.read_text("utf-8-sig")
        except UnicodeDecodeError as error:
            raise BadRecipe(
                "bad_recipe", f"{self._path} is not in UTF-8.", "Save it in UTF-8."
            ) from error
        except OSError as error:
            raise BadRecipe(
                "recipe_unreadable",
                f"The recipe {self._path} cannot be read ({error.strerror}).",
                "Check the path.",
            ) from error
        try:
            for event in yaml.parse(text, Loader=yaml.SafeLoader):
                if isinstance(event, yaml.AliasEvent):
                    self._fail(event, "Aliases (*) are not read.", "Write the value again.")
            node: Node | None = yaml.compose(text, Loader=yaml.SafeLoader)
        except yaml.MarkedYAMLError as error:
            line = (error.problem_mark or error.context_mark).line
            what = ", ".join(filter(None, (error.context, error.problem)))
            self._fail_at(line, f"This is not one YAML document: {what}.", "Correct this line.")
        except yaml.reader.ReaderError as error:
            line = text.count("\n", 0, error.position)
            self._fail_at(line, "There is a control character.", "Remove it.")
        except RecursionError:
            self._fail_at(0, "It is nested too deeply.", "Name the YAML file of a recipe.")
        if node is None:
            self._fail_at(
                0, "The file is empty.", "`esoteric recipes combined --yaml` prints a recipe."
            )
        return node

    def _keys(self, node: Node, allowed: Iterable[Field[Any]], what: str) -> dict[str, Node]:
        """Return the nodes of a mapping's values, which may have these keys only."""
        names = [one.name for one in allowed]
        if not isinstance(node, MappingNode):
            self._fail(node, f"Here {what} must begin.", "Write lines such as “key: value”.")
        found: dict[str, Node] = {}
        for key, value in node.value:
            name = key.value if isinstance(key, ScalarNode) else ""
            if name not in names:
                self._fail(key, f"There is no key {name!r} in {what}.", _one_of(name, names))
            if name in found:
                self._fail(key, f"The key {name!r} is there twice.", "Remove one of them.")
            found[name] = value
        return found

    def _stages(self, node: Node, key: str) -> tuple[str, ...]:
        if not isinstance(node, SequenceNode):
            self._fail(node, f"{key!r} is not a list.", "Write one “- stage” a line, or [].")
        for item in node.value:
            name = item.value if isinstance(item, ScalarNode) else ""
            if name not in _STAGES[key]:
                fix = _one_of(name, _STAGES[key])
                self._fail(item, f"{key!r} cannot have the stage {name!r}.", fix)
        return tuple(item.value for item in node.value)

    def _settings(self, node: Node) -> RetrievalConfig:
        hints = get_type_hints(RetrievalConfig)
        nodes = self._keys(node, fields(RetrievalConfig), "the settings")
        return RetrievalConfig(**{k: self._value(n, k, hints[k]) for k, n in nodes.items()})

    def _value(self, node: Node, key: str, kind: Any) -> Any:
        try:
            value = yaml.SafeLoader("").construct_document(node)
            value = TypeAdapter(kind, config=_STRICT).validate_python(value)
        # An explicit tag, such as !!int for an empty text, makes PyYAML fail in any of these ways.
        except (yaml.YAMLError, ValueError, LookupError, AttributeError, OverflowError):
            self._fail(node, f"{key!r} is {_shown(node)}.", f"Write {_expected(kind)}.")
        # The database and the API can take it, and no count is negative.
        number = isinstance(value, int | float)
        if number and (abs(value) > _LARGEST or (kind is int and value < 0)):
            self._fail(node, f"{key!r} is {_shown(node)}.", f"Write {_expected(kind)}.")
        return value

    def _check(self, recipe: Recipe, nodes: Mapping[str, Node]) -> None:
        """Check what a pipeline relies on."""
        shipped = RECIPES.get(recipe.name)
        if _NAME.fullmatch(recipe.name) is None:
            self._fail(
                nodes["name"],
                f"The name {recipe.name!r} cannot be used.",
                "Write letters, digits, hyphens and underscores, 64 at most.",
            )
        if shipped is not None and not _same(shipped, recipe):
            self._fail(
                nodes["name"],
                f"The recipe {recipe.name} that is shipped has other stages or settings.",
                "Choose another name.",
            )
        if recipe.max_hops < 1:
            self._fail(nodes["max_hops"], "There is no hop.", "Write 1 or more.")
        if recipe.hop[-1:] != ("verdict",):
            last = nodes["hop"].value[-1] if recipe.hop else nodes["hop"]
            self._fail(last, "The stages of a hop do not end with verdict.", "Put it at the end.")
        before: set[str] = set()
        for key in ("first", "hop", "next"):
            for item in nodes[key].value:
                form = _STAGES[key][item.value]
                vectors, needed = form.vectors, form.after
                if vectors not in (None, recipe.vectors):
                    self._fail(
                        item,
                        f"The stage {item.value} searches vectors of {vectors}, and the recipe has"
                        f" “vectors: {recipe.vectors}”.",
                        f"Choose another stage, or write “vectors: {vectors}”.",
                    )
                if needed and needed not in before:
                    self._fail(
                        item,
                        f"The stage {item.value} needs {needed} before it.",
                        f"Put {needed} before it, or remove it.",
                    )
                before.add(stage_of(item.value))

    def _fail(self, at: Node | yaml.Event, what: str, fix: str) -> NoReturn:
        self._fail_at(at.start_mark.line, what, fix)

    def _fail_at(self, line: int, what: str, fix: str) -> NoReturn:
        raise BadRecipe("bad_recipe", f"{self._path}, line {line + 1}: {what}", fix) from None


def _shown(node: Node) -> str:
    """Return a value as an error shows it, cut if it is long."""
    if not isinstance(node, ScalarNode):
        return "a list" if isinstance(node, SequenceNode) else "a mapping"
    return repr(shorten(node.value, _MOST_SHOWN, placeholder=" …"))


def _expected(kind: Any) -> str:
    """Return what a value of this type looks like."""
    if get_origin(kind) is Literal:
        return f"one of: {', '.join(get_args(kind))}"
    if type(None) in get_args(kind):
        return f"{'a name' if str in get_args(kind) else 'a number such as 0.25'}, or null"
    # YAML reads 1e-3 as a text.
    known = {
        bool: "true or false",
        int: f"a whole number from 0 to {_LARGEST}",
        float: "a number such as 0.001",
    }
    return known.get(kind, "a text, in quotation marks if needed")


def _one_of(name: str, names: Iterable[str]) -> str:
    """Return the hint that names the nearest of these names, or all."""
    near: Sequence[str] = get_close_matches(name, list(names), 1)
    return f"Do you mean {near[0]}?" if near else f"Write one of: {', '.join(names)}."

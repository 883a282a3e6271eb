"""Templates use exactly the fields of their contexts."""

from __future__ import annotations

from dataclasses import fields
from importlib import import_module

import pytest
from flask import Flask
from jinja2 import meta, nodes

from settings import CHECKOUT

MODULES = [
    ".".join(path.relative_to(CHECKOUT).with_suffix("").parts)
    for path in sorted((CHECKOUT / "app").rglob("contexts.py"))
]
PAGES = [
    value
    for module in MODULES
    for value in vars(import_module(module)).values()
    if value.__class__ is type and value.__module__ == module and hasattr(value, "template")
]
# What Flask and app.create_app give to every template.
GIVEN = {"asker", "asset", "logs_in", "request", "url_for", "words"}


def names_used(app: Flask, template: str) -> set[str]:
    """Return the variables of a template and of those it extends or imports."""
    source = (CHECKOUT / "templates" / template).read_text(encoding="utf-8")
    tree = app.jinja_env.parse(source)
    used = set(meta.find_undeclared_variables(tree))
    for imported in tree.find_all(nodes.FromImport):
        used -= {name for name in imported.names if isinstance(name, str)}
    used -= {macro.name for macro in tree.find_all(nodes.Macro)}
    for parent in tree.find_all((nodes.Extends, nodes.FromImport, nodes.Import, nodes.Include)):
        name = getattr(parent, "template")  # noqa: B009 - each of the four has one
        assert isinstance(name, nodes.Const)
        used |= names_used(app, name.value)
    return used


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.template)
def test_a_template_uses_exactly_the_fields_of_its_context(app: Flask, page: type) -> None:
    template: str = page.template  # type: ignore[attr-defined]
    assert names_used(app, template) - GIVEN == {field.name for field in fields(page)}


def test_every_template_belongs_to_a_page_or_is_used_by_one() -> None:
    parts = {"actions.html", "base.html", "corpora.html", "icons.html", "parts.html", "trail.html"}
    files = {path.name for path in (CHECKOUT / "templates").iterdir()}
    assert files == parts | {page.template for page in PAGES}

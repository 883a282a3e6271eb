"""Templates use exactly the names that their pages give them."""

from __future__ import annotations

import ast
from collections import defaultdict

import pytest
from flask import Flask
from jinja2 import meta, nodes

from settings import CHECKOUT

# What Flask and app.create_app give to every template.
GIVEN = {"asker", "asset", "logs_in", "request", "url_for", "words"}
PARTS = {
    *("actions.html", "base.html", "corpora.html", "evidence.html", "icons.html", "parts.html"),
    "trail.html",
}


def pages() -> dict[str, set[str]]:
    """Return the names that the code gives to each template."""
    found: dict[str, set[str]] = defaultdict(set)
    spread = {
        "choices_of_form": {"problem", "choice", "corpora", "asked"},
        "_UPLOADS": {"longest_title", "accepted"},
    }
    for file in (CHECKOUT / "app").rglob("*.py"):
        for node in ast.walk(ast.parse(file.read_text(encoding="utf-8"))):
            if isinstance(node, ast.Call) and ast.unparse(node.func) == "render_template":
                if not isinstance(node.args[0], ast.Constant):
                    continue
                names = {one.arg for one in node.keywords if one.arg}
                for one in node.keywords:
                    if one.arg is None:
                        names |= spread[ast.unparse(one.value).partition("(")[0]]
                found[str(node.args[0].value)] |= names
            if isinstance(node, ast.ClassDef):
                fields = {one.target.id: one for one in node.body if is_field(one)}  # type: ignore[attr-defined]
                if "template" in fields and fields["template"].value:
                    found[fields["template"].value.value] |= set(fields) - {"template"}
    return found


def is_field(node: ast.stmt) -> bool:
    return isinstance(node, ast.AnnAssign) and isinstance(node.target, ast.Name)


def names_used(app: Flask, template: str) -> set[str]:
    """Return the variables of a template and of those it extends or imports."""
    source = (CHECKOUT / "templates" / template).read_text(encoding="utf-8")
    tree = app.jinja_env.parse(source)
    used = set(meta.find_undeclared_variables(tree))
    for imported in tree.find_all(nodes.FromImport):
        used -= {name for name in imported.names if isinstance(name, str)}
    own = {macro.name for macro in tree.find_all(nodes.Macro)}
    for parent in tree.find_all((nodes.Extends, nodes.FromImport, nodes.Import, nodes.Include)):
        name = getattr(parent, "template")  # noqa: B009 - each of the four has one
        assert isinstance(name, nodes.Const)
        used |= names_used(app, name.value)
    # An included template sees what is set where it stands.
    own |= {name.name for name in tree.find_all(nodes.Name) if name.ctx == "store"}
    return used - own


@pytest.mark.parametrize(("template", "given"), pages().items())
def test_a_template_uses_exactly_the_names_that_it_is_given(
    app: Flask, template: str, given: set[str]
) -> None:
    assert names_used(app, template) - GIVEN == given


def test_every_template_belongs_to_a_page_or_is_used_by_one() -> None:
    files = {path.name for path in (CHECKOUT / "templates").iterdir()}
    assert files == PARTS | set(pages())

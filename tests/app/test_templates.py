"""Templates use exactly the names that their pages give them; the colours have enough contrast.

Colours: ``static/style.css`` against WCAG 2.2, success criteria 1.4.3 and 1.4.11.
"""

from __future__ import annotations

import ast
import re
from collections import defaultdict

import pytest
from flask import Flask
from jinja2 import meta, nodes

from settings import CHECKOUT

# What Flask and app.create_app give to every template.
GIVEN = {"asker", "asset", "logs_in", "request", "url_for", "words"}
PARTS = {
    *("actions.html", "base.html", "corpora.html", "evidence.html", "icons.html", "parts.html"),
    *("published.html", "trail.html"),
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
            if isinstance(node, ast.Call) and ast.unparse(node.func).endswith(".stream"):
                name = re.search(r"get_template\('(.+)'\)", ast.unparse(node.func))
                if name:  # a page that is sent while it is written
                    found[name[1]] |= {one.arg for one in node.keywords if one.arg}
            if isinstance(node, ast.ClassDef):
                fields = {one.target.id: one for one in node.body if is_field(one)}
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


def test_a_template_belongs_to_a_page_and_uses_the_names_it_is_given(app: Flask) -> None:
    files = {path.name for path in (CHECKOUT / "templates").iterdir()}
    assert files == PARTS | set(pages())
    assert {page: names_used(app, page) - GIVEN for page in pages()} == pages()


STYLE = (CHECKOUT / "static" / "style.css").read_text(encoding="utf-8")
TEXT, SHAPE = 4.5, 3.0
VERDICTS = ("supported", "refuted", "unsettled")
PAIRS = [
    *((ink, paper, TEXT) for ink in ("ink", "soft", "link") for paper in ("paper", "raised")),
    ("on-action", "action", TEXT),
    ("refuted", "paper", TEXT),  # the counter when there are too many characters
    *((look, f"{look}-tint", TEXT) for look in (*VERDICTS, "pending", "stopped")),
    *(("ink", f"{look}-tint", TEXT) for look in (*VERDICTS, "pending")),
    *(("paper", look, SHAPE) for look in VERDICTS),  # the sign cut out of an icon
    *((look, "paper", SHAPE) for look in VERDICTS),  # the lines under marked sentences
    *(("unsettled", "raised", SHAPE), ("edge", "paper", SHAPE), ("edge", "raised", SHAPE)),
    ("action", "raised", SHAPE),
    *(("focus", paper, SHAPE) for paper in ("paper", "raised", *(f"{v}-tint" for v in VERDICTS))),
]


def luminance(colour: str) -> float:
    """Return the relative luminance as WCAG 2.2 defines it."""
    parts = [int(colour[i : i + 2], 16) / 255 for i in (1, 3, 5)]
    linear = [p / 12.92 if p <= 0.04045 else ((p + 0.055) / 1.055) ** 2.4 for p in parts]
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]


def contrast(one: str, other: str) -> float:
    """Return the contrast ratio as WCAG 2.2 defines it."""
    dark, light = sorted((luminance(one), luminance(other)))
    return (light + 0.05) / (dark + 0.05)


def test_colours_next_to_each_other_have_enough_contrast_in_both_schemes() -> None:
    assert contrast("#000000", "#ffffff") == 21
    assert contrast("#777777", "#ffffff") == pytest.approx(4.48, abs=0.005)
    roots = re.findall(r":root \{(.*?)\}", STYLE, re.DOTALL)[:2]
    light, dark = (dict(re.findall(r"--([a-z-]+): (#[0-9a-f]{6});", one)) for one in roots)
    assert list(light) == list(dark)  # dark redefines every colour
    too_little = [
        (front, back)
        for colours in (light, dark)
        for front, back, least in PAIRS
        if contrast(colours[front], colours[back]) < least
    ]
    assert too_little == []
    rest = re.sub(r":root \{.*?\}", "", STYLE, flags=re.DOTALL)
    assert re.findall(r"#[0-9a-fA-F]{3,8}\b|rgba?\(|hsla?\(", rest) == []

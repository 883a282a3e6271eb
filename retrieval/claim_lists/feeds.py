"""Finds the claims in feeds of fact-checkers, which are nested, in JSON or XML.

Known are ClaimReview of schema.org, alone or in a data feed, answers of Google's fact-check search
(``{"claims": [{"text", "claimant", "claimReview": […]}]}``) and of ClaimBuster
(``{"results": [{"text", "score"}]}``), and feeds of news in XML that have any of these elements, or
whose items are titles.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

# What has the claim, from the surest name on; the last is that of an item of a feed of news.
_SUREST = "claimReviewed"
_NAMES = (_SUREST, "claim", "text", "title")
_ITEMS = frozenset({"item", "entry"})
_DEEPEST = 50  # levels


def claims_in(feed: Any) -> list[dict[str, Any]]:
    """Return the claims of a feed as rows: ``claim``, and the other values by their paths.

    The name of the publisher of the first review is ``claimReview.publisher.name``. A feed has its
    claims where the surest name stands; a text, a claim or a title only in an item of a list.
    """
    for name in _NAMES:
        found = [
            one
            for one, is_item in _objects(feed, _DEEPEST)
            if isinstance(one.get(name), str) and (is_item or name == _SUREST)
        ]
        if found:
            return [{"claim": one[name], **_others(one, name)} for one in found]
    return []


def tree_of(content: bytes) -> Any:
    """Return XML as JSON has it: an element is its text, or an object of its attributes and parts.

    Parts of one name are a list.

    Raises:
        ValueError: it is damaged.
    """
    from lxml import etree  # here, as the web process reads few feeds

    parser = etree.XMLParser(resolve_entities=False, no_network=True, remove_comments=True)
    try:
        root = etree.fromstring(content, parser)
    except etree.XMLSyntaxError as error:
        raise ValueError(str(error)) from error
    return {_name(root): _value(root)}


def _objects(
    value: Any, levels: int, is_item: bool = False
) -> Iterator[tuple[dict[str, Any], bool]]:
    """Yield the objects in a value, each with whether it is an item of a list or a feed."""
    if isinstance(value, list):
        for one in value if levels else ():
            yield from _objects(one, levels - 1, is_item=True)
    elif isinstance(value, dict):
        yield value, is_item
        for key, one in value.items() if levels else ():
            yield from _objects(one, levels - 1, is_item=key in _ITEMS)


def _others(value: dict[str, Any], name: str) -> dict[str, Any]:
    flat: dict[str, Any] = {}
    for path, one in _leaves({key: one for key, one in value.items() if key != name}, _DEEPEST):
        flat.setdefault(path, one)
    return flat


def _leaves(value: Any, levels: int, path: str = "") -> Iterator[tuple[str, Any]]:
    """Yield the texts and numbers in an object with their paths; of a list only the first."""
    if isinstance(value, dict):
        for key, one in value.items() if levels else ():
            yield from _leaves(one, levels - 1, f"{path}.{key}" if path else key)
    elif isinstance(value, list):
        yield from _leaves(value[0], levels - 1, path) if value and levels else ()
    elif value is not None:
        yield path, value


def _name(element: Any) -> str:
    return str(element.tag).rpartition("}")[2]


def _value(element: Any) -> Any:
    parts: dict[str, Any] = dict(element.attrib)
    for child in element.iterchildren("*"):
        name, value = _name(child), _value(child)
        if name in parts:
            before = parts[name]
            parts[name] = [*before, value] if isinstance(before, list) else [before, value]
        else:
            parts[name] = value
    text = " ".join("".join(element.xpath("text()")).split())
    return parts if len(element) or (parts and not text) else text

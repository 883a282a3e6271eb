"""Words without a meaning of their own."""

from __future__ import annotations

_WORDS = """
    a an the of in on at to for from by with and or as is was were be been are
    his her its their he she it they who which that this these those not no only
"""
FUNCTION_WORDS = frozenset(_WORDS.split())

"""The tables of the database of an index's documents."""

from __future__ import annotations

TABLES = ("documents", "blocks", "other_titles")

# documents: ``whole`` is the id of the long document, null unless the row is a passage. ``key`` and
# ``plain``: what the title is found by, with and without its words in parentheses; ``key`` is null
# for all passages but the first. ``digest``: of the page as the source gave it. ``block``: the
# number of the block that contains the record; a block has the number of its first document.
# other_titles: those of redirects.
# Only in the database of new documents: ``bad_pages`` could not be read; ``kept`` are documents of
# the version before that the source still has, with the number that the next new document got.
SCHEMA = """
CREATE TABLE documents (number INTEGER PRIMARY KEY, id TEXT NOT NULL, whole TEXT,
    title TEXT NOT NULL, key TEXT, plain TEXT, digest BLOB NOT NULL, sentences INTEGER NOT NULL,
    block INTEGER NOT NULL);
CREATE TABLE blocks (number INTEGER PRIMARY KEY, content BLOB NOT NULL);
CREATE TABLE other_titles (number INTEGER NOT NULL, title TEXT NOT NULL, key TEXT NOT NULL,
    plain TEXT, PRIMARY KEY (number, title)) WITHOUT ROWID;
CREATE TABLE bad_pages (message TEXT NOT NULL, hint TEXT NOT NULL);
CREATE TABLE kept (number INTEGER PRIMARY KEY, before INTEGER NOT NULL);
"""
# Made when all rows are there, which is faster.
INDEXES = """
CREATE INDEX IF NOT EXISTS by_id ON documents (id);
CREATE INDEX IF NOT EXISTS by_whole ON documents (whole) WHERE whole IS NOT NULL;
CREATE INDEX IF NOT EXISTS by_key ON documents (key);
CREATE INDEX IF NOT EXISTS by_plain ON documents (plain) WHERE plain IS NOT NULL;
CREATE INDEX IF NOT EXISTS by_other_key ON other_titles (key);
CREATE INDEX IF NOT EXISTS by_other_plain ON other_titles (plain) WHERE plain IS NOT NULL;
"""
# All titles that find a document; ``where`` is a further condition.
TITLES = """
SELECT number, id, title, 0 AS other FROM documents WHERE key IS NOT NULL {where}
UNION ALL
SELECT number, (SELECT id FROM documents WHERE documents.number = other_titles.number), title, 1
FROM other_titles WHERE TRUE {where}
ORDER BY number, other
"""

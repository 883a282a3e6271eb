"""Corpora that are searched where they are: a wiki, or a file of Kiwix, without an index of ours.

``interface`` says what such a source answers; ``mediawiki`` and ``zim_search`` are the two kinds.
``store`` makes one look like an index, so that a claim is checked in it by the same stages: it asks
the source about the claim, reads the few articles that are found and offers their best passages.
``address`` reads what a user writes, and ``opening`` opens it.
"""

"""Measures retrieval on claims that need several pages, among as many pages as there are."""

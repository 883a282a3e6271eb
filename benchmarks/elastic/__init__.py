"""Elasticsearch beside the embedded index: the same pages, claims and machine, in one run."""

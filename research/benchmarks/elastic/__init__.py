"""Compares Elasticsearch with the embedded index: same pages, claims and machine, in one run."""

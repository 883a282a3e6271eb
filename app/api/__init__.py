"""The HTTP API, its description, and the page about it."""

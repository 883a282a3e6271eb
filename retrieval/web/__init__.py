"""Web pages that a user names: fetched from the public internet alone, and read as a text."""

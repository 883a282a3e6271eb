"""The pages of corpora and their files."""

"""The pages of texts: which of their sentences can be checked."""

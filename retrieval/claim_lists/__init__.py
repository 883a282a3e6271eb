"""Lists of claims: the files that they come in, and the tables of their verdicts."""

"""Evidence that tries to change a verdict: the data set ``research/datasets/hostile``."""

"""A small language model that runs in this process and is weighed with the verifier."""

"""A small language model that runs in this process and decides together with the verifier."""

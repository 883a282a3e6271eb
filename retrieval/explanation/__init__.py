"""The last stage: a language model explains what the selected evidence says of the claim."""

"""The last stage: a language model says what the selected evidence means for the claim."""

"""The pages of claims: the box, progress, result, history and feedback."""

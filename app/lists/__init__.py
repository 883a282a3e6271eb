"""The pages of lists of claims."""

"""The pages that compare recipes and corpora."""

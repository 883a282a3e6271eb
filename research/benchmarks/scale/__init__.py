"""The cost and speed of indexes, from ten thousand pages to millions."""

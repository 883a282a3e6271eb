"""From ten thousand pages to millions: what an index costs and how fast it answers."""

"""Numbers, units and dates: read from texts, and what follows from them for a claim."""

"""Numbers, units and dates: read from texts, compared, and what follows from them for a claim."""

"""Numbers, units and dates: read from texts and compared by arithmetic, without a network."""

"""A campaign of faults: what the service loses, does twice or leaves lying when things break."""

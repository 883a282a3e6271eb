"""How a request comes in and an answer goes out: limits, errors, streams, files of the pages."""

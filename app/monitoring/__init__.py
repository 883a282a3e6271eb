"""Whether the service works: health checks and metrics."""

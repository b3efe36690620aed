"""normalized: one small set of events for any provider."""

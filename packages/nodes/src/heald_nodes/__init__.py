"""Several servers on one store: PostgreSQL, NATS and Temporal."""

"""Sessions in PostgreSQL, shared by any number of nodes."""

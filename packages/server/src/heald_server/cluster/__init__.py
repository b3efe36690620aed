"""A server among others that share its store."""

"""The client of a Heald server."""

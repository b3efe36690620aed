"""The client of a Weft server."""

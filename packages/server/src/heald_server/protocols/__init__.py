"""One folder for each protocol of a client: its routes, its dialect and its shapes."""

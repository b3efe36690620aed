"""Several nodes on one store: chaos through HTTP alone, and what storing an event costs."""

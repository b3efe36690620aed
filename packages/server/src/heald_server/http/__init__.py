"""HTTP: connections, requests, operations, errors and their description."""

"""Reads route files: START END KILOMETRES on every line; lines that start with # are comments."""


def read_routes(text):
    routes = []
    for line in text.splitlines():
        if not line.strip() or line.startswith("#"):
            continue
        start, end, kilometres = line.split()
        routes.append((start, end, float(kilometres)))
    return routes

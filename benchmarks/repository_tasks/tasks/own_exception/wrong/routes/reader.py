"""Reads route files: START END KILOMETRES on every line; lines that start with # are comments."""


from routes.errors import RouteError


def read_routes(text):
    routes = []
    for number, line in enumerate(text.splitlines()):
        if not line.strip() or line.startswith("#"):
            continue
        try:
            start, end, kilometres = line.split()
            routes.append((start, end, float(kilometres)))
        except ValueError as error:
            raise RouteError(f"line {number}: {error}") from error
    return routes

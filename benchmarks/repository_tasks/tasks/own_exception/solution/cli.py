"""Prints the total length of the routes in a file."""

import sys
from pathlib import Path

from routes.errors import RouteError
from routes.reader import read_routes


def main():
    try:
        routes = read_routes(Path(sys.argv[1]).read_text("utf-8"))
    except RouteError as error:
        print(f"Error: {error}", file=sys.stderr)
        return 2
    print(f"{len(routes)} routes, {sum(route[2] for route in routes):.1f} km")
    return 0


if __name__ == "__main__":
    sys.exit(main())

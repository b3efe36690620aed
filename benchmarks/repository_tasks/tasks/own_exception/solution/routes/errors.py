"""The exceptions of this package."""


class RouteError(Exception):
    """A line of a route file is broken."""

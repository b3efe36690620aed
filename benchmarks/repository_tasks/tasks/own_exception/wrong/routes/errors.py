"""The exceptions of this package."""


class RouteError(Exception):
    pass
